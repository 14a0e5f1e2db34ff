/* The best intercept for given weights: one variable, one convex function.
 *
 *   hinge:    Σ U max(0, 1 − t(g + b)) is linear between the points t − g; at each its slope grows by U, from −Σ₊U on the left. The minimum is where
 *             the points' U from the left reach Σ₊U: a weighted quantile, found by partitioning as quicksort does, without sorting.
 *   squared:  Σ U max(0, 1 − t(g + b))² has a slope that is linear in between: Newton's steps on it end at the minimum, kept within a bracket. */
#include "base/random.h"
#include "learners/svm/linear/svm_linear.h"

/* point [n], weight [n] interleaved: three parts < pivot, = pivot, > pivot. Returns where the second begins, *out_last where the third does. */
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

/* The least point p with Σ weight of points <= p at least target − slack; *out_next the point behind when the sum is the target within slack, p otherwise. */
static double quantile(double *pairs, size_t n, double target, double slack, double *out_next) {
    size_t first = 0, last = n;
    double before = 0, pivot = 0;
    dni_random random;
    dni_random_init(&random, 1,
                    0); /* the answer does not depend on the pivots, only the time does */
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
            if (upto <= target + slack && to < n) { /* those from `to` on are all greater */
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

void dni_svm_hinge_intercept(const dni_svm_linear *svm, const double *score, double *work,
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

double dni_svm_squared_intercept(const dni_svm_linear *svm, const double *score, double start) {
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
