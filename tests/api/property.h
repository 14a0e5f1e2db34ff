/* Training the same method on a table and on the same table written otherwise, and holding the two
 * models to each other. */
#ifndef TESTS_API_PROPERTY_H
#define TESTS_API_PROPERTY_H

#include "sheet.h"

/* What a method does not promise, or promises in another form. */
enum {
    ROW_ORDER = 1, /* it looks at the rows one after the other, or in batches: their order counts */
    COLUMN_ORDER = 2, /* it starts from random numbers, drawn in the order of the columns */
    REPEATS = 4,      /* a row of weight 2 is one step, twice the row are two */
    UNITS = 8, /* it measures in the units of the columns: a penalty without standardising; or
                  starts from random numbers, which do not turn round with a column */
    CLASS_ORDER = 16, /* classes have different parts: the last of K − 1 discriminants has none;
                         random weights */
    SCORES_SCALED =
        32, /* other units change the scores by a common factor: a direction of length 1 */
    SCORES_OFFSET = 64 /* … or by a term common to the classes: densities, the centred raw
                          intercepts of a softmax with l1 */
};

struct method {
    const char *table, *algorithm, *params; /* JSON as in quoted() */
    const char *more;                       /* further members of the job, each behind a comma */
    double tolerance;                       /* see differs_by */
    unsigned except;
};

/* Two models that must be the same. */
struct pair {
    const struct method *method;
    const struct sheet *one, *other; /* rows to ask the first and the second for: the same points */
    const double *scale, *shift;     /* [n_cols] other = scale·one + shift; NULL: the same units */
    bool reversed;                   /* the classes of the second are in the opposite order */
    int64_t one_job, other_job;
    const char *one_model, *other_model;
};

const struct sheet *property_sheet(const char *table);
/* Posts the job; it runs beside others until pair_check. */
int64_t property_post(const struct method *m, const char *model, const char *dataset,
                      bool weighted);
/* Waits for both jobs; then scores, probabilities, labels, ln p(x), weights and metrics must be the
 * same.
 *
 * To tolerance times: max|score| for scores; max(1, max|score|) for probabilities and ln p(x), its
 * square for losses (accuracies to 1e-12); the largest weight of the discriminant for weights, each
 * times the largest |x| of its column; the objective itself. */
void pair_check(const struct pair *p);

#endif
