/* The expansion of polynomial kernels as JSON: the names of the terms, and for each machine its
 * coefficients and weights. */
#include "api/models/kernel_expansion.h"
#include <discern/expansion.h>

#include <stdlib.h>
#include <string.h>

double api_expansion_numbers(const dn_model *model) {
    unsigned degree;
    size_t n;
    if (dn_model_expands(model, &degree, &n) != DN_EXPANSION_AVAILABLE) {
        return 0;
    }
    return (double)n * (1 + 2 * (double)dn_model_n_machines(model));
}

/* Appends the name of a feature, which may have any length. */
static void add_name(const dn_encoder *encoder, size_t j, struct buf *out) {
    char name[256];
    const size_t length = dn_encoder_feature_name(encoder, j, name, sizeof name);
    char *whole = length < sizeof name ? NULL : malloc(length + 1);
    if (length >= sizeof name && !whole) {
        out->failed = true;
        return;
    }
    if (whole) {
        dn_encoder_feature_name(encoder, j, whole, length + 1);
    }
    buf_append(out, whole ? whole : name, length);
    free(whole);
}

/* Writes "a", "a^2" or "a*b". b = SIZE_MAX: a alone. */
static void put_term(const dn_encoder *encoder, size_t a, size_t b, struct buf *scratch,
                     struct json_writer *w) {
    buf_clear(scratch);
    add_name(encoder, a, scratch);
    if (b == a) {
        buf_append(scratch, "^2", 2);
    } else if (b != SIZE_MAX) {
        buf_append(scratch, "*", 1);
        add_name(encoder, b, scratch);
    }
    json_put_string(w, buf_cstr(scratch));
}

static void put_terms(const dn_encoder *encoder, bool quadratic, struct json_writer *w) {
    const size_t d = dn_encoder_n_features(encoder);
    struct buf scratch = {0};
    json_kv_begin_array(w, "terms");
    for (size_t a = 0; a < d; a++) {
        put_term(encoder, a, SIZE_MAX, &scratch, w);
    }
    for (size_t a = 0; a < d && quadratic; a++) {
        for (size_t b = a; b < d; b++) {
            put_term(encoder, a, b, &scratch, w);
        }
    }
    json_end_array(w);
    w->out->failed = w->out->failed || scratch.failed;
    buf_done(&scratch);
}

static void put_machine(const dn_model *model, size_t i, size_t n_terms, api_put_about *put_about,
                        struct json_writer *w) {
    dn_expansion e;
    if (dn_model_expand(model, i, &e, NULL) != DN_OK) {
        w->out->failed = true;
        return;
    }
    json_begin_object(w);
    put_about(w, model, i, 0);
    json_kv_double(w, "constant", e.constant);
    json_put_vector(w, "coefficients", e.coef, n_terms);
    json_kv_double(w, "constant_weight", e.constant_weight);
    json_put_vector(w, "weights", e.weight, n_terms);
    json_end_object(w);
    free(e.coef);
    free(e.weight);
}

void api_expansion_write(const dn_model *model, api_put_about *put_about, struct json_writer *w) {
    unsigned degree;
    size_t n_terms;
    const dn_expansion_reason reason = dn_model_expands(model, &degree, &n_terms);
    json_kv_begin_object(w, "expansion");
    json_kv_bool(w, "available", reason == DN_EXPANSION_AVAILABLE);
    if (reason != DN_EXPANSION_AVAILABLE) {
        json_kv_string(w, "reason", dn_expansion_reason_id(reason));
        json_kv_string(w, "message", dn_expansion_reason_text(reason));
        json_end_object(w);
        return;
    }
    put_terms(dn_model_encoder(model), degree == 2, w);
    json_kv_begin_array(w, "machines");
    for (size_t i = 0; i < dn_model_n_machines(model) && !w->out->failed; i++) {
        put_machine(model, i, n_terms, put_about, w);
    }
    json_end_array(w);
    json_end_object(w);
}
