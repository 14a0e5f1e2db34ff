/* The multilayer perceptron: its parameters, their checks and defaults.
 *
 *   z_0 = x,  z_l = h(W_lᵀ z_{l−1} + b_l),  g = W_Lᵀ z_{L−1} + b_L
 *   minimise  Σ v ℓ(g, r)/Σ v + λ Σ_l ‖W_l‖²
 *
 * ℓ is the cross-entropy of the sigmoid of one score (two classes) or of the softmax of K scores.
 * The objective is not convex: the result depends on the random start.
 *
 * The rows are visited in random order and must be in memory: the method does not stream. */
#include "catalogue/multiclass_params.h"
#include "catalogue/param_rows.h"
#include "catalogue/registry.h"
#include "learners/mlp/mlp_fit.h"
#include "learners/shared/learner.h"

#include <math.h>

static const char *const layers[] = {"auto", NULL};
static const char *const layers_meanings[] = {"one layer of 16 units", NULL};
static const char *const activations[] = {"auto", "sigmoid", "tanh", "relu", NULL};
static const char *const activation_meanings[] = {
    "tanh for lbfgs, which needs a smooth objective; relu for adam",
    "1/(1 + e^-a), the logistic function",
    "tanh(a), between -1 and 1; converges faster than sigmoid", "max(0, a)", NULL};
static const char *const solvers[] = {"auto", "lbfgs", "adam", NULL};
static const char *const solver_meanings[] = {
    "adam when a learning_rate, a schedule or a batch_size is given, or rows times weights exceed "
    "10^7; otherwise lbfgs",
    "limited-memory BFGS: every step uses all rows; for small tables",
    "stochastic steps on batches of rows; for large tables", NULL};
static const char *const schedules[] = {"linear", "constant", NULL};
static const char *const schedule_meanings[] = {
    "the learning rate falls linearly to 0 at max_iterations", "the learning rate is constant",
    NULL};
static const char *const inits[] = {"glorot", "he", NULL};
static const char *const init_meanings[] = {"uniform within sqrt(6/(inputs + units))",
                                            "uniform within sqrt(6/inputs), for relu", NULL};

static const dn_param params[] = {
    {.name = "layers",
     .type = DN_PARAM_LIST,
     .meaning = "Units of each hidden layer, from the features to the scores: 1 to 16 integers.",
     .default_choice = "auto",
     .choices = layers,
     .choice_meanings = layers_meanings,
     .minimum = 1,
     .maximum = 10000,
     .integers = true},
    DNI_PARAM_CHOICE("activation", "Output of a hidden unit for its weighted sum a.", "auto",
                     activations, activation_meanings),
    DNI_PARAM_CHOICE("solver", "How the objective is minimised.", "auto", solvers, solver_meanings),
    DNI_PARAM_LAMBDA_AUTO("Strength of the penalty lambda * |W|^2 on the weights of all layers; "
                          "the loss is a mean over rows, biases are not penalised. auto: 3 divided "
                          "by the number of training rows, from 0.001 to 0.005."),
    {.name = "learning_rate",
     .type = DN_PARAM_NUMBER,
     .meaning = "adam: about the largest change of a weight (of a standardised column) in one "
                "step. auto: 0.002.",
     .default_choice = "auto",
     .default_number = 2e-3,
     .minimum = 0,
     .maximum = 1e3,
     .open_minimum = true,
     .word = "auto"},
    DNI_PARAM_CHOICE("schedule", "adam: how the learning rate changes.", "linear", schedules,
                     schedule_meanings),
    {.name = "batch_size",
     .type = DN_PARAM_INTEGER,
     .meaning = "adam: rows of one step. auto: a hundredth of the rows, from 16 to 256.",
     .default_choice = "auto",
     .default_number = 256,
     .minimum = 1,
     .maximum = 1e6,
     .word = "auto"},
    DNI_PARAM_MAX_ITERATIONS_FROM(
        0,
        "Largest number of iterations of a start: lbfgs steps (auto: 2000), or adam passes over "
        "the rows (auto: as many as visit three million rows, from 50 to 500). 0: the model has "
        "the weights of init.",
        2000),
    DNI_PARAM_TOLERANCE("lbfgs: stops when the largest component of the gradient is at most this "
                        "(auto: 1e-5). adam: stops when the objective has not fallen by this "
                        "share within `patience` passes (auto: 1e-3).",
                        1e-5),
    {.name = "early_stopping",
     .type = DN_PARAM_NUMBER,
     .meaning = "Share of each class's training rows used as validation rows: they are not "
                "trained on; their loss decides when to stop and which weights to keep. 0: none.",
     .default_number = 0,
     .minimum = 0,
     .maximum = 0.9},
    {.name = "patience",
     .type = DN_PARAM_INTEGER,
     .meaning = "Iterations without a better loss after which early_stopping and adam stop.",
     .default_number = 10,
     .minimum = 1,
     .maximum = 1e9},
    {.name = "restarts",
     .type = DN_PARAM_INTEGER,
     .meaning = "Number of random starts; the weights of the best one are kept. auto: 10 if rows "
                "times weights are at most 10^4, otherwise 1.",
     .default_choice = "auto",
     .default_number = 1,
     .minimum = 1,
     .maximum = 1000,
     .word = "auto"},
    {.name = "init",
     .type = DN_PARAM_LIST,
     .meaning =
         "Initial weights (of standardised columns), drawn from the seed; biases start at 0. "
         "Or a list of numbers, in the units of the columns, in the order of GET .../weights: "
         "for each layer the weights of its units, one unit after the other, then their "
         "biases. With a list there is one start.",
     .default_choice = "glorot",
     .choices = inits,
     .choice_meanings = init_meanings,
     .minimum = -(double)INFINITY,
     .maximum = (double)INFINITY,
     .open_minimum = true,
     .open_maximum = true},
    DNI_PARAM_MULTICLASS(dni_multiclass_softmax, "softmax"),
    DNI_PARAM_DISCRIMINANTS,
    DNI_PARAM_DECISION,
};

/* ---- checks and defaults ---- */
/* Returns the name of the first parameter that the caller has set and that only adam uses; NULL if
 * there is none. */
static const char *adam_parameter(const dn_params *p) {
    if (!dni_params_is(p, "learning_rate", "auto")) {
        return "learning_rate";
    }
    if (!dni_params_is(p, "batch_size", "auto")) {
        return "batch_size";
    }
    return dni_params_is(p, "schedule", "linear") ? NULL : "schedule";
}

static dn_status check(const dn_params *p, dn_error *err) {
    const char *unused = adam_parameter(p);
    size_t n;
    (void)dn_params_list(p, "layers", &n);
    if (n > DNI_MAX_LAYERS - 1) {
        return dni_parameter_error(err, "layers",
                                   "parameter \"layers\" must have 1 to %d integers (got %zu)",
                                   DNI_MAX_LAYERS - 1, n);
    }
    if (dn_params_list(p, "init", &n) != NULL && dn_params_word(p, "restarts") == NULL &&
        dn_params_number(p, "restarts") > 1) {
        return dni_parameter_error(err, "restarts",
                                   "parameter \"restarts\" must be 1 if init is a list (got %g)",
                                   dn_params_number(p, "restarts"));
    }
    if (dni_params_is(p, "solver", "lbfgs") && unused != NULL) {
        return dni_parameter_error(
            err, unused, "parameter \"%s\" belongs to solver adam (the solver is \"lbfgs\")",
            unused);
    }
    return dni_multiclass_check(p, err);
}

static double number_or(const dn_params *p, const char *name, double otherwise) {
    return dn_params_word(p, name) == NULL ? dn_params_number(p, name) : otherwise;
}

/* Returns max_iterations for "auto". */
static double default_iterations(const dn_params *p, bool adam, double rows) {
    if (p->rules == DN_RULES_FIRST) {
        return adam ? fmax(20, fmin(500, ceil(1e6 / fmax(1, rows)))) : 1000;
    }
    return adam ? fmax(50, fmin(500, ceil(3e6 / fmax(1, rows)))) : 2000;
}

static dni_mlp_plan make_plan(const dn_params *p, size_t n_rows, size_t n_features,
                              size_t n_classes) {
    size_t n;
    const double *list = dn_params_list(p, "layers", &n), rows = (double)n_rows;
    const bool first = p->rules == DN_RULES_FIRST;
    dni_mlp_plan plan = {.n_layers = 2,
                         .units = {16},
                         .n_features = n_features,
                         .n_scores = n_classes == 2 ? 1 : n_classes};
    for (size_t i = 0; list != NULL && i < n && i + 1 < DNI_MAX_LAYERS; i++) {
        plan.units[i] = (size_t)list[i];
        plan.n_layers = i + 2;
    }
    plan.units[plan.n_layers - 1] = plan.n_scores;
    const dni_layers shape = dni_mlp_layers(&plan);
    plan.n = (double)dni_layers_numbers(&shape);
    plan.adam =
        dni_params_is(p, "solver", "adam") ||
        (dni_params_is(p, "solver", "auto") && (adam_parameter(p) != NULL || rows * plan.n > 1e7));
    const bool smooth = dni_params_is(p, "activation", "tanh") ||
                        (dni_params_is(p, "activation", "auto") && !plan.adam);
    plan.activation = dni_params_is(p, "activation", "sigmoid") ? DNI_ACTIVATION_SIGMOID
                      : smooth                                  ? DNI_ACTIVATION_TANH
                                                                : DNI_ACTIVATION_RELU;
    plan.linear_schedule = dni_params_is(p, "schedule", "linear");
    plan.he = dni_params_is(p, "init", "he");
    plan.start = dn_params_list(p, "init", &n);
    plan.lambda = number_or(p, "lambda", fmax(1e-3, fmin(5e-3, 3 / fmax(1, rows))));
    plan.rate = number_or(p, "learning_rate", 2e-3);
    plan.tolerance = number_or(p, "tolerance", plan.adam ? (first ? 1e-4 : 1e-3) : 1e-5);
    plan.validation_share = dn_params_number(p, "early_stopping");
    plan.batch_rows = (size_t)number_or(p, "batch_size", fmax(16, fmin(256, floor(rows / 100))));
    plan.max_iterations =
        (size_t)number_or(p, "max_iterations", default_iterations(p, plan.adam, rows));
    plan.patience = (size_t)dn_params_number(p, "patience");
    plan.restarts =
        (size_t)number_or(p, "restarts", plan.start == NULL && rows * plan.n <= 1e4 ? 10 : 1);
    return plan;
}

/* Checks the length of the list of parameter init. */
static dn_status check_start(const dn_params *p, const dni_mlp_plan *plan, dn_error *err) {
    size_t n;
    if (dn_params_list(p, "init", &n) == NULL || (double)n == plan->n) {
        return DN_OK;
    }
    return dni_parameter_error(err, "init",
                               "parameter \"init\" must have %.0f numbers: for each layer the "
                               "weights of its inputs and the biases (got %zu)",
                               plan->n, n);
}

static dn_status resolve(dn_params *p, size_t n_rows, size_t n_features, size_t n_classes,
                         dn_error *err) {
    const dni_mlp_plan plan = make_plan(p, n_rows, n_features, n_classes);
    const struct {
        const char *name;
        double value;
        bool given;
    } numbers[] = {{"lambda", plan.lambda, true},
                   {"learning_rate", plan.rate, plan.adam},
                   {"batch_size", (double)plan.batch_rows, plan.adam},
                   {"max_iterations", (double)plan.max_iterations, true},
                   {"tolerance", plan.tolerance, true},
                   {"restarts", (double)plan.restarts, true}};
    double units[DNI_MAX_LAYERS];
    for (size_t l = 0; l + 1 < plan.n_layers; l++) {
        units[l] = (double)plan.units[l];
    }
    dn_status status = check_start(p, &plan, err);
    if (status == DN_OK) {
        status = dn_params_set_list(p, "layers", units, plan.n_layers - 1, err);
    }
    if (status == DN_OK) {
        status = dn_params_set_word(p, "solver", plan.adam ? "adam" : "lbfgs", err);
    }
    if (status == DN_OK) {
        status = dn_params_set_word(p, "activation", activations[1 + plan.activation], err);
    }
    for (size_t i = 0; status == DN_OK && i < sizeof numbers / sizeof numbers[0]; i++) {
        if (numbers[i].given) {
            status = dn_params_set_number(p, numbers[i].name, numbers[i].value, err);
        }
    }
    return status;
}

static double memory(const dn_params *p, const dn_fit_shape *shape) {
    const dni_mlp_plan plan = make_plan(p, shape->n_rows, shape->n_features, shape->n_classes);
    return dni_mlp_fit_memory(&plan, shape);
}

static dn_status fit(const dn_fit_input *input, const dn_run *run, dn_machine **out,
                     dn_report *report, dn_error *err) {
    const dni_mlp_plan plan =
        make_plan(input->params, input->rows->n_rows, input->rows->n_cols, input->n_classes);
    const dn_status status = check_start(input->params, &plan, err);
    return status == DN_OK ? dni_mlp_fit(&plan, input, run, out, report, err) : status;
}

/* The solver that "auto" chooses depends on the rows. */
static const char *alone(const dn_params *p) {
    return dni_params_is(p, "solver", "lbfgs") ? NULL
                                               : "only solver lbfgs is made of sums over the rows";
}

const dn_algorithm dni_algorithm_mlp = {
    .id = "mlp",
    .title = "Multilayer perceptron",
    .summary = "A network: layers of units between the features and the sigmoid or softmax of "
               "logistic regression, trained by backpropagation. For classes that no surface of a "
               "simple form separates. Minimises the mean cross-entropy plus lambda * |W|^2, which "
               "has more than one minimum: the result depends on the seed.",
    .source = "Bishop, Pattern Recognition and Machine Learning, sections 5.1-5.3; Alpaydin, "
              "Introduction to Machine Learning, chapter 11; Kingma and Ba, Adam, ICLR 2015",
    .stopping_rule = "lbfgs: the largest component of the gradient with respect to the weights of "
                     "standardised columns is at most `tolerance`; adam: `patience` passes in a "
                     "row have not lowered the objective by the share `tolerance`; with "
                     "early_stopping also: `patience` iterations in a row have not lowered the "
                     "loss of the validation rows",
    .flags = DN_ALGORITHM_TARGET | DN_ALGORITHM_PROBABILITIES | DN_ALGORITHM_STANDARDIZE |
             DN_ALGORITHM_NONLINEAR | DN_ALGORITHM_NOT_ADDITIVE,
    .params = params,
    .n_params = sizeof params / sizeof params[0],
    .check = check,
    .resolve = resolve,
    .drops_first = dni_drops_first_without_lambda,
    .memory = memory,
    .fit = fit,
    .alone = alone,
};
