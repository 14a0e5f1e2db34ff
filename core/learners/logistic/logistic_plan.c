/* The choice of a solver and its limits. */
#include "learners/logistic/logistic_plan.h"
#include "catalogue/param_rows.h"
#include "learners/logistic/logistic_separation.h"
#include "learners/shared/learner.h"
#include "learners/shared/linear/row_space.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const dni_logistic_method methods[] = {
    {.name = "newton",
     .centres = true,
     .needs_convexity = true,
     .tolerance = 1e-9,
     .most = 100,
     .visits = (double)INFINITY,
     .smooth = &dni_solver_newton,
     .l1 = &dni_solver_proximal_newton,
     .large = &dni_solver_newton_cg,
     .full = &dni_solver_newton_full},
    {.name = "lbfgs",
     .centres = true,
     .tolerance = 1e-6,
     .most = 2000,
     .visits = (double)INFINITY,
     .smooth = &dni_solver_lbfgs,
     .l1 = &dni_solver_owlqn},
    {.name = "gradient_descent",
     .descends = true,
     .tolerance = 1e-5,
     .most = 20000,
     .visits = 1e8,
     .least = 500,
     .smooth = &dni_solver_gradient_descent,
     .l1 = &dni_solver_gradient_descent},
    {.name = "sgd",
     .descends = true,
     .tolerance = 5e-5,
     .most = 2000,
     .visits = 1e7,
     .least = 50,
     .smooth = &dni_solver_sgd,
     .l1 = &dni_solver_sgd,
     .constant = &dni_solver_sgd_constant},
};
enum { NEWTON, LBFGS, N_METHODS = sizeof methods / sizeof methods[0] };

/* The rule of solver "auto". Newton's method is used if 10 Hessians cost at most 4 times as much as
 * 100 gradients. */
static bool newton_is_cheaper(double n_rows, double n_features, double n_classes) {
    double k = n_classes == 2 ? 1 : n_classes, width = n_features + 1, n = k * width;
    if (n <= 200) {
        return true;
    }
    double hessian = n_rows * k * (k + 1) / 2 * width * width + n * n * n / 3;
    double gradient = 4 * n_rows * n;
    return n <= 4000 && 10 * hessian <= 4 * 100 * gradient;
}

static const dni_logistic_method *choose_method(const dn_params *p, const dni_loss *loss,
                                                size_t n_rows, size_t n_features,
                                                size_t n_classes) {
    const char *word = dn_params_word(p, "solver");
    for (size_t i = 0; i < N_METHODS; i++) {
        if (strcmp(word, methods[i].name) == 0) {
            return &methods[i];
        }
    }
    const bool newton = (loss->convex || !methods[NEWTON].needs_convexity) &&
                        newton_is_cheaper((double)n_rows, (double)n_features, (double)n_classes);
    return &methods[newton ? NEWTON : LBFGS];
}

static const dni_solver *choose_solver(const dni_logistic_plan *plan, size_t n) {
    const dni_logistic_method *method = plan->method;
    if (method->constant != NULL && plan->constant_rate) {
        return method->constant;
    }
    if (method->large != NULL && n > DNI_LOGISTIC_MAX_HESSIAN) {
        return method->large;
    }
    return plan->full && method->full != NULL ? method->full
           : plan->l1 > 0                     ? method->l1
                                              : method->smooth;
}

/* Returns the flags of dni_linear_uses that the solver and the search for dependent columns
 * need. */
static unsigned uses_of(const dni_logistic_plan *plan) {
    const unsigned needs = plan->solver->needs;
    unsigned uses = plan->method->centres ? DNI_LINEAR_STANDARDISE : 0u;
    uses |= needs & DNI_NEEDS_HESSIAN || plan->polishes ? DNI_LINEAR_HESSIAN : 0u;
    uses |= needs & DNI_NEEDS_PRODUCT || plan->certifies ? DNI_LINEAR_PRODUCT : 0u;
    uses |= needs & DNI_NEEDS_BATCHES ? DNI_LINEAR_BATCH : 0u;
    if (needs & DNI_NEEDS_METRIC && plan->l1 == 0 && plan->width <= DNI_LOGISTIC_MAX_METRIC) {
        uses |= DNI_LINEAR_GRAM;
    }
    if (plan->method->centres && plan->l1 == 0 && plan->l2 == 0 && !plan->independent &&
        plan->width <= DNI_RANK_MAX_WIDTH) {
        uses |= DNI_LINEAR_GRAM;
    }
    return uses;
}

/* Sets the members that depend on the number n of variables of the solver. */
static void set_solver(dni_logistic_plan *plan, size_t n) {
    const bool unpenalised = plan->l1 == 0 && plan->l2 == 0;
    plan->solver = choose_solver(plan, n);
    plan->polishes = plan->method == &methods[LBFGS] && unpenalised &&
                     n <= DNI_LOGISTIC_MAX_POLISH && plan->loss->convex;
    plan->certifies = plan->method->centres && unpenalised && plan->loss->convex &&
                      n <= DNI_LOGISTIC_MAX_CHECKED &&
                      (plan->polishes || plan->solver->needs & DNI_NEEDS_HESSIAN);
    plan->uses = uses_of(plan);
}

dni_logistic_plan dni_logistic_plan_of_coordinates(const dni_logistic_plan *plan, size_t n_rows,
                                                   size_t rank) {
    dni_logistic_plan inner = *plan;
    inner.wide = inner.check_wide = inner.conditions = false;
    inner.independent = true;
    inner.width = rank + 1;
    inner.n = inner.n_scores * inner.width;
    inner.check_uses = 0;
    if (plan->check_wide) {
        inner.method = &methods[NEWTON];
        inner.tolerance = inner.method->tolerance;
        inner.max_iterations = (size_t)inner.method->most;
    }
    set_solver(&inner, plan->n_scores * n_rows);
    return inner;
}

/* Returns the flags of dni_linear_uses for the check that follows a descent without a penalty. The
 * check looks for dependent columns. If the loss is convex and Newton steps are cheap, the check
 * also tests whether a minimum exists. */
static unsigned check_uses_of(const dni_logistic_plan *plan, double n_rows, double n_features,
                              double n_classes) {
    unsigned uses = 0;
    if (!plan->method->descends || plan->l1 > 0 || plan->l2 > 0) {
        return 0;
    }
    if (plan->width <= DNI_RANK_MAX_WIDTH) {
        uses |= DNI_LINEAR_GRAM;
    }
    if (plan->loss->convex && plan->n <= DNI_LOGISTIC_MAX_POLISH &&
        newton_is_cheaper(n_rows, n_features, n_classes)) {
        uses |= DNI_LINEAR_HESSIAN;
    }
    if (uses & DNI_LINEAR_HESSIAN && uses & DNI_LINEAR_GRAM) {
        uses |= DNI_LINEAR_PRODUCT;
    }
    return uses == 0 ? 0 : uses | DNI_LINEAR_STANDARDISE;
}

dni_logistic_plan dni_logistic_make_plan(const dn_params *p, size_t n_rows, double weight,
                                         size_t n_features, size_t n_classes) {
    const double lambda =
        dni_params_is(p, "penalty", "none") ? 0 : dni_lambda_of(p, fmax(weight, DBL_MIN));
    const double ratio = dni_params_is(p, "penalty", "l1") ? 1
                         : dni_params_is(p, "penalty", "elastic_net")
                             ? dn_params_number(p, "l1_ratio")
                             : 0;
    const bool squared = dni_params_is(p, "loss", "squared_error");
    dni_logistic_plan plan = {.loss =
                                  squared ? &dni_loss_squared_probability : &dni_loss_cross_entropy,
                              .lambda = lambda,
                              .l1 = lambda * ratio,
                              .l2 = lambda * (1 - ratio),
                              .intercept = dni_intercept_of(p, lambda > 0),
                              .constant_rate = dni_params_is(p, "schedule", "constant"),
                              .full = dni_params_is(p, "step", "full"),
                              .n_scores = n_classes == 2 ? 1 : n_classes,
                              .width = n_features + 1};
    plan.n = plan.n_scores * plan.width;
    const bool wide = lambda == 0 && dni_row_space_applies(n_rows, n_features);
    plan.method = choose_method(p, plan.loss, n_rows, wide ? n_rows - 1 : n_features, n_classes);
    plan.wide = wide && plan.method->centres;
    set_solver(&plan, plan.wide ? plan.n_scores * n_rows : plan.n);
    if (plan.wide) {
        plan.uses = DNI_LINEAR_STANDARDISE;
        plan.polishes = plan.certifies = false;
    }
    plan.check_wide = wide && plan.method->descends;
    plan.check_steps =
        plan.check_wide && plan.loss->convex && plan.n_scores * n_rows <= DNI_LOGISTIC_MAX_POLISH;
    plan.check_uses = plan.check_wide ? 0
                                      : check_uses_of(&plan, (double)n_rows, (double)n_features,
                                                      (double)n_classes);
    plan.tolerance = dn_params_word(p, "tolerance") == NULL ? dn_params_number(p, "tolerance")
                     : p->rules == DN_RULES_FIRST && plan.method == &methods[LBFGS]
                         ? 1e-9
                         : plan.method->tolerance;
    plan.max_iterations = dn_params_word(p, "max_iterations") == NULL
                              ? (size_t)dn_params_number(p, "max_iterations")
                              : dni_default_iterations(n_rows, plan.method->visits,
                                                       plan.method->least, plan.method->most);
    if (plan.max_iterations == 0) {
        plan.solver = &dni_solver_gradient_descent;
        plan.uses = plan.check_uses = 0;
        plan.wide = plan.check_wide = plan.check_steps = plan.certifies = plan.polishes = false;
    }
    const bool newton =
        plan.method == &methods[NEWTON] && plan.n_scores == 1 && plan.max_iterations > 0;
    plan.conditions = newton && !plan.wide && plan.width <= DNI_LOGISTIC_MAX_CONDITION &&
                      plan.solver->smooth && plan.solver->needs & DNI_NEEDS_HESSIAN;
    plan.n_irls = newton && dn_params_boolean(p, "irls") ? n_rows * plan.max_iterations : 0;
    return plan;
}

dn_status dni_logistic_check_newton(const dn_params *p, const dni_logistic_plan *plan,
                                    size_t n_rows, dn_error *err) {
    const bool irls = dn_params_boolean(p, "irls");
    if ((plan->full || irls) && plan->max_iterations > 0 &&
        !(plan->solver->needs & DNI_NEEDS_HESSIAN)) {
        return dni_parameter_error(err, plan->full ? "step" : "irls",
                                   "parameter \"%s\" needs the Hessian as a matrix: at most %d "
                                   "weights and intercepts (got %zu)",
                                   plan->full ? "step" : "irls", DNI_LOGISTIC_MAX_HESSIAN, plan->n);
    }
    if (irls && plan->n_scores > 1) {
        return dni_parameter_error(err, "irls", "parameter \"irls\" needs two classes (got %zu)",
                                   plan->n_scores);
    }
    if (irls && (double)n_rows * (double)plan->max_iterations > DNI_LOGISTIC_MAX_IRLS) {
        return dni_parameter_error(err, "irls",
                                   "parameter \"irls\" keeps two numbers for each row and "
                                   "iteration: rows times max_iterations must be at most %d (got "
                                   "%zu times %zu)",
                                   DNI_LOGISTIC_MAX_IRLS, n_rows, plan->max_iterations);
    }
    return DN_OK;
}
