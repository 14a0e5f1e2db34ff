#include "unit/core/encoder/kernel_texts.h"

void corpus_init(struct corpus *c, const char *const *text, size_t n, size_t step) {
    size_t chunks = 0;
    c->column = (chunked_column){.column = {.name = COLUMN, .type = DN_TEXT}, .text = text};
    for (c->borders[0] = 0; c->borders[chunks] < n; chunks++) {
        c->borders[chunks + 1] = c->borders[chunks] + step < n ? c->borders[chunks] + step : n;
    }
    chunked_init(&c->source, &c->column, 1, n, c->borders, chunks);
}

dn_encoder_spec texts_spec(dn_text_weighting weighting, unsigned length) {
    return (dn_encoder_spec){.columns = only,
                             .n_columns = 1,
                             .text = {.weighting = weighting, .length = length}};
}

dn_status texts_try_fit(const char *const *text, size_t n, dn_encoder_spec spec,
                        const uint8_t *role, size_t step, const dn_run *run, dn_encoder **out,
                        dn_error *err) {
    struct corpus c;
    corpus_init(&c, text, n, step);
    dn_status status = dn_encoder_fit(&c.source.source, &spec, role, NULL, run, out, err);
    chunked_done(&c.source);
    return status;
}

dn_encoder *texts_fit(const char *const *text, size_t n, dn_encoder_spec spec,
                      const uint8_t *role) {
    dn_encoder *encoder = NULL;
    dn_run run = dn_run_default();
    OK(texts_try_fit(text, n, spec, role, n, &run, &encoder, NULL));
    return encoder;
}

double *texts_features(const dn_encoder *encoder, const char *text) {
    dn_text_work *work = NULL;
    const uint32_t *feature;
    const double *entry;
    size_t n = 0;
    double *x = xcalloc(dn_encoder_n_features(encoder), sizeof *x);
    OK(dn_text_work_new(&work, NULL));
    OK(dn_encoder_text(encoder, 0, text, strlen(text), work, &feature, &entry, &n, NULL));
    for (size_t e = 0; e < n; e++) {
        assert_true(feature[e] < dn_encoder_n_features(encoder) &&
                    (e == 0 || feature[e] > feature[e - 1]) && entry[e] > 0);
        x[feature[e]] = entry[e];
    }
    dn_text_work_free(work);
    return x;
}

double product(const dn_encoder *encoder, const char *a, const char *b) {
    double *x = texts_features(encoder, a), *z = texts_features(encoder, b), sum = 0;
    for (size_t j = 0; j < dn_encoder_n_features(encoder); j++) {
        sum += x[j] * z[j];
    }
    free(x);
    free(z);
    return sum;
}

uint64_t texts_random(uint64_t *s) {
    *s = *s * 6364136223846793005u + 1442695040888963407u;
    return *s >> 33;
}
