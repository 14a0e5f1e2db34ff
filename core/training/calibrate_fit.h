/* A calibrator for one score, from scores of rows that its machine has not seen. */
#ifndef DNI_CALIBRATE_FIT_H
#define DNI_CALIBRATE_FIT_H

#include "base/layout.h"
#include "evaluate/descending.h"
#include <discern/model.h>

/* Rows with their scores: the class of a row decides whether it speaks for the score (`positive`) or against it. */
typedef struct dni_scored {
    dni_pairs rows;          /* [n] finite score and the row's number below; isotonic sorts them */
    size_t n;                /* at least 1 */
    const uint32_t *classes; /* by row */
    const double *weight;    /* by row, > 0; NULL: all 1 */
    uint32_t positive;
} dni_scored;

/* Platt's sigmoid σ(slope·g + intercept): cross-entropy with targets (N₊ + 1)/(N₊ + 2) of positive and 1/(N₋ + 2) of negative rows, N their weights' sums, which keep it finite where the scores separate the
 * classes. Platt, in: Advances in Large Margin Classifiers, MIT Press 1999; by Newton's method with backtracking: Lin, Lin and Weng, Machine Learning 68, 2007. The loss is convex: the minimum is found to
 * rounding. The slope is >= 0, as an isotonic calibrator does not fall: scores that are equal, or fall with their
 * class, get slope 0. O(n) a step, some ten steps; polls. DN_ERR_NUMERIC: scores so small that the slope is beyond the numbers. */
DN_MUST_USE dn_status dni_calibrate_platt(const dni_scored *scored, const dn_run *run,
                                          dn_calibrator *out, dn_error *err);

/* Working memory of dni_calibrate_isotonic for n rows. */
typedef struct dni_isotonic_work {
    dni_pairs room;         /* [n] of the sort */
    struct dni_pool *pools; /* [n] */
} dni_isotonic_work;
void dni_isotonic_layout(dni_layout *layout, const void *n_rows, void *work); /* n_rows: size_t */

/* Isotonic regression: the non-decreasing function of the score that is nearest to 0 and 1 in weighted squares, by pooling adjacent violators (Ayer et al., Annals of Mathematical Statistics 26, 1955); rows of one
 * score are one point. Its blocks' ends are the calibrator's steps. `room` [n] is scratch; sorts scored->rows. O(n log n), 32 bytes a row of the run's memory. */
DN_MUST_USE dn_status dni_calibrate_isotonic(const dni_scored *scored, dni_isotonic_work *work,
                                             const dn_run *run, dn_calibrator *out, dn_error *err);

#endif
