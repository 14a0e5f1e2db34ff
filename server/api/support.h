/* Functions that the handlers of all resources share: reading query and body, pages of lists,
 * conditions, names and versions, answers in JSON. A function that returns false (or NULL) has
 * answered the call: the handler then returns. All run on the call's thread. */
#ifndef API_SUPPORT_H
#define API_SUPPORT_H

#include "api/api.h"
#include "base/json/json.h"
#include "base/json/json_write.h"
#include "formats/format.h"

#define API_JSON "application/json"
/* The largest id, version or row number: 2^53 - 1. Larger integers are not exact in JSON readers
 * that use doubles. */
#define API_NUMBER_MAX IDS_NUMBER_MAX
/* Maximum size of the stored text of the items of a page, as an item can be large. */
#define API_PAGE_BYTES (8 * 1024 * 1024)

struct api_app *api_app_of(const struct http_call *call);

/* ---- query parameters: 400 names the parameter and the rule ---- */
/* If the parameter is absent, *out is unchanged. */
bool api_query_int(struct http_call *call, const char *name, int64_t minimum, int64_t maximum,
                   int64_t *out);
bool api_query_seconds(struct http_call *call, const char *name, double maximum, double *out);
bool api_query_bool(struct http_call *call, const char *name, bool *out);
/* Appends a value, escaped for the query of a link. */
void api_put_escaped(struct buf *out, const char *value);

/* ---- names and numbers in the path ---- */
/* Returns the number in the path, which api_admit has checked. 0: the path has none. */
int64_t api_path_number(const struct http_call *call, const char *placeholder);

/* ---- lists ---- */
struct api_page {
    struct store_limit limit;
    /* name or number of the last item of the page before; NULL: from the start */
    const char *after;
};
/* Reads ?limit= and ?after=, a cursor that the caller checks. */
bool api_page_any(struct http_call *call, struct api_page *out);
/* Refuses the cursor ?after=. Returns false. */
bool api_page_refuse(struct http_call *call, const char *cursor);
/* Reads ?limit= and ?after=, a cursor that is a number (0: none). */
bool api_page_numbers(struct http_call *call, struct api_page *out, int64_t *after_number);

/* How the items of a page are written. */
struct api_item {
    size_t size; /* bytes of an item */
    void (*write)(const struct api_app *app, const void *item, struct json_writer *w);
    /* writes the cursor after the item: its name or number */
    void (*put_cursor)(const struct http_call *call, const void *item, struct buf *out);
    const char *const *fields;       /* the members that ?fields= can name; ends with NULL */
    const char *const *long_members; /* the members that an item has only if ?fields= names them, as
                                        for json_brief */
};
/* The long members of models and of the results of jobs: their length grows with the number of
 * columns, classes, machines or folds. */
extern const char *const api_long_of_fit[];
/* Reads ?fields=, names of `known` (which ends with NULL) separated by commas. *out: the names, in
 * the arena, ending with NULL; NULL: the parameter is absent. Returns false if it has replied. */
bool api_query_fields(struct http_call *call, const char *const *known, const char *const **out);
/* The items of a list. */
struct api_items {
    size_t n;
    void (*write)(const void *arg, size_t i, struct json_writer *w); /* writes a JSON object */
    const void *arg;
    const char *const *fields, *const *long_members; /* as in struct api_item */
    const char *next;                                /* cursor; NULL: this is the last page */
};
/* Replies the list, with the members that ?fields= names, in the format that Accept prefers:
 * {"items":[…],"next":"…"|null}, or cells. */
void api_items_reply(struct http_call *call, const struct api_items *items);
/* Replies with a page by api_items_reply and frees the page; if a problem is set, replies with the
 * problem instead and frees it. */
void api_list_reply(struct http_call *call, const struct api_item *kind, struct store_page *page,
                    struct problem *problem);
/* Reply with a page of a list by names, or of the versions of the resource in the path.
 *
 *   placeholder  placeholder of the resource's name in the path */
void api_list_names(struct http_call *call, const struct api_item *kind,
                    bool (*list)(struct store *store, const char *after,
                                 const struct store_limit *limit, struct store_page *out,
                                 struct problem *problem));
void api_list_versions(struct http_call *call, const struct api_item *kind, const char *placeholder,
                       bool (*list)(struct store *store, const char *name, int64_t after,
                                    const struct store_limit *limit, struct store_page *out,
                                    struct problem *problem));

/* ---- bodies and answers ---- */
/* Reads the body as a JSON object, which the caller frees with json_decref. Returns NULL if it has
 * replied 400 (not JSON) or 422 (not an object). */
json_t *api_body_object(struct http_call *call);
void api_reply_json(struct http_call *call, int status, struct buf *body);
/* Replies with a body that does not change while its version or this release exists. The ETag is its
 * hash. content_type: a static string. */
void api_reply_unchanging(struct http_call *call, const char *content_type, struct buf *body);
/* Returns the hash of the bytes as an ETag, with quotes, in the arena of the call. NULL: out of
 * memory. */
const char *api_etag(struct http_call *call, const void *bytes, size_t n);
struct store_condition api_condition(const struct http_call *call);
/* Writes the members of a stored JSON object (NULL: none) into the open object of w. */
void api_put_members(struct json_writer *w, const char *object);

/* ---- PATCH of datasets and models ---- */
/* Reads {"description":"…"|null,"tags":["…"]|null,"expires_in":3600|null}, of which null removes,
 * from the body, into the arena of the call. Returns false if it has replied. */
bool api_patch_read(struct http_call *call, struct store_patch *out);

#endif
