/* Operations on all variables of a dni_lazy. */
#include "optimize/lazy.h"

/* Least value of `scale`: x and `due` are divided by `scale` and must not overflow. */
#define LEAST_SCALE 1e-100

/* Applies the penalty, then x ← factor·z and scale ← 1. `due` and `paid` are multiplied by
 * scale·max(factor, 0), so that they remain in units of x. */
static void restart(dni_lazy *lazy, double factor) {
    double of_x = lazy->scale * factor, of_counts = lazy->scale * fmax(factor, 0);
    for (size_t i = 0; i < lazy->n_penalised; i++) {
        if (lazy->paid != NULL) {
            dni_lazy_apply(lazy, i);
            lazy->paid[i] *= of_counts;
        }
        lazy->x[i] *= of_x;
    }
    lazy->due *= of_counts;
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
    if (lazy->scale < LEAST_SCALE) {
        restart(lazy, 1);
    }
}
