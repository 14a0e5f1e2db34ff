/* Lists: {"items":[…],"next":"…"|null}, or cells with a link to the next page. The cursor is the
 * name or number of the last item; it is opaque to clients. */
#include "api/access.h"
#include "api/cells.h"
#include "api/policy.h"
#include "api/support.h"
#include "base/json/json_brief.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads ?expires=, which routes of datasets, models and jobs have. */
static bool query_expiring(struct http_call *call, enum store_expiring *out) {
    bool expires = false;
    if (http_query(call, "expires") == NULL) {
        *out = STORE_EXPIRING_ALL;
        return true;
    }
    if (!api_query_bool(call, "expires", &expires)) {
        return false;
    }
    *out = expires ? STORE_EXPIRING_ONLY : STORE_EXPIRING_NOT;
    return true;
}

bool api_page_any(struct http_call *call, struct api_page *out) {
    int64_t limit = 100;
    enum store_expiring expiring;
    if (!api_query_int(call, "limit", 1, 1000, &limit) || !query_expiring(call, &expiring)) {
        return false;
    }
    out->limit = (struct store_limit){.items = (size_t)limit,
                                      .bytes = API_PAGE_BYTES,
                                      .only = api_only(call),
                                      .expiring = expiring};
    out->after = http_query(call, "after");
    return true;
}

bool api_page_refuse(struct http_call *call, const char *cursor) {
    http_fail(call, PROBLEM_BAD_REQUEST,
              "query parameter \"after\" must be the \"next\" of an earlier page, got \"%.100s\"",
              cursor);
    return false;
}

static bool page_names(struct http_call *call, struct api_page *out) {
    struct api_page page;
    if (!api_page_any(call, &page)) {
        return false;
    }
    if (page.after && !ids_name_valid(page.after, strlen(page.after))) {
        return api_page_refuse(call, page.after);
    }
    *out = page;
    return true;
}

bool api_page_numbers(struct http_call *call, struct api_page *out, int64_t *after_number) {
    struct api_page page;
    int64_t after = 0;
    if (!api_page_any(call, &page)) {
        return false;
    }
    if (page.after && !ids_number_parse(page.after, &after)) {
        return api_page_refuse(call, page.after);
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
        "is not one of %s",
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

/* Appends the item with only the members `fields`; fields NULL: without the long members. */
static void put_item(const struct api_items *items, size_t i, const char *const *fields,
                     struct buf *out) {
    struct buf whole = {0};
    struct json_writer w = json_writer_of(&whole);
    items->write(items->arg, i, &w);
    const char *text = buf_cstr(&whole);
    if (text == NULL) {
        out->failed = true;
    } else if (fields != NULL) {
        json_pick(out, text, fields);
    } else {
        json_brief(out, text, items->long_members);
    }
    buf_done(&whole);
}

/* ---- replies ---- */

static void reply_document(struct http_call *call, const struct api_items *items,
                           const char *const *fields) {
    struct buf body = {0};
    buf_puts(&body, "{\"items\":[");
    for (size_t i = 0; i < items->n; i++) {
        buf_puts(&body, i > 0 ? "," : "");
        put_item(items, i, fields, &body);
    }
    buf_puts(&body, "],\"next\":");
    if (items->next != NULL) {
        json_escape(&body, items->next, strlen(items->next));
    } else {
        buf_puts(&body, "null");
    }
    buf_putc(&body, '}');
    api_reply_json(call, 200, &body);
}

/* Sets the header Link to the next page. */
static void put_link(struct http_call *call, const char *next) {
    static const char *const kept[] = {"limit", "fields", "state", "model", "name",
                                       "token", "action", "since", "sort",  "expires"};
    struct buf link = {0};
    buf_puts(&link, "<?after=");
    api_put_escaped(&link, next);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        const char *value = http_query(call, kept[i]);
        if (value != NULL) {
            buf_printf(&link, "&%s=", kept[i]);
            api_put_escaped(&link, value);
        }
    }
    buf_puts(&link, ">; rel=\"next\"");
    const char *text = buf_cstr(&link);
    if (text != NULL) {
        http_reply_header(call, "Link", text);
    }
    buf_done(&link);
}

static void reply_cells(struct http_call *call, const struct format *format,
                        const struct api_items *items, const char *const *fields) {
    struct buf body = {0};
    struct buf *texts = calloc(items->n + 1, sizeof *texts);
    const char **objects = calloc(items->n + 1, sizeof *objects);
    body.failed = texts == NULL || objects == NULL;
    for (size_t i = 0; !body.failed && i < items->n; i++) {
        put_item(items, i, fields, &texts[i]);
        objects[i] = buf_cstr(&texts[i]);
        body.failed = objects[i] == NULL;
    }
    if (!body.failed) {
        api_cells_table(objects, items->n, format->answers->delimiter, &body);
    }
    for (size_t i = 0; texts != NULL && i < items->n; i++) {
        buf_done(&texts[i]);
    }
    free(texts);
    free(objects);
    if (items->next != NULL) {
        put_link(call, items->next);
    }
    http_reply(call, 200, format_media_type(format), &body);
}

void api_items_reply(struct http_call *call, const struct api_items *items) {
    const struct format *format = api_reply_format(call, &format_json);
    const char *const *fields = NULL;
    if (!api_query_fields(call, items->fields, &fields)) {
        return;
    }
    if (format->answers->document) {
        reply_document(call, items, fields);
    } else {
        reply_cells(call, format, items, fields);
    }
}

/* ---- pages ---- */

struct page_items {
    const struct api_app *app;
    const struct api_item *kind;
    const struct store_page *page;
};

static void write_page_item(const void *arg, size_t i, struct json_writer *w) {
    const struct page_items *p = arg;
    p->kind->write(p->app, (const char *)p->page->items + i * p->kind->size, w);
}

void api_list_reply(struct http_call *call, const struct api_item *kind, struct store_page *page,
                    struct problem *problem) {
    struct buf cursor = {0};
    if (problem->type) {
        http_reply_problem(call, problem);
        return;
    }
    if (page->more) {
        kind->put_cursor(call, (const char *)page->items + (page->n - 1) * kind->size, &cursor);
    }
    const struct page_items arg = {api_app_of(call), kind, page};
    const struct api_items items = {.n = page->n,
                                    .write = write_page_item,
                                    .arg = &arg,
                                    .fields = kind->fields,
                                    .long_members = kind->long_members,
                                    .next = page->more ? buf_cstr(&cursor) : NULL};
    if (cursor.failed) {
        http_fail(call, PROBLEM_UNAVAILABLE, "no memory for the list");
    } else {
        api_items_reply(call, &items);
    }
    store_page_done(page);
    buf_done(&cursor);
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
