/* The table of routes: how each call is routed, what it accepts, and who runs it. openapi.json
 * describes the same calls; test_openapi.c compares the two. Each row has the scope that a token
 * needs for the call (access.h). */
#include "api/api.h"
#include "api/handlers.h"
#include "api/policy.h"
#include "api/predictions/lines.h"

static int64_t max_upload(void *app) {
    return ((const struct api_app *)app)->max_upload;
}

static int64_t max_body(void *app) {
    return ((const struct api_app *)app)->max_body;
}

const struct http_limit api_max_upload = {.bytes = max_upload, .option = "--max-upload"};
static const struct http_limit max_instances = {
    .bytes = max_body,
    .option = "--max-body",
    .advice = "rows as application/x-ndjson may be as many as --max-upload allows, and those of "
              "a stored dataset without limit: upload them and send {\"dataset\":\"NAME\"}"};
static const struct http_limit max_labelled_rows = {
    .bytes = max_body,
    .option = "--max-body",
    .advice = "upload the rows as a dataset and send {\"dataset\":\"NAME\"}"};

/* Query parameters. A route without a list accepts any parameter: a feature of a model is a
 * parameter of its GET …/predict, and health checks of some load balancers append one. */
static const char *const query_none[] = {NULL};
static const char *const query_page[] = {"limit", "after", "fields", NULL};
static const char *const query_datasets[] = {"limit", "after", "fields", "expires", NULL};
static const char *const query_models[] = {"limit", "after", "fields", "expires", "sort", NULL};
static const char *const query_jobs[] = {"limit", "after", "fields", "expires",
                                         "state", "model", NULL};
static const char *const query_audit[] = {"limit", "after",  "fields", "name",
                                          "token", "action", "since",  NULL};
static const char *const query_fields[] = {"fields", NULL};
static const char *const query_version[] = {"version", NULL};
static const char *const query_rows[] = {"version", "offset", "limit", "columns", "label", NULL};
static const char *const query_upload[] = {"encoding",   "decimal",   "thousands",  "strip",
                                           "header",     "delimiter", "skip_rows",  "names",
                                           "duplicates", "missing",   "types",      "label",
                                           "comment",    "on_error",  "zero_based", "expires_in",
                                           NULL};
static const char *const query_preview[] = {"encoding",   "decimal",   "thousands",  "strip",
                                            "header",     "delimiter", "skip_rows",  "names",
                                            "duplicates", "missing",   "types",      "label",
                                            "comment",    "on_error",  "zero_based", "rows",
                                            NULL};
static const char *const query_append[] = {
    "encoding",   "decimal",           "thousands",  "strip",
    "header",     "delimiter",         "skip_rows",  "names",
    "duplicates", "missing",           "comment",    "on_error",
    "zero_based", "allow_type_change", "expires_in", NULL};
static const char *const query_dry_run[] = {"dry_run", NULL};
static const char *const query_wait[] = {"wait", NULL};
static const char *const query_limit[] = {"limit", NULL};
static const char *const query_extra[] = {"extra", NULL};
static const char *const query_promote[] = {"promote", NULL};
static const char *const query_weights[] = {"matrices",        "statistics", "level",
                                            "support_vectors", "expand",     NULL};
static const char *const query_predict[] = {"header",     "delimiter", "skip_rows",  "names",
                                            "duplicates", "decision",  "threshold",  "encoding",
                                            "missing",    "comment",   "decimal",    "thousands",
                                            "strip",      "extra",     "keep",       "output",
                                            "baseline",   "top",       "zero_based", NULL};
static const char *const query_evaluate[] = {"header",     "delimiter",  "skip_rows", "names",
                                             "duplicates", "decision",   "threshold", "encoding",
                                             "missing",    "comment",    "decimal",   "thousands",
                                             "strip",      "extra",      "curves",    "target",
                                             "weight",     "zero_based", NULL};
static const char *const query_transform[] = {"header",     "delimiter", "skip_rows",  "names",
                                              "duplicates", "encoding",  "missing",    "comment",
                                              "decimal",    "thousands", "strip",      "extra",
                                              "keep",       "of",        "zero_based", NULL};

/* Rows of the table. A macro holds what routes of a kind have in common. */
#define READ(path_, operation_, ...)                                                               \
    { .method = "GET", .path = path_, .operation = operation_, __VA_ARGS__ }
/* The handler reads the store, so it may block. */
#define READ_STORE(path_, operation_, ...)                                                         \
    READ(path_, operation_, .where = HTTP_ON_POOL, __VA_ARGS__)
/* … and shows stored data. */
#define READ_DATA(path_, operation_, ...)                                                          \
    READ_STORE(path_, operation_, .scope = HTTP_SCOPE_READ, __VA_ARGS__)
#define READ_JOB(path_, operation_, ...)                                                           \
    READ_DATA(path_, operation_, .cache = "no-store", __VA_ARGS__)
/* A file of the page: not secret, and constant while its path exists. It is compressed on the
 * pool. */
#define READ_FILE(path_, operation_)                                                               \
    READ(path_, operation_, .scope = HTTP_SCOPE_PUBLIC, .handle = api_ui_file,                     \
         .where = HTTP_ON_POOL, .offers = &api_sends_file, .query = query_none)
#define CHANGE(method_, path_, operation_, ...)                                                    \
    {                                                                                              \
        .method = method_, .path = path_, .operation = operation_, .where = HTTP_ON_POOL,          \
        .changes = true, __VA_ARGS__                                                               \
    }
/* The resource has an ETag. */
#define CONDITIONS (HTTP_IF_MATCH | HTTP_IF_NONE_MATCH)
#define CHANGE_TAGGED(method_, path_, operation_, ...)                                             \
    CHANGE(method_, path_, operation_, .scope = HTTP_SCOPE_WRITE, .conditions = CONDITIONS,        \
           __VA_ARGS__)
/* A computation with the live version of a model, and the same computation with a given version. */
#define COMPUTE(method_, call_, operation_, ...)                                                   \
    {.method = method_,                                                                            \
     .path = "/v1/models/{model}" call_,                                                           \
     .operation = operation_,                                                                      \
     .cache = "no-store",                                                                          \
     .scope = HTTP_SCOPE_PREDICT,                                                                  \
     __VA_ARGS__},                                                                                 \
    {                                                                                              \
        .method = method_, .path = "/v1/models/{model}/versions/{version}" call_,                  \
        .operation = operation_ "Version", .cache = "no-store", .scope = HTTP_SCOPE_PREDICT,       \
        __VA_ARGS__                                                                                \
    }
#define COMPUTE_ROWS(call_, operation_, ...)                                                       \
    COMPUTE("POST", call_, operation_, .body = HTTP_BODY_MEMORY, .plain = true, __VA_ARGS__)

/* Members of struct http_route that several routes share. TABLE_BODY: the body is a table.
 * OBJECT_BODY: the body is a JSON object. */
#define TABLE_BODY(sink_)                                                                          \
    .body = HTTP_BODY_STREAM, .sink = sink_, .limit = &api_max_upload, .accepts = &api_takes_table
#define OBJECT_BODY .body = HTTP_BODY_MEMORY, .accepts = &api_takes_object

const struct http_route api_routes[] = {
    /* datasets */
    READ_DATA("/v1/datasets", "listDatasets", .handle = api_datasets_list,
              .offers = &api_sends_list, .query = query_datasets),
    READ_DATA("/v1/datasets/{dataset}", "getDataset", .handle = api_dataset_get,
              .query = query_version, .conditions = CONDITIONS),
    READ_DATA("/v1/datasets/{dataset}/versions", "listDatasetVersions",
              .handle = api_dataset_versions, .offers = &api_sends_list, .query = query_page),
    READ_DATA("/v1/datasets/{dataset}/versions/{version}", "getDatasetVersion",
              .handle = api_dataset_get, .query = query_none, .conditions = CONDITIONS),
    READ_DATA("/v1/datasets/{dataset}/rows", "getDatasetRows", .handle = api_dataset_rows,
              .query = query_rows, .offers = &api_sends_rows, .conditions = CONDITIONS),
    CHANGE_TAGGED("PUT", "/v1/datasets/{dataset}", "putDataset", TABLE_BODY(&api_dataset_upload),
                  .query = query_upload, .creates = true),
    CHANGE_TAGGED("POST", "/v1/datasets/{dataset}/rows", "appendDatasetRows",
                  TABLE_BODY(&api_dataset_append), .query = query_append, .keyed = true),
    {.method = "POST",
     .path = "/v1/datasets:preview",
     .operation = "previewDataset",
     TABLE_BODY(&api_dataset_preview),
     .scope = HTTP_SCOPE_WRITE,
     .query = query_preview},
    CHANGE_TAGGED("PATCH", "/v1/datasets/{dataset}", "patchDataset", .handle = api_dataset_patch,
                  OBJECT_BODY, .query = query_none),
    CHANGE_TAGGED("DELETE", "/v1/datasets/{dataset}", "deleteDataset", .offers = &api_sends_any,
                  .handle = api_dataset_delete, .query = query_version),
    CHANGE_TAGGED("DELETE", "/v1/datasets/{dataset}/versions/{version}", "deleteDatasetVersion",
                  .offers = &api_sends_any, .handle = api_dataset_delete, .query = query_none),

    /* jobs */
    CHANGE("POST", "/v1/jobs", "createJob", .scope = HTTP_SCOPE_TRAIN, .handle = api_jobs_create,
           OBJECT_BODY, .query = query_dry_run, .cache = "no-store", .keyed = true),
    READ_JOB("/v1/jobs", "listJobs", .handle = api_jobs_list, .offers = &api_sends_list,
             .query = query_jobs),
    READ_JOB("/v1/jobs/{id}", "getJob", .handle = api_job_get, .query = query_wait,
             .conditions = CONDITIONS),
    READ_JOB("/v1/jobs/{id}/events", "getJobEvents", .handle = api_job_events,
             .offers = &api_sends_events, .query = query_none),
    READ_JOB("/v1/jobs/{id}/history", "getJobHistory", .handle = api_job_history,
             .offers = &api_sends_history, .query = query_none),
    READ_JOB("/v1/jobs/{id}/leaderboard", "getJobLeaderboard", .handle = api_job_leaderboard,
             .offers = &api_sends_leaderboard, .query = query_limit),
    READ_JOB("/v1/jobs/{id}/predictions", "getJobPredictions", .handle = api_job_predictions,
             .offers = &api_sends_held_out, .query = query_none, .conditions = CONDITIONS),
    CHANGE("POST", "/v1/jobs/{id}/cancel", "cancelJob", .scope = HTTP_SCOPE_TRAIN,
           .handle = api_job_cancel, .query = query_none, .cache = "no-store", .keyed = true,
           .conditions = CONDITIONS),
    CHANGE("DELETE", "/v1/jobs/{id}", "deleteJob", .scope = HTTP_SCOPE_TRAIN,
           .offers = &api_sends_any, .handle = api_job_delete, .query = query_none,
           .cache = "no-store", .conditions = CONDITIONS),

    /* models */
    READ_DATA("/v1/models", "listModels", .handle = api_models_list, .offers = &api_sends_list,
              .query = query_models),
    READ_DATA("/v1/models/{model}", "getModel", .handle = api_model_get, .query = query_fields,
              .conditions = CONDITIONS),
    READ_DATA("/v1/models/{model}/versions", "listModelVersions", .handle = api_model_versions,
              .offers = &api_sends_list, .query = query_page),
    READ_DATA("/v1/models/{model}/versions/{version}", "getModelVersion", .handle = api_model_get,
              .query = query_fields, .conditions = CONDITIONS),
    READ_STORE("/v1/models/{model}/schema", "getModelSchema", .scope = HTTP_SCOPE_PREDICT,
               .handle = api_model_schema, .query = query_none, .conditions = CONDITIONS),
    READ_STORE("/v1/models/{model}/versions/{version}/schema", "getModelVersionSchema",
               .scope = HTTP_SCOPE_PREDICT, .handle = api_model_schema, .query = query_none,
               .conditions = CONDITIONS),
    CHANGE_TAGGED("PUT", "/v1/models/{model}/live", "setLiveVersion", .handle = api_model_set_live,
                  OBJECT_BODY, .query = query_none),
    CHANGE_TAGGED("PATCH", "/v1/models/{model}", "patchModel", .handle = api_model_patch,
                  OBJECT_BODY, .query = query_none),
    CHANGE_TAGGED("DELETE", "/v1/models/{model}", "deleteModel", .offers = &api_sends_any,
                  .handle = api_model_delete, .query = query_none),
    CHANGE_TAGGED("DELETE", "/v1/models/{model}/versions/{version}", "deleteModelVersion",
                  .offers = &api_sends_any, .handle = api_model_delete, .query = query_promote),
    READ_DATA("/v1/models/{model}/decision", "getDecision", .handle = api_model_decision_get,
              .query = query_none, .conditions = CONDITIONS),
    CHANGE_TAGGED("PUT", "/v1/models/{model}/decision", "putDecision",
                  .handle = api_model_decision_put, OBJECT_BODY, .query = query_none),
    CHANGE_TAGGED("DELETE", "/v1/models/{model}/decision", "deleteDecision",
                  .offers = &api_sends_any, .handle = api_model_decision_delete,
                  .query = query_none),
    READ_DATA("/v1/models/{model}/versions/{version}/decision", "getDecisionVersion",
              .handle = api_model_decision_get, .query = query_none, .conditions = CONDITIONS),
    CHANGE_TAGGED("PUT", "/v1/models/{model}/versions/{version}/decision", "putDecisionVersion",
                  .handle = api_model_decision_put, OBJECT_BODY, .query = query_none),
    CHANGE_TAGGED("DELETE", "/v1/models/{model}/versions/{version}/decision",
                  "deleteDecisionVersion", .offers = &api_sends_any,
                  .handle = api_model_decision_delete, .query = query_none),
    READ_DATA("/v1/models/{model}/weights", "getModelWeights", .handle = api_model_weights,
              .query = query_weights, .conditions = CONDITIONS, .offers = &api_sends_weights),
    READ_DATA("/v1/models/{model}/versions/{version}/weights", "getModelVersionWeights",
              .handle = api_model_weights, .query = query_weights, .conditions = CONDITIONS,
              .offers = &api_sends_weights),
    COMPUTE_ROWS("/predict", "predict", .limit = &max_instances, .where = HTTP_ON_IO,
                 .handle = api_model_predict, .sink = &api_predict_lines, .query = query_predict,
                 .accepts = &api_takes_instances, .offers = &api_sends_answers),
    COMPUTE("GET", "/predict", "predictOne", .where = HTTP_ON_IO, .handle = api_model_predict_query,
            .offers = &api_sends_answers),
    COMPUTE_ROWS("/evaluate", "evaluate", .limit = &max_labelled_rows, .where = HTTP_ON_POOL,
                 .handle = api_model_evaluate, .offers = &api_sends_metrics,
                 .query = query_evaluate, .accepts = &api_takes_labelled_rows),
    COMPUTE("POST", "/importance", "importance", .where = HTTP_ON_POOL,
            .handle = api_model_importance, OBJECT_BODY, .query = query_none),
    COMPUTE("POST", "/evaluate_grid", "evaluateGrid", .where = HTTP_ON_POOL,
            .handle = api_model_evaluate_grid, OBJECT_BODY, .query = query_extra,
            .offers = &api_sends_grid),
    COMPUTE("POST", "/projection_curve", "projectionCurve", .where = HTTP_ON_POOL,
            .handle = api_model_projection_curve, OBJECT_BODY, .query = query_none),
    COMPUTE("POST", "/loss_grid", "lossGrid", .where = HTTP_ON_POOL, .handle = api_model_loss_grid,
            OBJECT_BODY, .query = query_none),
    COMPUTE_ROWS("/transform", "transform", .limit = &max_instances, .where = HTTP_ON_POOL,
                 .handle = api_model_transform, .sink = &api_transform_lines,
                 .query = query_transform, .accepts = &api_takes_instances,
                 .offers = &api_sends_answers),

    {.method = "POST",
     .path = "/v1/compare",
     .operation = "compareModels",
     .scope = HTTP_SCOPE_PREDICT,
     .where = HTTP_ON_POOL,
     .handle = api_compare,
     OBJECT_BODY,
     .query = query_none,
     .cache = "no-store"},

    /* the catalogue, the problems and the manual: constants of the binary */
    READ("/v1/algorithms", "listAlgorithms", .scope = HTTP_SCOPE_ANY, .handle = api_algorithms_list,
         .offers = &api_sends_list, .query = query_fields),
    READ("/v1/algorithms/{algorithm}", "getAlgorithm", .scope = HTTP_SCOPE_ANY,
         .handle = api_algorithm_get, .query = query_none),
    READ("/problems", "listProblems", .scope = HTTP_SCOPE_PUBLIC, .handle = api_problems_list,
         .offers = &api_sends_list, .query = query_fields),
    READ("/problems/{name}", "getProblem", .scope = HTTP_SCOPE_PUBLIC, .handle = api_problem_get,
         .query = query_none),
    READ("/openapi.json", "getOpenApi", .scope = HTTP_SCOPE_ANY, .handle = api_openapi,
         .query = query_none),
    READ("/docs", "getDocs", .scope = HTTP_SCOPE_PUBLIC, .handle = api_docs_index,
         .offers = &api_sends_page, .query = query_none, .conditions = CONDITIONS),
    READ("/docs/{page}", "getDocsPage", .scope = HTTP_SCOPE_PUBLIC, .handle = api_docs_page,
         .offers = &api_sends_pages, .query = query_none, .conditions = CONDITIONS),

    /* the page */
    READ("/", "getRoot", .scope = HTTP_SCOPE_ANY, .handle = api_root, .query = query_none,
         .offers = &api_sends_root, .conditions = CONDITIONS),
    READ_FILE("/ui/{digest}/{file}", "getPageFile"),
    READ_FILE("/ui/{digest}/{folder}/{file}", "getPageFileInFolder"),
    READ_FILE("/ui/{digest}/{folder}/{subfolder}/{file}", "getPageFileInSubfolder"),

    /* the daemon */
    READ("/healthz", "getHealth", .scope = HTTP_SCOPE_PUBLIC, .where = HTTP_ON_IO,
         .offers = &api_sends_any, .handle = api_healthz, .cache = "no-store", .quiet = true,
         .reach = HTTP_REACH_RESERVED),
    READ("/readyz", "getReadiness", .scope = HTTP_SCOPE_PUBLIC, .where = HTTP_ON_OPERATIONS,
         .offers = &api_sends_any, .handle = api_readyz, .cache = "no-store", .quiet = true,
         .reach = HTTP_REACH_RESERVED),
    READ("/metrics", "getMetrics", .where = HTTP_ON_OPERATIONS, .offers = &api_sends_series,
         .handle = api_metrics, .cache = "no-store", .quiet = true, .scope = HTTP_SCOPE_READ,
         .reach = HTTP_REACH_HEALTH),
    READ_STORE("/v1/limits", "getLimits", .scope = HTTP_SCOPE_ANY, .handle = api_limits,
               .cache = "no-store", .query = query_none),
    READ_STORE("/v1/audit", "listAudit", .scope = HTTP_SCOPE_ADMIN, .handle = api_audit_list,
               .cache = "no-store", .offers = &api_sends_list, .query = query_audit),
    READ_STORE("/v1/admin/backup", "getBackup", .scope = HTTP_SCOPE_ADMIN, .handle = api_backup,
               .offers = &api_sends_database, .cache = "no-store", .query = query_none,
               .plain = true),
    READ("/version", "getVersion", .scope = HTTP_SCOPE_ANY, .handle = api_version),
};
const size_t api_n_routes = sizeof api_routes / sizeof api_routes[0];
