/* POST …/evaluate: metrics of a model on labelled rows, in the body or in a stored dataset. Runs on a pool thread. */
#include "api/handlers.h"
#include "api/support.h"
#include "base/json_read.h"
#include "jobs/budget.h"
#include "jobs/documents.h"
#include "jobs/source.h"
#include "wire/wire.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Read by nobody, or by one who asked while the daemon was going down. */
#define NOBODY_WAITS "the evaluation was given up: the client has closed its side, or the daemon is shutting down"

enum { SLICE = 1024, REFERENCE_BYTES = 4096, KEEP_BYTES = 16 * 1024 * 1024 };

static void reply_metrics(struct http_call *call, const struct serving_model *m, const dn_metrics *metrics) {
    struct buf body = {0};
    struct json_writer w;
    json_writer_init(&w, &body);
    json_begin_object(&w);
    json_kv_string(&w, "model", m->name);
    json_kv_int(&w, "version", m->version);
    json_kv_double(&w, "rows", metrics->rows);
    json_put_key(&w, "metrics");
    jobs_metrics_write(metrics, dn_model_classes(m->model), &w);
    json_end_object(&w);
    api_reply_json(call, 200, &body);
}

/* ---- rows in the body ---- */

/* Moves the rows that have a label to the front; returns how many. */
static size_t keep_labelled(struct wire_instances *in) {
    size_t n = 0;
    for (size_t i = 0; i < in->n; i++) {
        if (in->label[i] == SIZE_MAX)
            continue;
        if (i != n) {
            memcpy(in->raw + n * in->n_inputs, in->raw + i * in->n_inputs, in->n_inputs * sizeof(double));
            in->label[n] = in->label[i];
        }
        n++;
    }
    return n;
}

/* Scores n labelled rows, a slice at a time. */
static bool score(const struct http_call *call, const dn_model *model, const struct wire_instances *in, size_t n, dn_metrics *metrics,
                  struct problem *problem) {
    const size_t n_classes = dn_model_classes(model)->n;
    size_t *label = calloc(SLICE, sizeof *label);
    double *workspace = calloc(dn_model_workspace(model) + 1, sizeof(double));
    double *probabilities = dn_model_has_probabilities(model) ? calloc(SLICE * n_classes, sizeof(double)) : NULL;
    bool good = label && workspace && (probabilities || !dn_model_has_probabilities(model));
    bool gone = false;
    for (size_t i = 0; good && !gone && i < n; i += SLICE) {
        size_t rows = n - i < SLICE ? n - i : SLICE;
        const dn_prediction out = {.label = label, .probabilities = probabilities};
        dn_model_predict(model, in->raw + i * in->n_inputs, rows, workspace, &out);
        dn_metrics_add(metrics, rows, in->label + i, label, probabilities, NULL);
        gone = http_gone(call);
    }
    free(label);
    free(workspace);
    free(probabilities);
    if (gone)
        return problem_set(problem, PROBLEM_UNAVAILABLE, NOBODY_WAITS);
    return good || problem_set(problem, PROBLEM_UNAVAILABLE, "no memory to evaluate %zu rows", n);
}

/* Metrics of n labelled rows. */
static bool measure(const struct http_call *call, const dn_model *model, const struct wire_instances *in, size_t n, dn_metrics **out,
                    struct problem *problem) {
    dn_metrics *metrics = NULL;
    dn_error err;
    dn_error_clear(&err);
    if (dn_metrics_new(dn_model_classes(model)->n, &metrics, &err) != DN_OK)
        return problem_set(problem, PROBLEM_UNAVAILABLE, "%s", err.message);
    if (!score(call, model, in, n, metrics, problem)) {
        dn_metrics_free(metrics);
        return false;
    }
    dn_metrics_finish(metrics);
    *out = metrics;
    return true;
}

static bool evaluate_body(struct http_call *call, const dn_model *model, dn_metrics **out, struct problem *problem) {
    struct wire_instances in = {0};
    enum wire_instances_format format;
    size_t size;
    const char *body = http_body_bytes(call, &size);
    if (!wire_instances_format(http_content_type(call), &format))
        return problem_set(problem, PROBLEM_UNSUPPORTED_MEDIA_TYPE, "labelled rows are application/json or text/csv, got \"%s\"",
                           http_content_type(call));
    bool good = wire_instances_read(body, size, format, model, true, &in, problem);
    size_t n = good ? keep_labelled(&in) : 0;
    if (good && n == 0)
        good = problem_add(problem, PROBLEM_INVALID_INSTANCES, "", "no row has a value of the target \"%s\"", dn_model_target(model));
    good = good && measure(call, model, &in, n, out, problem);
    wire_instances_done(&in);
    return good;
}

/* ---- a stored dataset ---- */

/* {"dataset":"iris-test"} → its text. NULL: the body is something else (or a fault is noted). */
static const char *read_reference(struct http_call *call, struct problem *problem) {
    static const char *const known[] = {"dataset", NULL};
    struct problem ignored = {0};
    const char *text = NULL, *copy = NULL;
    size_t size;
    const char *body = http_body_bytes(call, &size), *type = http_content_type(call);
    if (size > REFERENCE_BYTES || (type[0] != '\0' && strcmp(type, API_JSON) != 0) || body[strspn(body, " \t\r\n")] != '{')
        return NULL;
    json_t *root = json_parse(body, size, &ignored);
    problem_done(&ignored); /* the reader of instances will say it, and with more care */
    if (json_object_get(root, "dataset")) {
        json_refuse_unknown(root, known, "", problem);
        if (json_read_string(root, "dataset", true, "", &text, problem)) {
            copy = arena_strdup(http_arena(call), text);
            if (!copy)
                problem_set(problem, PROBLEM_UNAVAILABLE, "no memory to evaluate");
        }
    }
    json_decref(root);
    return problem->type ? NULL : copy;
}

/* The columns of the dataset that the model asks for, target first; those that are not there the core will name. */
static size_t choose_columns(const struct wire_schema *schema, const dn_model *model, struct jobs_column *out) {
    const dn_encoder *encoder = dn_model_encoder(model);
    size_t n = 0;
    for (size_t i = 0; i <= dn_encoder_n_inputs(encoder); i++) {
        const char *name = i == 0 ? dn_model_target(model) : dn_encoder_input(encoder, i - 1)->name;
        ptrdiff_t at = wire_schema_find(schema, name);
        if (at >= 0)
            out[n++] = (struct jobs_column){.index = (size_t)at, .name = schema->columns[at].name, .type = schema->columns[at].type};
    }
    return n;
}

/* The run of an evaluation: ends early when nobody waits for it. */
static dn_status stop_when_gone(const dn_run *run) {
    return http_gone(run->ctx) ? DN_ERR_STOPPED : DN_OK;
}

static bool evaluate_source(const struct http_call *call, const dn_model *model, const struct jobs_source *source, dn_metrics **out,
                            struct problem *problem) {
    struct budget budget;
    dn_run run = dn_run_default();
    dn_error err;
    dn_error_clear(&err);
    budget_init(&budget, jobs_memory_limit(api_app_of(call)->jobs));
    run.allocator = &budget.allocator;
    run.stop = stop_when_gone;
    run.ctx = (void *)(uintptr_t)call;
    dn_status status = dn_model_evaluate(model, jobs_source_table(source), &run, out, &err);
    if (status == DN_OK)
        return true;
    if (status == DN_ERR_STOPPED)
        return problem_set(problem, PROBLEM_UNAVAILABLE, NOBODY_WAITS);
    if (status == DN_ERR_DATA)
        return json_fault(problem, "", "dataset", "%s", err.message);
    jobs_problem_from_core(&err, problem);
    return false;
}

static bool evaluate_columns(const struct http_call *call, const dn_model *model, const struct store_dataset *d,
                             const struct wire_schema *schema, dn_metrics **out, struct problem *problem) {
    struct jobs_column *columns = calloc(dn_encoder_n_inputs(dn_model_encoder(model)) + 1, sizeof *columns);
    struct jobs_source *source = NULL;
    if (!columns)
        return problem_set(problem, PROBLEM_UNAVAILABLE, "no memory to evaluate");
    size_t n = choose_columns(schema, model, columns);
    bool good = jobs_source_open(api_app_of(call)->store, d->id, columns, n, 1, KEEP_BYTES, &source, problem) &&
                evaluate_source(call, model, source, out, problem);
    jobs_source_close(source);
    free(columns);
    return good;
}

static bool evaluate_dataset(const struct http_call *call, const dn_model *model, const char *reference, dn_metrics **out,
                             struct problem *problem) {
    char name[IDS_NAME_SIZE];
    int64_t version;
    struct store_dataset d;
    struct wire_schema schema = {0};
    struct problem why = {0};
    if (!api_reference_parse(reference, name, &version))
        return json_fault(problem, "", "dataset", "must be a dataset's name, or its name and version as in \"iris@2\", got \"%s\"",
                          reference);
    if (!store_dataset_get(api_app_of(call)->store, name, version, &d, &why)) {
        if (why.type == PROBLEM_UNKNOWN_DATASET)
            json_fault(problem, "", "dataset", "%s", why.detail ? why.detail : "there is no such dataset");
        else
            problem_move(problem, &why);
        problem_done(&why);
        return false;
    }
    bool good = wire_schema_parse(d.columns, &schema, problem) && evaluate_columns(call, model, &d, &schema, out, problem);
    wire_schema_done(&schema);
    store_dataset_done(&d);
    return good;
}

void api_model_evaluate(struct http_call *call) {
    static const char *const known[] = {NULL};
    struct api_app *app = api_app_of(call);
    struct problem problem = {0};
    dn_metrics *metrics = NULL;
    int64_t version;
    const char *name = api_model_path(call, &version);
    http_cache_control(call, "no-store");
    if (!name || !api_query_known(call, known))
        return;
    const struct serving_model *m = serving_get(app->serving, name, version, &problem);
    if (!m) {
        http_reply_problem(call, &problem);
        return;
    }
    const char *reference = read_reference(call, &problem);
    if (reference)
        (void)evaluate_dataset(call, m->model, reference, &metrics, &problem);
    else if (!problem.type)
        (void)evaluate_body(call, m->model, &metrics, &problem);
    if (metrics)
        reply_metrics(call, m, metrics);
    else
        http_reply_problem(call, &problem);
    dn_metrics_free(metrics);
    serving_release(app->serving, m);
}
