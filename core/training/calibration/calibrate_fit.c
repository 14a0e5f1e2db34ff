/* Platt's sigmoid and isotonic regression.
 *
 * The sigmoid is fitted to the standardised score z = (g/c − m)/s, with u = a z + b and p = σ(u):
 *
 *   F(a, b) = Σ v [t ln(1 + e^−u) + (1 − t) ln(1 + e^u)]/Σv
 *   ∇F = Σ v (p − t)(z, 1)/Σv
 *   H = Σ v p(1 − p)(z, 1)(z, 1)ᵀ/Σv
 *
 * v is the weight of a row, g its score, t its target; c is the greatest |g|; m and s are the
 * weighted mean and standard deviation of g/c. */
#include "training/calibration/calibrate_fit.h"
#include "model/calibration.h"

#include <math.h>
#include <string.h>

enum { MAX_STEPS = 100, MAX_HALVINGS = 60, ROWS_A_POLL = 1 << 18 };
#define RIDGE 1e-12

static bool is_positive(const dni_scored *s, size_t i) {
    return s->classes[s->rows.row[i]] == s->positive;
}

static double weight_of(const dni_scored *s, size_t i) {
    return s->weight == NULL ? 1 : s->weight[s->rows.row[i]];
}

/* ---- Platt ---- */
struct platt {
    const dni_scored *scored;
    const dn_run *run;
    double size, mean, deviation; /* c, m, s */
    double total, positive;       /* Σv over all rows, and over the positive rows */
    double high, low;             /* targets t of positive rows and of negative rows */
    double gradient[2], hessian[3];
};

static void standardize(struct platt *p) {
    const dni_scored *s = p->scored;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < s->n; i++) {
        p->size = fmax(p->size, fabs(s->rows.key[i]));
    }
    p->size = p->size > 0 ? p->size : 1;
    for (size_t i = 0; i < s->n; i++) {
        const double v = weight_of(s, i);
        p->total += v;
        p->positive += is_positive(s, i) ? v : 0;
        sum += v * (s->rows.key[i] / p->size);
    }
    p->mean = sum / p->total;
    for (size_t i = 0; i < s->n; i++) {
        const double step = s->rows.key[i] / p->size - p->mean;
        squares += weight_of(s, i) / p->total * step * step;
    }
    p->deviation = sqrt(squares);
    const double rows = s->rows_per_weight > 0 ? s->rows_per_weight : 1,
                 positive = p->positive * rows, negative = (p->total - p->positive) * rows;
    p->high = (positive + 1) / (positive + 2);
    p->low = 1 / (negative + 2);
}

/* Computes F, its gradient and its Hessian. */
static dn_status measure(struct platt *p, const double at[2], double *out, dn_error *err) {
    const dni_scored *s = p->scored;
    double sum = 0, g[2] = {0}, h[3] = {0};
    for (size_t i = 0; i < s->n; i++) {
        dn_status status = i % ROWS_A_POLL == 0 ? dn_run_stop(p->run, err) : DN_OK;
        if (status != DN_OK) {
            return status;
        }
        const double v = weight_of(s, i) / p->total, t = is_positive(s, i) ? p->high : p->low;
        const double z = (s->rows.key[i] / p->size - p->mean) / p->deviation, u = at[0] * z + at[1],
                     e = exp(-fabs(u));
        sum += v * (log1p(e) + (u > 0 ? (1 - t) * u : -t * u));
        const double q = u > 0 ? 1 / (1 + e) : e / (1 + e), curve = v * e / ((1 + e) * (1 + e)),
                     r = v * (q - t);
        g[0] += r * z;
        g[1] += r;
        h[0] += curve * z * z;
        h[1] += curve * z;
        h[2] += curve;
    }
    memcpy(p->gradient, g, sizeof g);
    memcpy(p->hessian, h, sizeof h);
    *out = sum;
    return DN_OK;
}

/* Takes a Newton step from `at`, halved until F decreases sufficiently (Armijo condition, 1e-4).
 * If the expected decrease is at most 1e-10 F, rounding errors would dominate the condition, and
 * the full step is taken. *done: the step is 0 up to rounding, or no halving of the step decreases
 * F. */
static dn_status step(struct platt *p, double at[2], double *value, bool *done, dn_error *err) {
    const double *g = p->gradient, a = p->hessian[0] + RIDGE, b = p->hessian[1],
                 c = p->hessian[2] + RIDGE, det = a * c - b * b;
    const double d[2] = {-(c * g[0] - b * g[1]) / det, -(a * g[1] - b * g[0]) / det};
    const double slope = g[0] * d[0] + g[1] * d[1];
    double rate = 1;
    for (int k = 0; k < MAX_HALVINGS; k++, rate /= 2) {
        const double next[2] = {at[0] + rate * d[0], at[1] + rate * d[1]};
        double lower = 0;
        dn_status status = measure(p, next, &lower, err);
        if (status != DN_OK) {
            return status;
        }
        if (!(lower <= *value + 1e-4 * rate * slope) && !(-slope <= 1e-10 * *value)) {
            continue;
        }
        *done = fabs(rate * d[0]) <= 1e-13 * (1 + fabs(at[0])) &&
                fabs(rate * d[1]) <= 1e-13 * (1 + fabs(at[1]));
        at[0] = next[0];
        at[1] = next[1];
        *value = lower;
        return DN_OK;
    }
    *done = true;
    return DN_OK;
}

dn_status dni_calibrate_platt(const dni_scored *scored, const dn_run *run, dn_calibrator *out,
                              dn_error *err) {
    struct platt p = {.scored = scored, .run = run};
    standardize(&p);
    double value = 0;
    /* with slope 0 the optimal intercept is the log-odds of the mean target */
    const double share = (p.positive * p.high + (p.total - p.positive) * p.low) / p.total,
                 flat = log(share) - log1p(-share);
    double at[2] = {0, flat};
    bool done = !(p.deviation > 1e-14 * fabs(p.mean));
    p.deviation = done ? 1 : p.deviation;
    dn_status status = done ? DN_OK : measure(&p, at, &value, err);
    for (int k = 0; status == DN_OK && !done && k < MAX_STEPS; k++) {
        status = step(&p, at, &value, &done, err);
    }
    if (status != DN_OK) {
        return status;
    }
    if (!(at[0] > 0)) { /* F is convex: its minimum subject to a >= 0 is at a = 0 */
        at[0] = 0;
        at[1] = flat;
    }
    const double slope = at[0] / p.deviation / p.size,
                 intercept = at[1] - at[0] * p.mean / p.deviation;
    if (!isfinite(slope) || !isfinite(intercept)) {
        return dn_error_set(err, DN_ERR_NUMERIC, "the scores are too small to be calibrated");
    }
    out->slope = slope;
    out->intercept = intercept;
    return DN_OK;
}

/* ---- isotonic ---- */
/* A range of scores with one fitted value, the ratio positive/weight. */
struct dni_pool {
    double low, high;        /* lowest and highest score */
    double weight, positive; /* sum of weights of all rows of the pool; sum of weights of its
                              * positive rows */
};

/* Merges the last pool with the pools before it while the value of the previous pool is not below
 * the value of the last. Returns the number of pools. */
static size_t unite(struct dni_pool *pools, size_t n) {
    for (; n > 1 && pools[n - 2].positive * pools[n - 1].weight >=
                        pools[n - 1].positive * pools[n - 2].weight;
         n--) {
        pools[n - 2].high = pools[n - 1].high;
        pools[n - 2].weight += pools[n - 1].weight;
        pools[n - 2].positive += pools[n - 1].positive;
    }
    return n;
}

/* Computes the pools in ascending order of the score; s->rows is sorted in descending order.
 * Returns the number of pools. */
static size_t make_pools(const dni_scored *s, struct dni_pool *pools) {
    size_t n = 0;
    for (size_t left = s->n; left > 0;) {
        struct dni_pool *pool = &pools[n++];
        *pool = (struct dni_pool){.low = s->rows.key[left - 1], .high = s->rows.key[left - 1]};
        for (; left > 0 && s->rows.key[left - 1] == pool->low; left--) {
            pool->weight += weight_of(s, left - 1);
            pool->positive += is_positive(s, left - 1) ? weight_of(s, left - 1) : 0;
        }
        n = unite(pools, n);
    }
    return n;
}

static dn_status take_steps(const struct dni_pool *pools, size_t n, dn_calibrator *out,
                            dn_error *err) {
    size_t steps = 0;
    for (size_t i = 0; i < n; i++) {
        steps += pools[i].high > pools[i].low ? 2 : 1;
    }
    dn_status status = dni_calibrator_resize(out, steps, err);
    for (size_t i = 0, k = 0; status == DN_OK && i < n; i++) {
        const double p = fmax(DNI_MIN_PROBABILITY,
                              fmin(1 - DNI_MIN_PROBABILITY, pools[i].positive / pools[i].weight));
        out->score[k] = pools[i].low;
        out->probability[k++] = p;
        if (pools[i].high > pools[i].low) {
            out->score[k] = pools[i].high;
            out->probability[k++] = p;
        }
    }
    return status;
}

void dni_isotonic_layout(dni_layout *layout, const void *n_rows, void *work) {
    const size_t n = *(const size_t *)n_rows;
    dni_isotonic_work *w = work;
    w->scratch.key = dni_layout_doubles(layout, n);
    w->scratch.row = dni_layout_array(layout, n, sizeof *w->scratch.row);
    w->pools = dni_layout_array(layout, n, sizeof *w->pools);
}

dn_status dni_calibrate_isotonic(const dni_scored *scored, dni_isotonic_work *work,
                                 const dn_run *run, dn_calibrator *out, dn_error *err) {
    dn_status status = dni_sort_descending(scored->rows, scored->n, work->scratch, run, err);
    if (status != DN_OK) {
        return status;
    }
    return take_steps(work->pools, make_pools(scored, work->pools), out, err);
}
