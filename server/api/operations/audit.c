/* GET /v1/audit: who changed what, newest first. */
#include "api/access.h"
#include "api/handlers.h"
#include "api/support.h"
#include "base/process/clock.h"

#include <inttypes.h>
#include <stdio.h>

static void put_number(struct json_writer *w, const char *key, int64_t number) {
    if (number != 0) {
        json_kv_int(w, key, number);
    } else {
        json_kv_raw(w, key, NULL);
    }
}

static void write_item(const struct api_app *app, const void *item, struct json_writer *w) {
    const struct store_audit_entry *e = item;
    (void)app;
    json_begin_object(w);
    json_kv_int(w, "seq", e->seq);
    json_kv_time(w, "at", e->at);
    json_kv_string(w, "token", e->token);
    json_kv_string(w, "client", e->client);
    json_kv_string(w, "request", e->request);
    json_kv_string(w, "action", e->action);
    json_kv_string(w, "kind", e->kind);
    json_kv_string(w, "name", e->name);
    put_number(w, "version", e->version);
    put_number(w, "job", e->job);
    json_kv_string(w, "result", e->result);
    json_kv_int(w, "count", e->count);
    json_kv_string(w, "detail", e->detail);
    json_kv_string(w, "hash", e->hash);
    json_kv_bool(w, "intact", e->intact);
    json_end_object(w);
}

static void put_seq(const struct http_call *call, const void *item, struct buf *out) {
    (void)call;
    const struct store_audit_entry *e = item;
    buf_printf(out, "%" PRId64, e->seq);
}

static bool read_since(struct http_call *call, int64_t *out) {
    const char *text = http_query(call, "since");
    if (text == NULL || clock_parse(text, out)) {
        return true;
    }
    http_fail(call, PROBLEM_BAD_REQUEST,
              "query parameter \"since\" must be a date or a time in UTC like 2027-01-31 or "
              "2027-01-31T12:00:00Z, got \"%.100s\"",
              text);
    return false;
}

/* Shows the end of the chain in a header, so that clients of all formats can note it. */
static void put_head(struct http_call *call, const struct store_audit_head *head) {
    char text[128];
    (void)snprintf(text, sizeof text, "first=%" PRId64 ", last=%" PRId64 ", hash=%s", head->first,
                   head->seq, head->hash);
    http_reply_header(call, "Discern-Audit-Head", text);
}

void api_audit_list(struct http_call *call) {
    static const char *const fields[] = {"seq",    "at",   "token",   "client", "request", "action",
                                         "kind",   "name", "version", "job",    "result",  "count",
                                         "detail", "hash", "intact",  NULL};
    static const char *const long_members[] = {NULL};
    static const struct api_item kind = {sizeof(struct store_audit_entry), write_item, put_seq,
                                         fields, long_members};
    struct store_audit_filter filter = {.name = http_query(call, "name"),
                                        .token = http_query(call, "token"),
                                        .action = http_query(call, "action")};
    struct problem problem = {0};
    struct api_page page;
    struct store_page found = {0};
    struct store_audit_head head;
    if (!api_may_see_all(call) || !api_page_numbers(call, &page, &filter.before) ||
        !read_since(call, &filter.since)) {
        return;
    }
    if (store_audit_list(api_app_of(call)->store, &filter, &page.limit, &found, &head, &problem)) {
        put_head(call, &head);
    }
    api_list_reply(call, &kind, &found, &problem);
}
