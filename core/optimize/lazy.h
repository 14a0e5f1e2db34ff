/* A point whose decay and l1 penalty are applied to a variable only when it is read: for descent
 * over sparse rows, where a step reads few of many variables.
 *
 *   z_i = scale·x_i for the first n_penalised variables, which have a penalty, once it is applied
 *   z_i = x_i       for the others
 *
 * A decay of all penalised variables is one multiplication, of `scale`. `due` is the penalty
 * that the batches of the pass have added, divided by l1; `paid` is what was applied to each
 * variable (u and q of sgd.c). Between two reads a variable changes only by decays and penalties. They
 * can be applied together, because `due` and `paid` are in units of x, and a decay changes `scale`
 * only. */
#ifndef DNI_LAZY_H
#define DNI_LAZY_H

#include <math.h>
#include <stddef.h>

typedef struct dni_lazy {
    double *x;    /* [n_penalised and the others] */
    double *paid; /* [n_penalised] signed penalty applied to each; NULL: there is no l1 */
    size_t n_penalised;
    double l1;    /* of every penalised variable */
    double scale; /* > 0 */
    double due;   /* penalty since the pass began, divided by l1 */
} dni_lazy;

/* x ← max(0, x − (l1·due + paid)) for x > 0, min(0, x + (l1·due − paid)) for x < 0; x = 0 does
 * not change. */
static inline double dni_lazy_penalised(double x, double due, double paid) {
    return x > 0 ? fmax(0, x - (due + paid)) : x < 0 ? fmin(0, x + (due - paid)) : x;
}

/* Applies the penalty to penalised variable i: then z_i = scale·x[i]. */
static inline void dni_lazy_apply(dni_lazy *lazy, size_t i) {
    double before = lazy->x[i];
    lazy->x[i] = dni_lazy_penalised(before, lazy->l1 * lazy->due, lazy->paid[i]);
    lazy->paid[i] += lazy->x[i] - before;
}

/* z ← factor·z for the penalised variables; `due` and `paid` decay by max(factor, 0). Costs
 * O(n_penalised) if the factor is not positive, and when `scale` has become too small; otherwise
 * O(1). */
void dni_lazy_decay(dni_lazy *lazy, double factor);
/* Applies the penalty to all penalised variables, and sets x to z: scale = 1. */
void dni_lazy_apply_all(dni_lazy *lazy);

#endif
