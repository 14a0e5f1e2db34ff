/* Steps within an orthant, and a backtracking line search along a path projected onto the orthant.
 *
 *   ξ_i = sign(x_i), or −sign(subgradient_i) at x_i = 0
 *   π(y)_i = y_i where y_i ξ_i > 0, otherwise 0
 *   accept x' = π(x + αp) when   F(x') ≤ F(x) + c Σ subgradient_i (x'_i − x_i)
 *   c = 1e-4,   α = first_step, first_step/2, …
 *
 * Andrew and Gao, Scalable training of L1-regularized log-linear models, ICML 2007, section 3.2.
 * Near a minimum the decrease is below the rounding error of F. A value within the rounding error
 * is accepted if the slope along the step has decreased in size, as in line_search.c. */
#include "optimize/l1/orthant.h"
#include "linalg/vector.h"
#include "optimize/l1/l1.h"

#include <math.h>

/* Returns ξ_i, the sign of variable i in the orthant: −1, 0 or 1. */
static double side(double x, double subgradient) {
    if (x != 0) {
        return x > 0 ? 1 : -1;
    }
    return subgradient < 0 ? 1 : subgradient > 0 ? -1 : 0;
}

void dni_orthant_align(const double *x, const double *subgradient, size_t n, double *direction) {
    for (size_t i = 0; i < n; i++) {
        if (x[i] == 0 && !(direction[i] * subgradient[i] < 0)) {
            direction[i] = 0;
        }
    }
}

/* x_new ← π(x + step·direction). Returns Σ subgradient_i (x_new_i − x_i). Variables with l1 = 0
 * are not projected. */
static double project(const dni_descent *d, const double *subgradient, const double *direction,
                      double step) {
    const double *l1 = d->objective->l1;
    double slope = 0;
    for (size_t i = 0; i < d->n; i++) {
        double y = d->x[i] + step * direction[i];
        bool bounded = l1 != NULL && l1[i] > 0;
        if (bounded && !(y * side(d->x[i], subgradient[i]) > 0) && !isnan(y)) {
            y = 0;
        }
        d->x_new[i] = y;
        slope += subgradient[i] * (y - d->x[i]);
    }
    return slope;
}

/* Returns the derivative of F along the step at x_new, restricted to the orthant. */
static double end_slope(const dni_descent *d, const double *subgradient) {
    const double *l1 = d->objective->l1;
    double slope = 0;
    for (size_t i = 0; i < d->n; i++) {
        double l = l1 == NULL ? 0 : l1[i];
        slope += (d->gradient_new[i] + l * side(d->x[i], subgradient[i])) * (d->x_new[i] - d->x[i]);
    }
    return slope;
}

dn_status dni_orthant_search_run(dni_descent *d, const double *subgradient, const double *direction,
                                 double first_step, size_t *trials, bool *found, dn_error *err) {
    const dni_objective *o = d->objective;
    const double rounding = 1e-13 * fabs(d->value) + 1e-300;
    const size_t most_trials = *trials;
    double step = first_step;
    *found = false;
    for (*trials = 0; *trials < most_trials; step /= 2) {
        double value, slope = project(d, subgradient, direction, step);
        if (slope >= 0) { /* the step is smaller than the rounding error of x */
            return DN_OK;
        }
        dn_status status = o->evaluate(o->ctx, d->run, d->x_new, &value, d->gradient_new, err);
        if (status != DN_OK) {
            return status;
        }
        d->out.evaluations++;
        ++*trials;
        value += dni_l1_value(o->l1, d->x_new, d->n);
        bool finite = isfinite(value) && dni_all_finite(d->gradient_new, d->n);
        bool decreased = finite && value <= d->value + 1e-4 * slope;
        bool level = finite && value <= d->value + rounding &&
                     fabs(end_slope(d, subgradient)) <= 0.9 * fabs(slope);
        if (decreased || level) {
            d->value = value;
            *found = true;
            return DN_OK;
        }
    }
    return DN_OK;
}
