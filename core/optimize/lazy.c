/* Operations on all variables of a point with delayed penalties. */
#include "optimize/lazy.h"

#define LEAST_SCALE 1e-100 /* x and the counts are divided by it and must not overflow */

/* x ← factor·z after the penalty; scales the counts in the same way. */
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
