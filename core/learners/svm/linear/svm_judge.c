/* From dual variables to a solution: the weights they stand for, the best intercept, both objectives from the data, and the counts.
 *
 *   primal  ½‖w‖² [+ ½w0²] + Σ U s   (squared hinge Σ U s²)
 *   dual    Σα − ½‖w‖² [− ½w0²]      (squared hinge − Σ α²/4U)   with w = Σ α t x [and w0 = Σ α t], α feasible
 * The difference is at least 0, and 0 at the optimum alone: it proves whatever it is, wherever α and the primal's w came from. */
#include "learners/svm/linear/svm_linear.h"
#include "linalg/vector.h"

#include <string.h>

/* An α at its upper border, which the sums of rounding may have missed. */
static bool at_border(const dni_svm_linear *svm, size_t i, double a) {
    return !svm->options->squared && a >= svm->upper[i] * (1 - 1e-9);
}

void dni_svm_balance(const dni_svm_linear *svm, double *alpha) {
    double sum[2] = {0, 0}, inside[2] = {0, 0};
    if (svm->options->intercept != DNI_SVM_FREE) {
        return;
    }
    for (size_t i = 0; i < svm->n; i++) {
        const bool positive = svm->sign[i] > 0;
        sum[positive] += alpha[i];
        inside[positive] += at_border(svm, i, alpha[i]) ? 0 : alpha[i];
    }
    const size_t more = sum[1] > sum[0];
    const double excess = sum[more] - sum[!more];
    if (excess <= 1e-14 * sum[more]) {
        return;
    }
    const bool enough = inside[more] > excess; /* then α at the border stay there */
    const double factor = enough ? 1 - excess / inside[more] : sum[!more] / sum[more];
    for (size_t i = 0; i < svm->n; i++) {
        if ((svm->sign[i] > 0) == (more == 1) && !(enough && at_border(svm, i, alpha[i]))) {
            alpha[i] *= factor;
        }
    }
}

/* Whether some α is well inside its box: then its row's t f is 1, which leaves w0 no choice. */
static bool some_free(const dni_svm_linear *svm) {
    for (size_t i = 0; i < svm->n; i++) {
        if (svm->alpha[i] > 1e-6 * svm->upper[i] && svm->alpha[i] < (1 - 1e-6) * svm->upper[i]) {
            return true;
        }
    }
    return false;
}

static void choose_intercept(dni_svm_linear *svm, double *work, dni_svm_solution *out) {
    double *w0 = &svm->w[svm->d];
    if (svm->options->intercept == DNI_SVM_NONE) {
        *w0 = 0;
    }
    out->w0_low = out->w0_high = *w0;
    if (svm->options->intercept == DNI_SVM_FREE && svm->options->squared) {
        out->w0_low = out->w0_high = dni_svm_squared_intercept(svm, svm->score, 0);
    } else if (svm->options->intercept == DNI_SVM_FREE) {
        dni_svm_hinge_intercept(svm, svm->score, work, &out->w0_low, &out->w0_high);
    }
    *w0 = out->w0_low + (out->w0_high - out->w0_low) / 2;
    if (some_free(svm)) {
        out->w0_low = out->w0_high = *w0;
    }
}

/* Slack and counts; returns the loss Σ U s or Σ U s². */
static double count_rows(const dni_svm_linear *svm, dni_svm_solution *out) {
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
        const bool bounded = at_border(svm, i, a);
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

static double dual_sum(const dni_svm_linear *svm) {
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
static double half_square(const dni_svm_linear *svm, const double *v) {
    const double w0 = svm->options->intercept == DNI_SVM_PENALISED ? v[svm->d] : 0;
    return (dni_dot(v, v, svm->d) + w0 * w0) / 2;
}

/* Beside a free intercept a constant column's weight is nothing but rounding. */
static void clear_constants(const dni_svm_linear *svm, double *v) {
    for (size_t j = 0; j < svm->d; j++) {
        if (svm->options->intercept == DNI_SVM_FREE && svm->moments.deviation[j] == 0) {
            v[j] = 0;
        }
    }
}

dn_status dni_svm_judge(dni_svm_linear *svm, const double *v, double *work, dni_svm_solution *out,
                        dn_error *err) {
    dni_svm_solution s = {.kkt_violation = (double)NAN};
    double *p = svm->sums;
    dn_status status = dni_svm_combine(svm, svm->alpha, p, err);
    if (status != DN_OK) {
        return status;
    }
    clear_constants(svm, p);
    s.dual = dual_sum(svm) - half_square(svm, p);
    if (v == NULL || v != svm->w) {
        memcpy(svm->w, v == NULL ? p : v, svm->width * sizeof *p);
    }
    clear_constants(svm, svm->w);
    const double own = svm->w[svm->d];
    svm->w[svm->d] = 0;
    status = dni_svm_scores(svm, svm->w, svm->score, err);
    if (status != DN_OK) {
        return status;
    }
    svm->w[svm->d] = own;
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
