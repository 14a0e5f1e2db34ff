/* Codings of the class targets of least squares: the values of the parameter "targets".
 *
 * The fit computes with one coding: T = −1 and 1 for two classes, T_k = 0 and 1 otherwise
 * (dni_squares_target). The scores of another coding are cg + b, because the minimiser is linear in
 * the targets. An intercept that is penalised or fixed has the origin g = `zero`, where y is 0.
 *
 *              two classes: one score y         K > 2 classes: y_k
 *   one_of_k   −1, 1: y = y_2 − y_1, T_k 0, 1   0, 1
 *   plus_minus −1, 1                            −1, 1
 *   zero_one    0, 1; the score is y − 1/2      0, 1
 *
 * The decision is the same in each coding: the second class if the score is above 0 (zero_one: if y
 * is above 1/2), or the class with the greatest score. Bishop, PRML, sections 4.1.3 and 4.1.5. */
#ifndef DNI_TARGET_CODING_H
#define DNI_TARGET_CODING_H

#include <discern/algorithm.h>

extern const char *const dni_target_codings[];
extern const char *const dni_target_coding_meanings[];

typedef struct dni_target_coding {
    double scale; /* c */
    double shift; /* b */
    double zero;  /* g of the output y = 0 */
    double share; /* a: the sum of squared errors of the coding is a Σ ‖T − g‖² */
} dni_target_coding;

/* Returns the coding of the parameter "targets". */
dni_target_coding dni_target_coding_of(const dn_params *params, size_t n_classes);

#endif
