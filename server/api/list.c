/* Pages of lists: {"items":[…],"next":"…"|null}. The cursor is the name or number of the last item;
 * it is opaque to clients. */
#include "api/support.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool page_limit(struct http_call *call, struct api_page *out) {
    int64_t limit = 100;
    if (!api_query_int(call, "limit", 1, 1000, &limit)) {
        return false;
    }
    out->limit = (struct store_limit){.items = (size_t)limit, .bytes = API_PAGE_BYTES};
    out->after = http_query(call, "after");
    return true;
}

static bool bad_cursor(struct http_call *call, const char *cursor) {
    http_fail(call, PROBLEM_BAD_REQUEST,
              "query parameter \"after\" must be the \"next\" of an earlier page, got \"%.100s\"",
              cursor);
    return false;
}

static bool page_names(struct http_call *call, struct api_page *out) {
    struct api_page page;
    if (!page_limit(call, &page)) {
        return false;
    }
    if (page.after && !ids_name_valid(page.after, strlen(page.after))) {
        return bad_cursor(call, page.after);
    }
    *out = page;
    return true;
}

bool api_page_numbers(struct http_call *call, struct api_page *out, int64_t *after_number) {
    struct api_page page;
    int64_t after = 0;
    if (!page_limit(call, &page)) {
        return false;
    }
    if (page.after && !ids_number_parse(page.after, &after)) {
        return bad_cursor(call, page.after);
    }
    *out = page;
    *after_number = after;
    return true;
}

void api_list_reply(struct http_call *call, const struct api_item *kind, struct store_page *page,
                    struct problem *problem) {
    struct buf body = {0}, cursor = {0};
    if (problem->type) {
        http_reply_problem(call, problem);
        return;
    }
    struct json_writer w = json_writer_of(&body);
    json_begin_object(&w);
    json_kv_begin_array(&w, "items");
    for (size_t i = 0; i < page->n; i++) {
        kind->write(api_app_of(call), (const char *)page->items + i * kind->size, &w);
    }
    json_end_array(&w);
    if (page->more) {
        kind->put_cursor((const char *)page->items + (page->n - 1) * kind->size, &cursor);
    }
    json_kv_string(&w, "next", page->more ? buf_cstr(&cursor) : NULL);
    json_end_object(&w);
    body.failed = body.failed || cursor.failed;
    store_page_done(page);
    buf_done(&cursor);
    api_reply_json(call, 200, &body);
}

void api_list_names(struct http_call *call, const struct api_item *kind,
                    bool (*list)(struct store *store, const char *after,
                                 const struct store_limit *limit, struct store_page *out,
                                 struct problem *problem)) {
    struct problem problem = {0};
    struct api_page page;
    struct store_page found = {0};
    if (!page_names(call, &page)) {
        return;
    }
    list(api_app_of(call)->store, page.after, &page.limit, &found, &problem);
    api_list_reply(call, kind, &found, &problem);
}

void api_list_versions(struct http_call *call, const struct api_item *kind, const char *placeholder,
                       bool (*list)(struct store *store, const char *name, int64_t after,
                                    const struct store_limit *limit, struct store_page *out,
                                    struct problem *problem)) {
    struct problem problem = {0};
    struct api_page page;
    struct store_page found = {0};
    int64_t after = 0;
    if (!api_page_numbers(call, &page, &after)) {
        return;
    }
    list(api_app_of(call)->store, http_path_param(call, placeholder), after, &page.limit, &found,
         &problem);
    api_list_reply(call, kind, &found, &problem);
}
