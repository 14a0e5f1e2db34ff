/* A source of a stored table that charges its rows to the token of a call. */
#ifndef API_CHARGED_SOURCE_H
#define API_CHARGED_SOURCE_H

#include "http/http.h"
#include <discern/table.h>

/* Each row is charged once: when the first cell of its chunk is read. */
struct charged_source {
    dn_table_source table; /* provides the columns of `inner`; its ctx is this object */
    const dn_table_source *inner;
    struct http_call *call;
    size_t n_charged; /* chunks that were charged, from the first one on */
};

/* inner: must outlive *out. *out must not be moved, and is used by one thread. */
void charged_source_init(struct charged_source *out, struct http_call *call,
                         const dn_table_source *inner);

#endif
