/* PUT /v1/datasets/{dataset}: stores the body as a new version. */
#include "api/datasets/dataset_body.h"
#include "api/documents.h"
#include "api/handlers.h"
#include "api/support.h"
#include "base/log/log.h"

/* Checks If-Match and If-None-Match, and whether the name may expire, before the body is sent. The
 * transaction that publishes the version checks them again. On a pool thread. */
static void upload_judge(struct http_call *call) {
    const struct dataset_body *b = http_state(call);
    const struct store_condition condition = api_condition(call);
    const char *name = http_path_param(call, "dataset");
    struct problem problem = {0};
    struct store_dataset now;
    bool there = false;
    const bool good =
        store_dataset_try_newest(api_app_of(call)->store, name, &now, &there, &problem) &&
        store_condition_check(&condition, there ? now.etag : NULL, "dataset", name, &problem) &&
        (!there || store_may_expire("dataset", name, now.expires_at, b->expires_in, &problem));
    if (there) {
        store_dataset_done(&now);
    }
    if (!good) {
        http_reply_problem(call, &problem);
    }
}

static bool upload_begin(struct http_call *call) {
    struct table_options options = {0};
    struct dataset_options texts;
    if (!dataset_body_options(call, &options, &texts)) {
        return false;
    }
    struct dataset_body *b = dataset_body_new(call);
    if (!b) {
        return false;
    }
    const struct table_sink sink = dataset_body_sink(b);
    b->given = texts;
    b->table = table_new(&options, &sink);
    b->sha256 = hash_sha256_new();
    if (!b->table || !b->sha256) {
        http_fail(call, PROBLEM_UNAVAILABLE, "no memory for the upload");
        return false;
    }
    const struct store_condition condition = api_condition(call);
    if (condition.if_match != NULL || condition.if_none_match != NULL || b->expires_in != 0) {
        http_defer(call, upload_judge);
    }
    return true;
}

static void upload_end(struct http_call *call) {
    struct dataset_body *b = http_state(call);
    struct problem problem = {0};
    struct store_dataset_published published;
    struct store_dataset d;
    bool good = dataset_body_publish(call, b, &published, &d, &problem);
    dataset_body_release(b);
    if (!good) {
        http_reply_problem(call, &problem);
        return;
    }
    log_info("dataset.stored", log_str("request", http_request_id(call)),
             log_str("dataset", d.name), log_int("version", d.version), log_int("rows", d.n_rows),
             log_int("columns", d.n_cols), log_int("unchanged", published.unchanged));
    if (published.unchanged) {
        http_reply_header(call, "Discern-Unchanged", "true");
    }
    dataset_body_reply(call, b, published.created ? 201 : 200, &d);
}

const struct http_sink api_dataset_upload = {.begin = upload_begin,
                                             .seen = dataset_body_seen,
                                             .data = dataset_body_data,
                                             .end = upload_end,
                                             .abort = dataset_body_abort,
                                             .holds = DATASET_BODY_HOLDS};
