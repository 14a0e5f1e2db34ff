/* A vector of variables with delayed L2 decay and l1 penalty, for stochastic descent over sparse
 * rows: a step reads only few of the variables. The penalty is applied to a variable only when the
 * variable is read.
 *
 *   z_i = scale·x_i for the first n_penalised variables, after the penalty is applied
 *   z_i = x_i       for the other variables, which have no penalty
 *
 * An L2 decay of all penalised variables is one multiplication of `scale`. `accrued` is the
 * penalty, divided by l1, that the batches since the start of the pass have added. `applied` is the
 * penalty that was applied to each variable (u and q of sgd.c). Between two reads a variable
 * changes only by decays and penalties. The delayed penalties can be applied in one operation,
 * because `accrued` and `applied` have the unit of x and a decay changes only `scale`. */
#ifndef DNI_LAZY_H
#define DNI_LAZY_H

#include <math.h>
#include <stddef.h>

typedef struct dni_lazy {
    double *x; /* all variables; the first n_penalised have a penalty */
    /* [n_penalised] sum of the changes by the penalty, with sign; NULL without l1 */
    double *applied;
    size_t n_penalised;
    double l1;      /* the same for every penalised variable */
    double scale;   /* > 0 */
    double accrued; /* penalty since the start of the pass, divided by l1 */
} dni_lazy;

/* Returns x after the penalty `accrued` = l1·lazy->accrued: max(0, x − (accrued + applied)) for x >
 * 0, min(0, x + (accrued − applied)) for x < 0, and 0 for x = 0. */
static inline double dni_lazy_penalised(double x, double accrued, double applied) {
    return x > 0 ? fmax(0, x - (accrued + applied)) : x < 0 ? fmin(0, x + (accrued - applied)) : x;
}

/* Applies the penalty to the penalised variable i. Afterwards z_i = scale·x[i]. */
static inline void dni_lazy_apply(dni_lazy *lazy, size_t i) {
    double before = lazy->x[i];
    lazy->x[i] = dni_lazy_penalised(before, lazy->l1 * lazy->accrued, lazy->applied[i]);
    lazy->applied[i] += lazy->x[i] - before;
}

/* z ← factor·z for the penalised variables; `accrued` and `applied` decay by max(factor, 0), by a
 * change of `scale` if the factor is positive. Cost: O(1); O(n_penalised) if the factor is ≤ 0 or
 * `scale` has become too small. */
void dni_lazy_decay(dni_lazy *lazy, double factor);
/* Applies the penalty to all penalised variables, then x ← z and scale ← 1. */
void dni_lazy_apply_all(dni_lazy *lazy);

#endif
