/* Fits the shares of a combination. */
#include "search/search_shares.h"
#include "linalg/cholesky.h"

#include <math.h>
#include <string.h>

enum { M_MAX = DN_MAX_MEMBERS, MAX_ITERATIONS = 100, MAX_HALVINGS = 40, POLL_ROWS = 4096 };
#define TOLERANCE 1e-10 /* of the projected gradient */

struct objective {
    double value, gradient[M_MAX], hessian[M_MAX * M_MAX];
};

/* Adds a row: z_k and p_k are computed from its logarithms [M × K]. */
static void add_row(const double *logs, size_t truth, double weight, size_t M, size_t K,
                    const double *s, struct objective *o) {
    double mean[M_MAX] = {0}, square[M_MAX * M_MAX] = {0}, max = -(double)INFINITY, sum = 0,
           z_truth = 0;
    for (size_t k = 0; k < K; k++) {
        double z = 0;
        for (size_t m = 0; m < M; m++) {
            z += s[m] * logs[m * K + k];
        }
        max = z > max ? z : max;
        z_truth = k == truth ? z : z_truth;
    }
    for (size_t k = 0; k < K; k++) {
        double z = 0;
        for (size_t m = 0; m < M; m++) {
            z += s[m] * logs[m * K + k];
        }
        const double e = exp(z - max);
        sum += e;
        for (size_t a = 0; a < M; a++) {
            mean[a] += e * logs[a * K + k];
            for (size_t b = 0; b <= a; b++) {
                square[a * M + b] += e * logs[a * K + k] * logs[b * K + k];
            }
        }
    }
    o->value += weight * (max + log(sum) - z_truth);
    for (size_t a = 0; a < M; a++) {
        mean[a] /= sum;
        o->gradient[a] += weight * (mean[a] - logs[a * K + truth]);
        for (size_t b = 0; b <= a; b++) {
            o->hessian[a * M + b] += weight * (square[a * M + b] / sum - mean[a] * mean[b]);
        }
    }
}

/* *out ← the objective at the shares s. */
static dn_status evaluate(const dni_share_rows *r, const double *s, const dn_run *run,
                          struct objective *out, dn_error *err) {
    const size_t M = r->n_members, K = r->n_classes;
    struct objective o = {0};
    double sum = 0, n = 0;
    for (size_t i = 0; i < r->n; i++) {
        const dn_status status = i % POLL_ROWS == 0 ? dn_run_stop(run, err) : DN_OK;
        if (status != DN_OK) {
            return status;
        }
        if (r->used == NULL || r->used[i]) {
            add_row(r->logs + i * M * K, r->truth[i], r->weight[i], M, K, s, &o);
            sum += r->weight[i];
            n++;
        }
    }
    sum = sum > 0 ? sum : 1;
    n = n > 0 ? n : 1;
    o.value /= sum;
    for (size_t a = 0; a < M; a++) {
        const double apart = s[a] - 1 / (double)M;
        o.value += apart * apart / (2 * n);
        o.gradient[a] = o.gradient[a] / sum + apart / n;
        for (size_t b = 0; b <= a; b++) {
            o.hessian[a * M + b] /= sum;
        }
        o.hessian[a * M + a] += 1 / n;
    }
    *out = o;
    return DN_OK;
}

/* step [M] ← the Newton step of the free shares, those which are above 0 or would grow; 0 for the
 * others. *out ← false: the Hessian is not positive definite to working precision. */
static dn_status newton_step(const struct objective *o, const double *s, size_t M,
                             const dn_run *run, double *step, bool *out, dn_error *err) {
    double hessian[M_MAX * M_MAX] = {0}, x[M_MAX] = {0};
    size_t free_of[M_MAX], n = 0;
    memset(step, 0, M * sizeof *step);
    for (size_t m = 0; m < M; m++) {
        if (s[m] > 0 || o->gradient[m] < 0) {
            free_of[n++] = m;
        }
    }
    for (size_t a = 0; a < n; a++) {
        x[a] = -o->gradient[free_of[a]];
        for (size_t b = 0; b <= a; b++) {
            hessian[a * n + b] = o->hessian[free_of[a] * M + free_of[b]];
        }
    }
    const dn_status status = dni_cholesky(run, hessian, n, out, err);
    if (status == DN_OK && *out) {
        dni_cholesky_solve(hessian, n, x, 1);
        for (size_t a = 0; a < n; a++) {
            step[free_of[a]] = x[a];
        }
    }
    return status;
}

/* Returns the largest element of the projected gradient. */
static double projected(const struct objective *o, const double *s, size_t M) {
    double most = 0;
    for (size_t m = 0; m < M; m++) {
        const double g = s[m] > 0 ? fabs(o->gradient[m]) : fmax(-o->gradient[m], 0);
        most = fmax(most, g);
    }
    return most;
}

/* Moves the shares along the step, as far as the objective falls enough. *better ← false: it does
 * not, because the precision of the arithmetic is reached. */
static dn_status move(const dni_share_rows *r, const dn_run *run, const double *step,
                      double *shares, struct objective *o, bool *better, dn_error *err) {
    const size_t M = r->n_members;
    double next[M_MAX], rate = 1;
    *better = false;
    for (int h = 0; h < MAX_HALVINGS && !*better; h++, rate /= 2) {
        struct objective there;
        double slope = 0;
        for (size_t m = 0; m < M; m++) {
            next[m] = fmax(shares[m] + rate * step[m], 0);
            slope += o->gradient[m] * (next[m] - shares[m]);
        }
        const dn_status status = evaluate(r, next, run, &there, err);
        if (status != DN_OK) {
            return status;
        }
        if (there.value <= o->value + 1e-4 * slope && slope < 0) {
            *better = true;
            *o = there;
            memcpy(shares, next, M * sizeof *shares);
        }
    }
    return DN_OK;
}

dn_status dni_fit_shares(const dni_share_rows *r, const dn_run *run, double *shares,
                         dn_error *err) {
    const size_t M = r->n_members;
    struct objective o;
    bool better = true;
    for (size_t m = 0; m < M; m++) {
        shares[m] = 1 / (double)M;
    }
    dn_status status = evaluate(r, shares, run, &o, err);
    for (size_t i = 0; i < MAX_ITERATIONS && status == DN_OK && better; i++) {
        double step[M_MAX];
        if (projected(&o, shares, M) <= TOLERANCE) {
            break;
        }
        status = newton_step(&o, shares, M, run, step, &better, err);
        if (status == DN_OK && better) {
            status = move(r, run, step, shares, &o, &better, err);
        }
    }
    return status;
}
