/* Models of kernel machines over rows of the table of vector_table.h, made without a learner. */
#ifndef TESTS_KERNEL_MODELS_H
#define TESTS_KERNEL_MODELS_H

#include "unit/core/encoder/raw_vectors.h"
#include "unit/core/kernels/plain.h"

#include "machine/machine_dispatch.h"
#include "machine/support.h"
#include "model/model_impl.h"

enum { KM_ROWS = 150, KM_SUPPORT = 61 };

/* How the rows are encoded. KM_SCALED: sparse rows, standardised, so that every feature has an
 * entry. */
enum km_way { KM_SPARSE, KM_DENSE, KM_SCALED, KM_WAYS };

/* A table, its encoder, and the first n rows of the table, raw and encoded. */
struct km_rows {
    vector_table *t;
    dn_encoder *encoder;
    struct raw raw;
    size_t n, d;
    double *x; /* [n × d] dense, also if the encoder delivers sparse rows */
    dn_rows *rows;
    dn_matrix encoded; /* [n × d] as the encoder delivers it; owned by the rows */
    uint8_t *role;
};

struct km_rows km_rows_new(enum km_way way);

void km_rows_done(struct km_rows *r);

/* Makes a model of n machines that share the support vectors: two classes (n = 1), or three classes
 * with one versus one (n = 3). */
dn_status km_try_model(const struct km_rows *r, dn_machine **machines, size_t n,
                       dn_decision decision, dn_model **out, dn_error *err);

dn_model *km_model(const struct km_rows *r, const dn_kernel *kernel, size_t n, dn_decision decision,
                   double threshold);

#endif
