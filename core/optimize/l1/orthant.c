/* Steps within an orthant, and the line search along a path that is projected onto it.
 *
 *   ξ_i = sign(x_i), or −sign(subgradient_i) at x_i = 0
 *   π(y)_i = y_i where y_i ξ_i > 0, otherwise 0
 *   accept x' = π(x + αp) when   F(x') ≤ F(x) + c Σ subgradient_i (x'_i − x_i)
 *   c = 1e-4,   α = first, first/2, …
 *
 * Andrew and Gao, Scalable training of L1-regularized log-linear models, ICML 2007, section 3.2.
 * Near a minimum the decrease is below the rounding error of F. A value within the rounding error
 * is accepted if the slope along the step has decreased in size, as in line_search.c. */
#include "optimize/l1/orthant.h"
#include "linalg/vector.h"
#include "optimize/l1/l1.h"

#include <math.h>

/* −1, 0 or 1: the orthant's side for a variable. */
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

/* x_new ← π(x + step·direction); *out_slope ← Σ subgradient (x_new − x). A variable without l1 has
 * no border. */
static void project(const dni_objective *o, dni_orthant_search *search, double step,
                    double *out_slope) {
    double slope = 0;
    for (size_t i = 0; i < o->n; i++) {
        double y = search->x[i] + step * search->direction[i];
        bool bounded = o->l1 != NULL && o->l1[i] > 0;
        if (bounded && !(y * side(search->x[i], search->subgradient[i]) > 0) && !isnan(y)) {
            y = 0;
        }
        search->x_new[i] = y;
        slope += search->subgradient[i] * (y - search->x[i]);
    }
    *out_slope = slope;
}

/* The slope along the step at its end, of F within the orthant. */
static double end_slope(const dni_objective *o, const dni_orthant_search *search) {
    double slope = 0;
    for (size_t i = 0; i < o->n; i++) {
        double l = o->l1 == NULL ? 0 : o->l1[i];
        slope += (search->gradient_new[i] + l * side(search->x[i], search->subgradient[i])) *
                 (search->x_new[i] - search->x[i]);
    }
    return slope;
}

dn_status dni_orthant_search_run(const dni_objective *objective, const dn_run *run,
                                 dni_orthant_search *search, bool *found, dn_error *err) {
    const double rounding = 1e-13 * fabs(search->value) + 1e-300;
    double step = search->first_step;
    *found = false;
    for (size_t trial = 0; trial < search->most_trials; trial++, step /= 2) {
        double slope, value;
        project(objective, search, step, &slope);
        if (slope >= 0) { /* the step is below rounding */
            return DN_OK;
        }
        dn_status status = objective->evaluate(objective->ctx, run, search->x_new, &value,
                                               search->gradient_new, err);
        if (status != DN_OK) {
            return status;
        }
        search->evaluations++;
        value += dni_l1_value(objective->l1, search->x_new, objective->n);
        search->value_new = value;
        bool finite = isfinite(value) && dni_all_finite(search->gradient_new, objective->n);
        bool decreased = finite && value <= search->value + 1e-4 * slope;
        bool level = finite && value <= search->value + rounding &&
                     fabs(end_slope(objective, search)) <= 0.9 * fabs(slope);
        if (decreased || level) {
            *found = true;
            return DN_OK;
        }
    }
    return DN_OK;
}
