/* Pages of lists: {"items":[…],"next":"…"|null}. The cursor is the last item's name or number;
 * clients treat it as opaque. */
#include "api/support.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool page_limit(struct http_call *call, struct api_page *out) {
    int64_t limit = 100;
    if (!api_query_int(call, "limit", 1, 1000, &limit)) {
        return false;
    }
    out->limit = (size_t)limit;
    out->after = http_query(call, "after");
    return true;
}

static bool bad_cursor(struct http_call *call, const char *cursor) {
    http_fail(call, PROBLEM_BAD_REQUEST,
              "query parameter \"after\" must be the \"next\" of an earlier page, got \"%.100s\"",
              cursor);
    return false;
}

bool api_page_names(struct http_call *call, struct api_page *out) {
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
    if (page.after && !api_number_parse(page.after, &after)) {
        return bad_cursor(call, page.after);
    }
    *out = page;
    *after_number = after;
    return true;
}

void api_list_begin(struct api_list *list, size_t limit) {
    *list = (struct api_list){.limit = limit};
    json_writer_init(&list->json, &list->body);
    json_begin_object(&list->json);
    json_put_key(&list->json, "items");
    json_begin_array(&list->json);
}

bool api_list_item(struct api_list *list, const char *cursor) {
    if (list->n == list->limit || list->body.size >= API_PAGE_BYTES || list->body.failed) {
        list->more = true;
        return false;
    }
    (void)snprintf(list->last, sizeof list->last, "%s", cursor);
    list->n++;
    return true;
}

bool api_list_item_number(struct api_list *list, int64_t cursor) {
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRId64, cursor);
    return api_list_item(list, text);
}

void api_list_reply(struct http_call *call, struct api_list *list, struct problem *problem) {
    if (problem->type) {
        buf_done(&list->body);
        http_reply_problem(call, problem);
        return;
    }
    json_end_array(&list->json);
    json_kv_string(&list->json, "next", list->more ? list->last : NULL);
    json_end_object(&list->json);
    api_reply_json(call, 200, &list->body);
}
