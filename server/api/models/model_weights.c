/* GET /v1/models/{model}/weights: the learned parameters in the raw feature space. Linear weights
 * of all machines form one matrix; the other parameters are listed by machine. */
#include "api/describe.h"
#include "api/handlers.h"
#include "api/models/kernel_expansion.h"
#include "api/models/model_bases.h"
#include "api/models/model_statistics.h"
#include "api/models/support_vectors.h"
#include "api/policy.h"
#include "api/predictions/outputs.h"
#include "api/support.h"
#include "jobs/documents.h"

#include <math.h>

/* The query of a request for weights. */
struct weights_query {
    struct statistics_query statistics;
    bool support_vectors; /* ?support_vectors=true */
    bool expand;          /* ?expand=true */
};

static double norm(const double *w, size_t n) {
    double scale = 0, sum = 0;
    for (size_t j = 0; j < n; j++) {
        scale = fmax(scale, fabs(w[j]));
    }
    if (!(scale > 0) || !isfinite(scale)) {
        return scale;
    }
    for (size_t j = 0; j < n; j++) { /* scaled: squares of large weights would overflow */
        sum += (w[j] / scale) * (w[j] / scale);
    }
    return scale * sqrt(sum);
}

static void put_class(struct json_writer *w, const char *key, const dn_classes *classes, size_t k) {
    if (key) {
        json_put_key(w, key);
    }
    jobs_class_write(classes, k, w);
}

/* Writes the classes of score k of a machine. Two classes: `positive`. One versus one: `classes`
 * and `positive`. Otherwise: `class`. */
static void put_about(struct json_writer *w, const dn_model *model, size_t machine, size_t k) {
    const dn_classes *classes = dn_model_classes(model);
    size_t negative, positive;
    dn_decision_machine(dn_model_decision(model), classes->n, machine, &negative, &positive);
    if (classes->n == 2) { /* decision outlier: inliers have f > 0 */
        put_class(w, "positive", classes, dn_model_decision(model) != DN_DECISION_OUTLIER);
    } else if (positive == SIZE_MAX) {
        put_class(w, "class", classes, k);
    } else if (negative == SIZE_MAX) {
        put_class(w, "class", classes, positive);
    } else {
        json_kv_begin_array(w, "classes");
        put_class(w, NULL, classes, negative);
        put_class(w, NULL, classes, positive);
        json_end_array(w);
        put_class(w, "positive", classes, positive);
    }
}

static void put_discriminants(struct json_writer *w, const dn_model *model,
                              const dn_linear *linear) {
    const double *row = linear->w, *w0 = linear->w0;
    json_kv_begin_array(w, "discriminants");
    for (size_t i = 0; i < dn_model_n_machines(model); i++) {
        for (size_t k = 0; k < dn_machine_n_scores(dn_model_machine(model, i));
             k++, row += linear->n_features, w0++) {
            const double length = norm(row, linear->n_features);
            json_begin_object(w);
            put_about(w, model, i, k);
            json_kv_double(w, "norm", length);
            json_kv_double(w, "distance_from_origin", length > 0 ? -*w0 / length : (double)NAN);
            json_end_object(w);
        }
    }
    json_end_array(w);
}

static void put_linear(struct json_writer *w, const dn_model *model, const dn_linear *linear) {
    json_put_matrix(w, "w", linear->w, linear->n_scores, linear->n_features);
    json_put_vector(w, "w0", linear->w0, linear->n_scores);
    put_discriminants(w, model, linear);
}

/* Writes the parameters of machine i beside its linear weights. */
static void put_machine(struct json_writer *w, const dn_model *model, size_t i, bool matrices) {
    const dn_visitor visitor = api_json_visitor(w, matrices);
    if (dn_model_describe_machine(model, i, &visitor, NULL) != DN_OK) {
        w->out->failed = true;
    }
}

/* Writes the parameters of the machines: those of a single machine as members of the reply, those
 * of several in a list. */
static void put_machines(struct json_writer *w, const dn_model *model, bool matrices) {
    const dn_visitor visitor = api_json_visitor(w, matrices);
    if (dn_model_describe(model, &visitor, NULL) != DN_OK) {
        w->out->failed = true;
    }
    if (dn_model_n_machines(model) == 1) {
        put_machine(w, model, 0, matrices);
        return;
    }
    if (!dn_model_describes_machines(model)) {
        return;
    }
    json_kv_begin_array(w, "machines");
    for (size_t i = 0; i < dn_model_n_machines(model) && !w->out->failed; i++) {
        json_begin_object(w);
        put_about(w, model, i, 0);
        put_machine(w, model, i, matrices);
        json_end_object(w);
    }
    json_end_array(w);
}

/* Writes the calibration: how scores become probabilities. */
static void put_calibration(struct json_writer *w, const dn_model *model, bool matrices) {
    const dn_calibration *c = dn_model_calibration(model);
    json_kv_begin_object(w, "calibration");
    json_kv_string(w, "method", dn_calibration_name(c->method));
    json_kv_int(w, "folds", (int64_t)c->folds);
    json_kv_begin_array(w, "scores");
    for (size_t s = 0; s < c->n_scores && !w->out->failed; s++) {
        json_begin_object(w);
        if (dn_model_n_machines(model) > 1) {
            put_about(w, model, s, 0);
        } else {
            put_about(w, model, 0, s);
        }
        if (c->method == DN_CALIBRATION_PLATT) {
            json_kv_double(w, "slope", c->scores[s].slope);
            json_kv_double(w, "intercept", c->scores[s].intercept);
        } else if (matrices) {
            json_put_vector(w, "score", c->scores[s].score, c->scores[s].n);
            json_put_vector(w, "probability", c->scores[s].probability, c->scores[s].n);
        }
        json_end_object(w);
    }
    json_end_array(w);
    json_end_object(w);
}

static void put_weights(struct json_writer *w, const struct serving_model *m,
                        const struct weights_query *query) {
    const bool matrices = query->statistics.matrices;
    const dn_classes *classes = dn_model_classes(m->model);
    const dn_decision decision = dn_model_decision(m->model);
    struct buf names = {0};
    dn_linear linear;
    json_begin_object(w);
    json_kv_string(w, "model", m->name);
    json_kv_int(w, "version", m->version);
    json_kv_string(w, "kind", dn_model_kind(m->model));
    json_kv_string(w, "decision", jobs_decision_name(decision));
    json_kv_begin_array(w, "classes");
    for (size_t k = 0; k < classes->n; k++) {
        put_class(w, NULL, classes, k);
    }
    json_end_array(w);
    if (decision == DN_DECISION_ALL_BUT_ONE_VS_REST_STRICT && classes->n > 2) {
        put_class(w, "unclaimed", classes, classes->n - 1);
    }
    if (decision == DN_DECISION_OUTLIER) {
        json_kv_double(w, "threshold", dn_model_threshold(m->model));
    }
    answer_feature_names_write(dn_model_encoder(m->model), &names);
    json_kv_raw(w, "features", buf_cstr(&names));
    buf_done(&names);
    api_bases_write(dn_model_encoder(m->model), matrices, w);
    if (dn_model_linear(m->model, &linear)) {
        put_linear(w, m->model, &linear);
    }
    put_machines(w, m->model, matrices);
    if (dn_model_calibration(m->model)) {
        put_calibration(w, m->model, matrices);
    }
    if (query->statistics.wanted) {
        api_statistics_write(m->model, &query->statistics, put_about, w);
    }
    if (query->support_vectors) {
        api_support_vectors_write(m->model, put_about, w);
    }
    if (query->expand) {
        api_expansion_write(m->model, put_about, w);
    }
    json_end_object(w);
}

/* Checks that covariances, layers and support vectors fit into one reply. Returns false if it has
 * replied. */
static bool matrices_fit(struct http_call *call, const dn_model *model) {
    const double bases = api_bases_matrix_numbers(dn_model_encoder(model));
    const char *what;
    double numbers = dn_model_matrix_numbers(model, &what);
    const dn_calibration *calibration = dn_model_calibration(model);
    for (size_t s = 0; calibration && s < calibration->n_scores; s++) {
        numbers += 2 * (double)calibration->scores[s].n;
    }
    if (numbers + bases <= OUTPUTS_MAX_NUMBERS) {
        return true;
    }
    http_fail(call, PROBLEM_ANSWER_TOO_LONG,
              "the %s of %zu features have %.0f numbers, more than the %d that one answer may "
              "hold: ?matrices=false leaves them out",
              bases == 0     ? what
              : numbers == 0 ? "bases"
                             : "matrices",
              dn_encoder_n_features(dn_model_encoder(model)), numbers + bases, OUTPUTS_MAX_NUMBERS);
    return false;
}

/* Returns true if the reply can be cells; otherwise *why names what can be sent as JSON only. */
static bool has_cells(const dn_model *model, const struct weights_query *query, struct buf *why) {
    dn_linear linear;
    if (query->support_vectors || query->expand) {
        buf_puts(why, query->support_vectors ? "support vectors" : "an expansion");
    } else if (!dn_model_linear(model, &linear)) {
        buf_printf(why, "the parameters of a model of kind \"%s\"", dn_model_kind(model));
    }
    return why->size == 0 && !why->failed;
}

/* Replies with the weights of a linear model as cells. */
static void reply_cells(struct http_call *call, const struct serving_model *m,
                        const struct format *format, const struct weights_query *query) {
    struct buf body = {0};
    api_weights_write_cells(m->model, &query->statistics, format->answers->delimiter, &body);
    const char *etag = body.failed ? NULL : api_etag(call, body.data, body.size);
    if (etag) {
        http_etag(call, etag);
    }
    http_reply(call, 200, format_media_type(format), &body);
}

/* Checks that the support vectors of the training and the expansion fit into one reply. Returns
 * false if it has replied. */
static bool lists_fit(struct http_call *call, const dn_model *model,
                      const struct weights_query *query) {
    const double support = query->support_vectors ? api_support_vectors_numbers(model) : 0,
                 expansion = query->expand ? api_expansion_numbers(model) : 0;
    if (support + expansion <= OUTPUTS_MAX_NUMBERS) {
        return true;
    }
    http_fail(call, PROBLEM_ANSWER_TOO_LONG,
              "the %s of the machines have %.0f numbers, more than the %d that one answer may hold",
              support > expansion ? "support vectors" : "expansions", support + expansion,
              OUTPUTS_MAX_NUMBERS);
    return false;
}

static void reply_document(struct http_call *call, const struct serving_model *m,
                           const struct weights_query *query) {
    struct buf body = {0};
    if ((query->statistics.matrices && !matrices_fit(call, m->model)) ||
        !lists_fit(call, m->model, query)) {
        return;
    }
    struct json_writer w = json_writer_of(&body);
    put_weights(&w, m, query);
    api_reply_unchanging(call, API_JSON, &body);
}

void api_model_weights(struct http_call *call) {
    struct api_app *app = api_app_of(call);
    const struct format *format = api_reply_format(call, &format_json);
    struct weights_query query = {0};
    if (!api_statistics_query(call, &query.statistics) ||
        !api_query_bool(call, "support_vectors", &query.support_vectors) ||
        !api_query_bool(call, "expand", &query.expand)) {
        return;
    }
    const struct serving_model *m = api_model_take(call);
    if (!m) {
        return;
    }
    struct buf why = {0};
    if (!format->answers->document && has_cells(m->model, &query, &why)) {
        reply_cells(call, m, format, &query);
    } else if (http_accepts(call, (const char *const[]){API_JSON, NULL}) >= 0) {
        reply_document(call, m, &query);
    } else {
        const char *text = buf_cstr(&why);
        http_fail(call, PROBLEM_NOT_ACCEPTABLE, "%s can be sent as " API_JSON " only",
                  text != NULL ? text : "the weights");
    }
    buf_done(&why);
    serving_release(app->serving, m);
}
