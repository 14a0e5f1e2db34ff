/* Encoders of one text column with the weightings of text kernels. */
#ifndef TESTS_CORE_DATA_KERNEL_TEXTS_H
#define TESTS_CORE_DATA_KERNEL_TEXTS_H

#include "unit/core/support.h"
#include "unit/core/table/chunked.h"

#define COLUMN "text"

struct corpus {
    chunked_column column;
    chunked source;
    size_t borders[64];
};

void corpus_init(struct corpus *c, const char *const *text, size_t n, size_t step);

static const size_t only[] = {0};
dn_encoder_spec texts_spec(dn_text_weighting weighting, unsigned length);

dn_status texts_try_fit(const char *const *text, size_t n, dn_encoder_spec spec,
                        const uint8_t *role, size_t step, const dn_run *run, dn_encoder **out,
                        dn_error *err);

dn_encoder *texts_fit(const char *const *text, size_t n, dn_encoder_spec spec, const uint8_t *role);

/* Returns the features of a text, dense. */
double *texts_features(const dn_encoder *encoder, const char *text);

double product(const dn_encoder *encoder, const char *a, const char *b);

uint64_t texts_random(uint64_t *s);

#endif
