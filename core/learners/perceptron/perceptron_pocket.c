/* The passes of a perceptron, and the pocket: the best weights found.
 *
 * The result is the weight vector with the least Σv of errors, among all weight vectors whose
 * errors were counted; of weight vectors with equal errors, the last one. The errors are counted
 * for the start, for the weights at the end of every pass and, in sequential mode, for the weights
 * that classified the most consecutive rows correctly. One parallel pass over all rows counts the
 * errors of both candidates. It costs less than a sequential pass, and in batch mode it also
 * computes the next step.
 *
 * Gallant, Perceptron-based learning algorithms, IEEE Trans. Neural Networks 1, 1990. */
#include "learners/perceptron/perceptron_fit.h"
#include "learners/shared/learner.h"
#include "linalg/vector.h"
#include "machine/linear.h"
#include "optimize/descent.h"

#include <math.h>
#include <string.h>

static void start(dni_perceptron *p) {
    dni_random random;
    if (p->start != NULL) {
        dni_linear_to_encoded(p->start, 1, p->width - 1, p->input->mean, p->input->scale, p->a.w);
    }
    dni_random_init(&random, p->run->seed, DNI_STREAM_START);
    dni_random_init(&p->random, p->run->seed, DNI_STREAM_ORDER);
    for (size_t j = 0; p->random_start && j < p->width; j++) {
        p->a.w[j] = dni_random_uniform(&random, -0.01, 0.01);
    }
}

static dn_status check_finite(const dni_perceptron *p, dn_error *err) {
    if (dni_all_finite(p->a.w, p->width) && isfinite(p->now.objective) && isfinite(p->now.least)) {
        return DN_OK;
    }
    return dni_objective_not_finite(
        p->iterations,
        "a learning_rate or values of the features that are too large; standardise the columns",
        err);
}

/* Counts the errors of a.w and, if `longest` is true, of a.longest. Copies the better one to a.kept
 * if it has at most as many errors as a.kept. */
static dn_status count(dni_perceptron *p, bool longest, dn_error *err) {
    const double *candidates[2] = {p->a.w, p->a.longest};
    dni_perceptron_count counts[2];
    dn_status status = dni_perceptron_evaluate(p, candidates, longest ? 2 : 1, counts, err);
    if (status != DN_OK) {
        return status;
    }
    p->now = counts[0];
    status = check_finite(p, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = longest ? 2 : 1; i-- > 0;) {
        bool first = p->iterations == 0;
        if (!first && counts[i].errors > p->best.errors) {
            continue;
        }
        memcpy(p->a.kept, candidates[i], p->width * sizeof *p->a.kept);
        p->best = counts[i];
        p->best_iteration = p->iterations;
    }
    return DN_OK;
}

/* Returns the reason to stop after this pass, or DN_STOP_NONE. Criterion perceptron stops after a
 * pass without a step. */
static dn_stop_reason reason_to_stop(dni_perceptron *p, size_t updates) {
    if (updates == 0) {
        return DN_STOP_SEPARATED;
    }
    bool last = p->iterations == p->max_iterations;
    if (p->now.within == 0 && (last || p->criterion->descends)) {
        return DN_STOP_SEPARATED;
    }
    for (size_t j = 0; j < p->width; j++) {
        p->a.before[j] = p->a.w[j] - p->a.before[j];
    }
    if (p->criterion->descends &&
        dni_norm(p->a.before, p->width) <= p->tolerance * dni_norm(p->a.w, p->width)) {
        return DN_STOP_TOLERANCE;
    }
    return last ? DN_STOP_MAX_ITERATIONS : DN_STOP_NONE;
}

/* Returns η of the current pass. */
static double rate_at(const dni_perceptron *p) {
    double k = (double)p->iterations;
    switch (p->schedule) {
    case DNI_PERCEPTRON_CONSTANT:
        break;
    case DNI_PERCEPTRON_INVERSE:
        return p->rate / k;
    case DNI_PERCEPTRON_INVERSE_ROOT:
        return p->rate / sqrt(k);
    }
    return p->rate;
}

dn_status dni_perceptron_iterate(dni_perceptron *p, dn_stop_reason *out_reason, dn_error *err) {
    start(p);
    dn_status status = count(p, false, err);
    dn_stop_reason reason = p->max_iterations > 0 ? DN_STOP_NONE
                            : p->now.within == 0  ? DN_STOP_SEPARATED
                                                  : DN_STOP_MAX_ITERATIONS;
    if (status == DN_OK && dni_reports_start(p->input, p->run)) {
        dni_perceptron_report(p, 0, SIZE_MAX);
    }
    while (status == DN_OK && reason == DN_STOP_NONE) {
        size_t updates, longest;
        p->iterations++;
        memcpy(p->a.before, p->a.w, p->width * sizeof *p->a.w);
        status = dn_run_stop(p->run, err);
        if (status == DN_OK) {
            status = dni_perceptron_pass(p, rate_at(p), &updates, &longest, err);
        }
        if (status == DN_OK && updates > 0) {
            status = count(p, longest > 0, err);
        }
        if (status != DN_OK) {
            return status;
        }
        p->updates += (double)updates;
        if (p->run->progress != NULL && !p->run->updates) {
            dni_perceptron_report(p, p->iterations, SIZE_MAX);
        } else if (p->run->progress != NULL && p->batch && updates > 0) {
            dni_perceptron_report(p, (size_t)p->updates, SIZE_MAX);
        }
        reason = reason_to_stop(p, updates);
    }
    *out_reason = reason;
    return status;
}
