/* For tests of logistic regression with l1 and with the squared error: optimality recomputed from
 * the data by plain loops, and problems of several kinds. */
#ifndef TESTS_CORE_LOGISTICS_H
#define TESTS_CORE_LOGISTICS_H

#include "unit/core/support.h"

/* x: dense rows for the checks; rows: what the learner receives. */
struct problem {
    size_t n, d, K;
    double *x, *target, *weight; /* weight NULL: none */
    dn_rows *rows;
    double *values; /* entries of sparse rows; NULL: dense */
    uint32_t *cols;
    size_t *start;
};

size_t scores_of(const struct problem *t);

void logistic_problem_done(struct problem *t);

/* The table of a data file, optionally standardised. */
struct problem problem_named(const char *name, bool standardise);

double logistic_random(uint64_t *state);

/* Word counts: each of n rows has `words` random draws of d columns. Columns of low index are drawn
 * more often. The class is drawn from the softmax of linear scores; about 80 % of the coefficients
 * are 0. */
struct problem problem_sparse(size_t n, size_t d, size_t K, size_t words);

struct fit fit_problem(const struct problem *t, const dn_params *p);

dn_params *params_with(const char *solver, const char *penalty, double lambda);

double logistic_detail(const dn_report *report, const char *name);

bool logistic_warned(const dn_report *report, const char *words);

size_t count_nonzero(const struct problem *t, const struct fit *fit);

/* An allocator that stores the size in front of each block. now: bytes in use; most: the peak. */
struct meter {
    size_t now, most;
};

void *meter_allocate(void *ctx, size_t size);

void meter_release(void *ctx, void *memory);

/* Weighted mean and standard deviation of each column. */
void moments(const struct problem *t, double *mean, double *deviation);

/* The largest violation of the Karush-Kuhn-Tucker conditions of mean cross-entropy + l1·‖w‖₁ +
 * l2·‖w‖², with respect to the standardised weights u = s·w and the intercepts c = b + Σ w m. At u
 * ≠ 0: |h + l1/s·sign(u)|. At u = 0: the excess of |h| over l1/s. *value: the objective. */
double optimality(const struct problem *t, const struct fit *fit, double l1, double l2,
                  double *value);

/* Mean ½Σ(p − r)² + l2·‖w‖² at weights given as rows [w, b]. Two classes have one output. */
double squared_error(const struct problem *t, const double *table, double l2);

#endif
