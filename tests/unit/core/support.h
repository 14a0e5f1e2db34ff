/* Helpers of the core's tests: CSV files, golden numbers, small fits, sums in reverse block order,
 * failing allocations. */
#ifndef TESTS_CORE_SUPPORT_H
#define TESTS_CORE_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <discern/discern.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "learners/shared/learner.h"
#include "unit/core/machine/machine_view.h"

#define OK(call) assert_int_equal((call), DN_OK)

/* ---- a run whose n-th call of `stop` cancels it ---- */
struct polls {
    size_t n;       /* polls so far */
    size_t stop_at; /* number of the call, from 1, that cancels; 0: none */
};

dn_run polls_run(struct polls *p);

void *xcalloc(size_t n, size_t size);

/* ---- a table whose last column is the label ---- */
struct csv {
    size_t n, d, K;
    char **names;   /* [d + 1] */
    double *x;      /* [n × d] */
    char **labels;  /* [n] */
    char **classes; /* [K] ascending: by value when all are numbers, by bytes otherwise */
    double *target; /* [n] class index */
};

char *csv_copy(const char *text);

void csv_classify(struct csv *t);

void csv_free(struct csv *t);

/* Reads one of the golden data sets. Returns NULL if the file is absent: "pima" is not part of the
 * repository. Tests run in the root of the repository. */
struct csv *csv_named(const char *name);

/* ---- a struct csv as a table source ---- */
struct table {
    dn_table_column *columns; /* [d + 1], the label last */
    dn_column_view *views;
    double *numbers; /* [d × n], column by column */
    uint32_t *codes; /* [n] codes of the label */
    uint32_t *start;
    char *bytes;
    dn_table_source *source;
    size_t *inputs; /* [d] 0 … d-1 */
};

struct table *table_of(const struct csv *t);

void columns_table_free(struct table *table);

dn_train_request table_request(const struct csv *t, const struct table *table,
                               const dn_params *params);

/* Makes n rows of d numbers in K overlapping clouds, the same at every call. */
struct csv *csv_clouds(size_t n, size_t d, size_t K);

/* ---- golden numbers ---- */
json_t *golden_load(void);

/* Copies a number, a vector or a matrix to out. Returns the count of numbers copied. */
size_t golden_numbers(const json_t *value, double *out);

/* max|u − v| <= tol·max|v| */
void assert_close(const double *u, const double *v, size_t n, double tolerance);

void assert_near(double u, double v, double tolerance);

/* (x − mean)/deviation by column; constant columns have deviation 1. mean, deviation: [d] output or
 * NULL. */
double *standardised(const double *x, size_t n, size_t d, double *mean, double *deviation);

/* ---- sums over blocks in reverse order ---- */
/* dn_run.sum that computes aligned ranges of 2 blocks from the last to the first, with different
 * slots, and adds their totals as dn_pairwise requires: what a parallel sum does. */
dn_status sum_in_ranges(const dn_run *run, const dn_rows *rows, const dn_sum *fn, double *out,
                        dn_error *err);

/* dn_run.each that calls fn for the blocks from the last to the first, with different slots. */
dn_status each_in_reverse(const dn_run *run, const dn_rows *rows, dn_each_fn fn, void *arg,
                          dn_error *err);

/* ---- an allocator that fails on request or at a limit ---- */
struct memory {
    size_t live;    /* allocations not yet released */
    size_t count;   /* allocations requested */
    size_t fail_at; /* the request, from 1, that fails; 0: none */
    size_t left;    /* remaining bytes of the budget; SIZE_MAX: no budget */
    size_t held;    /* bytes charged to the budget */
};

dn_allocator memory_allocator(struct memory *m, bool budgeted);

/* The estimated memory of a fit to dense rows. */
double estimated_memory(const dn_params *p, size_t n_rows, size_t n_features, size_t n_classes,
                        size_t n_slots);

/* ---- a fit without tables ---- */
struct fit {
    struct machine_view out;
    dn_report report;
};

/* Parameters of logistic regression. For solvers auto and lbfgs the tolerance is 1e-9, not the
 * default: golden numbers and optimality conditions need more digits. */
dn_params *params_of(const char *solver, double lambda);

/* Machine and report are set on success only. */
dn_status fit_input(const dn_params *p, const dn_fit_input *input, const dn_run *run,
                    struct fit *fit, dn_error *err);

dn_status fit_rows(const dn_rows *rows, size_t K, const dn_params *p, const dn_run *run,
                   struct fit *fit, dn_error *err);

void fit_done(struct fit *fit);

/* Mean cross-entropy + λ‖w‖² at linear scores and the gradient [n_scores × (d + 1)], by plain
 * loops: the reference for the optimised code. */
double reference_objective(const double *x, const double *target, const double *weight, size_t n,
                           size_t d, size_t K, const double *w, const double *w0, double lambda,
                           double *gradient);

#endif
