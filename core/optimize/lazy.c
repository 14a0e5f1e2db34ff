/* Operations on all variables of a dni_lazy. */
#include "optimize/lazy.h"

/* Smallest value of `scale`: x and `accrued` are divided by `scale` and must not overflow. */
#define MIN_SCALE 1e-100

/* Applies the penalty, then x ← factor·z and scale ← 1. `accrued` and `applied` are multiplied by
 * scale·max(factor, 0), so that they remain in units of x. */
static void restart(dni_lazy *lazy, double factor) {
    double x_factor = lazy->scale * factor, penalty_factor = lazy->scale * fmax(factor, 0);
    for (size_t i = 0; i < lazy->n_penalised; i++) {
        if (lazy->applied != NULL) {
            dni_lazy_apply(lazy, i);
            lazy->applied[i] *= penalty_factor;
        }
        lazy->x[i] *= x_factor;
    }
    lazy->accrued *= penalty_factor;
    lazy->scale = 1;
}

void dni_lazy_apply_all(dni_lazy *lazy) {
    restart(lazy, 1);
}

void dni_lazy_decay(dni_lazy *lazy, double factor) {
    if (!(factor > 0)) {
        restart(lazy, factor);
        return;
    }
    lazy->scale *= factor;
    if (lazy->scale < MIN_SCALE) {
        restart(lazy, 1);
    }
}
