/* For the tests of class densities: fits to arrays, posteriors, and reference linear algebra by
 * plain loops. */
#ifndef TESTS_DENSITIES_H
#define TESTS_DENSITIES_H

#include "machine/machine_dispatch.h"
#include "unit/core/support.h"

dn_params *params_for(const char *algorithm);

dn_status fit_arrays(const double *x, const double *y, const double *weight, size_t n, size_t d,
                     size_t K, const dn_params *p, struct fit *fit, dn_error *err);

/* Writes the posteriors of one row x to p [K]. Returns ln p(x). */
double posterior(const struct machine_view *m, const double *x, double *p);

double densities_detail(const dn_report *report, const char *name);

/* out [d × n] ← a⁻¹ b for a [d × d], b [d × n] by Gaussian elimination with pivoting. Returns
 * ln|det a|. */
double eliminate(const double *a, const double *b, size_t d, size_t n, double *out);

/* Weighted mean [d] and scatter [d × d] of the rows of class k by plain loops. Returns Σv. */
double class_scatter(const double *x, const double *y, const double *v, size_t n, size_t d,
                     size_t k, double *mean, double *s);

/* Compares the posteriors of `rows` and the training accuracy with the golden `entry`. The model is
 * of raw columns. */
void compare_golden(const json_t *entry, const json_t *rows, const struct csv *t,
                    const struct machine_view *m);

void assert_same_machine(const struct machine_view *a, const struct machine_view *b,
                         double tolerance);

/* ---- invariants of every closed form ---- */
/* The machine is the same up to rounding if every row is repeated instead of weighted by 2, if rows
 * with weight 0 are added, if the rows are permuted, and if the rows are sparse. */
void check_invariants(const struct csv *t, const dn_params *p);

/* Results do not depend on the number of threads, nor on the order in which blocks are added. */
void check_threads(const struct csv *t, const dn_params *p);

/* One fit for each allocation, which fails, and one for each poll of the cancel flag, which
 * cancels. Every fit returns an error, leaks nothing and leaves the outputs untouched. */
void check_failures(const struct csv *t, const dn_params *p);

/* The estimated memory of a fit is at least its peak including the machine, and at most 1.5 times
 * that. */
void *peak_allocate(void *ctx, size_t size);

void peak_release(void *ctx, void *memory);

void check_memory(const struct csv *t, const dn_params *p);

#endif
