/* Newton's method for a smooth loss that replaces the hinge. It computes the first iterate of the
 * interior-point method, and it is the fallback if that method makes no progress.
 *
 *   Σ U b ln(1 + e^((k − m)/b)) + ½vᵀRv,   α = U σ((k − m)/b),   curvature α (U − α)/(U b)
 *
 * α is minus the derivative of the loss of a row by its margin m. With k = 0 and b = 1 this is
 * logistic regression with the same C. With k = 1 the objective differs from that of the hinge by
 * at most Σ U b ln 2. Newton's method with a line search converges from any start and for any row
 * weights. Each step solves the linear system of the interior-point method with other weights of
 * the rows. Measured on 60,000 random problems: without the fallback 18,838 solutions are not
 * certified. */
#include "learners/svm/linear/svm_interior_step.h"
#include "linalg/vector.h"

#include <string.h>

enum { START_STEPS = 2, HALVINGS = 30, MAX_STEPS = 40, MAX_MOVES = 100, REACH = 1000 };
static const double START_SLACK = 0.3, MIN_GAIN = 1e-12;
/* Limits of |k − m|/b: START_EXPONENT for the first iterate, MAX_EXPONENT in the fallback, where
 * only overflow must be avoided. */
static const double START_EXPONENT = 20, MAX_EXPONENT = 500;

/* Returns the objective at v + a Δv. */
static double value_at(const dni_interior *ip, double a) {
    const dni_svm_problem *svm = ip->svm;
    double sum = 0;
    for (size_t j = 0; j < svm->width; j++) {
        const double v = ip->v[j] + a * ip->d_v[j];
        sum += (j < svm->d ? 1 : ip->system.penalty) * v * v / 2;
    }
    for (size_t i = 0; i < svm->n; i++) {
        const double e = (ip->centre - (ip->margin[i] + a * ip->d_margin[i])) / ip->width;
        if (svm->upper[i] > 0) {
            sum += svm->upper[i] * ip->width * ((e > 0 ? e : 0) + log1p(exp(-fabs(e))));
        }
    }
    return sum;
}

/* Computes α and r = U − α. Both are positive, because the exponent is limited. */
static void set_alpha(dni_interior *ip) {
    const double most = ip->centre > 0 ? MAX_EXPONENT : START_EXPONENT;
    for (size_t i = 0; i < ip->svm->n; i++) {
        const double e = fmax(-most, fmin(most, (ip->centre - ip->margin[i]) / ip->width)),
                     u = ip->svm->upper[i];
        ip->svm->alpha[i] = u / (1 + exp(-e));
        ip->rest[i] = u / (1 + exp(e));
    }
}

/* v ← v + a Δv if this decreases the objective *value. Returns true if v was changed. */
static bool try_step(dni_interior *ip, double a, double *value) {
    const double next = value_at(ip, a);
    if (!(next < *value)) {
        return false;
    }
    *value = next;
    dni_axpy(a, ip->d_v, ip->v, ip->svm->width);
    dni_axpy(a, ip->d_margin, ip->margin, ip->svm->n);
    return true;
}

/* Makes one Newton step with step halving. *value is unchanged if no step in the direction
 * decreases the objective. */
static dn_status newton_step(dni_interior *ip, double *value, dn_error *err) {
    set_alpha(ip);
    dn_status status = dni_interior_form(ip, err);
    if (status != DN_OK) {
        return status;
    }
    dni_svm_system_penalise(&ip->system);
    dni_svm_system_residual(&ip->system, ip->passed, ip->v, ip->residual);
    status = dni_svm_system_solve(&ip->system, ip->residual, ip->d_v, false, err);
    if (status == DN_OK) {
        status = dni_interior_margin_step(ip, err);
    }
    if (status != DN_OK) {
        return status;
    }
    double a = 1;
    for (size_t k = 0; !try_step(ip, a, value) && k < HALVINGS; k++) {
        a /= 2;
    }
    return DN_OK;
}

/* Returns Σ α t for the intercept w0 + move; *slope ← minus its derivative by `move`, >= 0. */
static double balance_at(const dni_interior *ip, double move, double *slope) {
    const dni_svm_problem *svm = ip->svm;
    double sum = 0;
    *slope = 0;
    for (size_t i = 0; i < svm->n; i++) {
        const double t = svm->sign[i], e = (ip->centre - ip->margin[i] - t * move) / ip->width,
                     small = exp(-fabs(e));
        const double share = (e < 0 ? small : 1) / (1 + small);
        sum += t * svm->upper[i] * share;
        *slope += svm->upper[i] * share * (small / (1 + small)) / ip->width;
    }
    return sum;
}

/* Sets the free intercept to its best value for the current w, by Newton's method within a bracket.
 * If all margins are far from k, the loss has almost no curvature, and a Newton step in all
 * variables would not change the intercept. */
static void move_intercept(dni_interior *ip) {
    dni_svm_problem *svm = ip->svm;
    double far = 0, slope;
    if (svm->options->intercept != DNI_SVM_FREE) {
        return;
    }
    for (size_t i = 0; i < svm->n; i++) {
        far = svm->upper[i] > 0 ? fmax(far, fabs(ip->centre - ip->margin[i])) : far;
    }
    double low = -far - REACH * ip->width, high = -low, move = 0;
    for (size_t k = 0; k < MAX_MOVES && high - low > 1e-15 * far; k++) {
        const double sum = balance_at(ip, move, &slope);
        if (sum == 0) {
            break;
        }
        if (sum > 0) {
            low = move;
        } else {
            high = move;
        }
        const double next = move + sum / slope;
        move = next > low && next < high ? next : low + (high - low) / 2;
    }
    ip->v[svm->d] += move;
    for (size_t i = 0; i < svm->n; i++) {
        ip->margin[i] += svm->sign[i] * move;
    }
}

/* Sets the iterate of the interior-point method at v. The multipliers z and s are at least
 * `slack`. */
static dn_status make_iterate(dni_interior *ip, double slack, dn_error *err) {
    set_alpha(ip);
    dn_status status = dni_svm_combine(ip->svm, ip->svm->alpha, ip->passed, err);
    if (status != DN_OK) {
        return status;
    }
    dni_svm_system_residual(&ip->system, ip->passed, ip->v, ip->residual);
    for (size_t i = 0; i < ip->svm->n; i++) {
        const double under = 1 - ip->margin[i];
        ip->z[i] = fmax(0, -under) + slack;
        ip->s[i] = fmax(0, under) + slack;
    }
    ip->kind = DNI_IP_PLAIN;
    ip->step = 0;
    return DN_OK;
}

dn_status dni_interior_start(dni_interior *ip, dn_error *err) {
    dn_status status = DN_OK;
    ip->kind = DNI_IP_SMOOTH;
    ip->centre = 0;
    ip->width = 1;
    double value = value_at(ip, 0);
    for (size_t k = 0; k < START_STEPS && status == DN_OK; k++) {
        status = newton_step(ip, &value, err);
    }
    return status == DN_OK ? make_iterate(ip, START_SLACK, err) : status;
}

dn_status dni_interior_smooth(dni_interior *ip, double width, dn_error *err) {
    dni_svm_problem *svm = ip->svm;
    const size_t most = svm->options->max_iterations;
    ip->kind = DNI_IP_SMOOTH;
    ip->centre = 1;
    ip->width = width;
    double value = value_at(ip, 0), before = (double)INFINITY;
    for (size_t k = 0; k < MAX_STEPS && before - value > MIN_GAIN * value && svm->iterations < most;
         k++) {
        before = value;
        move_intercept(ip);
        value = value_at(ip, 0);
        dn_status status = newton_step(ip, &value, err);
        if (status == DN_OK) {
            status = dni_svm_progress(svm, ++svm->iterations, most, (double)NAN, value, err);
        }
        if (status != DN_OK) {
            return status;
        }
    }
    move_intercept(ip);
    return make_iterate(ip, width, err);
}
