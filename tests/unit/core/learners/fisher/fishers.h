/* Fits of Fisher's discriminant, and its scatter matrices by plain loops. */
#ifndef TESTS_CORE_LEARNERS_FISHERS_H
#define TESTS_CORE_LEARNERS_FISHERS_H

#include "unit/core/support.h"

dn_params *fisher_params(void);

struct fit fit_dense(const struct csv *t, const double *weight, const dn_params *given);

double fisher_detail(const struct fit *fit, const char *name);

double eigenvalue(const struct fit *fit, size_t i);

/* ---- S_W and S_B by plain loops ---- */
struct scatters {
    size_t d, K;
    double n, count[16];
    double *mean;    /* [K × d] */
    double *overall; /* [d] */
    double *within, *between;
};

struct scatters scatters_of(const struct csv *t, const double *weight);

void scatters_done(struct scatters *s);

double form(const double *matrix, size_t d, const double *x, const double *y);

double dot(const double *a, const double *b, size_t n);

#endif
