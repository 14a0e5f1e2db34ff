/* What the handlers of every resource share: reading query and body, pages of lists, conditions,
 * names and versions, answers in JSON.
 *
 * Functions that return false (or NULL) have answered the call: the handler returns at once. All
 * run on the call's thread. */
#ifndef API_SUPPORT_H
#define API_SUPPORT_H

#include "api/api.h"
#include "base/json/json.h"
#include "base/json/json_write.h"
#include "formats/format.h"

#define API_JSON "application/json"
/* The largest id, version or row number: 2^53 - 1, the last integer in JSON that no other rounds
 * to. */
#define API_NUMBER_MAX ((INT64_C(1) << 53) - 1)
/* Text that the items of a page of a list are read with at most: an item can be large. */
#define API_PAGE_BYTES (8 * 1024 * 1024)

struct api_app *api_app_of(const struct http_call *call);

/* ---- query parameters: 400 names the parameter and the rule ---- */
/* Absent: *out stays as it is. */
bool api_query_int(struct http_call *call, const char *name, int64_t minimum, int64_t maximum,
                   int64_t *out);
bool api_query_seconds(struct http_call *call, const char *name, double maximum, double *out);
bool api_query_bool(struct http_call *call, const char *name, bool *out);

/* ---- names and numbers in the path ---- */
/* Is the path's {dataset} or {model} a name that can exist? `type` is what is answered when not:
 * 404 on a read, PROBLEM_BAD_REQUEST where the client chooses the name. */
const char *api_path_name(struct http_call *call, const char *placeholder, enum problem_type type);
/* An integer from 1 to API_NUMBER_MAX; anything else is answered with `type` (404): it cannot
 * exist. */
bool api_path_number(struct http_call *call, const char *placeholder, enum problem_type type,
                     int64_t *out);
/* Decimal digits alone, 1 … API_NUMBER_MAX. */
bool api_number_parse(const char *text, int64_t *out);
/* "iris" or "iris@2" → name (at most IDS_NAME_SIZE - 1 bytes) and version (0: not said). false:
 * neither; nothing was answered. */
bool api_reference_parse(const char *text, char name[IDS_NAME_SIZE], int64_t *version);

/* ---- lists ---- */
struct api_page {
    struct store_limit limit;
    const char
        *after; /* name or number of the last item of the page before; NULL: from the start */
};
/* ?limit= and ?after=. A cursor of names must be a name, one of numbers a number (then
 * *after_number, 0 without). */
bool api_page_names(struct http_call *call, struct api_page *out);
bool api_page_numbers(struct http_call *call, struct api_page *out, int64_t *after_number);

/* How the items of a page are written. */
struct api_item {
    size_t size; /* of an item */
    void (*write)(const struct api_app *app, const void *item, struct json_writer *w);
    void (*put_cursor)(const void *item, struct buf *out); /* the item's name or number */
};
/* Replies {"items":[…],"next":"…"|null} and frees the page; a problem is replied instead (and
 * taken). */
void api_list_reply(struct http_call *call, const struct api_item *kind, struct store_page *page,
                    struct problem *problem);

/* ---- bodies and answers ---- */
/* The body as a JSON object; the caller ends with json_decref. NULL: answered 400 (no JSON) or 422 (no
 * object). */
json_t *api_body_object(struct http_call *call);
void api_reply_json(struct http_call *call, int status, struct buf *body);
/* 200 with a body that a version of something keeps for ever, its hash as the ETag; 304 without it
 * when the client has it. */
void api_reply_unchanging(struct http_call *call, struct buf *body);
/* An ETag, quotes included, for what the bytes say; in the call's arena, NULL: no memory. */
const char *api_etag(struct http_call *call, const void *bytes, size_t n);
struct store_condition api_condition(const struct http_call *call);
/* Writes the members of a stored JSON object into the object that is open in w. NULL and {}: none.
 */
void api_put_members(struct json_writer *w, const char *object);
/* The same for an item of a list: without the members "confusion", "per_class", "pairs" and
 * "machines" at any depth, which grow with the classes or their square. */
void api_put_members_brief(struct json_writer *w, const char *object);

/* ---- PATCH of datasets and models: {"description":"…"|null,"tags":["…"]|null}; null removes ----
 */
struct api_patch {
    const char *description; /* NULL: leave it; "": remove it */
    const char *tags;        /* JSON array, or NULL: leave them */
};
/* Reads it from the body into the call's arena. */
bool api_patch_read(struct http_call *call, struct api_patch *out);

#endif
