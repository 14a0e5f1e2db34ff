/* The one table of routes. What each call means is in API terms in openapi.json, which a test holds
 * against this table in both directions. */
#include "api/api.h"
#include "api/handlers.h"
#include "api/predictions/lines.h"

static int64_t max_upload(void *app) {
    return ((const struct api_app *)app)->max_upload;
}

static int64_t max_body(void *app) {
    return ((const struct api_app *)app)->max_body;
}

/* Rows of the table by how the body is taken and where the handler runs. */
#define READ(path_, operation_, handle_)                                                           \
    {                                                                                              \
        .method = "GET", .path = path_, .operation = operation_, .body = HTTP_BODY_NONE,           \
        .where = HTTP_ON_POOL, .handle = handle_                                                   \
    }
#define READ_FAST(path_, operation_, handle_, quiet_)                                              \
    {                                                                                              \
        .method = "GET", .path = path_, .operation = operation_, .where = HTTP_ON_IO,              \
        .handle = handle_, .quiet = quiet_                                                         \
    }
#define ROW_IN(path_, operation_)                                                                  \
    {                                                                                              \
        .method = "GET", .path = path_, .operation = operation_, .where = HTTP_ON_IO,              \
        .handle = api_model_predict_query, .lasting = true                                         \
    }
#define CHANGE(method_, path_, operation_, body_, handle_)                                         \
    {                                                                                              \
        .method = method_, .path = path_, .operation = operation_, .body = body_,                  \
        .where = HTTP_ON_POOL, .handle = handle_, .changes = true                                  \
    }
#define GRID(path_, operation_)                                                                    \
    {                                                                                              \
        .method = "POST", .path = path_, .operation = operation_, .body = HTTP_BODY_MEMORY,        \
        .where = HTTP_ON_POOL, .handle = api_model_evaluate_grid, .lasting = true                  \
    }
#define ROWS_IN(path_, operation_, where_, handle_, sink_)                                         \
    {                                                                                              \
        .method = "POST", .path = path_, .operation = operation_, .body = HTTP_BODY_MEMORY,        \
        .where = where_, .handle = handle_, .body_limit = max_body, .limit_option = "--max-body",  \
        .plain = true, .lasting = true, .sink = sink_                                              \
    }

const struct http_route api_routes[] = {
    /* datasets */
    READ("/v1/datasets", "listDatasets", api_datasets_list),
    READ("/v1/datasets/{dataset}", "getDataset", api_dataset_get),
    READ("/v1/datasets/{dataset}/versions", "listDatasetVersions", api_dataset_versions),
    READ("/v1/datasets/{dataset}/versions/{version}", "getDatasetVersion", api_dataset_get),
    READ("/v1/datasets/{dataset}/rows", "getDatasetRows", api_dataset_rows),
    {.method = "PUT",
     .path = "/v1/datasets/{dataset}",
     .operation = "putDataset",
     .body = HTTP_BODY_STREAM,
     .where = HTTP_ON_POOL,
     .sink = &api_dataset_upload,
     .changes = true,
     .body_limit = max_upload,
     .limit_option = "--max-upload"},
    {.method = "POST",
     .path = "/v1/datasets/{dataset}/rows",
     .operation = "appendDatasetRows",
     .body = HTTP_BODY_STREAM,
     .where = HTTP_ON_POOL,
     .sink = &api_dataset_append,
     .changes = true,
     .body_limit = max_upload,
     .limit_option = "--max-upload"},
    {.method = "POST",
     .path = "/v1/datasets:preview",
     .operation = "previewDataset",
     .body = HTTP_BODY_STREAM,
     .where = HTTP_ON_POOL,
     .sink = &api_dataset_preview,
     .body_limit = max_upload,
     .limit_option = "--max-upload"},
    CHANGE("PATCH", "/v1/datasets/{dataset}", "patchDataset", HTTP_BODY_MEMORY, api_dataset_patch),
    CHANGE("DELETE", "/v1/datasets/{dataset}", "deleteDataset", HTTP_BODY_NONE, api_dataset_delete),
    CHANGE("DELETE", "/v1/datasets/{dataset}/versions/{version}", "deleteDatasetVersion",
           HTTP_BODY_NONE, api_dataset_delete),

    /* jobs */
    CHANGE("POST", "/v1/jobs", "createJob", HTTP_BODY_MEMORY, api_jobs_create),
    READ("/v1/jobs", "listJobs", api_jobs_list),
    READ("/v1/jobs/{id}", "getJob", api_job_get),
    READ("/v1/jobs/{id}/events", "getJobEvents", api_job_events),
    READ("/v1/jobs/{id}/history", "getJobHistory", api_job_history),
    CHANGE("POST", "/v1/jobs/{id}/cancel", "cancelJob", HTTP_BODY_NONE, api_job_cancel),
    CHANGE("DELETE", "/v1/jobs/{id}", "deleteJob", HTTP_BODY_NONE, api_job_delete),

    /* models */
    READ("/v1/models", "listModels", api_models_list),
    READ("/v1/models/{model}", "getModel", api_model_get),
    READ("/v1/models/{model}/versions", "listModelVersions", api_model_versions),
    READ("/v1/models/{model}/versions/{version}", "getModelVersion", api_model_get),
    CHANGE("PUT", "/v1/models/{model}/live", "setLiveVersion", HTTP_BODY_MEMORY,
           api_model_set_live),
    CHANGE("PATCH", "/v1/models/{model}", "patchModel", HTTP_BODY_MEMORY, api_model_patch),
    CHANGE("DELETE", "/v1/models/{model}", "deleteModel", HTTP_BODY_NONE, api_model_delete),
    CHANGE("DELETE", "/v1/models/{model}/versions/{version}", "deleteModelVersion", HTTP_BODY_NONE,
           api_model_delete),
    READ("/v1/models/{model}/weights", "getModelWeights", api_model_weights),
    READ("/v1/models/{model}/versions/{version}/weights", "getModelVersionWeights",
         api_model_weights),
    ROWS_IN("/v1/models/{model}/predict", "predict", HTTP_ON_IO, api_model_predict,
            &api_predict_lines),
    ROWS_IN("/v1/models/{model}/versions/{version}/predict", "predictVersion", HTTP_ON_IO,
            api_model_predict, &api_predict_lines),
    ROW_IN("/v1/models/{model}/predict", "predictOne"),
    ROW_IN("/v1/models/{model}/versions/{version}/predict", "predictOneVersion"),
    ROWS_IN("/v1/models/{model}/evaluate", "evaluate", HTTP_ON_POOL, api_model_evaluate, NULL),
    ROWS_IN("/v1/models/{model}/versions/{version}/evaluate", "evaluateVersion", HTTP_ON_POOL,
            api_model_evaluate, NULL),
    GRID("/v1/models/{model}/evaluate_grid", "evaluateGrid"),
    GRID("/v1/models/{model}/versions/{version}/evaluate_grid", "evaluateGridVersion"),
    ROWS_IN("/v1/models/{model}/transform", "transform", HTTP_ON_POOL, api_model_transform,
            &api_transform_lines),
    ROWS_IN("/v1/models/{model}/versions/{version}/transform", "transformVersion", HTTP_ON_POOL,
            api_model_transform, &api_transform_lines),

    /* the catalogue and the problems: constants of the binary */
    READ_FAST("/v1/algorithms", "listAlgorithms", api_algorithms_list, false),
    READ_FAST("/v1/algorithms/{id}", "getAlgorithm", api_algorithm_get, false),
    READ_FAST("/problems", "listProblems", api_problems_list, false),
    READ_FAST("/problems/{name}", "getProblem", api_problem_get, false),

    /* the daemon */
    READ_FAST("/healthz", "getHealth", api_healthz, true),
    {.method = "GET",
     .path = "/readyz",
     .operation = "getReadiness",
     .where = HTTP_ON_OPERATIONS,
     .handle = api_readyz,
     .quiet = true},
    {.method = "GET",
     .path = "/metrics",
     .operation = "getMetrics",
     .where = HTTP_ON_OPERATIONS,
     .handle = api_metrics,
     .quiet = true},
    READ_FAST("/version", "getVersion", api_version, false),
    READ_FAST("/openapi.json", "getOpenApi", api_openapi, false),
    READ_FAST("/docs", "getDocs", api_docs_index, false),
    READ_FAST("/docs/{page}", "getDocsPage", api_docs_page, false),
};
const size_t api_n_routes = sizeof api_routes / sizeof api_routes[0];
