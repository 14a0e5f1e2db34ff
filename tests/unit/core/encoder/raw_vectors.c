#include "unit/core/encoder/raw_vectors.h"

struct raw raw_of(const vector_table *t, const dn_encoder *encoder, size_t n) {
    struct raw raw = {.value = xcalloc(4 * n, sizeof(double)),
                      .entry = xcalloc(2 * VECTORS_MAX_ENTRIES * n, sizeof(double)),
                      .feature = xcalloc(2 * VECTORS_MAX_ENTRIES * n, sizeof(uint32_t)),
                      .start = xcalloc(n + 1, sizeof(size_t)),
                      .truth = xcalloc(n, sizeof(size_t))};
    dn_text_work *work;
    OK(dn_text_work_new(&work, NULL));
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        raw.value[4 * i] = t->age[i];
        raw.value[4 * i + 2] = t->kind[i] == NULL
                                   ? (double)NAN
                                   : dn_encoder_level(encoder, 2, t->kind[i], strlen(t->kind[i]));
        raw.truth[i] = (size_t)t->target[i];
        for (size_t e = t->row_start[i]; e < t->row_start[i + 1]; e++, at++) {
            raw.feature[at] = (uint32_t)dn_encoder_sparse_feature(encoder, 1, t->index[e]);
            raw.entry[at] = t->entry[e];
        }
        const uint32_t *feature;
        const double *entry;
        size_t words;
        OK(dn_encoder_text(encoder, 3, t->note[i], t->note[i] == NULL ? 0 : strlen(t->note[i]),
                           work, &feature, &entry, &words, NULL));
        memcpy(raw.feature + at, feature, words * sizeof *feature);
        memcpy(raw.entry + at, entry, words * sizeof *entry);
        raw.start[i + 1] = at += words;
    }
    dn_text_work_free(work);
    raw.rows = (dn_raw_rows){n, raw.value, raw.start, raw.feature, raw.entry};
    return raw;
}

void raw_done(struct raw *raw) {
    free(raw->value);
    free(raw->entry);
    free(raw->feature);
    free(raw->start);
    free(raw->truth);
}
