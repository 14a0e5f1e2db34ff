/* Support vector machine: its parameters, and the choice of the solver. */
#include "catalogue/calibration_params.h"
#include "catalogue/intercept_params.h"
#include "catalogue/multiclass_params.h"
#include "catalogue/param_rows.h"
#include "learners/shared/kernel_params.h"
#include "learners/shared/smo/smo.h"
#include "learners/svm/kernel/svm_kernel.h"
#include "learners/svm/linear/svm_linear.h"
#include "learners/svm/linear/svm_problem.h"
#include "machine/support.h"

static const char *const solvers[] = {"auto",   "interior_point",
                                      "newton", "dual_coordinate_descent",
                                      "smo",    NULL};
static const char *const solver_meanings[] = {
    "linear kernel with hinge: interior_point for up to 1000 features or up to 1000 training rows "
    "(of all classes), dual_coordinate_descent beyond; linear kernel with squared_hinge: newton; "
    "smo for the other kernels",
    "linear kernel with hinge: primal-dual interior point from the logistic optimum, some 20 "
    "steps, each with a matrix of features x features, or of rows x rows for more than 1000 "
    "features and at most 1000 rows",
    "linear kernel with squared_hinge: Newton's method, some 5 to 20 steps, each with a matrix as "
    "for interior_point; conjugate gradients for more than 1000 features and rows",
    "linear kernel: one dual variable at a time, for wide and sparse rows",
    "any kernel: pairs of dual variables chosen by second-order information",
    NULL};
static const char *const losses[] = {"hinge", "squared_hinge", NULL};
static const char *const loss_meanings[] = {
    "max(0, 1 - t f)",
    "max(0, 1 - t f)^2; linear kernels with newton or dual_coordinate_descent only", NULL};

static const dn_param params[] = {
    {.name = "C",
     .type = DN_PARAM_NUMBER,
     .meaning =
         "The cost of a unit of slack, relative to half the squared length of w. null, or hard: "
         "slack is not allowed (hard margin).",
     .default_number = 1,
     .minimum = 0,
     .maximum = (double)INFINITY,
     .open_minimum = true,
     .open_maximum = true,
     .word = "hard",
     .null_word = "hard",
     .complexity = 1},
    DNI_PARAMS_KERNEL("linear"),
    DNI_PARAM_CHOICE("solver",
                     "How the minimum is found. The hard margin of a linear kernel is always found "
                     "by the nearest points of the classes' hulls.",
                     "auto", solvers, solver_meanings),
    DNI_PARAM_CHOICE("loss", "The loss of a row with score f and t = -1 or 1.", "hinge", losses,
                     loss_meanings),
    DNI_PARAM_INTERCEPT,
    {.name = "tolerance",
     .type = DN_PARAM_NUMBER,
     .meaning =
         "Linear kernels: the largest relative duality gap of a converged solution. Other kernels: "
         "the greatest violation of the optimality conditions, in units of t f. auto: 1e-6 for "
         "interior_point, 1e-9 for newton, 1e-4 for dual_coordinate_descent, 1e-3 for smo.",
     .default_number = 1e-3,
     .default_choice = "auto",
     .minimum = 0,
     .maximum = 1,
     .open_minimum = true,
     .word = "auto"},
    DNI_PARAM_MAX_ITERATIONS("Maximum number of steps of interior_point and newton (auto: 200), of "
                             "passes of dual_coordinate_descent (auto: 5000), of steps to a hard "
                             "margin in units of 50 (auto: 5000), of steps of smo in thousands "
                             "(auto: 10 million steps, or 100 steps for each row if that is more).",
                             10000),
    DNI_PARAM_CACHE_MIB("smo: maximum memory in MiB for kernel values, shared by all machines that "
                        "are trained in parallel. If all values fit, they are computed once; "
                        "otherwise the most recently used rows are kept."),
    DNI_PARAM_MULTICLASS(dni_multiclass_machines, "one_vs_one"),
    DNI_PARAM_DISCRIMINANTS,
    DNI_PARAMS_CALIBRATE,
    DNI_PARAM_DECISION,
};

static bool linear(const dn_params *p) {
    return dni_params_is(p, "kernel", "linear") && !dn_params_boolean(p, "kernel.normalize");
}

/* True for the hard margin of a linear kernel, which has its own solver. */
static bool hard_plane(const dn_params *p) {
    return linear(p) && dni_params_is(p, "C", "hard");
}

/* n_rows: number of rows of the model. All its machines have the same solver and tolerance. */
static dni_svm_solver solver_of(const dn_params *p, size_t n_rows, size_t n_features) {
    /* The hard margin has the default tolerance of the interior-point method. */
    if (dni_params_is(p, "solver", "interior_point") || hard_plane(p)) {
        return DNI_SVM_INTERIOR_POINT;
    }
    if (dni_params_is(p, "solver", "dual_coordinate_descent")) {
        return DNI_SVM_DUAL_COORDINATE_DESCENT;
    }
    if (dni_params_is(p, "solver", "smo") || !linear(p)) {
        return DNI_SVM_SMO;
    }
    if (dni_params_is(p, "loss", "squared_hinge")) {
        return DNI_SVM_NEWTON;
    }
    return n_features <= DNI_SVM_MAX_ORDER || n_rows <= DNI_SVM_MAX_ORDER
               ? DNI_SVM_INTERIOR_POINT
               : DNI_SVM_DUAL_COORDINATE_DESCENT;
}

static double tolerance_of(const dn_params *p, dni_svm_solver solver) {
    static const double tolerances[] = {[DNI_SVM_INTERIOR_POINT] = 1e-6,
                                        [DNI_SVM_NEWTON] = 1e-9,
                                        [DNI_SVM_DUAL_COORDINATE_DESCENT] = 1e-4,
                                        [DNI_SVM_SMO] = 1e-3};
    return dn_params_word(p, "tolerance") == NULL ? dn_params_number(p, "tolerance")
                                                  : tolerances[solver];
}

static double iterations_of(const dn_params *p, dni_svm_solver solver, size_t n_rows) {
    if (dn_params_word(p, "max_iterations") == NULL) {
        return dn_params_number(p, "max_iterations");
    }
    if (solver == DNI_SVM_SMO) {
        return dni_smo_thousands(n_rows);
    }
    return solver != DNI_SVM_DUAL_COORDINATE_DESCENT && !hard_plane(p) ? 200 : 5000;
}

static dni_svm_options options_of(const dn_params *p, size_t n_rows, size_t n_features) {
    const dni_svm_solver solver = solver_of(p, n_rows, n_features);
    return (dni_svm_options){.solver = solver,
                             .intercept = dni_params_is(p, "intercept", "free") ? DNI_SVM_FREE
                                          : dni_params_is(p, "intercept", "penalised")
                                              ? DNI_SVM_PENALISED
                                              : DNI_SVM_NONE,
                             .squared = dni_params_is(p, "loss", "squared_hinge"),
                             .C = dn_params_word(p, "C") != NULL ? (double)INFINITY
                                                                 : dn_params_number(p, "C"),
                             .tolerance = tolerance_of(p, solver),
                             .max_iterations = (size_t)iterations_of(p, solver, n_rows),
                             .cache_bytes = dn_params_number(p, "cache_mib") * 1048576};
}

/* ---- checks ---- */
static dn_status refuse(const char *field, const char *message, dn_error *err) {
    dn_status status = dn_error_set(err, DN_ERR_ARGUMENT, "%s", message);
    dn_error_set_field(err, field);
    return status;
}

static dn_status check(const dn_params *p, dn_error *err) {
    const bool smo = dni_params_is(p, "solver", "smo"),
               other = !dni_params_is(p, "solver", "auto") && !smo;
    if (!linear(p) && other) {
        return refuse("solver",
                      "parameter \"solver\" must be smo or auto for a kernel that is not linear or "
                      "is normalized",
                      err);
    }
    if (dni_params_is(p, "loss", "squared_hinge") &&
        (!linear(p) || smo || dni_params_is(p, "solver", "interior_point"))) {
        return refuse("loss",
                      "parameter \"loss\" = \"squared_hinge\" belongs to the linear kernel and "
                      "solver newton or dual_coordinate_descent",
                      err);
    }
    if (dni_params_is(p, "solver", "newton") && !dni_params_is(p, "loss", "squared_hinge") &&
        !dni_params_is(p, "C", "hard")) {
        return refuse("solver",
                      "parameter \"solver\" = \"newton\" belongs to \"loss\" = \"squared_hinge\"",
                      err);
    }
    if (dni_params_is(p, "loss", "squared_hinge") && dni_params_is(p, "C", "hard")) {
        return refuse(
            "loss",
            "parameter \"loss\" = \"squared_hinge\" needs a C: without slack there is no loss",
            err);
    }
    if ((!linear(p) || smo) && dni_params_is(p, "intercept", "penalised")) {
        return refuse("intercept",
                      "parameter \"intercept\" must be free or none for smo, and for every kernel "
                      "that is not linear",
                      err);
    }
    if (!linear(p) && dni_params_is(p, "C", "hard") && dni_params_is(p, "intercept", "none")) {
        return refuse("intercept",
                      "parameter \"intercept\" must be free for a hard margin with a kernel that "
                      "is not linear",
                      err);
    }
    dn_status status = dni_kernel_params_check(p, err);
    return status == DN_OK ? dni_multiclass_check(p, err) : status;
}

static dn_status resolve(dn_params *p, size_t n_rows, size_t n_features, size_t n_classes,
                         dn_error *err) {
    (void)n_classes;
    const dni_svm_options o = options_of(p, n_rows, n_features);
    dn_status status = dni_kernel_params_shape(p, n_features, err);
    if (status == DN_OK && !hard_plane(p)) {
        status = dn_params_set_word(p, "solver", dni_svm_solver_names[o.solver], err);
    }
    if (status == DN_OK) {
        status = dn_params_set_number(p, "tolerance", o.tolerance, err);
    }
    if (status == DN_OK) {
        status = dn_params_set_number(p, "max_iterations", (double)o.max_iterations, err);
    }
    return status == DN_OK ? dni_kernel_params_resolve(p, err) : status;
}

static void warn_of_solver(const dn_params *p, dn_report *report) {
    if (hard_plane(p) && !dni_params_is(p, "solver", "auto")) {
        dn_report_warn(report, DN_WARNING_PARAMETER,
                       "parameter \"solver\" = \"%s\" had no effect: the hard margin (C null) of a "
                       "linear kernel is found by the nearest points of the classes' hulls",
                       dn_params_word(p, "solver"));
    }
}

static bool applies(const dn_params *p, size_t i) {
    return dni_kernel_param_applies(p, i) && dni_calibrate_applies(p, i);
}

/* ---- fits ---- */
static bool together(const dn_params *p) {
    const dni_svm_options o = options_of(p, 1, 0);
    return o.solver == DNI_SVM_SMO;
}

static double memory(const dn_params *p, const dn_fit_shape *shape) {
    const dni_svm_options o = options_of(p, shape->n_rows, shape->n_features);
    const dn_kernel kernel = dni_kernel_of(p, shape->n_features);
    if (o.solver == DNI_SVM_SMO) {
        return dni_svm_kernel_memory(&o, &kernel, dn_params_decision(p), shape);
    }
    const double all = dni_svm_linear_memory(&o, shape->n_rows, shape->n_features, shape->n_slots);
    const size_t fewer = shape->n_rows < DNI_SVM_MAX_ORDER ? shape->n_rows : DNI_SVM_MAX_ORDER;
    /* Fewer rows can need more memory: up to DNI_SVM_MAX_ORDER rows have a Gram matrix. */
    return shape->fewer_rows
               ? fmax(all, dni_svm_linear_memory(&o, fewer, shape->n_features, shape->n_slots))
               : all;
}

static dn_status take_report(void *ctx, size_t i, dn_report *report, dn_error *err) {
    (void)i;
    (void)err;
    *(dn_report *)ctx = *report;
    *report = (dn_report){0};
    return DN_OK;
}

/* Returns the options of all machines of the model. */
static dni_svm_options options_of_fit(const dn_fit_input *input) {
    const size_t n_rows = input->n_model_rows > 0 ? input->n_model_rows : input->rows->n_rows;
    return options_of(input->params, n_rows, input->rows->n_cols);
}

static dn_status fit(const dn_fit_input *input, const dn_run *run, dn_machine **out,
                     dn_report *report, dn_error *err) {
    const dni_svm_options o = options_of_fit(input);
    const dn_report_receiver receiver = {take_report, report};
    return o.solver == DNI_SVM_SMO
               ? dni_svm_kernel_fit(input, DN_DECISION_NATIVE, &o, run, out, &receiver, err)
               : dni_svm_linear_fit(input, &o, run, out, report, err);
}

static dn_status fit_together(const dn_fit_input *input, dn_decision decision, const dn_run *run,
                              dn_machine **machines, const dn_report_receiver *receiver,
                              dn_error *err) {
    const dni_svm_options o = options_of_fit(input);
    return dni_svm_kernel_fit(input, decision, &o, run, machines, receiver, err);
}

static dn_kept_memory kept_memory(const dn_params *p, const dn_fit_shape *shape) {
    const dn_kernel kernel = dni_kernel_of(p, shape->n_features);
    return options_of(p, shape->n_rows, shape->n_features).solver == DNI_SVM_SMO
               ? dni_support_kept_memory(&kernel, shape)
               : (dn_kept_memory){0};
}

static const char *alone(const dn_params *p) {
    const bool sums = dni_params_is(p, "solver", "auto") ||
                      dni_params_is(p, "solver", "interior_point") ||
                      dni_params_is(p, "solver", "newton");
    return !linear(p)      ? "only a linear kernel has a fit that is made of sums over the rows"
           : hard_plane(p) ? "C hard has a fit that is not made of sums over the rows"
           : !sums         ? "only solvers interior_point and newton are made of sums over the rows"
                           : NULL;
}

const dn_algorithm dni_algorithm_svm = {
    .id = "svm",
    .title = "Support vector machine",
    .summary = "The surface between two classes that is farthest from both, with a price for the "
               "rows that are on the wrong side of the margin; with a kernel, in a space of many "
               "more dimensions. Linear and nonlinear classification with a certificate of "
               "optimality; scores, and probabilities when calibrated.",
    .source = "Cortes and Vapnik, Machine Learning 20, 1995; Bishop, PRML, section 7.1; Fan, Chen "
              "and Lin, JMLR 6, 2005; Keerthi and DeCoste, JMLR 6, 2005; Hsieh et al., ICML 2008",
    .stopping_rule = "linear kernels: the relative duality gap (primal - dual)/primal is at most "
                     "`tolerance` (where rounding stops interior_point, the hard margin is tried); "
                     "other kernels: no pair of rows violates the optimality conditions by more "
                     "than `tolerance`, computed with kernel values in double precision",
    .flags = DN_ALGORITHM_TARGET | DN_ALGORITHM_STANDARDIZE,
    .params = params,
    .n_params = sizeof params / sizeof params[0],
    .check = check,
    .resolve = resolve,
    .warn = warn_of_solver,
    .applies = applies,
    .encoding = dni_kernel_encoding,
    .memory = memory,
    .fit = fit,
    .together = together,
    .fit_together = fit_together,
    .kept_memory = kept_memory,
    .alone = alone,
};
