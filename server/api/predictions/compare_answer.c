/* The answer of POST /v1/compare. */
#include "api/predictions/compare.h"
#include "api/support.h"
#include "base/json/json_write.h"
#include "jobs/documents.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Writes [lower, upper], or null, as the value of the last key. */
static void put_interval(const double *interval, struct json_writer *w) {
    if (isnan(interval[0])) {
        json_put_null(w);
    } else {
        json_put_vector(w, NULL, interval, 2);
    }
}

static void put_reference(const struct serving_model *m, struct json_writer *w) {
    char text[IDS_NAME_SIZE + 24];
    (void)snprintf(text, sizeof text, "%s@%" PRId64, m->name, m->version);
    json_put_string(w, text);
}

static void put_model(const struct compare *c, size_t i, struct json_writer *w) {
    const struct serving_model *m = c->models[i].m;
    double interval[2];
    json_begin_object(w);
    json_kv_string(w, "model", m->name);
    json_kv_int(w, "version", m->version);
    json_kv_string(w, "algorithm", dn_model_algorithm(m->model)->id);
    json_put_key(w, "metrics");
    jobs_metrics_write(dn_comparison_metrics(c->comparison, i), dn_model_classes(m->model), w);
    json_kv_begin_object(w, "intervals");
    for (size_t k = 0; dn_compared_metric_name(k) != NULL; k++) {
        (void)dn_comparison_value(c->comparison, i, k, interval);
        json_put_key(w, dn_compared_metric_name(k));
        put_interval(interval, w);
    }
    json_end_object(w);
    row_notes_write(c->models[i].notes, dn_model_encoder(m->model), w);
    json_end_object(w);
}

static void put_mcnemar(const dn_mcnemar *t, struct json_writer *w) {
    json_kv_begin_object(w, "mcnemar");
    json_kv_string(w, "test", t->exact ? "exact" : "chi_square");
    json_kv_double(w, "statistic", t->statistic);
    json_kv_double(w, "p_value", t->p_value);
    json_end_object(w);
}

static void put_pair(const struct compare *c, size_t i, struct json_writer *w) {
    const dn_compared_pair *p = dn_comparison_pair(c->comparison, i);
    double interval[2];
    json_begin_object(w);
    json_kv_begin_array(w, "models");
    put_reference(c->models[p->first].m, w);
    put_reference(c->models[p->second].m, w);
    json_end_array(w);
    json_kv_begin_object(w, "differences");
    for (size_t k = 0; dn_compared_metric_name(k) != NULL; k++) {
        json_kv_begin_object(w, dn_compared_metric_name(k));
        json_kv_double(w, "value", dn_comparison_difference(c->comparison, i, k, interval));
        json_put_key(w, "interval");
        put_interval(interval, w);
        json_end_object(w);
    }
    json_end_object(w);
    json_kv_int(w, "both_right", (int64_t)p->both_right);
    json_kv_int(w, "first_right", (int64_t)p->first_right);
    json_kv_int(w, "second_right", (int64_t)p->second_right);
    json_kv_int(w, "both_wrong", (int64_t)p->both_wrong);
    json_kv_int(w, "disagreements", (int64_t)p->disagreements);
    put_mcnemar(&p->mcnemar, w);
    json_end_object(w);
}

static void put_disagreement(const struct compare *c, size_t i, struct json_writer *w) {
    const dn_classes *classes = dn_model_classes(c->models[0].m->model);
    const dn_disagreement d = dn_comparison_disagreement(c->comparison, i);
    json_begin_object(w);
    json_kv_int(w, "row", (int64_t)d.row);
    json_put_key(w, "truth");
    jobs_class_write(classes, d.truth, w);
    json_kv_begin_array(w, "predictions");
    for (size_t m = 0; m < c->n; m++) {
        double probability;
        const size_t label = dn_comparison_label(c->comparison, i, m, &probability);
        json_begin_object(w);
        json_put_key(w, "label");
        if (label == DN_AMBIGUOUS) {
            json_put_null(w);
        } else {
            jobs_class_write(classes, label, w);
        }
        json_kv_double(w, "probability", probability);
        json_end_object(w);
    }
    json_end_array(w);
    json_end_object(w);
}

void compare_reply(struct compare *c) {
    const dn_comparison *of = c->comparison;
    const dn_model *first = c->models[0].m->model;
    struct buf body = {0};
    struct json_writer w = json_writer_of(&body);
    json_begin_object(&w);
    json_kv_begin_object(&w, "dataset");
    json_kv_string(&w, "name", c->name);
    json_kv_int(&w, "version", c->version);
    json_end_object(&w);
    json_kv_string(&w, "target", c->target != NULL ? c->target : dn_model_target(first));
    json_kv_string(&w, "weight", c->weight);
    json_kv_int(&w, "rows", (int64_t)dn_comparison_rows(of));
    json_kv_int(&w, "skipped", (int64_t)dn_comparison_skipped(of));
    jobs_classes_write("classes", dn_model_classes(first), &w);
    json_kv_int(&w, "bootstrap", c->samples);
    json_kv_double(&w, "confidence", c->confidence);
    json_kv_int(&w, "seed", c->seed);
    json_kv_begin_array(&w, "models");
    for (size_t i = 0; i < c->n; i++) {
        put_model(c, i, &w);
    }
    json_end_array(&w);
    json_kv_begin_array(&w, "pairs");
    for (size_t i = 0; i < dn_comparison_n_pairs(of); i++) {
        put_pair(c, i, &w);
    }
    json_end_array(&w);
    json_kv_begin_object(&w, "disagreements");
    json_kv_int(&w, "rows", (int64_t)dn_comparison_disagreements(of));
    json_kv_begin_array(&w, "listed");
    for (size_t i = 0; i < dn_comparison_n_listed(of); i++) {
        put_disagreement(c, i, &w);
    }
    json_end_array(&w);
    json_end_object(&w);
    json_end_object(&w);
    api_reply_json(c->call, 200, &body);
}
