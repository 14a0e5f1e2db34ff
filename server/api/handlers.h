/* The handlers of the route table (routes.c), by resource. */
#ifndef API_HANDLERS_H
#define API_HANDLERS_H

#include "http/http.h"
#include "store/store.h"

/* Limits of bodies. */
extern const struct http_limit api_max_upload; /* --max-upload */

/* datasets */
void api_datasets_list(struct http_call *call);
void api_dataset_get(struct http_call *call);
void api_dataset_versions(struct http_call *call);
void api_dataset_rows(struct http_call *call);
void api_dataset_patch(struct http_call *call);
void api_dataset_delete(struct http_call *call);
extern const struct http_sink api_dataset_upload;
extern const struct http_sink api_dataset_append;
extern const struct http_sink api_dataset_preview;
/* Looks up the dataset of the path, in the version of the path or of ?version=. Returns false if it
 * has replied. */
bool api_dataset_find(struct http_call *call, struct store_dataset *out);
/* Replies with the dataset and frees it. */
void api_dataset_reply(struct http_call *call, int status, struct store_dataset *d);

/* jobs */
void api_jobs_create(struct http_call *call);
void api_jobs_list(struct http_call *call);
void api_job_get(struct http_call *call);
void api_job_events(struct http_call *call);
void api_job_history(struct http_call *call);
void api_job_leaderboard(struct http_call *call);
void api_job_predictions(struct http_call *call);
void api_job_cancel(struct http_call *call);
void api_job_delete(struct http_call *call);
/* Looks up the job of the path. Returns false if it has replied. */
bool api_job_find(struct http_call *call, struct store_job *out);
/* Replies with the job and frees it. */
void api_job_reply(struct http_call *call, int status, struct store_job *j);

/* models */
void api_models_list(struct http_call *call);
void api_model_get(struct http_call *call);
void api_model_schema(struct http_call *call);
void api_model_decision_put(struct http_call *call);
void api_model_decision_get(struct http_call *call);
void api_model_decision_delete(struct http_call *call);
void api_model_versions(struct http_call *call);
void api_model_set_live(struct http_call *call);
void api_model_patch(struct http_call *call);
void api_model_delete(struct http_call *call);
void api_model_weights(struct http_call *call);
void api_model_predict(struct http_call *call);
void api_model_predict_query(struct http_call *call);
void api_model_evaluate(struct http_call *call);
void api_model_importance(struct http_call *call);
void api_compare(struct http_call *call);
void api_model_evaluate_grid(struct http_call *call);
void api_model_projection_curve(struct http_call *call);
void api_model_loss_grid(struct http_call *call);
void api_model_transform(struct http_call *call);
/* Returns the model of the path, which the caller releases with serving_release; NULL if it has
 * replied. Must not be called on an I/O thread, as the model may have to be read from the store. */
const struct serving_model *api_model_take(struct http_call *call);

/* the catalogue, the problems, the daemon */
void api_algorithms_list(struct http_call *call);
void api_algorithm_get(struct http_call *call);
void api_problems_list(struct http_call *call);
void api_problem_get(struct http_call *call);
void api_healthz(struct http_call *call);
void api_readyz(struct http_call *call);
void api_metrics(struct http_call *call);
void api_root(struct http_call *call);
void api_version(struct http_call *call);
void api_limits(struct http_call *call);
void api_audit_list(struct http_call *call);
void api_backup(struct http_call *call);
void api_openapi(struct http_call *call);
void api_docs_index(struct http_call *call);
void api_docs_page(struct http_call *call);
/* Whether the call is answered with the page: GET / of a client that prefers text/html to JSON. The
 * page and its files are public. */
bool api_wants_page(const struct http_call *call);
/* Appends the element of HTML that names the icon. root: relative path of "/", with a slash at its
 * end, or "". */
void api_ui_put_icon(struct buf *out, const struct http_call *call, const char *root);
void api_ui_page(struct http_call *call);
void api_ui_file(struct http_call *call);

#endif
