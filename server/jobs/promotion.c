/* Compares a new version of a model with the live one. */
#include "jobs/promotion.h"

#include "base/json/json.h"
#include "jobs/documents.h"
#include "jobs/model_columns.h"
#include "jobs/request/job_promotion.h"
#include "jobs/request/job_split.h"
#include "jobs/source.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two metrics a and b are equal up to rounding if |a - b| is at most this times max(1, |a|,
 * |b|). */
#define ROUNDING 1e-12

/* ---- the live version on the validation rows ---- */

/* Reads the model of a version and charges its memory. Returns NULL after setting *reason or
 * *problem. */
static dn_model *load(const struct promotion_subject *s, const struct store_model *live,
                      size_t *charged, struct buf *reason, struct problem *problem) {
    dn_model *model = NULL;
    struct buf bytes = {0};
    struct problem why = {0};
    dn_error err;
    dn_error_clear(&err);
    const size_t size = (size_t)jobs_promotion_memory(live);
    if (dn_run_charge(s->run, size, "the bytes of the live version", &err) != DN_OK) {
        buf_printf(reason, "%s", err.message);
        return NULL;
    }
    *charged = size;
    if (!store_model_bytes(s->store, live->id, &bytes, &why)) {
        if (why.type == PROBLEM_UNKNOWN_MODEL) {
            buf_puts(reason, "it was deleted");
        } else {
            problem_move(problem, &why);
        }
    } else if (dn_model_read(bytes.data, bytes.size, &model, &err) != DN_OK) {
        buf_printf(reason, "it cannot be read: %s", err.message);
    }
    problem_done(&why);
    buf_done(&bytes);
    return model;
}

/* Opens the table of the validation rows with the columns that the model needs. */
static bool open_rows(const struct promotion_subject *s, const dn_model *model,
                      struct jobs_source **out, struct problem *problem) {
    const struct jobs_request *r = s->request;
    const struct store_dataset *d = s->validated;
    struct schema schema = {0};
    if (!schema_parse(d->columns, &schema, problem)) {
        return false;
    }
    bool good = false;
    const size_t most = dn_encoder_n_inputs(dn_model_encoder(model)) + 2;
    struct jobs_column *columns = calloc(most, sizeof *columns);
    if (columns != NULL) {
        size_t n = jobs_model_columns(&schema, model, r->target.name, columns);
        const ptrdiff_t weight = r->weighted ? schema_find(&schema, r->weight.name) : -1;
        if (weight >= 0) {
            columns[n++] = jobs_column_of(&schema.columns[weight], (size_t)weight);
        }
        good =
            jobs_source_open(s->store, d->id, columns, n, s->run->n_slots, 0, s->run, out, problem);
    } else {
        problem_no_memory(problem);
    }
    free(columns);
    schema_done(&schema);
    return good;
}

/* Evaluates the model on the validation rows; *out is the metric. Returns false after setting
 * *reason or *problem. */
static bool evaluate(const struct promotion_subject *s, const dn_model *model, double *out,
                     struct buf *reason, struct problem *problem) {
    const size_t n = s->result->n_folds > 0 ? s->result->n_folds : 1,
                 metric = s->request->promotion.metric;
    struct jobs_source *source = NULL;
    dn_metrics **metrics = calloc(n, sizeof(*metrics));
    dn_run run = *s->run;
    dn_error err;
    dn_error_clear(&err);
    run.progress = NULL;
    if (metrics == NULL) {
        return problem_no_memory(problem);
    }
    bool good = open_rows(s, model, &source, problem);
    if (good) {
        const dn_status status =
            dn_model_evaluate_held_out(model, s->training, jobs_source_table(source), &run, metrics,
                                       &err);
        good = status == DN_OK;
        if (status == DN_ERR_STOPPED) {
            jobs_problem_from_core(&err, NULL, problem);
        } else if (!good) {
            buf_printf(reason, "%s", err.message);
        }
    }
    if (good) {
        *out = jobs_folds_mean((const dn_metrics *const *)metrics, n, metric);
        if (isnan(*out) && metrics[0]->warning[0] != '\0') {
            buf_printf(reason, "%s", metrics[0]->warning);
        }
    }
    for (size_t i = 0; i < n; i++) {
        dn_metrics_free(metrics[i]);
    }
    free(metrics);
    jobs_source_close(source);
    return good;
}

/* Returns the metric of the new version; NaN: there are no validation rows, or it is undefined. */
static double own_figure(const struct promotion_subject *s) {
    const dn_train_result *r = s->result;
    const size_t metric = s->request->promotion.metric;
    return r->n_folds > 0 ? jobs_folds_mean((const dn_metrics *const *)r->folds, r->n_folds, metric)
           : r->validation != NULL && r->n_validation > 0 ? dn_metric_value(r->validation, metric)
                                                          : (double)NAN;
}

/* Sets live_figure. If the live version cannot be compared, *reason says why. Returns false after
 * setting *problem. */
static bool compare(const struct promotion_subject *s, const struct store_model *live,
                    struct promotion *p, struct buf *reason, struct problem *problem) {
    size_t charged = 0;
    dn_model *model = load(s, live, &charged, reason, problem);
    if (model != NULL) {
        (void)evaluate(s, model, &p->live_figure, reason, problem);
    }
    dn_model_unref(model);
    dn_run_discharge(s->run, charged);
    return problem->type == PROBLEM_NONE;
}

/* ---- warnings ---- */

/* Appends a warning to the list if it is not in it. */
static void add_warning(void *arg, const char *text) {
    struct buf *list = arg, escaped = {0};
    json_escape(&escaped, text, strlen(text));
    const char *all = buf_cstr(list), *one = buf_cstr(&escaped);
    if (all == NULL || one == NULL) {
        list->failed = true;
    } else if (strstr(all, one) == NULL) {
        list->size--; /* the bracket */
        buf_printf(list, "%s%s]", list->size > 1 ? "," : "", one);
    }
    buf_done(&escaped);
}

/* Returns true if both trainings have held out the same rows of the same table; false if the live
 * version was made by a release that chose the rows by another rule. */
static bool same_split(const struct promotion_subject *s, const json_t *info) {
    const struct jobs_request *r = s->request;
    const json_t *dataset = json_object_get(info, "dataset"),
                 *validation = json_object_get(info, "validation");
    const char *weight = json_string_value(json_object_get(info, "weight")),
               *target = json_string_value(json_object_get(info, "target"));
    const char *rule = json_string_value(json_object_get(info, "holdout_rows"));
    const bool random = r->split.by == JOBS_SPLIT_NONE,
               held_out = r->holdout > 0 || r->split.by == JOBS_SPLIT_COLUMN;
    return held_out && jobs_split_same(&r->split, validation) &&
           (!random || (rule != NULL && strcmp(rule, JOBS_HOLDOUT_ROWS) == 0)) &&
           json_number_value(json_object_get(dataset, "version")) == (double)s->trained->version &&
           json_number_value(json_object_get(validation, "holdout")) == r->holdout &&
           json_number_value(json_object_get(info, "seed")) == (double)r->seed && target != NULL &&
           strcmp(target, r->target.name) == 0 && (weight != NULL) == r->weighted &&
           (weight == NULL || strcmp(weight, r->weight.name) == 0);
}

/* Warns if the live version may have been trained on some of the validation rows. */
static void warn_of_leak(const struct promotion_subject *s, const struct store_model *live,
                         struct buf *warnings) {
    struct problem ignored = {0};
    struct buf text = {0};
    json_t *info = json_parse(live->info, strlen(live->info), &ignored);
    const json_t *dataset = json_object_get(info, "dataset");
    const char *name = json_string_value(json_object_get(dataset, "name"));
    if (name != NULL && strcmp(name, s->validated->name) == 0 && !same_split(s, info)) {
        buf_printf(&text,
                   "the live version %" PRId64
                   " was trained on rows of dataset \"%s\", which may be among the validation "
                   "rows: its %s may look better than it is",
                   live->version, name, dn_metric_name(s->request->promotion.metric));
        add_warning(warnings, buf_cstr(&text) != NULL ? text.data : "");
    }
    buf_done(&text);
    problem_done(&ignored);
    json_decref(info);
}

static bool warn_of_types(const struct promotion_subject *s, const struct store_model *live,
                          struct buf *warnings, struct problem *problem) {
    struct schema schema = {0};
    if (!schema_parse(s->trained->columns, &schema, problem)) {
        return false;
    }
    jobs_changed_types(live, &schema, add_warning, warnings);
    schema_done(&schema);
    return true;
}

/* ---- the decision ---- */

/* Appends a number as it is written in JSON. */
static void put_figure(struct buf *out, double value) {
    if (isnan(value)) {
        buf_puts(out, "undefined");
    } else {
        json_double_write(value, out);
    }
}

/* Decides by the metrics of both versions. */
static void decide_by_figures(struct promotion *p) {
    const char *metric = dn_metric_name(p->rule->metric);
    const double gain =
                     (p->figure - p->live_figure) * (dn_metric_is_loss(p->rule->metric) ? -1 : 1),
                 size = fmax(1, fmax(fabs(p->figure), fabs(p->live_figure))),
                 slack = isfinite(size) ? ROUNDING * size : 0;
    const bool equal = p->figure == p->live_figure || fabs(gain) <= slack;
    p->decision.promote = !equal && gain > 0 && gain >= p->rule->by - slack;
    buf_printf(&p->reason, "%s of the new version is ", metric);
    put_figure(&p->reason, p->figure);
    buf_printf(&p->reason, ", that of live version %" PRId64 " is ", p->decision.live);
    put_figure(&p->reason, p->live_figure);
    if (isnan(p->figure) || isnan(p->live_figure)) {
        buf_puts(&p->reason, ": they cannot be compared");
    } else if (p->decision.promote) {
        buf_puts(&p->reason, ": better");
    } else if (equal || gain <= 0) {
        buf_puts(&p->reason, equal ? ": not better, but equal" : ": not better");
    } else {
        buf_puts(&p->reason, ": better, but not by ");
        put_figure(&p->reason, p->rule->by);
    }
}

/* Sets the decision and its reason. why: why the versions were not compared; "": they were. */
static void decide(struct promotion *p, const char *why) {
    const bool only_rule = p->rule->kind != JOBS_PROMOTE_IF_BETTER;
    p->decision.promote = p->rule->kind == JOBS_PROMOTE_ALWAYS;
    if (p->decision.live == 0) {
        p->decision.promote = true;
        buf_puts(&p->reason, "the model had no live version");
    } else if (only_rule) {
        buf_printf(&p->reason, "\"promote\" is \"%s\"", jobs_promotion_name(p->rule->kind));
    } else if (why[0] == '\0') {
        decide_by_figures(p);
    }
    if (p->decision.live != 0 && why[0] != '\0') {
        buf_printf(&p->reason, "%slive version %" PRId64 " is not compared: %s",
                   only_rule ? "; " : "", p->decision.live, why);
    }
}

/* Compares the new version with the live one. *why: the reason if this is not possible. */
static bool judge(const struct promotion_subject *s, const struct store_model *live,
                  struct promotion *p, struct buf *why, struct problem *problem) {
    p->decision.live = live->version;
    if (!warn_of_types(s, live, &p->warnings, problem)) {
        return false;
    }
    if (s->validated == NULL || s->request->target.name == NULL) {
        return true; /* without validation rows or classes there are no figures */
    }
    if (s->result->n_folds == 0 && s->result->n_validation == 0) {
        buf_puts(why, "there are no validation rows");
        return true;
    }
    if (!compare(s, live, p, why, problem) && !problem->lost &&
        dn_run_stop(s->run, NULL) == DN_OK) {
        /* a live version that cannot be read must not fail the job; without the database it is
         * unknown whether it can be read */
        p->live_figure = (double)NAN;
        buf_clear(why);
        buf_puts(why, problem->detail != NULL ? problem->detail : "it cannot be read");
        problem_done(problem);
    } else if (problem->type != PROBLEM_NONE) {
        return false;
    }
    if (p->rule->kind == JOBS_PROMOTE_IF_BETTER && !isnan(p->live_figure)) {
        warn_of_leak(s, live, &p->warnings);
    }
    return true;
}

bool promotion_decide(const struct promotion_subject *s, struct promotion *out,
                      struct problem *problem) {
    struct store_model live;
    struct buf why = {0};
    *out = (struct promotion){.rule = &s->request->promotion,
                              .figure = own_figure(s),
                              .live_figure = (double)NAN};
    buf_puts(&out->warnings, s->posted != NULL ? s->posted : "[]");
    bool found = false,
         good = store_model_try_live(s->store, s->request->model, &live, &found, problem);
    if (good && found) {
        good = judge(s, &live, out, &why, problem);
        store_model_done(&live);
    }
    const char *text = buf_cstr(&why);
    if (good) {
        decide(out, text != NULL ? text : "");
    }
    if (good && (why.failed || out->reason.failed || out->warnings.failed)) {
        good = problem_no_memory(problem);
    }
    buf_done(&why);
    return good;
}

void promotion_done(struct promotion *p) {
    buf_done(&p->reason);
    buf_done(&p->warnings);
}

void promotion_write(const struct promotion *p, struct json_writer *w) {
    const char *reason = p->reason.size > 0 ? p->reason.data : "";
    json_kv_bool(w, "promoted", p->decision.promote);
    json_kv_begin_object(w, "promotion");
    json_kv_string(w, "rule", jobs_promotion_name(p->rule->kind));
    json_kv_string(w, "metric", dn_metric_name(p->rule->metric));
    json_kv_double(w, "by", p->rule->by);
    json_kv_double(w, "new", p->figure);
    json_kv_double(w, "live", p->live_figure);
    json_put_key(w, "live_version");
    if (p->decision.live > 0) {
        json_put_int(w, p->decision.live);
    } else {
        json_put_null(w);
    }
    json_put_key(w, "reason");
    json_put_stringn(w, reason, p->reason.size);
    json_end_object(w);
}
