/* Pages of lists: {"items":[…],"next":"…"|null}. The cursor is the name or number of the last item;
 * it is opaque to clients. */
#include "api/support.h"
#include "base/json/json_brief.h"

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

/* ---- the members of an item ---- */

const char *const api_long_of_fit[] = {"confusion{",        "per_class[",   "pairs[",
                                       "machines[",         "folds[",       "roc[",
                                       "precision_recall[", "calibration[", "init[",
                                       "inputs[",           "features[",    "classes[",
                                       "encoding{",         "details{",     NULL};

static bool refuse_field(struct http_call *call, const char *name, const char *const *known) {
    struct buf list = {0};
    for (size_t i = 0; known[i] != NULL; i++) {
        buf_printf(&list, "%s%s", i > 0 ? ", " : "", known[i]);
    }
    const char *text = buf_cstr(&list);
    http_fail(
        call, PROBLEM_BAD_REQUEST,
        "query parameter \"fields\" must be names of members, separated by commas: \"%.100s\" "
        "is none of %s",
        name, text != NULL ? text : "those");
    buf_done(&list);
    return false;
}

bool api_query_fields(struct http_call *call, const char *const *known, const char *const **out) {
    const char *text = http_query(call, "fields");
    size_t n_known = 0, n = 0;
    if (text == NULL) {
        *out = NULL;
        return true;
    }
    while (known[n_known] != NULL) {
        n_known++;
    }
    const char **fields = arena_alloc(http_arena(call), (n_known + 1) * sizeof *fields);
    char *names = arena_strdup(http_arena(call), text);
    if (fields == NULL || names == NULL) {
        http_fail(call, PROBLEM_UNAVAILABLE, "no memory for the request");
        return false;
    }
    for (char *at = names, *end; at != NULL; at = end) {
        end = strchr(at, ',');
        if (end != NULL) {
            *end++ = '\0';
        }
        size_t k = 0, i = 0;
        while (known[k] != NULL && strcmp(known[k], at) != 0) {
            k++;
        }
        if (known[k] == NULL) {
            return refuse_field(call, at, known);
        }
        while (i < n && fields[i] != known[k]) {
            i++;
        }
        n += i == n;
        fields[i] = known[k];
    }
    fields[n] = NULL;
    *out = fields;
    return true;
}

void api_item_put(struct json_writer *w, struct buf *item, const char *const *fields,
                  const char *const *long_members) {
    static const char *const none[] = {NULL};
    struct buf text = {0};
    const char *whole = buf_cstr(item);
    if (whole != NULL && fields != NULL) {
        json_pick(&text, whole, fields);
    } else if (whole != NULL) {
        json_brief(&text, whole, long_members != NULL ? long_members : none);
    }
    w->out->failed = w->out->failed || whole == NULL || text.failed;
    json_put_raw(w, text.data != NULL ? text.data : "", text.size);
    buf_done(&text);
    buf_done(item);
}

/* ---- pages ---- */

void api_list_reply(struct http_call *call, const struct api_item *kind, struct store_page *page,
                    struct problem *problem) {
    struct buf body = {0}, cursor = {0};
    const char *const *fields = NULL;
    if (problem->type) {
        http_reply_problem(call, problem);
        return;
    }
    if (!api_query_fields(call, kind->fields, &fields)) {
        store_page_done(page);
        return;
    }
    struct json_writer w = json_writer_of(&body);
    json_begin_object(&w);
    json_kv_begin_array(&w, "items");
    for (size_t i = 0; i < page->n; i++) {
        struct buf item = {0};
        struct json_writer of_item = json_writer_of(&item);
        kind->write(api_app_of(call), (const char *)page->items + i * kind->size, &of_item);
        api_item_put(&w, &item, fields, kind->long_members);
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
