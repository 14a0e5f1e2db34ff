/* POST …/importance: permutation importance on a stored dataset. Pool threads. */
#include "api/access.h"
#include "api/handlers.h"
#include "api/predictions/evaluation.h"
#include "api/predictions/instances.h"
#include "api/predictions/outputs.h"
#include "api/predictions/plan.h"
#include "api/predictions/work.h"
#include "api/support.h"
#include "base/json/json_read.h"
#include "formats/instances/row_notes.h"
#include "jobs/documents.h"
#include "jobs/request/job_request.h"

#include <math.h>
#include <stdlib.h>

/* Limit of the work: some 10 minutes on one thread. */
#define IMPORTANCE_MAX_NS 6e11
#define CELL_NS 25.0 /* time to permute, decode and encode a cell */

struct importance_request {
    struct http_call *call;
    const dn_model *model;
    const char *dataset, *target; /* target NULL: that of the model */
    struct problem problem;
    const dn_run *run; /* of the computation */
    size_t n_rows;     /* rows of the dataset */
    dn_importance *importance;
    dn_importance_options options;
    int64_t seed;
};

/* Reads the body. Returns false if it has replied. */
static bool importance_read(struct http_call *call, struct importance_request *out) {
    static const char *const known[] = {"dataset", "target", "repeats", "metric", "seed", NULL};
    struct problem problem = {0};
    const char *dataset = NULL, *target = NULL;
    size_t metric = 0;
    int64_t repeats = 5;
    json_t *root = api_body_object(call);
    if (root == NULL) {
        return false;
    }
    json_refuse_unknown(root, known, "", &problem);
    json_read_string(root, "dataset", true, "", &dataset, &problem);
    json_read_string(root, "target", false, "", &target, &problem);
    json_read_int(root, "repeats", false, "", 1, 1000, &repeats, &problem);
    json_read_int(root, "seed", false, "", 0, JSON_READ_EXACT, &out->seed, &problem);
    jobs_metric_read(root, "", &metric, &problem);
    out->options.repeats = (size_t)repeats;
    out->options.metric = dn_metric_name(metric);
    out->dataset = dataset == NULL ? NULL : arena_strdup(http_arena(call), dataset);
    out->target = target == NULL ? NULL : arena_strdup(http_arena(call), target);
    if (!problem.type && (out->dataset == NULL || (target != NULL && out->target == NULL))) {
        problem_set(&problem, PROBLEM_UNAVAILABLE, "no memory to evaluate");
    }
    json_decref(root);
    if (problem.type) {
        http_reply_problem(call, &problem);
        return false;
    }
    return true;
}

struct importance_column {
    const char *name;
    double mean, deviation;
    size_t input;
};

/* Orders columns by importance: the largest mean first, undefined means last, equal means in the
 * order of the model. */
static int compare_importance(const void *a, const void *b) {
    const struct importance_column *x = a, *y = b;
    if (isnan(x->mean) != isnan(y->mean)) {
        return isnan(x->mean) ? 1 : -1;
    }
    if (x->mean != y->mean && !isnan(x->mean)) {
        return x->mean > y->mean ? -1 : 1;
    }
    return x->input < y->input ? -1 : 1;
}

/* Returns the columns in the order of the answer, in the arena of the call. NULL: no memory. */
static struct importance_column *sort_importance(struct http_call *call,
                                                 const dn_importance *importance,
                                                 const dn_encoder *encoder) {
    struct importance_column *out =
        arena_alloc(http_arena(call), (importance->n_inputs + 1) * sizeof *out);
    if (out == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < importance->n_inputs; i++) {
        out[i] = (struct importance_column){.name = dn_encoder_input(encoder, i)->name,
                                            .mean = importance->mean[i],
                                            .deviation = importance->deviation[i],
                                            .input = i};
    }
    qsort(out, importance->n_inputs, sizeof *out, compare_importance);
    return out;
}

static void reply_importance(struct http_call *call, const struct serving_model *m,
                             struct importance_request *r, const struct row_notes *notes) {
    const struct importance_column *columns =
        sort_importance(call, r->importance, dn_model_encoder(m->model));
    struct buf body = {0};
    struct json_writer w = json_writer_of(&body);
    if (columns == NULL) {
        problem_set(&r->problem, PROBLEM_UNAVAILABLE, "no memory for the importances");
        http_reply_problem(call, &r->problem);
        return;
    }
    json_begin_object(&w);
    json_kv_string(&w, "model", m->name);
    json_kv_int(&w, "version", m->version);
    json_kv_string(&w, "metric", r->options.metric);
    json_kv_double(&w, "base", r->importance->base);
    json_kv_int(&w, "repeats", (int64_t)r->options.repeats);
    json_kv_int(&w, "seed", r->seed);
    json_kv_begin_array(&w, "columns");
    for (size_t i = 0; i < r->importance->n_inputs; i++) {
        json_begin_object(&w);
        json_kv_string(&w, "column", columns[i].name);
        json_kv_double(&w, "mean", columns[i].mean);
        json_kv_double(&w, "std", columns[i].deviation);
        json_end_object(&w);
    }
    json_end_array(&w);
    row_notes_write(notes, dn_model_encoder(m->model), &w);
    json_end_object(&w);
    api_instances_notes(call, m->name, m->model, notes);
    api_reply_json(call, 200, &body);
}

/* ---- the computation ---- */

/* Refuses importances whose computation would occupy a thread for too long. */
static bool importance_fits(struct importance_request *r, const dn_table_source *table) {
    const double inputs = (double)dn_encoder_n_inputs(dn_model_encoder(r->model)),
                 row = CELL_NS * inputs + api_outputs_cost(r->model, API_OUTPUTS_USUAL),
                 repeat = (double)table->n_rows * row * inputs,
                 most = floor(IMPORTANCE_MAX_NS / repeat);
    if ((double)r->options.repeats <= most) {
        return true;
    }
    if (most < 1) {
        return problem_add(&r->problem, PROBLEM_INVALID, "/dataset",
                           "%zu rows are too many to permute each of %.0f columns: at most %.0f "
                           "rows with this model",
                           table->n_rows, inputs, floor(IMPORTANCE_MAX_NS / (row * inputs)));
    }
    return problem_add(&r->problem, PROBLEM_INVALID, "/repeats",
                       "must be at most %.0f for %zu rows and %.0f columns with this model (got "
                       "%zu)",
                       most, table->n_rows, inputs, r->options.repeats);
}

static dn_status importance_stop(const dn_run *run) {
    const struct importance_request *r = run->ctx;
    return r->run->stop(r->run);
}

/* Charges the rows of the next evaluation. Those of the first one are charged while they are
 * read. */
static void importance_charge(const dn_run *run, const dn_progress *progress) {
    const struct importance_request *r = run->ctx;
    if (progress->iteration < progress->max_iterations) {
        api_charge_rows(r->call, (int64_t)r->n_rows);
    }
}

static dn_status importance_compute(void *arg, const dn_table_source *table, const char *target,
                                    const dn_run *run, dn_error *err) {
    struct importance_request *r = arg;
    dn_run seeded = *run;
    seeded.seed = (uint64_t)r->seed;
    seeded.stop = importance_stop;
    seeded.progress = importance_charge;
    seeded.ctx = r;
    r->run = run;
    r->n_rows = table->n_rows;
    r->options.target = target;
    return importance_fits(r, table)
               ? dn_model_importance(r->model, table, &r->options, &seeded, &r->importance, err)
               : DN_ERR_DATA;
}

void api_model_importance(struct http_call *call) {
    static const struct instances_options as_trained = {0};
    struct api_app *app = api_app_of(call);
    struct importance_request r = {.call = call, .seed = 1};
    struct row_notes *notes = NULL;
    const struct serving_model *m = api_model_take(call);
    if (!m) {
        return;
    }
    const double n_inputs = (double)dn_encoder_n_inputs(dn_model_encoder(m->model));
    if (!importance_read(call, &r) ||
        !api_may_work(call, api_stored_work(call, m, (double)r.options.repeats * n_inputs),
                      api_model_importance)) {
        serving_release(app->serving, m);
        return;
    }
    const struct dataset_work work = {.dataset = r.dataset,
                                      .target = r.target,
                                      .schema = predict_plan_of(m)->schema,
                                      .options = &as_trained,
                                      .notes = &notes,
                                      .compute = importance_compute,
                                      .arg = &r};
    r.model = m->model;
    if (api_dataset_work(call, m->model, &work, &r.problem)) {
        reply_importance(call, m, &r, notes);
    } else {
        http_reply_problem(call, &r.problem);
    }
    dn_importance_free(r.importance);
    row_notes_free(notes);
    serving_release(app->serving, m);
}
