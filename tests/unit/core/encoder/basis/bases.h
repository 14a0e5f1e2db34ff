/* Helpers of the tests of bases: fit encoders with bases, compute features and moments. */
#ifndef TEST_BASES_H
#define TEST_BASES_H

#include "encoder/encoder_apply.h"
#include "encoder/encoder_bytes.h"
#include "unit/core/table/table.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { P = 3 }; /* numeric and boolean columns */
static const size_t columns[] = {T_PLAIN, T_HOLES, T_FLAG, T_COLOUR};
static const double nan_value = (double)NAN;

dn_status bases_try_fit(const table *t, size_t cut, const dn_encoder_spec *spec,
                        const uint8_t *role, const double *weight, const dn_run *run,
                        dn_encoder **out, dn_error *err);

dn_encoder *bases_fit(const table *t, size_t cut, const dn_encoder_spec *spec, const uint8_t *role,
                      const double *weight, const dn_run *run);

void close_to(double got, double want, double tolerance);

void name_is(const dn_encoder *encoder, size_t j, const char *want);

dn_encoder_spec bases_spec(const dn_basis_spec *bases, size_t n, bool standardize);

/* z [P] ← row i of the first P columns, with missing values replaced by the fill values. */
void numbers_of(const table *t, const dn_encoder *encoder, size_t i, double *z);

/* x ← the features of row i, not standardised; the category is missing. */
void bases_features(const table *t, const dn_encoder *encoder, size_t i, double *x);

double bases_weight(const uint8_t *role, const double *weight, size_t i);

/* Computes mean and deviation of a column after missing values are replaced. */
void moments_of(const table *t, const dn_encoder *encoder, size_t c, const uint8_t *role,
                const double *weight, double *mean, double *scale);

#endif
