/* Datasets: list, describe, list versions, change description and tags, delete. */
#include "api/access.h"
#include "api/documents.h"
#include "api/handlers.h"
#include "api/support.h"
#include "formats/formats.h"

#include <inttypes.h>
#include <string.h>

void api_dataset_write_members(const struct store_dataset *d, struct json_writer *w) {
    json_kv_string(w, "name", d->name);
    json_kv_int(w, "version", d->version);
    json_kv_int(w, "rows", d->n_rows);
    json_kv_int(w, "bytes", d->bytes);
    json_kv_string(w, "sha256", d->sha256);
    json_kv_string(w, "content", d->content);
    json_kv_time(w, "created_at", d->created_at);
    json_kv_time(w, "expires_at", d->expires_at);
    json_kv_string(w, "submitted_by", d->submitted_by);
    json_kv_string(w, "description", d->description);
    json_kv_raw(w, "tags", d->tags ? d->tags : "[]");
    const int64_t n_features = schema_columns_write(d->columns, d->n_rows, w);
    json_kv_int(w, "n_columns", n_features < 0 ? d->n_cols : d->n_cols - 1 + n_features);
    json_kv_raw(w, "notes", d->notes);
}

void api_dataset_write(const struct store_dataset *d, struct json_writer *w) {
    json_begin_object(w);
    api_dataset_write_members(d, w);
    json_end_object(w);
}

static void write_item(const struct api_app *app, const void *item, struct json_writer *w) {
    (void)app;
    api_dataset_write(item, w);
}

static void put_name(const struct http_call *call, const void *item, struct buf *out) {
    (void)call;
    const struct store_dataset *d = item;
    buf_puts(out, d->name);
}

static void put_version(const struct http_call *call, const void *item, struct buf *out) {
    (void)call;
    const struct store_dataset *d = item;
    buf_printf(out, "%" PRId64, d->version);
}

static const char *const fields[] = {"name",         "version",     "rows",       "bytes",
                                     "sha256",       "content",     "created_at", "expires_at",
                                     "submitted_by", "description", "tags",       "columns",
                                     "n_columns",    "sparse",      "notes",      NULL};
static const char *const long_members[] = {"columns[", NULL};

void api_datasets_list(struct http_call *call) {
    static const struct api_item kind = {sizeof(struct store_dataset), write_item, put_name, fields,
                                         long_members};
    api_list_names(call, &kind, store_dataset_list);
}

void api_dataset_versions(struct http_call *call) {
    static const struct api_item kind = {sizeof(struct store_dataset), write_item, put_version,
                                         fields, long_members};
    api_list_versions(call, &kind, "dataset", store_dataset_versions);
}

/* Reads the version in the path or in ?version= (0: none). Returns false if it has replied. */
static bool read_version(struct http_call *call, int64_t *version) {
    *version = api_path_number(call, "version");
    return *version != 0 || api_query_int(call, "version", 1, API_NUMBER_MAX, version);
}

bool api_dataset_find(struct http_call *call, struct store_dataset *out) {
    struct problem problem = {0};
    int64_t version;
    if (!read_version(call, &version)) {
        return false;
    }
    if (store_dataset_get(api_app_of(call)->store, http_path_param(call, "dataset"), version, out,
                          &problem)) {
        return true;
    }
    http_reply_problem(call, &problem);
    return false;
}

void api_dataset_reply(struct http_call *call, int status, struct store_dataset *d) {
    struct buf body = {0};
    struct json_writer w = json_writer_of(&body);
    api_dataset_write(d, &w);
    api_reply_json(call, status, &body);
    store_dataset_done(d);
}

void api_dataset_get(struct http_call *call) {
    struct store_dataset d;
    if (!api_dataset_find(call, &d)) {
        return;
    }
    http_etag(call, d.etag);
    api_dataset_reply(call, 200, &d);
}

void api_dataset_patch(struct http_call *call) {
    struct api_app *app = api_app_of(call);
    struct store_patch patch;
    struct store_dataset d;
    struct problem problem = {0};
    const char *name = http_path_param(call, "dataset");
    if (!api_patch_read(call, &patch)) {
        return;
    }
    struct store_condition condition = api_condition(call);
    const struct store_actor by = api_actor(call);
    if (!store_dataset_patch(app->store, &by, name, &patch, &condition, &d, &problem)) {
        http_reply_problem(call, &problem);
        return;
    }
    http_etag(call, d.etag);
    api_dataset_reply(call, 200, &d);
}

void api_dataset_delete(struct http_call *call) {
    struct problem problem = {0};
    int64_t version;
    if (!read_version(call, &version)) {
        return;
    }
    struct store_condition condition = api_condition(call);
    const struct store_actor by = api_actor(call);
    if (store_dataset_delete(api_app_of(call)->store, &by, http_path_param(call, "dataset"),
                             version, &condition, &problem)) {
        http_reply_empty(call, 204);
    } else {
        http_reply_problem(call, &problem);
    }
}
