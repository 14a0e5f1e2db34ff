/* Gradient descent with a constant step and no line search (Alpaydın, section 10.7).
 *
 * With l1 it is the proximal gradient method, x ← shrink(x − step·∇f(x), step·l1): Beck and
 * Teboulle, SIAM J. Imaging Sciences 2, 2009, section 1 (ISTA). For step ≤ 1/L, where L is the
 * Lipschitz constant of ∇f, each step decreases F. Shrinking sets variables to exactly 0. */
#include "optimize/descent.h"
#include "optimize/l1/l1.h"
#include "optimize/solver.h"

struct gradient_descent {
    dni_descent base;
    double factor; /* factor of the gradient in a step */
};

static void gradient_descent_layout(dni_layout *layout, const void *shape, void *work) {
    const size_t n = ((const dni_descent_shape *)shape)->n;
    struct gradient_descent *t = work;
    t->base.gradient = dni_layout_doubles(layout, n);
    t->base.step = dni_layout_doubles(layout, n);
}

static dn_status gradient_descent_advance(dni_descent *d, bool *moved, dn_error *err) {
    const double factor = ((const struct gradient_descent *)d)->factor;
    const double *l1 = d->objective->l1;
    (void)err;
    for (size_t i = 0; i < d->n; i++) {
        d->step[i] = -factor * d->gradient[i];
        if (l1 != NULL) {
            d->step[i] = dni_l1_shrink(d->x[i] + d->step[i], factor * l1[i]) - d->x[i];
        }
        d->x[i] += d->step[i];
    }
    *moved = true;
    return DN_OK;
}

static dn_status gradient_descent_start(dni_descent *d, const dni_solver_options *options,
                                        dn_error *err) {
    (void)err;
    ((struct gradient_descent *)d)->factor = options->step;
    return DN_OK;
}

const dni_solver dni_solver_gradient_descent = {
    .name = "gradient_descent",
    .smooth = true,
    .l1 = true,
    .memory = "the gradient and the step",
    .divergence = "a learning_rate too large, or inputs too large; standardise the columns",
    .state_size = sizeof(struct gradient_descent),
    .layout = gradient_descent_layout,
    .start = gradient_descent_start,
    .advance = gradient_descent_advance};
