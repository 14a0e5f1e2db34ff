/* Reads the body of POST /v1/jobs: reports every fault and fills in defaults. */
#include "api/jobs/job_spec.h"
#include "api/support.h"
#include "base/json/json_read.h"
#include "jobs/request/job_options.h"
#include "jobs/request/params.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SNAPSHOT_NUMBERS = 2000000 };
#define MAX_SECONDS 1e9 /* the maximum of --job-seconds too */
#define MIB (1024.0 * 1024.0)

/* Makes room for one more code. The array is full if its length is a power of two; it is then
 * copied to an array of twice the length. NULL: no memory. */
static const char **code_array(const struct job_request *r) {
    const size_t n = r->spec.n_warnings;
    if ((n & (n - 1)) != 0) {
        return r->spec.warning_codes;
    }
    const char **codes = arena_alloc(r->arena, (n == 0 ? 1 : 2 * n) * sizeof *codes);
    if (codes != NULL && n > 0) {
        memcpy(codes, r->spec.warning_codes, n * sizeof *codes);
    }
    return codes;
}

/* Appends the code of a warning. */
static void add_code(struct job_request *r, dn_warning_code code) {
    const char **codes = code_array(r);
    if (codes == NULL) {
        r->warnings.failed = true;
        return;
    }
    codes[r->spec.n_warnings++] = jobs_warning_code(code);
    r->spec.warning_codes = codes;
}

void job_request_warn(struct job_request *r, dn_warning_code code, const char *format, ...) {
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

static void read_limits(struct job_request *r, const json_t *root) {
    static const char *const known[] = {"seconds", "memory_mib", "threads", NULL};
    const json_t *limits = NULL;
    const double most_seconds = jobs_seconds_limit(r->app->jobs);
    const int64_t most_mib = jobs_memory_limit(r->app->jobs) >> 20,
                  most_threads = jobs_thread_limit(r->app->jobs);
    int64_t mib = 0;
    r->spec.seconds = most_seconds;
    r->spec.memory_bytes = jobs_memory_limit(r->app->jobs);
    r->spec.threads = most_threads;
    if (!json_read_object(root, "limits", false, "", &limits, r->problem)) {
        return;
    }
    json_refuse_unknown(limits, known, "/limits", r->problem);
    if (json_read_number(limits, "seconds", false, "/limits", &r->spec.seconds, r->problem)) {
        if (!(r->spec.seconds > 0)) {
            json_fault(r->problem, "/limits", "seconds", "must be > 0, got %g", r->spec.seconds);
        } else if (r->spec.seconds > MAX_SECONDS) {
            json_fault(r->problem, "/limits", "seconds", "must be at most %g, got %g", MAX_SECONDS,
                       r->spec.seconds);
        } else if (most_seconds > 0 && r->spec.seconds > most_seconds) {
            json_fault(r->problem, "/limits", "seconds",
                       "must be at most %g (--job-seconds), got %g", most_seconds, r->spec.seconds);
        }
    }
    r->memory_given = json_read_int(limits, "memory_mib", false, "/limits", 1,
                                    most_mib > 0 ? most_mib : 1, &mib, r->problem);
    if (r->memory_given) {
        r->spec.memory_bytes = mib << 20;
    }
    r->threads_given = json_read_int(limits, "threads", false, "/limits", 1, most_threads,
                                     &r->spec.threads, r->problem);
}

/* ---- what the whole will take ---- */

/* Warns if there will be no snapshots: the iterations of several machines differ. */
static void check_snapshots(struct job_request *r) {
    const dn_decision decision = dn_params_decision(r->spec.params);
    if (r->spec.n_snapshots == 0) {
        return;
    }
    if (r->spec.algorithm->flags & DN_ALGORITHM_NOT_ADDITIVE) {
        job_request_warn(
            r, DN_WARNING_OTHER,
            "there will be no snapshots: the scores of %s are not weighted sums of features",
            r->spec.algorithm->id);
        return;
    }
    if (dn_decision_n_machines(decision, r->n_classes) > 1) {
        job_request_warn(r, DN_WARNING_OTHER,
                         "there will be no snapshots: the model has one machine for each class or "
                         "pair of classes, and each has its own iterations");
        return;
    }
    const size_t n_scores = dn_decision_n_scores(decision, r->n_classes);
    double numbers = (double)r->spec.n_snapshots * (double)n_scores * (double)(r->n_features + 1);
    if (numbers > MAX_SNAPSHOT_NUMBERS) {
        json_fault(r->problem, "", "snapshots",
                   "%zu snapshots of %zu x %zu weights are more than %d numbers",
                   r->spec.n_snapshots, n_scores, r->n_features + 1, MAX_SNAPSHOT_NUMBERS);
    }
}

/* Checks the parameters against the number of classes. */
static void check_classes(struct job_request *r) {
    dn_error err;
    dn_error_clear(&err);
    if (job_request_has_classes(r) && r->spec.params &&
        dn_params_check_classes(r->spec.params, r->n_classes, &err) != DN_OK) {
        jobs_params_fault(&err, r->problem);
    }
}

/* Checks the parameters against the numbers of rows and features. */
static void check_shape(struct job_request *r) {
    dn_params *used = NULL;
    dn_error err;
    dn_error_clear(&err);
    const size_t n_classes =
        dn_params_decision(r->spec.params) == DN_DECISION_NATIVE ? r->n_classes : 2;
    dn_status status = dn_params_copy(r->spec.params, &used, &err);
    if (status == DN_OK) {
        status = dn_params_resolve(used, (size_t)r->dataset.n_rows, r->n_features, n_classes, &err);
    }
    if (status != DN_OK) {
        jobs_params_fault(&err, r->problem);
    }
    dn_params_free(used);
}

void job_request_name_deleted(const struct job_request *r, struct problem *problem) {
    if (problem->type == PROBLEM_UNKNOWN_DATASET) {
        problem_done(problem);
        json_fault(problem, "", "dataset",
                   "dataset \"%s\" version %" PRId64 "%s has just been deleted", r->spec.dataset,
                   r->spec.dataset_version,
                   r->spec.validation.dataset ? ", or the one to validate on," : "");
    }
}

/* Sets the sizes that determine the memory of decoded chunks. False: a problem is set. */
static bool read_shape(struct job_request *r, const struct store_dataset *d,
                       struct jobs_source_shape *out) {
    struct store_chunk *chunks = NULL;
    size_t n = 0;
    if (!store_dataset_chunks(r->app->store, d->id, &chunks, &n, r->problem)) {
        job_request_name_deleted(r, r->problem);
        return false;
    }
    const double rows = fmax((double)d->n_rows, 1);
    *out = (struct jobs_source_shape){.row_bytes = (double)d->bytes / rows,
                                      .row_entries =
                                          r->n_entries / fmax((double)r->dataset.n_rows, 1)};
    for (size_t i = 0; i < n; i++) {
        out->chunk_rows = fmax(out->chunk_rows, (double)chunks[i].n_rows);
    }
    free(chunks);
    return true;
}

/* Estimates the memory of the training from the columns. False: no memory, a problem is set.
 *
 *   out         bytes with this number of threads
 *   out_method  the part that does not depend on the number of rows */
static bool estimate_memory(struct job_request *r, int64_t threads, double *out,
                            double *out_method) {
    const size_t n = r->spec.n_inputs, n_rows = (size_t)r->dataset.n_rows,
                 n_slots = (size_t)threads;
    dn_table_column *columns = arena_alloc(r->arena, (n + 2) * sizeof *columns);
    const dn_table_source source = {.n_rows = n_rows,
                                    .n_cols = n + 1 + r->spec.weighted,
                                    .columns = columns,
                                    .n_slots = n_slots};
    const dn_table_source validation = {.n_rows =
                                            r->has_validation ? (size_t)r->validation.n_rows : 0,
                                        .n_cols = source.n_cols,
                                        .columns = columns,
                                        .n_slots = n_slots};
    dn_train_request request = {
        .source = &source,
        .params = r->spec.params,
        .target = r->targetless ? DN_NO_TARGET : n,
        .weighted = r->spec.weighted,
        .weight = n + 1,
        .class_weight = r->spec.class_weights.kind,
        .class_weights = r->spec.class_weights.values,
        .n_class_weights = r->spec.class_weights.n,
        .entries = r->n_entries,
        .different_words = r->n_words,
        .holdout = r->spec.holdout,
        .folds = r->spec.folds,
        .validation = r->has_validation ? &validation : NULL,
    };
    if (!columns || !job_encoder_spec(r, columns, &request.features)) {
        return problem_set(r->problem, PROBLEM_UNAVAILABLE, "no memory for the job");
    }
    columns[n] = (dn_table_column){.name = r->spec.target.name, .type = r->spec.target.type};
    if (r->spec.weighted) {
        columns[n + 1] =
            (dn_table_column){.name = r->spec.weight.name, .type = r->spec.weight.type};
    }
    *out = dn_train_memory(&request, n_rows, r->n_features, r->n_classes, n_slots) +
           jobs_source_memory(columns, source.n_cols, n_slots, &r->shape) +
           jobs_source_memory(columns, source.n_cols, n_slots, &r->validation_shape);
    *out_method = dn_train_method_memory(&request, r->n_features, r->n_classes, n_slots);
    return true;
}

/* The bytes of kernel values beyond those with the minimum of params.cache_mib; 0: no cache. */
static double cache_memory(struct job_request *r) {
    dn_params *given = r->spec.params, *least = NULL;
    double memory = r->memory, method = 0;
    if (dn_params_has(given, "cache_mib") && dn_params_copy(given, &least, NULL) == DN_OK &&
        dn_params_set_number(least, "cache_mib",
                             dn_algorithm_param(given->algorithm, "cache_mib")->minimum,
                             NULL) == DN_OK) {
        r->spec.params = least;
        (void)estimate_memory(r, r->spec.threads, &memory, &method);
        r->spec.params = given;
    }
    dn_params_free(least);
    return r->memory - memory;
}

/* Adds the fault that the training needs more memory than its limit: whose limit it is, the part
 * that does not depend on the rows, and the number of threads that would fit. */
static void refuse_memory(struct job_request *r, double method, int64_t fitting,
                          double fitting_memory) {
    struct buf more = {0};
    const double most = (double)jobs_training_memory(r->spec.memory_bytes), cache = cache_memory(r);
    if (fitting > 0) {
        buf_printf(&more, "; in %" PRId64 " thread%s (limits.threads) it would need about %.0f",
                   fitting, fitting == 1 ? "" : "s", ceil(fitting_memory / MIB));
    } else if (method > most / 2) {
        buf_printf(
            &more,
            "; about %.0f of it is the method's own for %zu features, however many rows there are",
            method / MIB, r->n_features);
    }
    if (cache >= MIB) {
        buf_printf(&more,
                   "; about %.0f of it is for values of the kernel, and less with a smaller "
                   "params.cache_mib",
                   cache / MIB);
    }
    const char *hint = more.size > 0 ? buf_cstr(&more) : "";
    json_fault(r->problem, r->memory_given ? "/limits" : "", r->memory_given ? "memory_mib" : NULL,
               "the training would need about %.0f MiB in %" PRId64
               " thread%s; of %s limit of %.0f MiB%s it may use %.0f%s",
               ceil(r->memory / MIB), r->spec.threads, r->spec.threads == 1 ? "" : "s",
               r->memory_given ? "a" : "the daemon's", (double)r->spec.memory_bytes / MIB,
               r->memory_given ? "" : " (--job-memory)", floor(most / MIB), hint ? hint : "");
    buf_done(&more);
}

/* Reduces the number of threads until the training fits into its memory limit, unless the client
 * gave the number. Each thread needs memory; the result does not depend on their number. */
static void fit_memory(struct job_request *r) {
    const double most = (double)jobs_training_memory(r->spec.memory_bytes);
    int64_t threads = r->spec.threads;
    double method = 0;
    if (!read_shape(r, &r->dataset, &r->shape) ||
        (r->has_validation && !read_shape(r, &r->validation, &r->validation_shape)) ||
        !estimate_memory(r, threads, &r->memory, &method) || r->memory <= most) {
        return;
    }
    double memory = r->memory, fewer_method = method;
    while (memory > most && threads > 1) {
        if (!estimate_memory(r, --threads, &memory, &fewer_method)) {
            return;
        }
    }
    const bool fits = memory <= most;
    if (!fits && !r->threads_given) { /* report the estimate with the fewest threads */
        r->spec.threads = threads;
        r->memory = memory;
        method = fewer_method;
    }
    if (!fits || r->threads_given) {
        refuse_memory(r, method, fits ? threads : 0, memory);
        return;
    }
    job_request_warn(r, DN_WARNING_OTHER,
                     "the training runs in %" PRId64 " thread%s: in %" PRId64
                     " it would need about %.0f MiB, and may use %.0f",
                     threads, threads == 1 ? "" : "s", r->spec.threads, ceil(r->memory / MIB),
                     floor(most / MIB));
    r->spec.threads = threads;
    r->memory = memory;
}

bool job_request_read(const json_t *root, const struct api_app *app, struct arena *arena,
                      struct job_request *out, struct problem *problem) {
    static const char *const known[] = {"model",        "dataset",    "target", "algorithm",
                                        "params",       "features",   "weight", "weights",
                                        "class_weight", "validation", "seed",   "limits",
                                        "snapshots",    NULL};
    *out = (struct job_request){.arena = arena, .app = app, .problem = problem};
    json_refuse_unknown(root, known, "", problem);
    jobs_params_read(root, arena, &out->spec.params, problem);
    out->spec.algorithm = out->spec.params != NULL ? out->spec.params->algorithm : NULL;
    job_columns_read(out, root);
    check_classes(out);
    jobs_options_read(root, arena, &out->spec, problem);
    job_class_weight_check(out, root);
    job_validation_read(out, root);
    read_limits(out, root);
    if (!problem->type) {
        check_shape(out);
    }
    if (!problem->type) {
        check_snapshots(out);
    }
    if (!problem->type) {
        fit_memory(out);
    }
    if (out->warnings.failed) {
        problem_set(problem, PROBLEM_UNAVAILABLE, "no memory for the job");
    }
    return problem->type == PROBLEM_NONE;
}

void job_request_done(struct job_request *r) {
    jobs_spec_done(&r->spec);
    buf_done(&r->warnings);
    if (r->has_validation) {
        schema_done(&r->validation_schema);
        store_dataset_done(&r->validation);
    }
    if (r->has_dataset) {
        schema_done(&r->schema);
        store_dataset_done(&r->dataset);
    }
}
