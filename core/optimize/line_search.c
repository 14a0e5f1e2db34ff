/* Step lengths by bracketing.
 *
 *   φ(α) = f(x + αp)
 *   accept α when   φ(α) ≤ φ(0) + c₁ α φ'(0)   (decrease)   and   φ'(α) ≥ c₂ φ'(0)   (curvature)
 *   c₁ = 1e-4,   c₂ = 0.9
 *
 * The search keeps an interval (low, high): low is too short (curvature fails), high is too long
 * (decrease fails). A new trial is the zero of φ' by the secant, kept inside the middle of the
 * interval. While there is no `high`, the trial is two to ten times as long as the last. Nocedal
 * and Wright, Numerical Optimization, section 3.5, in the bisecting form, which ends for every
 * smooth function that is bounded below.
 *
 * Near a minimum φ(α) − φ(0) is a rounding error. A value within the rounding error is
 * accepted if the slope has decreased in size (Hager and Zhang, SIAM J. Optim. 16, 2005, the
 * approximate Wolfe conditions). */
#include "optimize/line_search.h"
#include "linalg/vector.h"

#include <math.h>

enum { MAX_TRIALS = 40 };

/* The next trial: the zero of the line through the slopes at `low` and `step`, held within the
 * bracket. */
static double next_step(double low, double low_slope, double high, double step, double slope) {
    double secant = (double)NAN;
    if (isfinite(slope) && slope != low_slope) {
        secant = step - slope * (step - low) / (slope - low_slope);
    }
    if (isinf(high)) {
        double least = 2 * step, most = 10 * step;
        if (!(secant > least)) { /* NaN too */
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

dn_status dni_line_search_run(const dni_objective *objective, const dn_run *run,
                              dni_line_search *search, bool *found, dn_error *err) {
    const double c1 = 1e-4, c2 = 0.9;
    const double rounding = 1e-13 * fabs(search->value) + 1e-300;
    size_t n = objective->n;
    double low = 0, low_slope = search->slope, high = (double)INFINITY;
    double step = search->first_step;

    *found = false;
    for (int trial = 0; trial < MAX_TRIALS; trial++) {
        for (size_t i = 0; i < n; i++) {
            search->x_new[i] = search->x[i] + step * search->direction[i];
        }
        double value, slope;
        dn_status status = objective->evaluate(objective->ctx, run, search->x_new, &value,
                                               search->gradient_new, err);
        if (status != DN_OK) {
            return status;
        }
        search->evaluations++;
        slope = dni_dot(search->gradient_new, search->direction, n);
        search->value_new = value;
        search->step = step;

        bool finite = isfinite(value) && isfinite(slope);
        bool decreased = finite && value <= search->value + c1 * step * search->slope;
        bool level =
            finite && value <= search->value + rounding && fabs(slope) <= c2 * fabs(search->slope);
        if (level || (decreased && slope >= c2 * search->slope)) {
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
