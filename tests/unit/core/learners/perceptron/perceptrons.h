/* Shared by the tests of the perceptron: fits with given parameters, rows as y = t·[x, 1], details
 * by name. */
#ifndef TESTS_CORE_LEARNERS_PERCEPTRONS_H
#define TESTS_CORE_LEARNERS_PERCEPTRONS_H

#include "unit/core/support.h"

#define MAX_PASSES 4097

/* Two classes in memory. */
struct sample {
    const double *x;      /* [n × d] */
    const double *target; /* [n] 0 or 1 */
    const double *weight; /* [n] or NULL */
    size_t n, d;
};

/* Four points in the plane that a line separates. Their coordinates are integers, so all sums are
 * exact. */
static const double four_x[] = {0, 0, 2, 1, 1, 3, 4, 4}, four_target[] = {0, 0, 1, 1};
static const struct sample four = {four_x, four_target, NULL, 4, 2};
/* Exclusive or: no line separates the classes. */
static const double xor_x[] = {0, 0, 0, 1, 1, 0, 1, 1}, xor_target[] = {0, 1, 1, 0};
static const struct sample exclusive_or = {xor_x, xor_target, NULL, 4, 2};

/* Makes parameters with order "given" and the settings: pairs of name and value, NULL at the end. A
 * value is a word or the text of a number. */
dn_params *perceptron_params(const char *const *settings);

#define WITH(...) ((const char *const[]){__VA_ARGS__, NULL})

struct fit fit_sample(const struct sample *s, const char *const *settings, const dn_run *run);

double perceptron_detail(const dn_report *report, const char *name);

bool has_detail(const dn_report *report, const char *name);

/* wᵀy of row i. */
double aligned(const struct sample *s, size_t i, const double *w, double w0);

double square_length(const struct sample *s, size_t i);

double least_of(const struct sample *s, const double *w, double w0);

/* Returns Σv of the rows with wᵀy <= 0, and their number in *n. */
double errors_of(const struct sample *s, const double *w, double w0, size_t *out_rows);

/* Checks that the reported counts equal those of the rows. */
void assert_counted(const struct sample *s, const struct fit *fit);

/* ---- the weights after every pass, by snapshots ---- */
struct history {
    size_t d, n;
    bool start;                /* the first report is that of iteration 0 */
    double *w;                 /* [MAX_PASSES × (d + 1)] */
    double loss[MAX_PASSES];   /* as told */
    double error[MAX_PASSES];  /* reported share of misclassified rows */
    size_t passes[MAX_PASSES]; /* passes of the snapshots */
};

struct history *history_new(size_t d, dn_run *run);
/* Records the start of the fit, iteration 0, too. */
void history_from_start(struct history *h, dn_run *run);

void history_free(struct history *h);

/* Iris: one class against the others. */
struct csv *iris_against_rest(const char *class, struct sample *out);

#endif
