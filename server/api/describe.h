/* Descriptions of machines (discern/describe.h) as JSON. */
#ifndef API_DESCRIBE_H
#define API_DESCRIBE_H

#include "base/json/json_write.h"
#include <discern/describe.h>

/* Returns a visitor that writes members of the open object of w. matrices: with matrices. */
dn_visitor api_json_visitor(struct json_writer *w, bool matrices);

#endif
