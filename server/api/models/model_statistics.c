/* The statistics of weights as JSON and as cells. */
#include "api/models/model_statistics.h"
#include "api/describe.h"
#include "api/predictions/outputs.h"
#include "api/support.h"
#include "formats/text/view_cell.h"

#include <math.h>
#include <string.h>

#define INTERCEPT "(intercept)"

bool api_statistics_query(struct http_call *call, struct statistics_query *out) {
    const char *text = http_query(call, "level");
    *out = (struct statistics_query){.level = 0.95, .matrices = true};
    if (!api_query_bool(call, "statistics", &out->wanted) ||
        !api_query_bool(call, "matrices", &out->matrices)) {
        return false;
    }
    if (!text) {
        return true;
    }
    if (!dn_number_parse(text, strlen(text), &out->level) || !(out->level > 0 && out->level < 1)) {
        http_fail(call, PROBLEM_BAD_REQUEST,
                  "query parameter \"level\" must be a number > 0 and < 1, got \"%.100s\"", text);
        return false;
    }
    if (!out->wanted) {
        http_fail(call, PROBLEM_BAD_REQUEST,
                  "query parameter \"level\" needs statistics=true in the query");
    }
    return out->wanted;
}

/* ---- JSON ---- */
static void put_unavailable(const dn_model *model, const dn_statistics *s, struct json_writer *w) {
    const bool method = dn_model_has_statistics_method(model);
    json_kv_bool(w, "available", false);
    if (s) {
        json_kv_string(w, "reason", dn_statistics_reason_id(s->reason));
        json_kv_string(w, "message", dn_statistics_reason_text(s->reason));
        return;
    }
    json_kv_string(w, "reason", method ? "earlier_version" : "algorithm");
    json_kv_string(w, "message",
                   method ? "the model was trained by a version without statistics: train it again"
                          : "only logistic and least_squares have statistics of their weights");
}

static void put_notes(const dn_statistics *s, struct json_writer *w) {
    json_kv_begin_array(w, "notes");
    if (s->lambda > 0) {
        json_put_string(w, "the statistics are conditional on lambda: the penalty biases the "
                           "weights towards 0, and the second derivatives include it; penalty "
                           "none, or lambda 0, gives unconditional statistics");
    }
    if (!s->least_squares && s->n_scores > 1) {
        json_put_string(w, "symmetric form: the weights of the classes sum to 0 for every feature; "
                           "an odds ratio is the factor of a class's probability divided by the "
                           "geometric mean of all probabilities");
    }
    json_end_array(w);
}

static void put_response(const dn_model *model, const dn_statistics *s, size_t k,
                         api_put_about *put_about, struct json_writer *w) {
    dn_goodness fit;
    dn_statistics_goodness(s, k, &fit);
    json_begin_object(w);
    if (s->least_squares) {
        put_about(w, model, 0, k);
    }
    json_kv_double(w, "null_deviance", fit.null_deviance);
    json_kv_double(w, "df_null", fit.df_null);
    json_kv_double(w, "deviance", fit.deviance);
    json_kv_double(w, "df_residual", fit.df_residual);
    json_kv_double(w, "log_likelihood", fit.log_likelihood);
    json_kv_double(w, "aic", fit.aic);
    json_kv_double(w, "bic", fit.bic);
    if (s->least_squares) {
        json_kv_double(w, "r_squared", fit.r_squared);
        json_kv_double(w, "adjusted_r_squared", fit.adjusted_r_squared);
        json_kv_double(w, "residual_variance", fit.residual_variance);
        json_kv_double(w, "f", fit.statistic);
    } else {
        json_kv_double(w, "mcfadden_r_squared", fit.r_squared);
        json_kv_double(w, "chi_squared", fit.statistic);
    }
    json_kv_double(w, "df", fit.df);
    json_kv_double(w, "p", fit.p);
    json_end_object(w);
}

static const char *name_of(const dn_model *model, size_t j, struct buf *name) {
    return j < dn_encoder_n_features(dn_model_encoder(model))
               ? answer_feature_name(dn_model_encoder(model), j, name)
               : INTERCEPT;
}

static void put_weight(const dn_model *model, const dn_statistics *s, size_t k, size_t j,
                       double factor, struct buf *name, struct json_writer *w) {
    dn_weight_statistics is;
    const char *text = name_of(model, j, name);
    dn_model_weight_statistics(model, k, j, factor, &is);
    json_begin_object(w);
    json_kv_string(w, "feature", text ? text : "");
    json_kv_double(w, "weight", is.weight);
    json_kv_double(w, "standard_error", is.standard_error);
    json_kv_double(w, "statistic", is.statistic);
    json_kv_double(w, "p", is.p);
    json_kv_double(w, "low", is.low);
    json_kv_double(w, "high", is.high);
    if (!s->least_squares) {
        json_kv_double(w, "odds_ratio", is.odds_ratio);
        json_kv_double(w, "odds_low", is.odds_low);
        json_kv_double(w, "odds_high", is.odds_high);
    }
    json_end_object(w);
}

static void put_scores(const dn_model *model, const dn_statistics *s, double level,
                       api_put_about *put_about, struct json_writer *w) {
    const double factor = dn_statistics_factor(s, level);
    struct buf name = {0};
    json_kv_begin_array(w, "scores");
    for (size_t k = 0; k < s->n_scores; k++) {
        json_begin_object(w);
        put_about(w, model, 0, k);
        json_kv_begin_array(w, "weights");
        for (size_t j = 0; j <= s->n_features && !w->out->failed; j++) {
            put_weight(model, s, k, j, factor, &name, w);
        }
        json_end_array(w);
        json_end_object(w);
    }
    json_end_array(w);
    buf_done(&name);
}

static void put_inflation(const dn_model *model, const dn_statistics *s, struct json_writer *w) {
    const dn_encoder *encoder = dn_model_encoder(model);
    struct buf name = {0};
    json_kv_begin_array(w, "inflation");
    for (size_t i = 0; i < s->n_terms && !w->out->failed; i++) {
        dn_inflation term;
        dn_model_inflation(model, i, &term);
        const char *text = term.n_features == 1
                               ? answer_feature_name(encoder, term.first_feature, &name)
                               : dn_encoder_input(encoder, term.input)->name;
        json_begin_object(w);
        json_kv_string(w, "term", text ? text : "");
        json_kv_int(w, "first_feature", (int64_t)term.first_feature);
        json_kv_int(w, "n_features", (int64_t)term.n_features);
        json_kv_double(w, "df", term.df);
        json_kv_double(w, "factor", term.factor);
        json_kv_double(w, "scaled", term.scaled);
        json_end_object(w);
    }
    json_end_array(w);
    buf_done(&name);
}

static void put_available(const dn_model *model, const dn_statistics *s,
                          const struct statistics_query *query, api_put_about *put_about,
                          struct json_writer *w) {
    json_kv_bool(w, "available", true);
    json_kv_string(w, "distribution", s->least_squares ? "t" : "normal");
    json_kv_double(w, "level", query->level);
    json_kv_double(w, "lambda", s->lambda);
    put_notes(s, w);
    json_kv_int(w, "rows", (int64_t)s->n_rows);
    json_kv_double(w, "weight", s->weight);
    json_kv_double(w, "parameters", s->parameters);
    json_kv_begin_array(w, "responses");
    for (size_t k = 0; k < s->n_responses; k++) {
        put_response(model, s, k, put_about, w);
    }
    json_end_array(w);
    put_scores(model, s, query->level, put_about, w);
    put_inflation(model, s, w);
    if (query->matrices && s->covariance) {
        json_put_matrix(w, s->least_squares ? "unscaled_covariance" : "covariance", s->covariance,
                        s->n_covariance, s->n_covariance);
    }
}

void api_statistics_write(const dn_model *model, const struct statistics_query *query,
                          api_put_about *put_about, struct json_writer *w) {
    const dn_statistics *s = dn_model_statistics(model);
    json_kv_begin_object(w, "statistics");
    if (s && s->reason == DN_STATISTICS_AVAILABLE) {
        put_available(model, s, query, put_about, w);
    } else {
        put_unavailable(model, s, w);
    }
    json_end_object(w);
}

/* ---- cells ---- */
static void put_number(double v, char delimiter, struct buf *out) {
    char number[DN_NUMBER_SIZE];
    buf_putc(out, delimiter);
    if (!isnan(v)) {
        buf_append(out, number, dn_number_format(v, number));
    }
}

static void put_class(const dn_classes *classes, size_t k, char delimiter, struct buf *out) {
    if (k < classes->n) {
        const uint32_t *start = classes->names.start + k;
        csv_text_write(classes->names.bytes + start[0], start[1] - start[0], delimiter, out);
    }
}

/* Writes the cell of the class for which a score is positive and, with `pairs`, that of the class
 * for which it is negative. */
static void put_subject(const dn_model *model, size_t score, bool pairs, char delimiter,
                        struct buf *out) {
    const dn_classes *classes = dn_model_classes(model);
    const dn_decision decision = dn_model_decision(model);
    size_t negative = SIZE_MAX, positive = score;
    if (classes->n == 2) {
        positive = decision != DN_DECISION_OUTLIER;
    } else if (decision != DN_DECISION_NATIVE) {
        dn_decision_machine(decision, classes->n, score, &negative, &positive);
    }
    put_class(classes, positive, delimiter, out);
    buf_putc(out, delimiter);
    if (pairs) {
        put_class(classes, negative, delimiter, out);
        buf_putc(out, delimiter);
    }
}

static void put_header(bool pairs, bool statistics, char delimiter, struct buf *out) {
    static const char *const names[] = {
        "class", "against", "feature",    "weight",   "standard_error", "statistic", "p",
        "low",   "high",    "odds_ratio", "odds_low", "odds_high",      NULL};
    for (size_t i = 0; names[i] && (i < 4 || statistics); i++) {
        if (i == 1 && !pairs) {
            continue;
        }
        if (i > 0) {
            buf_putc(out, delimiter);
        }
        buf_puts(out, names[i]);
    }
    buf_putc(out, '\n');
}

static void put_cells(const dn_weight_statistics *is, char delimiter, struct buf *out) {
    const double cells[] = {is->standard_error, is->statistic,  is->p,        is->low,
                            is->high,           is->odds_ratio, is->odds_low, is->odds_high};
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        put_number(cells[i], delimiter, out);
    }
}

void api_weights_write_cells(const dn_model *model, const struct statistics_query *query,
                             char delimiter, struct buf *out) {
    static const dn_weight_statistics none = {(double)NAN, (double)NAN, (double)NAN,
                                              (double)NAN, (double)NAN, (double)NAN,
                                              (double)NAN, (double)NAN, (double)NAN};
    const dn_statistics *s = dn_model_statistics(model);
    const bool available = s && s->reason == DN_STATISTICS_AVAILABLE;
    const double factor = available ? dn_statistics_factor(s, query->level) : 0;
    dn_linear linear;
    struct buf name = {0};
    if (!dn_model_linear(model, &linear)) {
        return;
    }
    const size_t d = linear.n_features;
    const dn_decision decision = dn_model_decision(model);
    const bool pairs =
        dn_model_classes(model)->n > 2 &&
        (decision == DN_DECISION_ONE_VS_ONE || decision == DN_DECISION_ONE_VS_ONE_STRICT);
    put_header(pairs, query->wanted, delimiter, out);
    for (size_t k = 0; k < linear.n_scores; k++) {
        for (size_t j = 0; j <= d && !out->failed; j++) {
            const char *text = name_of(model, j, &name);
            put_subject(model, k, pairs, delimiter, out);
            csv_text_write(text ? text : "", text ? strlen(text) : 0, delimiter, out);
            put_number(j < d ? linear.w[k * d + j] : linear.w0[k], delimiter, out);
            if (query->wanted) {
                dn_weight_statistics is = none;
                if (available) {
                    dn_model_weight_statistics(model, k, j, factor, &is);
                }
                put_cells(&is, delimiter, out);
            }
            buf_putc(out, '\n');
        }
    }
    buf_done(&name);
}
