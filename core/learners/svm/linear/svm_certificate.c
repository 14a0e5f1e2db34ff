/* The duality gap of a solution, and the best intercept b for given scores g, which minimises a
 * convex function of b:
 *   hinge    Σ U max(0, 1 − t(g + b)) is linear between the points t − g. From left to right its
 *            slope begins at −Σ₊U, the sum over the second class, and increases by U at each point.
 *            The minimum is the point where the sum of U over the points to the left reaches Σ₊U: a
 *            weighted quantile, found by quickselect.
 *   squared  Σ U max(0, 1 − t(g + b))² has a piecewise linear slope. The zero of the slope is found
 *            by Newton's method within a bracket. */
#include "learners/svm/linear/svm_certificate.h"
#include "base/random.h"
#include "linalg/vector.h"

#include <string.h>

static const double ROUNDING = 1e-9; /* largest rounding error of a margin */

/* ---- the intercept ---- */
/* Partitions the pairs first … last − 1 of (point, weight) into points < pivot, = pivot and >
 * pivot. Returns the index of the first point = pivot; *out_last: index of the first point >
 * pivot. */
static size_t partition(double *pairs, size_t first, size_t last, double pivot, size_t *out_last) {
    size_t low = first, high = last, i = first;
    while (i < high) {
        const double point = pairs[2 * i], weight = pairs[2 * i + 1];
        if (point < pivot) {
            pairs[2 * i] = pairs[2 * low];
            pairs[2 * i + 1] = pairs[2 * low + 1];
            pairs[2 * low] = point;
            pairs[2 * low++ + 1] = weight;
            i++;
        } else if (point > pivot) {
            high--;
            pairs[2 * i] = pairs[2 * high];
            pairs[2 * i + 1] = pairs[2 * high + 1];
            pairs[2 * high] = point;
            pairs[2 * high + 1] = weight;
        } else {
            i++;
        }
    }
    *out_last = high;
    return low;
}

static double weight_of(const double *pairs, size_t first, size_t last) {
    double sum = 0;
    for (size_t i = first; i < last; i++) {
        sum += pairs[2 * i + 1];
    }
    return sum;
}

/* Returns the smallest point p for which the weights of all points <= p sum to at least target −
 * slack. *out_next: the next larger point if the sum is at most target + slack, otherwise p. */
static double quantile(double *pairs, size_t n, double target, double slack, double *out_next) {
    size_t first = 0, last = n;
    double before = 0, pivot = 0;
    dni_random random;
    dni_random_init(&random, 1, DNI_STREAM_PIVOTS);
    while (first < last) {
        size_t from, to;
        pivot = pairs[2 * (first + dni_random_below(&random, last - first))];
        from = partition(pairs, first, last, pivot, &to);
        const double less = before + weight_of(pairs, first, from),
                     upto = less + weight_of(pairs, from, to);
        if (from > first && less >= target - slack) {
            last = from;
        } else if (to < last && upto < target - slack) {
            before = upto;
            first = to;
        } else {
            *out_next = pivot;
            if (upto <= target + slack && to < n) { /* points to … n − 1 are > pivot */
                double next = pairs[2 * to];
                for (size_t i = to; i < n; i++) {
                    next = fmin(next, pairs[2 * i]);
                }
                *out_next = next;
            }
            return pivot;
        }
    }
    *out_next = pivot;
    return pivot;
}

void dni_svm_hinge_intercept(const dni_svm_problem *svm, const double *score, double *work,
                             double *low, double *high) {
    size_t n = 0;
    double positive = 0, total = 0;
    for (size_t i = 0; i < svm->n; i++) {
        const double u = svm->upper[i];
        if (!(u > 0)) {
            continue;
        }
        work[2 * n] = svm->sign[i] - score[i];
        work[2 * n++ + 1] = u;
        total += u;
        positive += svm->sign[i] > 0 ? u : 0;
    }
    *low = quantile(work, n, positive, 1e-12 * total, high);
}

static double squared_intercept(const dni_svm_problem *svm, const double *score, double start) {
    double b = start, low = -(double)INFINITY, high = (double)INFINITY;
    for (int step = 0; step < 100; step++) {
        double slope = 0, curvature = 0;
        for (size_t i = 0; i < svm->n; i++) {
            const double s = 1 - svm->sign[i] * (score[i] + b);
            if (s > 0) {
                slope -= svm->upper[i] * svm->sign[i] * s;
                curvature += svm->upper[i];
            }
        }
        if (slope < 0) {
            low = b;
        } else {
            high = b;
        }
        double next = curvature > 0 ? b - slope / curvature : b;
        if (!(next > low)) {
            next = isfinite(low) && isfinite(high) ? (low + high) / 2 : b;
        }
        if (!(next < high)) {
            next = isfinite(low) && isfinite(high) ? (low + high) / 2 : b;
        }
        if (next == b || fabs(next - b) <= 1e-15 * fabs(b)) {
            break;
        }
        b = next;
    }
    return b;
}

/* ---- the certificate ---- */
bool dni_svm_at_upper(const dni_svm_problem *svm, size_t i, double a) {
    return !svm->options->squared && a >= svm->upper[i] * (1 - 1e-9);
}

void dni_svm_balance(const dni_svm_problem *svm, double *alpha) {
    double sum[2] = {0, 0}, inside[2] = {0, 0};
    if (svm->options->intercept != DNI_SVM_FREE) {
        return;
    }
    for (size_t i = 0; i < svm->n; i++) {
        const bool positive = svm->sign[i] > 0;
        sum[positive] += alpha[i];
        inside[positive] += dni_svm_at_upper(svm, i, alpha[i]) ? 0 : alpha[i];
    }
    const size_t more = sum[1] > sum[0];
    const double excess = sum[more] - sum[!more];
    if (excess <= 1e-14 * sum[more]) {
        return;
    }
    const bool enough = inside[more] > excess; /* true: α at the upper bound are not changed */
    const double factor = enough ? 1 - excess / inside[more] : sum[!more] / sum[more];
    for (size_t i = 0; i < svm->n; i++) {
        if ((svm->sign[i] > 0) == (more == 1) && !(enough && dni_svm_at_upper(svm, i, alpha[i]))) {
            alpha[i] *= factor;
        }
    }
}

/* True if an α is strictly between its bounds. The margin of its row is then 1, so that w0 is
 * unique. */
static bool has_free(const dni_svm_problem *svm) {
    for (size_t i = 0; i < svm->n; i++) {
        if (svm->alpha[i] > 1e-6 * svm->upper[i] && svm->alpha[i] < (1 - 1e-6) * svm->upper[i]) {
            return true;
        }
    }
    return false;
}

static void choose_intercept(dni_svm_problem *svm, double *work, dni_svm_solution *out) {
    double *w0 = &svm->w[svm->d];
    if (svm->options->intercept == DNI_SVM_NONE) {
        *w0 = 0;
    }
    out->w0_low = out->w0_high = *w0;
    if (svm->options->intercept == DNI_SVM_FREE && svm->options->squared) {
        out->w0_low = out->w0_high = squared_intercept(svm, svm->score, 0);
    } else if (svm->options->intercept == DNI_SVM_FREE) {
        dni_svm_hinge_intercept(svm, svm->score, work, &out->w0_low, &out->w0_high);
    }
    *w0 = out->w0_low + (out->w0_high - out->w0_low) / 2;
    if (has_free(svm)) {
        out->w0_low = out->w0_high = *w0;
    }
}

/* Sets the counts, the slack sum and the spread of *out. Returns the loss Σ U s or Σ U s². */
static double count_rows(const dni_svm_problem *svm, dni_svm_solution *out) {
    const bool squared = svm->options->squared;
    const double w0 = svm->w[svm->d];
    double loss = 0, low = (double)INFINITY, high = -(double)INFINITY;
    out->n_support = out->n_bounded = out->n_slack_positive = out->n_slack_over_one =
        out->slack_sum = 0;
    for (size_t i = 0; i < svm->n; i++) {
        const double u = svm->upper[i], a = svm->alpha[i], m = svm->sign[i] * (svm->score[i] + w0),
                     s = m < 1 ? 1 - m : 0;
        if (!(u > 0)) {
            continue;
        }
        const bool bounded = dni_svm_at_upper(svm, i, a);
        loss += u * (squared ? s * s : s);
        out->n_support += a > 0;
        out->n_bounded += bounded;
        out->n_slack_positive += (squared || bounded) && s > svm->options->tolerance;
        out->n_slack_over_one += m < 0;
        out->slack_sum += u / svm->options->C * s;
        low = fmin(low, svm->score[i]);
        high = fmax(high, svm->score[i]);
    }
    out->spread = high - low;
    return loss;
}

static double dual_sum(const dni_svm_problem *svm) {
    double sum = 0;
    for (size_t i = 0; i < svm->n; i++) {
        const double a = svm->alpha[i];
        if (a > 0) {
            sum += a - (svm->options->squared ? a * a / (4 * svm->upper[i]) : 0);
        }
    }
    return sum;
}

/* ½‖w‖² [+ ½w0²] */
static double half_square(const dni_svm_problem *svm, const double *v) {
    const double w0 = svm->options->intercept == DNI_SVM_PENALISED ? v[svm->d] : 0;
    return (dni_dot(v, v, svm->d) + w0 * w0) / 2;
}

void dni_svm_clear_constants(const dni_svm_problem *svm, double *v) {
    for (size_t j = 0; j < svm->d; j++) {
        if (svm->options->intercept == DNI_SVM_FREE && svm->moments.deviation[j] == 0) {
            v[j] = 0;
        }
    }
}

dn_status dni_svm_certify(dni_svm_problem *svm, const double *v, double *work,
                          dni_svm_solution *out, dn_error *err) {
    dni_svm_solution s = {.kkt_violation = (double)NAN};
    double *p = svm->sums;
    dn_status status = dni_svm_combine(svm, svm->alpha, p, err);
    if (status != DN_OK) {
        return status;
    }
    dni_svm_clear_constants(svm, p);
    s.dual = dual_sum(svm) - half_square(svm, p);
    if (v == NULL || v != svm->w) {
        memcpy(svm->w, v == NULL ? p : v, svm->width * sizeof *p);
    }
    dni_svm_clear_constants(svm, svm->w);
    const double w0 = svm->w[svm->d];
    svm->w[svm->d] = 0;
    status = dni_svm_scores(svm, svm->w, svm->score, err);
    if (status != DN_OK) {
        return status;
    }
    svm->w[svm->d] = w0;
    choose_intercept(svm, work, &s);
    s.w0 = svm->w[svm->d];
    s.primal = half_square(svm, svm->w) + count_rows(svm, &s);
    s.gap = (s.primal - s.dual) / fmax(fabs(s.primal), 1e-300);
    s.certified = s.gap <= svm->options->tolerance;
    s.norm = dni_norm(svm->w, svm->d);
    s.margin = s.norm > 0 ? 1 / s.norm : (double)NAN;
    s.margin_raw = dni_svm_raw_margin(svm->w, svm->input->scale, svm->d);
    *out = s;
    return DN_OK;
}

/* Returns the largest slack that is a rounding error. */
static double rounding_slack(const dni_svm_problem *svm) {
    const double w0 = svm->w[svm->d];
    double largest = 0;
    for (size_t i = 0; i < svm->n; i++) {
        const double s = 1 - svm->sign[i] * (svm->score[i] + w0);
        if (svm->upper[i] > 0 && s <= ROUNDING) {
            largest = fmax(largest, s);
        }
    }
    return largest;
}

dn_status dni_svm_certify_rounded(dni_svm_problem *svm, double *v, double *work,
                                  dni_svm_solution *out, dn_error *err) {
    dn_status status = dni_svm_certify(svm, v, work, out, err);
    if (status != DN_OK || out->certified || svm->options->squared) {
        return status;
    }
    const double factor = 1 + 2 * rounding_slack(svm), gap = out->gap;
    for (size_t j = 0; j < svm->width; j++) {
        v[j] *= factor;
    }
    status = dni_svm_certify(svm, v, work, out, err);
    if (status != DN_OK || out->gap < gap) {
        return status;
    }
    for (size_t j = 0; j < svm->width; j++) {
        v[j] /= factor;
    }
    return dni_svm_certify(svm, v, work, out, err);
}
