/* Line search by bracketing.
 *
 *   φ(α) = f(x + αp)
 *   accept α when   φ(α) ≤ φ(0) + c₁ α φ'(0)   (decrease)   and   φ'(α) ≥ c₂ φ'(0)   (curvature)
 *   c₁ = 1e-4,   c₂ = 0.9
 *
 * The search maintains an interval (low, high): `low` is too short (the curvature condition
 * fails), `high` is too long (the decrease condition fails). The next trial is the secant estimate
 * of the zero of φ', clamped to the middle part of the interval. Until `high` is known, a trial is
 * two to ten times as long as the previous one. Nocedal and Wright, Numerical Optimization,
 * section 3.5, with bisection, which terminates for every smooth function that is bounded below.
 *
 * Near a minimum φ(α) − φ(0) is a rounding error. A value within the rounding error is accepted if
 * the slope has decreased in size (Hager and Zhang, SIAM J. Optim. 16, 2005, the approximate Wolfe
 * conditions). */
#include "optimize/line_search.h"
#include "linalg/vector.h"

#include <math.h>

enum { MAX_TRIALS = 40 };

/* Returns the next trial: the zero of the line through the slopes at `low` and `step` (secant),
 * clamped to the bracket. */
static double next_step(double low, double low_slope, double high, double step, double slope) {
    double secant = (double)NAN;
    if (isfinite(slope) && slope != low_slope) {
        secant = step - slope * (step - low) / (slope - low_slope);
    }
    if (isinf(high)) {
        double least = 2 * step, most = 10 * step;
        if (!(secant > least)) { /* also if secant is NaN */
            return least;
        }
        return secant < most ? secant : most;
    }
    double width = high - low;
    double least = low + 0.1 * width, most = high - 0.1 * width;
    if (!(secant >= least && secant <= most)) {
        return low + 0.5 * width;
    }
    return secant;
}

dn_status dni_line_search_run(dni_descent *d, const double *direction, double slope,
                              double first_step, bool *found, dn_error *err) {
    const dni_objective *o = d->objective;
    const double c1 = 1e-4, c2 = 0.9, first_slope = slope;
    const double rounding = 1e-13 * fabs(d->value) + 1e-300;
    double low = 0, low_slope = slope, high = (double)INFINITY, step = first_step;

    *found = false;
    for (int trial = 0; trial < MAX_TRIALS; trial++) {
        for (size_t i = 0; i < d->n; i++) {
            d->x_new[i] = d->x[i] + step * direction[i];
        }
        double value;
        dn_status status = o->evaluate(o->ctx, d->run, d->x_new, &value, d->gradient_new, err);
        if (status != DN_OK) {
            return status;
        }
        d->out.evaluations++;
        slope = dni_dot(d->gradient_new, direction, d->n);

        bool finite = isfinite(value) && isfinite(slope);
        bool decreased = finite && value <= d->value + c1 * step * first_slope;
        bool level =
            finite && value <= d->value + rounding && fabs(slope) <= c2 * fabs(first_slope);
        if (level || (decreased && slope >= c2 * first_slope)) {
            d->value = value;
            *found = true;
            return DN_OK;
        }
        double next;
        if (!decreased) {
            high = step;
            next = next_step(low, low_slope, high, step, finite ? slope : (double)NAN);
        } else {
            next = next_step(low, low_slope, high, step, slope);
            low = step;
            low_slope = slope;
            if (isinf(high) == 0 && !(next > low && next < high)) {
                next = low + 0.5 * (high - low);
            }
        }
        step = next;
        if (isinf(high) == 0 && high - low <= 1e-15 * high) {
            break;
        }
    }
    return DN_OK;
}
