/* Reads the body of POST /v1/jobs: reports every fault and fills in defaults. */
#include "jobs/request/job_request.h"
#include "base/json/json_read.h"
#include "jobs/held_out_chunks.h"
#include "jobs/request/job_options.h"
#include "jobs/request/job_promotion.h"
#include "jobs/request/job_split.h"
#include "jobs/request/params.h"
#include "jobs/request/search/job_search.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SNAPSHOT_NUMBERS = 2000000 };
#define MAX_SECONDS 1e9 /* the maximum of --job-seconds is the same */
#define MIB (1024.0 * 1024.0)

/* Makes room for one more code. The array is full if its length is a power of two; it is then
 * copied to an array of twice the length. NULL: no memory. */
static const char **code_array(const struct jobs_request *r) {
    const size_t n = r->n_warnings;
    if ((n & (n - 1)) != 0) {
        return r->warning_codes;
    }
    const char **codes = arena_alloc(r->arena, (n == 0 ? 1 : 2 * n) * sizeof *codes);
    if (codes != NULL && n > 0) {
        memcpy(codes, r->warning_codes, n * sizeof *codes);
    }
    return codes;
}

/* Appends the code of a warning. */
static void add_code(struct jobs_request *r, dn_warning_code code) {
    const char **codes = code_array(r);
    if (codes == NULL) {
        r->warnings.failed = true;
        return;
    }
    codes[r->n_warnings++] = jobs_warning_code(code);
    r->warning_codes = codes;
}

void jobs_request_warn(struct jobs_request *r, dn_warning_code code, const char *format, ...) {
    struct buf text = {0};
    va_list args;
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    if (r->warnings.size > 0) {
        buf_putc(&r->warnings, ',');
    }
    json_escape(&r->warnings, text.size ? text.data : "", text.size);
    buf_done(&text);
    add_code(r, code);
}

/* ---- the simple members ---- */

void jobs_limits_lower(struct jobs_limits *limits, const struct jobs_limits *most) {
    if (most->seconds > 0 && (limits->seconds <= 0 || limits->seconds > most->seconds)) {
        limits->seconds = most->seconds;
    }
    if (most->memory_bytes > 0 && limits->memory_bytes > most->memory_bytes) {
        limits->memory_bytes = most->memory_bytes;
    }
    if (most->threads > 0 && limits->threads > most->threads) {
        limits->threads = most->threads;
    }
}

static void read_limits(struct jobs_request *r, const struct jobs_limits *most,
                        const json_t *root) {
    static const char *const known[] = {"seconds", "memory_mib", "threads", "ranks", NULL};
    const json_t *limits = NULL;
    const int64_t most_mib = most->memory_bytes >> 20;
    int64_t mib = 0;
    r->limits = *most;
    r->limits.ranks = 1;
    if (!json_read_object(root, "limits", false, "", &limits, r->problem)) {
        return;
    }
    json_refuse_unknown(limits, known, "/limits", r->problem);
    if (json_read_number(limits, "seconds", false, "/limits", &r->limits.seconds, r->problem)) {
        if (!(r->limits.seconds > 0)) {
            json_fault(r->problem, "/limits", "seconds", "must be > 0, got %g", r->limits.seconds);
        } else if (r->limits.seconds > MAX_SECONDS) {
            json_fault(r->problem, "/limits", "seconds", "must be at most %g, got %g", MAX_SECONDS,
                       r->limits.seconds);
        } else if (most->seconds > 0 && r->limits.seconds > most->seconds) {
            json_fault(r->problem, "/limits", "seconds",
                       "must be at most %g (--job-seconds), got %g", most->seconds,
                       r->limits.seconds);
        }
    }
    r->memory_given =
        json_read_int(limits, "memory_mib", false, "/limits", 1, JSON_READ_EXACT, &mib, r->problem);
    if (r->memory_given && mib > (most_mib > 0 ? most_mib : 1)) {
        json_fault(r->problem, "/limits", "memory_mib",
                   "must be at most %" PRId64 " (--job-memory), got %" PRId64, most_mib, mib);
    } else if (r->memory_given) {
        r->limits.memory_bytes = mib << 20;
    }
    r->threads_given = json_read_int(limits, "threads", false, "/limits", 1, most->threads,
                                     &r->limits.threads, r->problem);
    r->ranks_given = json_read_int(limits, "ranks", false, "/limits", 1, DN_MAX_RANKS,
                                   &r->limits.ranks, r->problem);
    if (r->limits.ranks > 1 && most->ranks == 0) {
        json_fault(r->problem, "/limits", "ranks",
                   "must be 1: the daemon was started without --mpi, got %" PRId64,
                   r->limits.ranks);
    } else if (r->limits.ranks > 1 && r->limits.ranks > most->ranks) {
        json_fault(r->problem, "/limits", "ranks",
                   "must be at most %" PRId64 " (--mpi), got %" PRId64, most->ranks,
                   r->limits.ranks);
    }
}

/* Returns why the training cannot be divided among ranks; NULL: it can. */
static const char *alone(const struct jobs_request *r) {
    return r->search != NULL   ? "a search trains one candidate after the other"
           : r->n_shares > 0   ? "a learning curve has many trainings"
           : r->params != NULL ? dn_params_alone(r->params)
                               : NULL;
}

/* Refuses ranks that the training cannot have, and gives them to a large one. */
static void choose_ranks(struct jobs_request *r, const struct jobs_limits *most) {
    const char *why = alone(r);
    if (r->limits.ranks > 1 && why != NULL) {
        json_fault(r->problem, "/limits", "ranks", "must be 1%s%s: %s",
                   r->search == NULL && r->n_shares == 0 ? " for algorithm " : "",
                   r->search == NULL && r->n_shares == 0 ? r->algorithm->id : "", why);
    } else if (!r->ranks_given && most->ranks > 1 && most->ranks_above > 0 && why == NULL &&
               r->data.bytes > most->ranks_above) {
        r->limits.ranks = most->ranks;
    }
}

/* ---- estimates for the whole job ---- */

/* Checks "snapshots" and "snapshots_of": adds faults, and warns if there will be no snapshots. */
static void check_snapshots(struct jobs_request *r) {
    const dn_decision decision = dn_params_decision(r->params);
    if (r->of_updates && strcmp(r->algorithm->id, "perceptron") != 0) {
        json_fault(r->problem, "", "snapshots_of",
                   "must be \"iterations\" for algorithm %s: only perceptron changes its weights "
                   "at single rows",
                   r->algorithm->id);
    }
    if (r->n_snapshots == 0) {
        return;
    }
    if (r->algorithm->flags & DN_ALGORITHM_NOT_ADDITIVE) {
        jobs_request_warn(
            r, DN_WARNING_OTHER,
            "there will be no snapshots: the scores of %s are not weighted sums of features",
            r->algorithm->id);
        return;
    }
    if (dn_decision_n_machines(decision, r->n_classes) > 1) {
        jobs_request_warn(r, DN_WARNING_OTHER,
                          "there will be no snapshots: the model has one machine for each class or "
                          "pair of classes, and each has its own iterations");
        return;
    }
    const size_t n_scores = dn_decision_n_scores(decision, r->n_classes);
    double numbers = (double)r->n_snapshots * (double)n_scores * (double)(r->n_features + 1);
    if (numbers > MAX_SNAPSHOT_NUMBERS) {
        json_fault(r->problem, "", "snapshots",
                   "%zu snapshots of %zu x %zu weights are more than %d numbers", r->n_snapshots,
                   n_scores, r->n_features + 1, MAX_SNAPSHOT_NUMBERS);
    }
}

/* Checks the parameters against the number of classes. */
static void check_classes(struct jobs_request *r) {
    dn_error err;
    dn_error_clear(&err);
    if (jobs_request_has_classes(r) && r->params &&
        dn_params_check_classes(r->params, r->n_classes, &err) != DN_OK) {
        jobs_params_fault(&err, r->problem);
    }
}

bool jobs_request_check_shape(struct jobs_request *r) {
    dn_params *used = NULL;
    dn_error err;
    dn_error_clear(&err);
    const size_t n_classes = dn_params_decision(r->params) == DN_DECISION_NATIVE ? r->n_classes : 2;
    dn_status status = dn_params_copy(r->params, &used, &err);
    if (status == DN_OK) {
        status = dn_params_resolve(used, (size_t)r->data.n_rows, r->n_features, n_classes, &err);
    }
    if (status != DN_OK) {
        jobs_params_fault(&err, r->problem);
    }
    dn_params_free(used);
    return status == DN_OK;
}

void jobs_request_name_deleted(const struct jobs_request *r, struct problem *problem) {
    if (problem->type == PROBLEM_UNKNOWN_DATASET) {
        problem_done(problem);
        json_fault(problem, "", "dataset",
                   "dataset \"%s\" version %" PRId64 "%s has just been deleted", r->dataset,
                   r->dataset_version, r->validation.dataset ? ", or the one to validate on," : "");
    }
}

/* Sets the sizes that determine the memory of decoded chunks. Returns false after setting the
 * problem. */
static bool read_shape(struct jobs_request *r, const struct store_dataset *d,
                       struct jobs_source_shape *out) {
    struct store_chunk *chunks = NULL;
    size_t n = 0;
    if (!store_dataset_chunks(r->store, d->id, &chunks, &n, r->problem)) {
        jobs_request_name_deleted(r, r->problem);
        return false;
    }
    const double rows = fmax((double)d->n_rows, 1);
    *out =
        (struct jobs_source_shape){.row_bytes = (double)d->bytes / rows,
                                   .row_entries = r->n_entries / fmax((double)r->data.n_rows, 1)};
    for (size_t i = 0; i < n; i++) {
        out->chunk_rows = fmax(out->chunk_rows, (double)chunks[i].n_rows);
    }
    free(chunks);
    return true;
}

/* Decides whether the predictions of held-out rows are kept: not if there are too many. */
static void choose_held_out(struct jobs_request *r) {
    const bool validated = r->holdout > 0 || r->folds > 0 || r->split.by == JOBS_SPLIT_COLUMN;
    const double repeats = r->split.repeats > 1 ? (double)r->split.repeats : 1,
                 rows = (double)(r->data.n_rows - r->target_missing) *
                        (r->holdout > 0 ? r->holdout : repeats),
                 values = rows * (double)dn_held_out_values(r->params, r->n_classes);
    r->held_out = validated && !r->targetless;
    if (r->held_out && values > JOBS_HELD_OUT_VALUES) {
        r->held_out = false;
        jobs_request_warn(r, DN_WARNING_OTHER,
                          "the predictions of the held-out rows are not kept: they have about %.0f "
                          "values, and at most %.0f are kept",
                          values, JOBS_HELD_OUT_VALUES);
    }
}

/* Estimates the memory of the training from the columns. Returns false after setting the problem if
 * out of memory.
 *
 *   out         bytes with this number of threads
 *   out_method  the part that does not depend on the number of rows */
static bool estimate_memory(struct jobs_request *r, int64_t threads, double *out,
                            double *out_method) {
    const size_t n = r->n_inputs, n_rows = (size_t)r->data.n_rows, n_slots = (size_t)threads;
    struct jobs_column splits[2];
    const size_t n_splits = jobs_split_columns(r, splits);
    dn_held_out *held_out = NULL;
    dn_table_column *columns = arena_alloc(r->arena, (n + 4) * sizeof *columns);
    const dn_table_source source = {.n_rows = n_rows,
                                    .n_cols = n + 1 + r->weighted + n_splits,
                                    .columns = columns,
                                    .n_slots = n_slots};
    const dn_table_source validation = {.n_rows = r->has_validation
                                                      ? (size_t)r->validation_data.n_rows
                                                      : 0,
                                        .n_cols = source.n_cols,
                                        .columns = columns,
                                        .n_slots = n_slots};
    dn_train_request request = {
        .source = &source,
        .params = r->params,
        .target = r->targetless ? DN_NO_TARGET : n,
        .weighted = r->weighted,
        .weight = n + 1,
        .class_weight = r->class_weights.kind,
        .class_weights = r->class_weights.values,
        .n_class_weights = r->class_weights.n,
        .entries = r->n_entries,
        .different_words = r->n_words,
        .holdout = r->holdout,
        .folds = r->folds,
        .validation = r->has_validation ? &validation : NULL,
        .held_out = r->held_out ? &held_out : NULL,
        .coverage = r->conformal.coverage,
    };
    if (!columns || !jobs_encoder_spec(r, columns, &request.features)) {
        return problem_set(r->problem, PROBLEM_UNAVAILABLE, "no memory for the job");
    }
    columns[n] = (dn_table_column){.name = r->target.name, .type = r->target.type};
    if (r->weighted) {
        columns[n + 1] = (dn_table_column){.name = r->weight.name, .type = r->weight.type};
    }
    for (size_t i = 0; i < n_splits; i++) {
        columns[source.n_cols - n_splits + i] =
            (dn_table_column){.name = splits[i].name, .type = splits[i].type};
    }
    jobs_split_set(r, &request);
    if (r->search != NULL && r->search->split.by != JOBS_SPLIT_NONE) { /* the larger division */
        request.grouped = request.grouped || r->search->split.by == JOBS_SPLIT_GROUP;
        request.ordered =
            !request.grouped && (request.ordered || r->search->split.by == JOBS_SPLIT_ORDER);
    }
    *out = dn_train_memory(&request, n_rows, r->n_features, r->n_classes, n_slots) +
           jobs_source_memory(columns, source.n_cols, n_slots, &r->shape) +
           jobs_source_memory(columns, source.n_cols, n_slots, &r->validation_shape);
    if (r->search != NULL) {
        const size_t folds = r->search->folds == DN_LEAVE_ONE_OUT ? n_rows
                             : r->search->folds == 0              ? 1
                                                                  : r->search->folds;
        *out += dn_search_memory(&request, folds, r->search->repeats, r->search->combine, n_rows,
                                 r->n_classes);
    }
    *out_method = dn_train_method_memory(&request, r->n_features, r->n_classes, n_slots);
    return true;
}

double jobs_request_memory(struct jobs_request *r) {
    double memory = 0, method = 0;
    return estimate_memory(r, r->limits.threads, &memory, &method) ? memory : 0;
}

/* Returns the bytes of the kernel cache beyond its minimum size (params.cache_mib); 0: no cache. */
static double cache_memory(struct jobs_request *r) {
    dn_params *given = r->params, *least = NULL;
    double memory = r->memory, method = 0;
    if (dn_params_has(given, "cache_mib") && dn_params_copy(given, &least, NULL) == DN_OK &&
        dn_params_set_number(least, "cache_mib",
                             dn_algorithm_param(given->algorithm, "cache_mib")->minimum,
                             NULL) == DN_OK) {
        r->params = least;
        (void)estimate_memory(r, r->limits.threads, &memory, &method);
        r->params = given;
    }
    dn_params_free(least);
    return r->memory - memory;
}

/* Adds the fault that the training needs more memory than its limit: whose limit it is, the part
 * that does not depend on the rows, and the number of threads that would fit. */
static void refuse_memory(struct jobs_request *r, double method, int64_t fitting,
                          double fitting_memory) {
    struct buf more = {0};
    const double most = (double)jobs_training_memory(r->limits.memory_bytes),
                 cache = cache_memory(r);
    if (fitting > 0) {
        buf_printf(&more, "; in %" PRId64 " thread%s (limits.threads) it would need about %.0f",
                   fitting, fitting == 1 ? "" : "s", ceil(fitting_memory / MIB));
    } else if (method > most / 2) {
        buf_printf(
            &more,
            "; about %.0f of it is the method's own for %zu features, for any number of rows",
            method / MIB, r->n_features);
    }
    if (cache >= MIB) {
        buf_printf(&more,
                   "; about %.0f of it is for values of the kernel, which a smaller "
                   "params.cache_mib reduces",
                   cache / MIB);
    }
    const char *hint = more.size > 0 ? buf_cstr(&more) : "";
    json_fault(r->problem, r->memory_given ? "/limits" : "", r->memory_given ? "memory_mib" : NULL,
               "the training would need about %.0f MiB in %" PRId64
               " thread%s; of %s limit of %.0f MiB%s it may use %.0f%s",
               ceil(r->memory / MIB), r->limits.threads, r->limits.threads == 1 ? "" : "s",
               r->memory_given ? "a" : "the daemon's", (double)r->limits.memory_bytes / MIB,
               r->memory_given ? "" : " (--job-memory)", floor(most / MIB), hint ? hint : "");
    buf_done(&more);
}

/* Reduces the number of threads until the training fits into its memory limit, unless the client
 * gave the number. Each thread needs memory; the result does not depend on their number. */
static void fit_memory(struct jobs_request *r) {
    const double most = (double)jobs_training_memory(r->limits.memory_bytes);
    int64_t threads = r->limits.threads;
    double method = 0;
    choose_held_out(r);
    if (!read_shape(r, &r->data, &r->shape) ||
        (r->has_validation && !read_shape(r, &r->validation_data, &r->validation_shape)) ||
        !estimate_memory(r, threads, &r->memory, &method) || r->memory <= most) {
        return;
    }
    if (r->held_out) { /* the training may fit without the predictions */
        r->held_out = false;
        jobs_request_warn(
            r, DN_WARNING_OTHER,
            "the predictions of the held-out rows are not kept: with them the training "
            "would need about %.0f MiB, and it may use only %.0f",
            ceil(r->memory / MIB), floor(most / MIB));
        if (!estimate_memory(r, threads, &r->memory, &method) || r->memory <= most) {
            return;
        }
    }
    double memory = r->memory, fewer_method = method;
    while (memory > most && threads > 1) {
        if (!estimate_memory(r, --threads, &memory, &fewer_method)) {
            return;
        }
    }
    const bool fits = memory <= most;
    if (!fits && !r->threads_given) { /* report the estimate with the fewest threads */
        r->limits.threads = threads;
        r->memory = memory;
        method = fewer_method;
    }
    if (!fits || r->threads_given) {
        refuse_memory(r, method, fits ? threads : 0, memory);
        return;
    }
    jobs_request_warn(r, DN_WARNING_OTHER,
                      "the training runs in %" PRId64 " thread%s: in %" PRId64
                      " it would need about %.0f MiB, and it may use only %.0f",
                      threads, threads == 1 ? "" : "s", r->limits.threads, ceil(r->memory / MIB),
                      floor(most / MIB));
    r->limits.threads = threads;
    r->memory = memory;
}

bool jobs_request_read(const json_t *root, struct store *store, const struct jobs_limits *limits,
                       struct arena *arena, struct jobs_request *out, struct problem *problem) {
    static const char *const known[] = {
        "model",     "dataset",   "target",       "algorithm",  "params",   "features",
        "weight",    "weights",   "class_weight", "validation", "promote",  "seed",
        "limits",    "snapshots", "snapshots_of", "target_as",  "decision", "learning_curve",
        "conformal", "search",    "expires_in",   NULL};
    *out = (struct jobs_request){.store = store, .arena = arena, .problem = problem};
    json_refuse_unknown(root, known, "", problem);
    const json_t *search = json_object_get(root, "search");
    if (search != NULL && !json_is_null(search)) {
        jobs_search_read(out, root);
    } else {
        jobs_params_read(root, arena, &out->params, problem);
    }
    out->algorithm = out->params != NULL ? out->params->algorithm : NULL;
    jobs_columns_read(out, root);
    check_classes(out);
    jobs_options_read(root, arena, out, problem);
    jobs_class_weight_check(out, root);
    jobs_validation_read(out, root);
    jobs_decision_read(out, root);
    read_limits(out, limits, root);
    jobs_promotion_check(out, root);
    if (out->search != NULL) {
        jobs_search_check(out, root);
    } else if (!problem->type) {
        (void)jobs_request_check_shape(out);
    }
    if (!problem->type) {
        check_snapshots(out);
        choose_ranks(out, limits);
    }
    if (!problem->type) {
        fit_memory(out);
    }
    if (out->warnings.failed) {
        problem_set(problem, PROBLEM_UNAVAILABLE, "no memory for the job");
    }
    return problem->type == PROBLEM_NONE;
}

void jobs_request_done(struct jobs_request *r) {
    jobs_search_done(r->search);
    dn_params_free(r->params);
    r->params = NULL;
    buf_done(&r->warnings);
    if (r->has_validation) {
        schema_done(&r->validation_schema);
        store_dataset_done(&r->validation_data);
    }
    if (r->has_dataset) {
        schema_done(&r->schema);
        store_dataset_done(&r->data);
    }
}
