/* The support vectors of the training as JSON: one list for each of their N_LISTS numbers. */
#include "api/models/support_vectors.h"

#include <math.h>
#include <string.h>

enum { N_LISTS = 6 };

double api_support_vectors_numbers(const dn_model *model) {
    double n = 0;
    for (size_t i = 0; i < dn_model_n_machines(model); i++) {
        const dn_duals *duals = dn_model_duals(model, i);
        n += duals ? (double)duals->n * N_LISTS : 0;
    }
    return n;
}

static void put_unavailable(const dn_model *model, const dn_duals *duals, struct json_writer *w) {
    const char *id = dn_model_algorithm(model)->id;
    const bool svm = strcmp(id, "svm") == 0 || strcmp(id, "one_class_svm") == 0;
    json_kv_bool(w, "available", false);
    json_kv_string(w, "reason", duals ? "too_many" : svm ? "earlier_version" : "algorithm");
    if (duals) {
        struct buf text = {0};
        buf_printf(&text,
                   "the machines have more than %d support vectors in all, so the model does not "
                   "store them",
                   DN_MAX_DUALS);
        json_kv_string(w, "message", buf_cstr(&text));
        buf_done(&text);
        return;
    }
    json_kv_string(w, "message",
                   svm ? "the model was trained by a version that stored no row numbers of support "
                         "vectors: train it again"
                       : "only svm and one_class_svm have support vectors");
}

static void put_lists(struct json_writer *w, const dn_duals *duals) {
    json_kv_begin_array(w, "rows");
    for (size_t k = 0; k < duals->n; k++) {
        json_put_int(w, (int64_t)duals->items[k].row);
    }
    json_end_array(w);
    json_kv_begin_array(w, "coefficients");
    for (size_t k = 0; k < duals->n; k++) {
        json_put_double(w, duals->items[k].coef);
    }
    json_end_array(w);
    json_kv_begin_array(w, "alpha");
    for (size_t k = 0; k < duals->n; k++) {
        json_put_double(w, fabs(duals->items[k].coef));
    }
    json_end_array(w);
    json_kv_begin_array(w, "slack");
    for (size_t k = 0; k < duals->n; k++) {
        json_put_double(w, duals->items[k].slack);
    }
    json_end_array(w);
    json_kv_begin_array(w, "margin");
    for (size_t k = 0; k < duals->n; k++) {
        json_put_string(w, duals->items[k].inside ? "inside" : "on");
    }
    json_end_array(w);
    json_kv_begin_array(w, "at_bound");
    for (size_t k = 0; k < duals->n; k++) {
        json_put_bool(w, duals->items[k].bounded);
    }
    json_end_array(w);
}

static void put_machine(const dn_model *model, size_t i, api_put_about *put_about,
                        struct json_writer *w) {
    const dn_duals *duals = dn_model_duals(model, i);
    double sum = 0;
    for (size_t k = 0; k < duals->n; k++) {
        sum += duals->items[k].coef;
    }
    json_begin_object(w);
    put_about(w, model, i, 0);
    json_kv_int(w, "n", (int64_t)duals->n);
    json_kv_double(w, "sum", sum);
    json_kv_double(w, "residual", duals->residual);
    put_lists(w, duals);
    json_end_object(w);
}

void api_support_vectors_write(const dn_model *model, api_put_about *put_about,
                               struct json_writer *w) {
    const dn_encoder *encoder = dn_model_encoder(model);
    const dn_duals *first = dn_model_duals(model, 0);
    json_kv_begin_object(w, "support");
    if (!first || first->omitted) {
        put_unavailable(model, first, w);
        json_end_object(w);
        return;
    }
    json_kv_bool(w, "available", true);
    json_kv_bool(w, "standardized", dn_encoder_mean(encoder) != NULL);
    if (dn_encoder_mean(encoder)) {
        json_put_vector(w, "mean", dn_encoder_mean(encoder), dn_encoder_n_features(encoder));
        json_put_vector(w, "scale", dn_encoder_scale(encoder), dn_encoder_n_features(encoder));
    }
    json_kv_begin_array(w, "machines");
    for (size_t i = 0; i < dn_model_n_machines(model) && !w->out->failed; i++) {
        put_machine(model, i, put_about, w);
    }
    json_end_array(w);
    json_end_object(w);
}
