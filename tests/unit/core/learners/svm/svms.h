/* Shared by the tests of support vector machines: problems of several kinds, a fit that bypasses
 * the algorithm catalogue, and the primal objective computed by plain loops. */
#ifndef TESTS_CORE_LEARNERS_SVMS_H
#define TESTS_CORE_LEARNERS_SVMS_H

#include "learners/svm/linear/svm_linear.h"
#include "unit/core/support.h"

/* Two classes in memory. x: dense rows for the checks; rows: what the learner receives. */
struct problem {
    size_t n, d;
    double *x, *target, *weight; /* weight NULL: none */
    dn_rows *rows;
    /* Entries of sparse rows; NULL: the rows are dense. */
    double *values;
    uint32_t *cols;
    size_t *start;
};

void svm_problem_done(struct problem *t);

void problem_rows(struct problem *t, bool sparse);

struct problem problem_of(const double *x, const double *target, const double *weight, size_t n,
                          size_t d, bool sparse);

/* The first two classes of a data file. standardise: the columns are standardised over all rows of
 * the file. Returns {0} if the file does not exist. */
struct problem problem_pair(const char *name, bool standardise, bool sparse);

double svm_random(uint64_t *state);

/* n rows of d numbers in two classes, which overlap more with more noise. zeros: fraction of the
 * values that are 0. weighted: weights 0, 0.75 and 1.5 in turn. */
struct problem problem_cloud(size_t n, size_t d, double zeros, double noise, bool weighted,
                             bool sparse);

dni_svm_options options_of(dni_svm_solver solver, dni_svm_intercept intercept, double C);

dn_status try_svm(const struct problem *t, const dni_svm_options *options, const dn_run *run,
                  struct fit *fit, dn_error *err);

struct fit fit_svm(const struct problem *t, dni_svm_options options);

static const dn_detail no_detail;

const dn_detail *find_detail(const dn_report *report, const char *name);

double svm_detail(const dn_report *report, const char *name);

bool svm_warned(const dn_report *report, const char *words);

/* t f(x_i) */
double margin_of(const struct problem *t, const struct fit *fit, size_t i);

double svm_weight(const struct problem *t, size_t i);

/* The primal objective at the fitted machine. */
double primal_of(const struct problem *t, const struct fit *fit, const dni_svm_options *o);

/* The support vectors match the data, the report and w. */
void assert_duals(const struct problem *t, const struct fit *fit, const dni_svm_options *o);

/* The reported numbers match the data, and the objective is within o->tolerance of the minimum. */
void assert_solved(const struct problem *t, const struct fit *fit, const dni_svm_options *o);

#endif
