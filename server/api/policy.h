/* The media types in the policy of a route: what it accepts as a request body, and what it offers
 * as a reply. Both are lists of formats, made from the table of formats. */
#ifndef API_POLICY_H
#define API_POLICY_H

#include "formats/format.h"
#include "http/http.h"

struct http_media {
    enum media_kind {
        MEDIA_OBJECT,  /* a JSON object */
        MEDIA_FORMATS, /* the formats of `use` */
        MEDIA_TYPES    /* replies of one of `types`, which Accept does not choose */
    } kind;
    enum format_use use;
    const char *what;         /* subject of a refusal: "a dataset" */
    const char *const *types; /* ends with NULL; NULL: Accept is ignored */
};

/* Request bodies. */
extern const struct http_media api_takes_object, api_takes_table, api_takes_instances,
    api_takes_labelled_rows;
/* Replies; a route that names none of them sends JSON. api_sends_any: Accept is ignored, because
 * the reply has no body, or is for a probe, to which only its status matters. */
extern const struct http_media api_sends_list, api_sends_history, api_sends_leaderboard;
extern const struct http_media api_sends_metrics, api_sends_events, api_sends_page, api_sends_pages,
    api_sends_root, api_sends_file, api_sends_series, api_sends_database, api_sends_any,
    api_sends_held_out;
extern const struct http_media api_sends_rows, api_sends_answers, api_sends_grid, api_sends_weights;

/* Returns the format of the body by its Content-Type, which the route accepts. NULL: it is detected
 * from the body. */
const struct format *api_body_format(const struct http_call *call);
/* Returns the encoding of the body by the charset of its Content-Type, as encoding_find does; NULL:
 * UTF-8, ASCII or not given. */
const char *api_body_encoding(const struct http_call *call);
/* Returns the format that Accept prefers among those that the route offers; without Accept,
 * `first`. */
const struct format *api_reply_format(const struct http_call *call, const struct format *first);

#endif
