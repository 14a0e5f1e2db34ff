/* Trains one method on two forms of the same table and compares the two models. */
#ifndef TESTS_API_PROPERTY_H
#define TESTS_API_PROPERTY_H

#include "sheet.h"

/* Changes of the table that a method is not invariant to, or only up to a transformation. */
enum {
    /* uses the rows one after the other or in batches: their order changes the result */
    ROW_ORDER = 1,
    COLUMN_ORDER = 2, /* starts from random numbers that are drawn in the order of the columns */
    REPEATS = 4,      /* a row of weight 2 is one step, a row listed twice is two steps */
    /* depends on the units of the columns: a penalty without standardising, or random starts
     * that keep their sign when a column's sign changes */
    UNITS = 8,
    /* classes are not symmetric: the last of K − 1 discriminants is zero, or starts are random */
    CLASS_ORDER = 16,
    SCORES_SCALED =
        32, /* a change of units multiplies all scores by one factor: a direction of length 1 */
    /* a change of units adds one term to the scores of all classes: densities, the centred raw
     * intercepts of a softmax with l1 */
    SCORES_OFFSET = 64
};

struct method {
    const char *table, *algorithm, *params; /* JSON as in quoted() */
    const char *more;                       /* further members of the job, each after a comma */
    double tolerance;                       /* see differs_by */
    unsigned except;
};

/* Two models that must be equal. */
struct pair {
    const struct method *method;
    /* rows that the first and the second model predict: the same points */
    const struct sheet *one, *other;
    const double *scale, *shift; /* [n_cols] other = scale·one + shift; NULL: equal units */
    bool reversed;               /* the second model's classes are in the opposite order */
    int64_t one_job, other_job;
    const char *one_model, *other_model;
};

const struct sheet *property_sheet(const char *table);
/* Posts the job. The job runs beside others until pair_check. */
int64_t property_post(const struct method *m, const char *model, const char *dataset,
                      bool weighted);
/* Waits for both jobs, then compares scores, probabilities, labels, ln p(x), weights and metrics.
 * Each may differ by the method's tolerance times: max|score| for scores; max(1, max|score|) for
 * probabilities and ln p(x), the square of that for losses (accuracies: 1e-12); the largest weight
 * of the discriminant for weights, each times the largest |x| of its column; the objective for the
 * objective. */
void pair_check(const struct pair *p);

#endif
