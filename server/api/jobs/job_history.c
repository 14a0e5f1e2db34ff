/* GET /v1/jobs/{id}/history: the report of every iteration, and the weights at the iterations of
 * "snapshots". */
#include "api/cells.h"
#include "api/handlers.h"
#include "api/policy.h"
#include "api/support.h"

#include <stdlib.h>
#include <string.h>

/* The answer while it is written. */
struct history {
    struct json_writer w;
    struct buf body;
    size_t limit;   /* maximum size of the answer in bytes */
    bool truncated; /* the limit was reached */
};

static bool add_rows(struct history *h, struct store *store, int64_t id, bool snapshots,
                     struct problem *problem) {
    json_kv_begin_array(&h->w, snapshots ? "snapshots" : "items");
    const size_t room = h->body.size < h->limit ? h->limit - h->body.size : 1;
    const struct store_limit limit = {.bytes = room};
    struct store_page page = {0};
    const bool good = store_job_history(store, id, snapshots, &limit, &page, problem);
    const struct store_history_row *rows = page.items;
    h->truncated = h->truncated || page.more;
    for (size_t i = 0; i < page.n; i++) {
        if (h->body.size >= h->limit) {
            h->truncated = true;
            break;
        }
        json_put_raw(&h->w, rows[i].doc, strlen(rows[i].doc));
    }
    store_page_done(&page);
    json_end_array(&h->w);
    return good;
}

/* Replies with the items as cells. If the limit is reached, sets the header Discern-Truncated. */
static void reply_cells(struct http_call *call, const struct format *format, int64_t id) {
    struct api_app *app = api_app_of(call);
    struct problem problem = {0};
    struct store_page page = {0};
    struct buf body = {0};
    const struct store_limit limit = {.bytes = (size_t)app->max_body};
    if (!store_job_history(app->store, id, false, &limit, &page, &problem)) {
        http_reply_problem(call, &problem);
        return;
    }
    const struct store_history_row *rows = page.items;
    const char **objects = calloc(page.n + 1, sizeof *objects);
    body.failed = objects == NULL;
    for (size_t i = 0; objects != NULL && i < page.n; i++) {
        objects[i] = rows[i].doc;
    }
    if (objects != NULL) {
        api_cells_table(objects, page.n, format->answers->delimiter, &body);
    }
    if (page.more) {
        http_reply_header(call, "Discern-Truncated", "true");
    }
    free(objects);
    store_page_done(&page);
    http_reply(call, 200, format_media_type(format), &body);
}

void api_job_history(struct http_call *call) {
    struct api_app *app = api_app_of(call);
    struct problem problem = {0};
    struct history h = {.limit = (size_t)app->max_body};
    struct store_job j;
    const struct format *format = api_reply_format(call, &format_json);
    if (!api_job_find(call, &j)) {
        return;
    }
    if (!format->answers->document) {
        const int64_t id = j.id;
        store_job_done(&j);
        reply_cells(call, format, id);
        return;
    }
    h.w = json_writer_of(&h.body);
    json_begin_object(&h.w);
    bool good = add_rows(&h, app->store, j.id, false, &problem) &&
                add_rows(&h, app->store, j.id, true, &problem);
    store_job_done(&j);
    if (!good) {
        buf_done(&h.body);
        http_reply_problem(call, &problem);
        return;
    }
    if (h.truncated) {
        json_kv_bool(&h.w, "truncated", true);
    }
    json_end_object(&h.w);
    api_reply_json(call, 200, &h.body);
}
