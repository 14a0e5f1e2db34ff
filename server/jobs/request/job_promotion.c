/* Reads, checks and writes "promote". */
#include "jobs/request/job_promotion.h"

#include "jobs/documents.h"

#include <inttypes.h>
#include <string.h>

enum { MAX_CHANGED = 20 };

static const char *const kinds[] = {[JOBS_PROMOTE_ALWAYS] = "always",
                                    [JOBS_PROMOTE_NEVER] = "never",
                                    [JOBS_PROMOTE_IF_BETTER] = "if_better",
                                    NULL};

const char *jobs_promotion_name(enum jobs_promote kind) {
    return kinds[kind];
}

/* ---- reading and writing ---- */

/* Reads {"if_better":{"metric":…,"by":…}}. */
static void read_object(const json_t *promote, struct jobs_promotion *out,
                        struct problem *problem) {
    static const char *const known[] = {"if_better", NULL}, *const options[] = {"metric", "by",
                                                                                NULL};
    const json_t *object = NULL;
    out->kind = JOBS_PROMOTE_IF_BETTER;
    json_refuse_unknown(promote, known, "/promote", problem);
    if (!json_read_object(promote, "if_better", true, "/promote", &object, problem)) {
        return;
    }
    json_refuse_unknown(object, options, "/promote/if_better", problem);
    jobs_metric_read(object, "/promote/if_better", &out->metric, problem);
    if (json_read_number(object, "by", false, "/promote/if_better", &out->by, problem) &&
        !(out->by >= 0)) {
        json_fault(problem, "/promote/if_better", "by", "must be >= 0, got %g", out->by);
    }
}

void jobs_promotion_read(const json_t *root, struct jobs_promotion *out, struct problem *problem) {
    size_t kind = JOBS_PROMOTE_ALWAYS;
    const json_t *value = json_read_any(root, "promote", false, "", problem);
    *out = (struct jobs_promotion){.kind = JOBS_PROMOTE_ALWAYS};
    if (json_is_object(value)) {
        read_object(value, out, problem);
    } else if (value != NULL && !json_is_string(value)) {
        json_refuse_value(problem, "", "promote",
                          "\"always\", \"never\", \"if_better\", or an object with the member "
                          "\"if_better\"",
                          value);
    } else if (json_read_choice(root, "promote", false, "", kinds, &kind, problem)) {
        out->kind = (enum jobs_promote)kind;
    }
}

void jobs_promotion_write(const struct jobs_promotion *p, struct json_writer *w) {
    if (p->kind != JOBS_PROMOTE_IF_BETTER) {
        json_kv_string(w, "promote", kinds[p->kind]);
        return;
    }
    json_kv_begin_object(w, "promote");
    json_kv_begin_object(w, kinds[p->kind]);
    json_kv_string(w, "metric", dn_metric_name(p->metric));
    json_kv_double(w, "by", p->by);
    json_end_object(w);
    json_end_object(w);
}

/* ---- changed types ---- */

/* Returns the type of the live version's target, as far as its classes show it; NULL: no target. */
static const char *target_type(const json_t *classes) {
    const json_t *first = json_array_get(classes, 0);
    return json_is_number(first)    ? dn_column_type_name(DN_NUMERIC)
           : json_is_boolean(first) ? dn_column_type_name(DN_BOOLEAN)
           : json_is_string(first)  ? dn_column_type_name(DN_CATEGORICAL)
                                    : NULL;
}

struct changed {
    const struct store_model *live;
    const struct schema *schema;
    const json_t *dataset; /* name and version of the live version's table */
    size_t n;
    size_t next; /* where the next column probably is: tables have the same order */
    jobs_warning_fn *fn;
    void *arg;
};

/* Returns the index of a column; -1: there is none. */
static ptrdiff_t find(struct changed *c, const char *name) {
    const bool here = c->next < c->schema->n && strcmp(c->schema->columns[c->next].name, name) == 0;
    const ptrdiff_t i = here ? (ptrdiff_t)c->next : schema_find(c->schema, name);
    c->next = i >= 0 ? (size_t)i + 1 : c->next;
    return i;
}

static void compare(struct changed *c, const char *name, const char *type) {
    const ptrdiff_t i = name != NULL ? find(c, name) : -1;
    struct buf text = {0};
    if (i < 0 || type == NULL ||
        strcmp(type, dn_column_type_name(c->schema->columns[i].type)) == 0 ||
        ++c->n > MAX_CHANGED) {
        return;
    }
    buf_printf(&text,
               "column \"%s\" is %s; in the table of the live version %" PRId64
               ", dataset \"%s\" version %.0f, it was %s",
               name, dn_column_type_name(c->schema->columns[i].type), c->live->version,
               json_string_value(json_object_get(c->dataset, "name")),
               json_number_value(json_object_get(c->dataset, "version")), type);
    if (buf_cstr(&text) != NULL) {
        c->fn(c->arg, buf_cstr(&text));
    }
    buf_done(&text);
}

void jobs_changed_types(const struct store_model *live, const struct schema *schema,
                        jobs_warning_fn *fn, void *arg) {
    struct problem ignored = {0};
    json_t *info = json_parse(live->info, strlen(live->info), &ignored);
    const json_t *inputs = json_object_get(info, "inputs");
    struct changed c = {.live = live,
                        .schema = schema,
                        .dataset = json_object_get(info, "dataset"),
                        .fn = fn,
                        .arg = arg};
    problem_done(&ignored);
    if (json_is_string(json_object_get(c.dataset, "name"))) {
        const char *target = json_string_value(json_object_get(info, "target"));
        compare(&c, target, target_type(json_object_get(info, "classes")));
        for (size_t i = 0; i < json_array_size(inputs); i++) {
            const json_t *input = json_array_get(inputs, i);
            compare(&c, json_string_value(json_object_get(input, "name")),
                    json_string_value(json_object_get(input, "type")));
        }
    }
    if (c.n > MAX_CHANGED) {
        struct buf text = {0};
        buf_printf(&text,
                   "%zu more columns have another type than in the table of the live version "
                   "%" PRId64,
                   c.n - MAX_CHANGED, live->version);
        if (buf_cstr(&text) != NULL) {
            fn(arg, buf_cstr(&text));
        }
        buf_done(&text);
    }
    json_decref(info);
}

/* ---- checks of a POST ---- */

static void add_warning(void *arg, const char *text) {
    jobs_request_warn(arg, DN_WARNING_OTHER, "%s", text);
}

/* Reads the live version. Refuses a comparison for which it is too large, and warns of columns
 * whose type has changed. */
static void check_live(struct jobs_request *r) {
    struct problem why = {0};
    struct store_model live;
    bool found = false;
    if (store_model_try_live(r->store, r->model, &live, &found, &why) && found) {
        const int64_t needed = jobs_promotion_memory(&live),
                      most = jobs_training_memory(r->limits.memory_bytes);
        if (r->promotion.kind == JOBS_PROMOTE_IF_BETTER && needed > most) {
            json_fault(r->problem, "", "promote",
                       "the live version %" PRId64 " needs about %" PRId64
                       " MiB to be evaluated, and the job may use %" PRId64
                       ": raise limits.memory_mib or --job-memory",
                       live.version, needed >> 20, most >> 20);
        }
        jobs_changed_types(&live, &r->schema, add_warning, r);
        store_model_done(&live);
    } else if (why.type != PROBLEM_NONE) {
        problem_done(r->problem); /* an error of the store replaces the faults found so far */
        problem_move(r->problem, &why);
    }
    problem_done(&why);
}

/* Refuses a metric that no model of the job has. */
static void check_metric(struct jobs_request *r) {
    const size_t metric = r->promotion.metric;
    if (r->problem->type || r->n_classes < 2 ||
        dn_params_have_metric(r->params, r->n_classes, metric)) {
        return;
    }
    const bool probable = dn_metric_computed_of(metric) == DN_METRIC_OF_PROBABILITIES,
               calibrated =
                   probable && dn_params_has(r->params, "calibrate") &&
                   dn_decision_has_probabilities(dn_params_decision(r->params), r->n_classes);
    json_fault(r->problem, "/promote/if_better", "metric",
               "\"%s\" is computed from %s, which %s with these parameters does not give for %zu "
               "classes%s; \"accuracy\" is defined for every model",
               dn_metric_name(metric), probable ? "probabilities" : "a score of each class",
               r->algorithm->id, r->n_classes, calibrated ? " (set params.calibrate)" : "");
}

void jobs_promotion_check(struct jobs_request *r, const json_t *root) {
    const json_t *validation = json_object_get(root, "validation");
    if (r->promotion.kind == JOBS_PROMOTE_IF_BETTER && r->targetless) {
        json_fault(r->problem, "", "promote",
                   "\"if_better\" needs a target, and algorithm %s has none: metrics compare "
                   "predictions with classes",
                   r->algorithm->id);
    } else if (r->promotion.kind == JOBS_PROMOTE_IF_BETTER &&
               (validation == NULL || json_is_null(validation))) {
        json_fault(r->problem, "", "promote",
                   "\"if_better\" compares both versions on held-out rows: it needs "
                   "\"validation\", such as {\"holdout\":0.25}");
    } else if (r->promotion.kind == JOBS_PROMOTE_IF_BETTER) {
        check_metric(r);
    }
    if (r->has_dataset && r->model != NULL && ids_name_valid(r->model, strlen(r->model))) {
        check_live(r);
    }
}
