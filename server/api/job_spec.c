/* The body of POST /v1/jobs: reads every member, notes every fault, fills in what was left out. */
#include "api/job_spec.h"
#include "api/support.h"
#include "base/json_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SNAPSHOTS = 1000, MAX_SNAPSHOT_NUMBERS = 2000000 };
#define MAX_SECONDS 1e9 /* what --job-seconds takes too */
#define MIB (1024.0 * 1024.0)

void job_request_warn(struct job_request *r, const char *format, ...) {
    struct buf text = {0};
    va_list args;
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    if (r->warnings.size > 0)
        buf_putc(&r->warnings, ',');
    json_escape(&r->warnings, text.size ? text.data : "", text.size);
    buf_done(&text);
}

/* ---- members that are known elsewhere ---- */

/* What this version cannot do yet, and what it does instead. */
static const struct {
    const char *name, *instead;
} not_yet[] = {
    {"weight", "every row weighs 1"},
    {"class_weight", "every class weighs the same for each row"},
    {"folds", "use \"holdout\""},
    {"dataset", "use \"holdout\""},
    {"basis", "columns are features as they are"},
    {"categorical", "categories become 1-of-K"},
    {"missing", "a missing number becomes the mean, a missing category a level of its own"},
};

static const char *instead_of(const char *name) {
    for (size_t i = 0; i < sizeof not_yet / sizeof not_yet[0]; i++)
        if (strcmp(not_yet[i].name, name) == 0)
            return not_yet[i].instead;
    return "leave it out";
}

static bool among(const char *const *names, const char *name) {
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

void job_refuse(struct job_request *r, const json_t *object, const char *parent, const char *const *known, const char *const *later) {
    struct buf list = {0};
    for (size_t i = 0; known[i]; i++)
        buf_printf(&list, "%s%s", i > 0 ? ", " : "", known[i]);
    const char *text = buf_cstr(&list);
    for (void *at = json_object_iter((json_t *)(uintptr_t)object); at; at = json_object_iter_next((json_t *)(uintptr_t)object, at)) {
        const char *key = json_object_iter_key(at);
        const bool comes_later = among(later, key);
        if (among(known, key) || (comes_later && json_is_null(json_object_iter_value(at))))
            continue;
        if (comes_later)
            json_fault(r->problem, parent, key, "is not supported yet: %s", instead_of(key));
        else
            json_fault(r->problem, parent, key, "is not known here; known: %s", text ? text : "");
    }
    buf_done(&list);
}

/* ---- the simple members ---- */

static void read_model(struct job_request *r, const json_t *root) {
    const char *name = NULL;
    if (!json_read_string(root, "model", true, "", &name, r->problem))
        return;
    if (!ids_name_valid(name, strlen(name)))
        json_fault(r->problem, "", "model", "%s, got \"%s\"", IDS_NAME_RULE, name);
    r->spec.model = arena_strdup(r->arena, name);
    if (!r->spec.model)
        problem_set(r->problem, PROBLEM_UNAVAILABLE, "no memory for the job");
}

static void read_validation(struct job_request *r, const json_t *root) {
    static const char *const known[] = {"holdout", NULL};
    static const char *const later[] = {"folds", "dataset", NULL};
    const json_t *validation = NULL;
    double holdout = 0;
    if (!json_read_object(root, "validation", false, "", &validation, r->problem))
        return;
    job_refuse(r, validation, "/validation", known, later);
    if (json_object_size(validation) == 0)
        json_fault(r->problem, "", "validation", "must be null or have a member \"holdout\"");
    if (!json_read_number(validation, "holdout", false, "/validation", &holdout, r->problem))
        return;
    if (!(holdout > 0 && holdout < 1))
        json_fault(r->problem, "/validation", "holdout", "must be > 0 and < 1, got %g", holdout);
    r->spec.holdout = holdout;
}

static void read_limits(struct job_request *r, const json_t *root) {
    static const char *const known[] = {"seconds", "memory_mib", "threads", NULL};
    static const char *const later[] = {NULL};
    const json_t *limits = NULL;
    const double most_seconds = jobs_seconds_limit(r->app->jobs);
    const int64_t most_mib = jobs_memory_limit(r->app->jobs) >> 20, most_threads = jobs_thread_limit(r->app->jobs);
    int64_t mib = 0;
    r->spec.seconds = most_seconds;
    r->spec.memory_bytes = jobs_memory_limit(r->app->jobs);
    r->spec.threads = most_threads;
    if (!json_read_object(root, "limits", false, "", &limits, r->problem))
        return;
    job_refuse(r, limits, "/limits", known, later);
    if (json_read_number(limits, "seconds", false, "/limits", &r->spec.seconds, r->problem)) {
        if (!(r->spec.seconds > 0))
            json_fault(r->problem, "/limits", "seconds", "must be > 0, got %g", r->spec.seconds);
        else if (r->spec.seconds > MAX_SECONDS)
            json_fault(r->problem, "/limits", "seconds", "must be at most %g, got %g", MAX_SECONDS, r->spec.seconds);
        else if (most_seconds > 0 && r->spec.seconds > most_seconds)
            json_fault(r->problem, "/limits", "seconds", "must be at most %g (--job-seconds), got %g", most_seconds, r->spec.seconds);
    }
    if (json_read_int(limits, "memory_mib", false, "/limits", 1, most_mib > 0 ? most_mib : 1, &mib, r->problem))
        r->spec.memory_bytes = mib << 20;
    json_read_int(limits, "threads", false, "/limits", 1, most_threads, &r->spec.threads, r->problem);
}

static void read_seed(struct job_request *r, const json_t *root) {
    int64_t seed = 1;
    json_read_int(root, "seed", false, "", 0, API_NUMBER_MAX, &seed, r->problem);
    r->spec.seed = (uint64_t)seed;
}

static int ascending(const void *a, const void *b) {
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static void read_snapshots(struct job_request *r, const json_t *root) {
    const json_t *array = NULL;
    if (!json_read_array(root, "snapshots", false, "", &array, r->problem))
        return;
    size_t n = json_array_size(array), kept = 0;
    if (n > MAX_SNAPSHOTS) {
        json_fault(r->problem, "", "snapshots", "must have at most %d items, got %zu", MAX_SNAPSHOTS, n);
        return;
    }
    size_t *at = arena_alloc(r->arena, (n + 1) * sizeof *at);
    if (!at) {
        problem_set(r->problem, PROBLEM_UNAVAILABLE, "no memory for the job");
        return;
    }
    for (size_t i = 0; i < n; i++) {
        char key[24];
        const json_t *item = json_array_get(array, i);
        double v = json_is_number(item) ? json_number_value(item) : 0;
        (void)snprintf(key, sizeof key, "%zu", i);
        if (!(v >= 1 && v <= 1e9 && v == floor(v)))
            json_fault(r->problem, "/snapshots", key, "must be the number of an iteration, an integer from 1 to 1000000000");
        else
            at[kept++] = (size_t)v;
    }
    qsort(at, kept, sizeof *at, ascending);
    for (size_t i = 0; i < kept; i++)
        if (r->spec.n_snapshots == 0 || at[r->spec.n_snapshots - 1] != at[i])
            at[r->spec.n_snapshots++] = at[i];
    r->spec.snapshots = at;
}

/* ---- what the whole will take ---- */

static size_t n_scores(const struct job_request *r) {
    return r->n_classes == 2 ? 1 : r->n_classes;
}

static void check_snapshots(struct job_request *r) {
    double numbers = (double)r->spec.n_snapshots * (double)n_scores(r) * (double)(r->n_features + 1);
    if (numbers > MAX_SNAPSHOT_NUMBERS)
        json_fault(r->problem, "", "snapshots", "%zu snapshots of %zu x %zu weights are more than %d numbers", r->spec.n_snapshots,
                   n_scores(r), r->n_features + 1, MAX_SNAPSHOT_NUMBERS);
}

/* What training would weigh, reckoned from the columns before anything is read. */
static void estimate_memory(struct job_request *r) {
    size_t n = r->spec.n_inputs;
    dn_table_column *columns = arena_alloc(r->arena, (n + 1) * sizeof *columns);
    size_t *inputs = arena_alloc(r->arena, (n + 1) * sizeof *inputs);
    if (!columns || !inputs) {
        problem_set(r->problem, PROBLEM_UNAVAILABLE, "no memory for the job");
        return;
    }
    for (size_t i = 0; i < n; i++) {
        columns[i] = (dn_table_column){.name = r->spec.inputs[i].name, .type = r->spec.inputs[i].type};
        inputs[i] = i;
    }
    columns[n] = (dn_table_column){.name = r->spec.target.name, .type = r->spec.target.type};
    const size_t n_rows = (size_t)r->dataset.n_rows, n_slots = (size_t)r->spec.threads;
    const dn_table_source source = {.n_rows = n_rows, .n_cols = n + 1, .columns = columns, .n_slots = n_slots};
    const dn_train_request request = {
        .source = &source,
        .params = r->spec.params,
        .target = n,
        .features = {.columns = inputs, .n_columns = n, .standardize = r->spec.standardize},
        .holdout = r->spec.holdout,
    };
    r->memory = dn_train_memory(&request, n_rows, r->n_features, r->n_classes, n_slots);
    if (r->memory > (double)jobs_training_memory(r->spec.memory_bytes))
        json_fault(r->problem, "/limits", "memory_mib", "the training would need about %.0f MiB, of a limit of %.0f MiB it may use %.0f",
                   ceil(r->memory / MIB), (double)r->spec.memory_bytes / MIB,
                   floor((double)jobs_training_memory(r->spec.memory_bytes) / MIB));
}

bool job_request_read(const json_t *root, const struct api_app *app, struct arena *arena, struct job_request *out,
                      struct problem *problem) {
    static const char *const known[] = {"model",      "dataset", "target", "algorithm", "params", "features",
                                        "validation", "seed",    "limits", "snapshots", NULL};
    static const char *const later[] = {"weight", "class_weight", NULL};
    *out = (struct job_request){.arena = arena, .app = app, .problem = problem};
    job_refuse(out, root, "", known, later);
    read_model(out, root);
    job_params_read(out, root);
    job_columns_read(out, root);
    read_validation(out, root);
    read_seed(out, root);
    read_limits(out, root);
    read_snapshots(out, root);
    if (!problem->type)
        check_snapshots(out);
    if (!problem->type)
        estimate_memory(out);
    if (out->warnings.failed)
        problem_set(problem, PROBLEM_UNAVAILABLE, "no memory for the job");
    return problem->type == PROBLEM_NONE;
}

void job_request_done(struct job_request *r) {
    jobs_spec_done(&r->spec);
    buf_done(&r->warnings);
    if (r->has_dataset) {
        wire_schema_done(&r->schema);
        store_dataset_done(&r->dataset);
    }
}
