/* Sequential minimal optimisation: steps, shrinking, and the final gradient in double precision. */
#include "learners/shared/smo/smo.h"
#include "base/layout.h"
#include "learners/shared/smo/smo_passes.h"

#include <math.h>

/* Factor of the tolerance while kernel values have single precision. The final gradient, in double
 * precision, has a slightly larger violation. */
#define FLOAT_FACTOR 0.97
/* Smallest curvature used for a pair. The curvature is negative for some pairs if the kernel is not
 * positive semidefinite. */
#define MIN_CURVATURE 1e-12
enum {
    PERIOD = 1000,      /* maximum number of steps between two calls of periodic_work */
    ROUNDS = 20,        /* maximum number of recomputations of the whole gradient */
    INEXACT = 3,        /* number of recomputations before rows get double precision */
    FINE_ROUNDS = 200,  /* limit of the steps per variable in fine_steps */
    POLL_WORK = 1 << 22 /* variables processed between two polls for cancellation */
};

struct state {
    dni_smo *p;
    dni_smo_rows *rows;
    const dn_run *run;
    uint32_t *active; /* [n_active] active variables */
    size_t n_active;
    size_t group_end[DNI_SMO_MAX_GROUPS];          /* end of each group, as index of `active` */
    dni_smo_extremes extremes[DNI_SMO_MAX_GROUPS]; /* extremes of up and low in each group */
    double *up, *low;                              /* [n_active] gradients, see smo_passes.h */
    double *self;                                  /* [n_active] K_kk */
    double *a;                                     /* [n] t α */
    double target;                                 /* violation at which the iteration stops */
    double limit;                                  /* maximum number of steps */
    size_t until_periodic;                         /* steps until the next call of periodic_work */
    size_t polled;                                 /* variables processed since the last poll */
    bool reactivated;       /* true: near `target`, all variables were reactivated once */
    double first_violation; /* violation at the first progress report; 0: no report yet */
    double fraction;        /* progress reported so far, 0 … 1; never decreases */
};

double dni_smo_thousands(size_t n_rows) {
    return fmax(10000, ceil((double)n_rows / 10));
}

static void smo_layout(dni_layout *layout, const void *shape, void *work) {
    const size_t n = *(const size_t *)shape;
    struct state *s = work;
    s->up = dni_layout_doubles(layout, n);
    s->low = dni_layout_doubles(layout, n);
    s->self = dni_layout_doubles(layout, n);
    s->a = dni_layout_doubles(layout, n);
    s->active = dni_layout_array(layout, n, sizeof *s->active);
}

double dni_smo_memory(size_t n) {
    struct state scratch;
    return dni_layout_bytes(smo_layout, &n, &scratch);
}

static dn_status not_finite(const dni_smo *p, dn_error *err) {
    return dn_error_set(err, DN_ERR_NUMERIC, "after %.0f steps the kernel's values are not finite",
                        p->iterations);
}

/* ---- one variable ---- */
static bool can_increase(const dni_smo *p, size_t i) {
    return p->t[i] > 0 ? p->alpha[i] < p->upper[i] : p->alpha[i] > 0;
}

static bool can_decrease(const dni_smo *p, size_t i) {
    return p->t[i] > 0 ? p->alpha[i] > 0 : p->alpha[i] < p->upper[i];
}

/* Returns the largest increase of a_i within its bounds. */
static double distance_up(const dni_smo *p, size_t i) {
    return p->t[i] > 0 ? p->upper[i] - p->alpha[i] : p->alpha[i];
}

/* Returns the largest decrease of a_i within its bounds. */
static double distance_down(const dni_smo *p, size_t i) {
    return p->t[i] > 0 ? p->alpha[i] : p->upper[i] - p->alpha[i];
}

static double gradient_at(const struct state *s, size_t k) {
    return isfinite(s->up[k]) ? s->up[k] : s->low[k];
}

static void set_gradient(struct state *s, size_t k, double g) {
    const size_t i = s->active[k];
    s->up[k] = can_increase(s->p, i) ? g : -(double)INFINITY;
    s->low[k] = can_decrease(s->p, i) ? g : (double)INFINITY;
}

/* a_i += step for the variable i at position k. If `to_bound`, sets α_i exactly to the bound. */
static void move(struct state *s, size_t k, double step, bool to_bound) {
    dni_smo *p = s->p;
    const size_t i = s->active[k];
    const double g = gradient_at(s, k);
    const bool grows = (step > 0) == (p->t[i] > 0);
    p->alpha[i] += p->t[i] > 0 ? step : -step;
    if (to_bound) {
        p->alpha[i] = grows ? p->upper[i] : 0;
    }
    if (p->alpha[i] < 0) {
        p->alpha[i] = 0;
    }
    if (p->alpha[i] > p->upper[i]) {
        p->alpha[i] = p->upper[i];
    }
    set_gradient(s, k, g);
}

/* ---- extremes ---- */
static size_t group_begin(const struct state *s, size_t group) {
    return group == 0 ? 0 : s->group_end[group - 1];
}

static size_t n_ranges(const struct state *s) {
    return s->p->n_groups == 0 ? 1 : s->p->n_groups;
}

/* Subtracts step·(row_i − row_j) from up and low, and recomputes the extremes of all groups. */
static void update(struct state *s, const double *row_i, const double *row_j, double step) {
    for (size_t group = 0; group < n_ranges(s); group++) {
        s->extremes[group] = dni_smo_update(s->up, s->low, row_i, row_j, step,
                                            group_begin(s, group), s->group_end[group]);
    }
}

/* Returns the largest violation and stores its group in *out_group. The violation of a group is
 * max_up g − min_low g; without a constraint it is max(max_up g, −min_low g). If is_relative, the
 * result is scaled as described in smo.h. */
static double violation_of(const struct state *s, size_t *out_group) {
    double worst = 0;
    *out_group = 0;
    for (size_t group = 0; group < n_ranges(s); group++) {
        const dni_smo_extremes *e = &s->extremes[group];
        double group_violation = s->p->n_groups == 0 ? fmax(e->up, -e->low) : e->up - e->low;
        if (group_violation > worst) {
            worst = group_violation;
            *out_group = group;
        }
    }
    return s->p->is_relative
               ? worst * s->p->alpha_sum / fmax(2 * s->p->objective, fmax(s->p->min_scale, 1e-300))
               : worst;
}

static bool has_vanished(const struct state *s) {
    return s->p->is_relative && s->p->objective <= s->p->zero_objective;
}

/* ---- steps ---- */
/* Increases a_i and decreases a_j by the same amount, which minimises the objective within the
 * bounds of both variables. *out_moved ← false if there is no such pair or the amount is 0. */
static dn_status step_pair(struct state *s, size_t group, bool *out_moved, dn_error *err) {
    dni_smo *p = s->p;
    const size_t ki = s->extremes[group].up_at, i = s->active[ki];
    const double *row_i, *row_j;
    dn_status status = dni_smo_rows_get(s->rows, i, &row_i, err);
    if (status != DN_OK) {
        return status;
    }
    const double g_i = s->up[ki];
    const size_t kj = dni_smo_partner(s->low, s->self, row_i, g_i, s->self[ki], MIN_CURVATURE,
                                      group_begin(s, group), s->group_end[group]);
    *out_moved = kj != SIZE_MAX;
    if (kj == SIZE_MAX) {
        return DN_OK;
    }
    const size_t j = s->active[kj];
    status = dni_smo_rows_get(s->rows, j, &row_j, err);
    if (status != DN_OK) {
        return status;
    }
    const double b = g_i - s->low[kj],
                 curvature = fmax(s->self[ki] + s->self[kj] - 2 * row_i[kj], MIN_CURVATURE);
    const double max_i = distance_up(p, i), max_j = distance_down(p, j), free = b / curvature,
                 step = fmin(free, fmin(max_i, max_j));
    if (!isfinite(step)) {
        return not_finite(p, err);
    }
    p->objective -= step * (b - 0.5 * step * curvature);
    /* `move` sets up and low of the variables before `update` searches the extremes. */
    move(s, ki, step, step == max_i);
    move(s, kj, -step, step == max_j);
    update(s, row_i, row_j, step);
    *out_moved = step > 0;
    return DN_OK;
}

/* For problems without a constraint: minimises the objective over one variable. *out_moved ← false
 * if no variable can be changed. */
static dn_status step_single(struct state *s, bool *out_moved, dn_error *err) {
    dni_smo *p = s->p;
    const size_t k = dni_smo_single(s->up, s->low, s->self, MIN_CURVATURE, s->n_active);
    const double *row;
    *out_moved = k != SIZE_MAX;
    if (k == SIZE_MAX) {
        return DN_OK;
    }
    const size_t i = s->active[k];
    dn_status status = dni_smo_rows_get(s->rows, i, &row, err);
    if (status != DN_OK) {
        return status;
    }
    const double g = gradient_at(s, k), curvature = fmax(s->self[k], MIN_CURVATURE),
                 free = g / curvature;
    const double most = free > 0 ? distance_up(p, i) : distance_down(p, i),
                 length = fmin(fabs(free), most), step = free > 0 ? length : -length;
    if (!isfinite(step)) {
        return not_finite(p, err);
    }
    p->objective -= step * (g - 0.5 * step * curvature);
    move(s, k, step, length == most);
    update(s, row, NULL, step);
    *out_moved = length > 0;
    return DN_OK;
}

/* ---- shrinking ---- */
/* True if the variable is at a bound and its gradient suggests that it will stay there. */
static bool is_fixed(const struct state *s, size_t k, size_t group) {
    const dni_smo_extremes *e = &s->extremes[group];
    const bool rises = isfinite(s->up[k]), falls = isfinite(s->low[k]);
    if (rises && falls) {
        return false;
    }
    if (s->p->n_groups == 0) {
        const double violation = fmax(e->up, -e->low);
        return rises ? s->up[k] < -violation : s->low[k] > violation;
    }
    return rises ? s->up[k] < e->low : s->low[k] > e->up;
}

/* Removes the fixed variables (is_fixed) from the active variables, unless they are all of these or
 * fewer than 5 %. */
static dn_status shrink(struct state *s, dn_error *err) {
    size_t kept = 0, ends[DNI_SMO_MAX_GROUPS] = {0}, before = s->n_active;
    size_t n_fixed = 0;
    for (size_t group = 0, k = 0; group < n_ranges(s); group++) {
        for (; k < s->group_end[group]; k++) {
            n_fixed += is_fixed(s, k, group);
        }
    }
    if (n_fixed * 20 < before || n_fixed == before) {
        return DN_OK;
    }
    for (size_t group = 0, k = 0; group < n_ranges(s); group++) {
        for (; k < s->group_end[group]; k++) {
            if (is_fixed(s, k, group)) {
                continue;
            }
            s->active[kept] = s->active[k];
            s->up[kept] = s->up[k];
            s->low[kept] = s->low[k];
            s->self[kept++] = s->self[k];
        }
        ends[group] = kept;
    }
    for (size_t group = 0; group < n_ranges(s); group++) {
        s->group_end[group] = ends[group];
    }
    s->n_active = kept;
    update(s, s->self, s->self, 0);
    return dni_smo_rows_activate(s->rows, s->active, kept, err);
}

/* Sets up, low, the extremes and the objective from the gradient of all variables. */
static dn_status take_gradient(struct state *s, dn_error *err) {
    dni_smo *p = s->p;
    double objective = 0;
    for (size_t k = 0; k < p->n; k++) {
        objective -= 0.5 * s->a[k] * (p->g[k] + p->linear[k]);
        s->self[k] = dni_smo_rows_self(s->rows, k);
        set_gradient(s, k, p->g[k]);
    }
    p->objective = objective;
    if (!isfinite(objective)) {
        return not_finite(p, err);
    }
    update(s, s->self, s->self, 0);
    return DN_OK;
}

/* Activates all variables and recomputes their gradient, unless it is known. exact: use kernel
 * values in double precision. */
static dn_status compute_all(struct state *s, bool exact, bool known, dn_error *err) {
    dni_smo *p = s->p;
    for (size_t i = 0; i < p->n; i++) {
        s->active[i] = (uint32_t)i;
        s->a[i] = p->t[i] * p->alpha[i];
    }
    if (s->n_active < p->n) {
        dn_status status = dni_smo_rows_activate(s->rows, s->active, p->n, err);
        if (status != DN_OK) {
            return status;
        }
    }
    s->n_active = p->n;
    for (size_t group = 0; group < n_ranges(s); group++) {
        s->group_end[group] = p->n_groups == 0 ? p->n : p->group_end[group];
    }
    if (known) {
        return take_gradient(s, err);
    }
    dn_status status = dni_smo_rows_sums(s->rows, s->a, exact, s->run, p->g, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t k = 0; k < p->n; k++) {
        p->g[k] = p->linear[k] - p->g[k];
    }
    return take_gradient(s, err);
}

/* ---- iteration ---- */
static dn_status poll(struct state *s, dn_error *err) {
    s->polled += s->n_active;
    if (s->polled < POLL_WORK) {
        return DN_OK;
    }
    s->polled = 0;
    return dn_run_stop(s->run, err);
}

/* Reports progress. The fraction is linear in the logarithm of the violation. */
static void report_progress(struct state *s, double violation) {
    const dni_smo *p = s->p;
    const double tolerance = p->tolerance;
    if (s->run->progress == NULL) {
        return;
    }
    if (s->first_violation == 0) {
        s->first_violation = fmax(violation, 2 * tolerance);
    }
    s->fraction =
        fmin(0.99, fmax(s->fraction, log(s->first_violation / fmax(violation, tolerance)) /
                                         log(s->first_violation / tolerance)));
    const double thousands = fmin(floor(p->iterations / 1000) + 1, p->max_iterations / 1000);
    const dn_progress progress = {.iteration = (size_t)thousands,
                                  .max_iterations = (size_t)(p->max_iterations / 1000),
                                  .fraction = s->fraction,
                                  .loss = p->objective / p->objective_unit,
                                  .gradient_norm = violation,
                                  .train_error = (double)NAN};
    s->run->progress(s->run, &progress);
}

/* Reports progress and shrinks. Reactivates all variables once when the violation is near the
 * target. */
static dn_status periodic_work(struct state *s, double violation, dn_error *err) {
    s->until_periodic = s->p->n < PERIOD ? s->p->n : PERIOD;
    report_progress(s, violation);
    if (!s->reactivated && violation <= 10 * s->target && s->n_active < s->p->n) {
        s->reactivated = true;
        dn_status status = compute_all(s, false, false, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return shrink(s, err);
}

/* Makes steps until the violation of the active variables is at most s->target, no step makes
 * progress, or the number of steps reaches s->limit. */
static dn_status descend(struct state *s, dn_error *err) {
    for (;;) {
        size_t group;
        const double violation = violation_of(s, &group);
        if (violation <= s->target || s->p->iterations >= s->limit || has_vanished(s)) {
            return DN_OK;
        }
        dn_status status = poll(s, err);
        if (status != DN_OK) {
            return status;
        }
        if (s->until_periodic-- == 0) {
            status = periodic_work(s, violation, err);
            if (status != DN_OK) {
                return status;
            }
            continue; /* the active variables may have changed */
        }
        bool moved = false;
        status =
            s->p->n_groups == 0 ? step_single(s, &moved, err) : step_pair(s, group, &moved, err);
        if (status != DN_OK || !moved) {
            return status;
        }
        s->p->iterations++;
    }
}

/* Stores the gradient of all variables in p->g: as the steps have updated it, if that is allowed,
 * otherwise computed again. */
static dn_status finish_gradient(struct state *s, dn_error *err) {
    if (!s->p->keep_gradient || s->n_active < s->p->n || !dni_smo_rows_exact(s->rows)) {
        return compute_all(s, true, false, err);
    }
    for (size_t k = 0; k < s->p->n; k++) {
        s->p->g[k] = gradient_at(s, k);
    }
    return DN_OK;
}

/* Iterates until the violation of all variables is at most `target`, with kernel values in double
 * precision. limit: maximum number of steps. */
static dn_status converge(struct state *s, double target, double limit, dn_error *err) {
    size_t group;
    s->target = dni_smo_rows_exact(s->rows) ? target : FLOAT_FACTOR * target;
    s->limit = limit;
    s->reactivated = false;
    for (size_t round = 0; round < ROUNDS; round++) {
        dn_status status = DN_OK;
        s->p->violation = violation_of(s, &group);
        if (s->p->violation <= target || s->p->iterations >= limit || has_vanished(s)) {
            return DN_OK;
        }
        if (round == INEXACT && !dni_smo_rows_exact(s->rows)) {
            status = dni_smo_rows_make_exact(s->rows, err);
        }
        s->until_periodic = s->p->n < PERIOD ? s->p->n : PERIOD;
        const double before = s->p->iterations;
        if (status == DN_OK) {
            status = descend(s, err);
        }
        if (status == DN_OK) {
            status = finish_gradient(s, err);
        }
        if (status != DN_OK) {
            return status;
        }
        if (s->p->iterations == before) {
            break;
        }
    }
    s->p->violation = violation_of(s, &group);
    return DN_OK;
}

/* Returns the step budget past the tolerance: 20 n + min(3 × steps so far, 200 n). */
static double fine_steps(const dni_smo *p) {
    const double n = (double)p->n;
    return 20 * n + fmin(3 * p->iterations, FINE_ROUNDS * n);
}

dn_status dni_smo_solve(dni_smo *p, dni_smo_rows *rows, const dn_run *run, dn_error *err) {
    struct state s = {.p = p, .rows = rows, .run = run, .n_active = p->n};
    void *memory;
    p->iterations = 0;
    p->converged = false;
    dn_status status =
        dni_layout_take(run, smo_layout, &p->n, &s, "the gradient of the dual", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    status = compute_all(&s, true, p->has_gradient, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = converge(&s, p->tolerance, p->max_iterations, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    if (p->fine_tolerance < p->tolerance && p->violation <= p->tolerance &&
        dni_smo_rows_exact(rows)) {
        status = converge(&s, p->fine_tolerance,
                          fmin(p->max_iterations, p->iterations + fine_steps(p)), err);
        if (status != DN_OK) {
            goto cleanup;
        }
    }
    p->converged = p->violation <= p->tolerance && !has_vanished(&s);
    report_progress(&s, p->violation);
cleanup:
    dn_run_free(run, memory);
    return status;
}
