/* GET /v1/models/{model}/weights: the discriminants g(x) = w·x + w0 in the raw feature space. */
#include "api/handlers.h"
#include "api/support.h"
#include "jobs/documents.h"

#include <math.h>
#include <stdlib.h>

static double norm(const double *w, size_t n) {
    double scale = 0, sum = 0;
    for (size_t j = 0; j < n; j++)
        scale = fmax(scale, fabs(w[j]));
    if (!(scale > 0) || !isfinite(scale))
        return scale;
    for (size_t j = 0; j < n; j++) /* scaled: squares of large weights would overflow */
        sum += (w[j] / scale) * (w[j] / scale);
    return scale * sqrt(sum);
}

static void put_vector(struct json_writer *w, const char *key, const double *v, size_t n) {
    if (key)
        json_put_key(w, key);
    json_begin_array(w);
    for (size_t j = 0; j < n; j++)
        json_put_double(w, v[j]);
    json_end_array(w);
}

/* What discriminant k, row k of w, says. Of two classes the only one speaks for the second, `positive`; of K each speaks for its own. */
static void put_discriminant(struct json_writer *w, const dn_linear *linear, const dn_classes *classes, size_t k) {
    const double *row = linear->w + k * linear->n_features;
    const double length = norm(row, linear->n_features);
    json_begin_object(w);
    json_put_key(w, linear->n_scores == 1 ? "positive" : "class");
    jobs_class_write(classes, linear->n_scores == 1 ? classes->n - 1 : k, w);
    json_kv_double(w, "norm", length);
    json_kv_double(w, "distance_from_origin", length > 0 ? -linear->w0[k] / length : (double)NAN);
    json_end_object(w);
}

static void put_feature_names(struct json_writer *w, const dn_encoder *encoder) {
    char small[256];
    json_put_key(w, "features");
    json_begin_array(w);
    for (size_t j = 0; j < dn_encoder_n_features(encoder); j++) {
        size_t n = dn_encoder_feature_name(encoder, j, small, sizeof small);
        char *large = n < sizeof small ? NULL : malloc(n + 1);
        if (large) /* a column's name and a category's text can be long together */
            dn_encoder_feature_name(encoder, j, large, n + 1);
        json_put_string(w, large ? large : small);
        free(large);
    }
    json_end_array(w);
}

static void put_linear(struct json_writer *w, const dn_model *model, const dn_linear *linear) {
    const dn_classes *classes = dn_model_classes(model);
    json_kv_string(w, "kind", "linear");
    json_put_key(w, "classes");
    json_begin_array(w);
    for (size_t k = 0; k < classes->n; k++)
        jobs_class_write(classes, k, w);
    json_end_array(w);
    put_feature_names(w, dn_model_encoder(model));
    json_put_key(w, "w");
    json_begin_array(w);
    for (size_t k = 0; k < linear->n_scores; k++)
        put_vector(w, NULL, linear->w + k * linear->n_features, linear->n_features);
    json_end_array(w);
    put_vector(w, "w0", linear->w0, linear->n_scores);
    json_put_key(w, "discriminants");
    json_begin_array(w);
    for (size_t k = 0; k < linear->n_scores; k++)
        put_discriminant(w, linear, classes, k);
    json_end_array(w);
}

void api_model_weights(struct http_call *call) {
    static const char *const known[] = {NULL};
    struct api_app *app = api_app_of(call);
    struct problem problem = {0};
    struct buf body = {0};
    struct json_writer w;
    dn_linear linear;
    int64_t version;
    const char *name = api_model_path(call, &version);
    if (!name || !api_query_known(call, known))
        return;
    const struct serving_model *m = serving_get(app->serving, name, version, &problem);
    if (!m) {
        http_reply_problem(call, &problem);
        return;
    }
    json_writer_init(&w, &body);
    json_begin_object(&w);
    json_kv_string(&w, "model", m->name);
    json_kv_int(&w, "version", m->version);
    if (dn_model_linear(m->model, &linear))
        put_linear(&w, m->model, &linear);
    json_end_object(&w);
    serving_release(app->serving, m);
    api_reply_unchanging(call, &body);
}
