/* A point whose variables shrink and pay their penalty only when somebody looks at them: what a descent over sparse rows needs, where a step sees few of many.
 *
 *   z_i = scale·x_i for the first n_held variables (held back by a penalty), once settled;   z_i = x_i for the others
 * A decay of all held variables is one multiplication, of `scale`. What they owe of l1|z_i| is counted in `due` and paid by each when it is settled: nothing
 * happens to a variable between two looks but decays and payments, and these may be made together because accounts are kept in units of x, in which a decay
 * changes nothing. The accounts are those of sgd.c; that debts decay as the variables do is what lets them wait. */
#ifndef DNI_LAZY_H
#define DNI_LAZY_H

#include <math.h>
#include <stddef.h>

typedef struct dni_lazy {
    double *x;    /* [n_held and whatever follows] */
    double *paid; /* [n_held] what each has paid, signs and all; NULL: there is no l1 */
    size_t n_held;
    double l1;    /* of every held variable */
    double scale; /* > 0 */
    double due;   /* what l1 has cost since the accounts were opened, l1 times it */
} dni_lazy;

/* x ← max(0, x − (l1·due + paid)) for x > 0, min(0, x + (l1·due − paid)) for x < 0; x = 0 owes and does not pay. */
static inline double dni_lazy_settled(double x, double owed, double paid) {
    return x > 0 ? fmax(0, x - (owed + paid)) : x < 0 ? fmin(0, x + (owed - paid)) : x;
}

/* Held variable i pays: z_i is scale·x[i] after it. */
static inline void dni_lazy_settle(dni_lazy *lazy, size_t i) {
    double before = lazy->x[i];
    lazy->x[i] = dni_lazy_settled(before, lazy->l1 * lazy->due, lazy->paid[i]);
    lazy->paid[i] += lazy->x[i] - before;
}

/* z ← factor·z for the held variables; debts decay by max(factor, 0). All of them are looked at when the factor is not positive, and now and then for the range of numbers. */
void dni_lazy_decay(dni_lazy *lazy, double factor);
/* All held variables pay, and x becomes z: scale = 1. */
void dni_lazy_settle_all(dni_lazy *lazy);

#endif
