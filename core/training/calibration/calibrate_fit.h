/* Fits a calibrator to one score of held-out rows: rows to which the machine was not fitted. */
#ifndef DNI_CALIBRATE_FIT_H
#define DNI_CALIBRATE_FIT_H

#include "base/layout.h"
#include "evaluate/descending.h"
#include <discern/model.h>

/* Scores of rows. A row is positive if its class is `positive`, otherwise negative. */
typedef struct dni_scored {
    dni_pairs rows; /* [n] finite scores and row indices; dni_calibrate_isotonic sorts them */
    size_t n;       /* >= 1 */
    const uint32_t *classes; /* indexed by row */
    const double *weight;    /* indexed by row, > 0; NULL: all 1 */
    uint32_t positive;
    double rows_per_weight; /* sums of weights times this number are sample sizes. 0: 1 */
} dni_scored;

/* Fits Platt's sigmoid σ(slope·g + intercept) to the scores g by minimising the cross-entropy.
 *
 * The targets are (N₊ + 1)/(N₊ + 2) for positive and 1/(N₋ + 2) for negative rows, N₊ and N₋ the
 * sums of their weights times rows_per_weight. With these targets the minimum is finite even if
 * the scores separate the classes. The loss is convex; Newton's method with backtracking finds the
 * minimum to rounding. The slope is >= 0, so that the probability does not decrease with the score:
 * scores that are equal, or decrease with their class, get slope 0.
 *
 * Platt, in: Advances in Large Margin Classifiers, MIT Press 1999; Lin, Lin and Weng, Machine
 * Learning 68, 2007. O(n) per step, about ten steps. Checks for cancellation. DN_ERR_NUMERIC: the
 * slope overflows because the scores are too small. */
DN_MUST_USE dn_status dni_calibrate_platt(const dni_scored *scored, const dn_run *run,
                                          dn_calibrator *out, dn_error *err);

/* Working memory of dni_calibrate_isotonic for n rows. */
typedef struct dni_isotonic_work {
    dni_pairs scratch;      /* [n] working memory of the sort */
    struct dni_pool *pools; /* [n] */
} dni_isotonic_work;
/* n_rows: a size_t * */
void dni_isotonic_layout(dni_layout *layout, const void *n_rows, void *work);

/* Isotonic regression: fits the non-decreasing function of the score that minimises the weighted
 * sum of squared differences from the targets 1 (positive rows) and 0 (negative rows). Rows with
 * the same score are one point. The lowest and the highest score of each pool become points of the
 * calibrator. Sorts scored->rows in descending order. O(n log n).
 *
 * Pool adjacent violators algorithm: Ayer et al., Annals of Mathematical Statistics 26, 1955. */
DN_MUST_USE dn_status dni_calibrate_isotonic(const dni_scored *scored, dni_isotonic_work *work,
                                             const dn_run *run, dn_calibrator *out, dn_error *err);

#endif
