/* POST /v1/compare: models side by side on the rows of a stored dataset. Each model is evaluated as
 * POST …/evaluate does; the core compares the results of the rows. Pool threads. */
#include "api/predictions/compare.h"
#include "api/access.h"
#include "api/handlers.h"
#include "api/predictions/evaluation.h"
#include "api/predictions/plan.h"
#include "api/predictions/work.h"
#include "api/support.h"
#include "base/json/json_read.h"
#include "jobs/documents.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_SAMPLES = 10000, USUAL_SAMPLES = 1000, MAX_ROWS = 100 };

/* Limit of the work of the samples: some 10 minutes on one thread. */
#define COMPARE_MAX_NS 6e11
#define DRAW_NS 5.0    /* time to draw a row */
#define MEASURE_NS 3.0 /* time to measure a row of a model, without ranks */
#define RANK_NS 3.0    /* and for each score column */
#define CELL_NS 2.0    /* for each cell of a confusion matrix */
#define PRODUCT_NS 0.3 /* of work.h */

#define NOBODY_WAITS                                                                               \
    "the call was cancelled because the client has left or the daemon is shutting down"

/* ---- the request ---- */

/* Reads the body into the arena. Returns false if it has replied. */
static bool compare_read(struct compare *c) {
    static const char *const known[] = {"models",     "dataset",   "target", "weight", "seed",
                                        "confidence", "bootstrap", "rows",   NULL};
    struct arena *arena = http_arena(c->call);
    struct problem *problem = &c->problem;
    const char **names = NULL, *dataset = NULL, *target = NULL, *weight = NULL;
    json_t *root = api_body_object(c->call);
    if (root == NULL) {
        return false;
    }
    json_refuse_unknown(root, known, "", problem);
    if (json_read_strings(root, "models", true, "", COMPARE_MODELS, arena, &names, &c->n,
                          problem) &&
        c->n < 2) {
        json_fault(problem, "", "models", "must be 2 to %d models, got %zu", COMPARE_MODELS, c->n);
    }
    json_read_string(root, "dataset", true, "", &dataset, problem);
    json_read_string(root, "target", false, "", &target, problem);
    c->weight_given = json_object_get(root, "weight") != NULL;
    json_read_string(root, "weight", false, "", &weight, problem);
    json_read_int(root, "seed", false, "", 0, JSON_READ_EXACT, &c->seed, problem);
    json_read_int(root, "bootstrap", false, "", 0, MAX_SAMPLES, &c->samples, problem);
    json_read_int(root, "rows", false, "", 0, MAX_ROWS, &c->rows, problem);
    if (json_read_number(root, "confidence", false, "", &c->confidence, problem) &&
        !(c->confidence >= 0.5 && c->confidence <= 0.999)) {
        json_fault(problem, "", "confidence", "must be from 0.5 to 0.999, got %g", c->confidence);
    }
    c->dataset = dataset == NULL ? NULL : arena_strdup(arena, dataset);
    c->target = target == NULL ? NULL : arena_strdup(arena, target);
    c->weight = weight == NULL ? NULL : arena_strdup(arena, weight);
    for (size_t i = 0; i < c->n && i < COMPARE_MODELS; i++) {
        c->models[i].reference = names[i];
    }
    if (!problem->type && (c->dataset == NULL || (target != NULL && c->target == NULL) ||
                           (weight != NULL && c->weight == NULL))) {
        (void)problem_no_memory(problem);
    }
    json_decref(root);
    if (problem->type) {
        c->n = 0; /* no model is loaded */
        http_reply_problem(c->call, problem);
        return false;
    }
    return true;
}

/* ---- the models ---- */

/* Adds a fault at model i. Returns false. */
#define model_fault(c, i, ...)                                                                     \
    json_fault(&(c)->problem, "/models", index_key((char[24]){0}, i), __VA_ARGS__)

static const char *index_key(char *out, size_t i) {
    (void)snprintf(out, 24, "%zu", i);
    return out;
}

/* Loads model i. */
static bool take_model(struct compare *c, size_t i) {
    struct compare_model *of = &c->models[i];
    struct problem why = {0};
    char name[IDS_NAME_SIZE];
    int64_t version;
    if (!ids_reference_parse(of->reference, name, &version)) {
        return model_fault(c, i,
                           "must be a model's name, or its name and version as in \"churn@3\", got "
                           "\"%s\"",
                           of->reference);
    }
    if (!api_may_use_model(c->call, name, &c->problem)) {
        return false;
    }
    of->m = serving_get(api_app_of(c->call)->serving, name, version, http_change(c->call), &why);
    if (of->m == NULL && why.type == PROBLEM_UNKNOWN_MODEL) {
        model_fault(c, i, "%s", why.detail != NULL ? why.detail : "there is no such model");
    } else if (of->m == NULL) {
        problem_move(&c->problem, &why);
    }
    problem_done(&why);
    for (size_t j = 0; of->m != NULL && j < i; j++) {
        const struct serving_model *m = c->models[j].m;
        if (strcmp(m->name, of->m->name) == 0 && m->version == of->m->version) {
            return model_fault(c, i, "is %s@%" PRId64 ", as model %zu (\"%s\"): name each once",
                               m->name, m->version, j, c->models[j].reference);
        }
    }
    return of->m != NULL;
}

static bool take_models(struct compare *c) {
    for (size_t i = 0; i < c->n; i++) {
        if (!take_model(c, i)) {
            return false;
        }
    }
    return true;
}

static void put_classes(const dn_classes *classes, struct buf *out) {
    enum { SHOWN = 5 };
    for (size_t k = 0; k < classes->n && k < SHOWN; k++) {
        const uint32_t *start = classes->names.start + k;
        const size_t n = start[1] - start[0];
        buf_printf(out, "%s%.*s", k > 0 ? ", " : "", (int)(n < 40 ? n : 40),
                   classes->names.bytes + start[0]);
    }
    if (classes->n > SHOWN) {
        buf_printf(out, " … (%zu)", classes->n);
    }
}

static bool check_classes(struct compare *c, size_t i) {
    const dn_classes *first = dn_model_classes(c->models[0].m->model),
                     *own = dn_model_classes(c->models[i].m->model);
    bool same = first->n == own->n;
    for (size_t k = 0; same && k < own->n; k++) {
        const uint32_t *x = first->names.start + k, *y = own->names.start + k;
        same = x[1] - x[0] == y[1] - y[0] &&
               memcmp(first->names.bytes + x[0], own->names.bytes + y[0], x[1] - x[0]) == 0;
    }
    if (same) {
        return true;
    }
    struct buf text = {0};
    buf_puts(&text, "has the classes ");
    put_classes(own, &text);
    buf_printf(&text, ", and model 0 (\"%s\") has ", c->models[0].reference);
    put_classes(first, &text);
    const char *shown = buf_cstr(&text);
    model_fault(c, i, "%s: models of the same classes can be compared",
                shown != NULL ? shown : "has other classes than model 0");
    buf_done(&text);
    return false;
}

/* Whether two names are equal; NULL: no name. */
static bool same_name(const char *a, const char *b) {
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Checks that the models can be compared, and chooses target and weights. Adds all faults. */
static bool check_models(struct compare *c) {
    const struct serving_model *first = c->models[0].m;
    const char *target = dn_model_target(first->model), *weight = predict_plan_of(first)->weight;
    for (size_t i = 0; i < c->n; i++) {
        const struct serving_model *m = c->models[i].m;
        const char *own = dn_model_target(m->model), *own_weight = predict_plan_of(m)->weight;
        if (c->target == NULL && own == NULL) {
            model_fault(c, i,
                        "was trained without a target: name the column with the true classes, "
                        "inlier and outlier, as \"target\"");
        } else if (c->target == NULL && target != NULL && !same_name(own, target)) {
            model_fault(c, i,
                        "has the target \"%s\", and model 0 has \"%s\": name the column with the "
                        "true classes as \"target\"",
                        own, target);
        }
        if (!c->weight_given && !same_name(own_weight, weight)) {
            model_fault(c, i,
                        "was trained with the weights %s%s%s, and model 0 with %s%s%s: give "
                        "\"weight\", the name of a column or null",
                        own_weight != NULL ? "\"" : "", own_weight != NULL ? own_weight : "1",
                        own_weight != NULL ? "\"" : "", weight != NULL ? "\"" : "",
                        weight != NULL ? weight : "1", weight != NULL ? "\"" : "");
        }
        (void)check_classes(c, i);
    }
    if (c->problem.type) {
        return false;
    }
    const char *used = c->target != NULL ? c->target : target;
    if (!c->weight_given && weight != NULL && strcmp(weight, used) != 0) {
        c->weight = weight;
    }
    return true;
}

/* ---- the dataset ---- */

/* Finds the dataset, so that all models read the same version. A weight column that was not given
 * may be absent. */
static bool find_dataset(struct compare *c) {
    struct store_dataset d;
    struct schema schema = {0};
    if (!api_dataset_referenced(c->call, c->dataset, &d, &c->problem)) {
        return false;
    }
    c->n_rows = (double)d.n_rows;
    c->version = d.version;
    c->name = arena_strdup(http_arena(c->call), d.name);
    c->dataset = arena_printf(http_arena(c->call), "%s@%" PRId64, d.name, d.version);
    bool good = (c->name != NULL && c->dataset != NULL) || problem_no_memory(&c->problem);
    good = good && schema_parse(d.columns, &schema, &c->problem);
    if (good && !c->weight_given && c->weight != NULL && schema_find(&schema, c->weight) < 0) {
        c->weight = NULL;
    }
    schema_done(&schema);
    store_dataset_done(&d);
    return good;
}

/* Returns the nanoseconds of one sample. */
static double sample_ns(const struct compare *c) {
    double row = DRAW_NS, cells = 0;
    for (size_t i = 0; i < c->n; i++) {
        const double K = (double)dn_model_classes(c->models[i].m->model)->n;
        row += MEASURE_NS + RANK_NS * (K == 2 ? 1 : K);
        cells += K * K;
    }
    return c->n_rows * row + cells * CELL_NS;
}

/* Refuses samples that would occupy a thread for too long. */
static bool samples_fit(struct compare *c) {
    const double most = floor(COMPARE_MAX_NS / sample_ns(c));
    return (double)c->samples <= most ||
           json_fault(&c->problem, "", "bootstrap",
                      "must be at most %.0f for %.0f rows and %zu models, got %" PRId64, most,
                      c->n_rows, c->n, c->samples);
}

static double work_of(const struct compare *c) {
    double products = (double)c->samples * sample_ns(c) / PRODUCT_NS;
    for (size_t i = 0; i < c->n; i++) {
        products += api_stored_work(c->call, c->models[i].m, 1);
    }
    return products;
}

/* ---- the computation ---- */

static dn_status stop_when_gone(const dn_run *run) {
    return http_go_on(run->ctx) ? DN_OK : DN_ERR_STOPPED;
}

static dn_status add_model(void *arg, const dn_table_source *table, const char *target,
                           const dn_run *run, dn_error *err) {
    struct compare *c = arg;
    (void)target;
    return dn_comparison_add(c->comparison, c->models[c->n_added].m->model, table, run, err);
}

static bool finish(struct compare *c) {
    dn_error err;
    dn_error_clear(&err);
    if (dn_comparison_finish(c->comparison, &err) == DN_OK) {
        return true;
    }
    if (err.code == DN_ERR_STOPPED) {
        return problem_set(&c->problem, PROBLEM_UNAVAILABLE, NOBODY_WAITS);
    }
    jobs_problem_from_core(&err, NULL, &c->problem);
    return false;
}

static bool compute(struct compare *c) {
    static const struct instances_options as_trained = {0};
    const dn_comparison_options options = {.n_models = c->n,
                                           .n_samples = (size_t)c->samples,
                                           .confidence = c->confidence,
                                           .max_rows = (size_t)c->rows,
                                           .target = c->target,
                                           .weight = c->weight};
    dn_error err;
    dn_error_clear(&err);
    budget_init(&c->budget, jobs_limits(api_app_of(c->call)->jobs).memory_bytes);
    c->run = dn_run_default();
    c->run.allocator = &c->budget.allocator;
    c->run.seed = (uint64_t)c->seed;
    c->run.stop = stop_when_gone;
    c->run.ctx = c->call;
    if (dn_comparison_new(&options, &c->run, &c->comparison, &err) != DN_OK) {
        jobs_problem_from_core(&err, NULL, &c->problem);
        return false;
    }
    for (; c->n_added < c->n; c->n_added++) {
        struct compare_model *of = &c->models[c->n_added];
        const struct dataset_work work = {.dataset = c->dataset,
                                          .target = c->target,
                                          .weight = c->weight,
                                          .schema = predict_plan_of(of->m)->schema,
                                          .options = &as_trained,
                                          .allocator = &c->budget.allocator,
                                          .notes = &of->notes,
                                          .compute = add_model,
                                          .arg = c};
        if (!api_dataset_work(c->call, of->m->model, &work, &c->problem)) {
            return false;
        }
    }
    return finish(c);
}

void api_compare(struct http_call *call) {
    struct compare c = {.call = call,
                        .samples = USUAL_SAMPLES,
                        .confidence = 0.95,
                        .rows = MAX_ROWS};
    if (!compare_read(&c)) {
        return;
    }
    const bool good = take_models(&c) && check_models(&c) && find_dataset(&c) && samples_fit(&c);
    if (!good) {
        http_reply_problem(call, &c.problem);
    } else if (api_may_work(call, work_of(&c), api_compare)) {
        if (compute(&c)) {
            compare_reply(&c);
        } else {
            http_reply_problem(call, &c.problem);
        }
    }
    dn_comparison_free(c.comparison);
    for (size_t i = 0; i < c.n; i++) {
        row_notes_free(c.models[i].notes);
        serving_release(api_app_of(call)->serving, c.models[i].m);
    }
}
