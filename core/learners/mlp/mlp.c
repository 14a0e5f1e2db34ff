/* The multilayer perceptron: logistic units (or others) in cascade, learned jointly; its parameters and what they come to.
 *
 *   z_0 = x,  z_l = h(W_lᵀ z_{l−1} + b_l),  g = W_Lᵀ z_{L−1} + b_L;   minimise Σ v ℓ(g, r)/Σ v + λ Σ_l ‖W_l‖²
 * with ℓ the cross-entropy of the sigmoid of one score (two classes) or of the softmax of K. Not convex: where a descent ends depends on its start.
 *
 * Rows are visited in any order, so they must be in memory: the method does not stream. */
#include "catalogue/multiclass_params.h"
#include "catalogue/param_rows.h"
#include "catalogue/registry.h"
#include "learners/mlp/mlp_fit.h"

#include <math.h>

static const char *const layers[] = {"auto", NULL};
static const char *const layers_meanings[] = {"one layer of 16 units", NULL};
static const char *const activations[] = {"auto", "sigmoid", "tanh", "relu", NULL};
static const char *const activation_meanings[] = {
    "tanh for lbfgs, which wants a smooth objective; relu for adam",
    "1/(1 + e^-a), the logistic unit", "the same unit between -1 and 1, which learns faster",
    "max(0, a)", NULL};
static const char *const solvers[] = {"auto", "lbfgs", "adam", NULL};
static const char *const solver_meanings[] = {
    "adam when a learning_rate, a schedule or a batch_size is given, or rows times weights exceed "
    "10^7; otherwise lbfgs",
    "limited-memory BFGS: every step looks at all rows; for small tables",
    "stochastic steps on batches of rows; for large tables", NULL};
static const char *const schedules[] = {"linear", "constant", NULL};
static const char *const schedule_meanings[] = {
    "the learning rate falls in a straight line to 0 at max_iterations", "it stays", NULL};
static const char *const inits[] = {"glorot", "he", NULL};
static const char *const init_meanings[] = {"uniform within sqrt(6/(inputs + units))",
                                            "uniform within sqrt(6/inputs), for relu", NULL};

static const dn_param params[] = {
    {.name = "layers",
     .type = DN_PARAM_LIST,
     .meaning = "How many units each hidden layer has, from the features on: 1 to 16 integers.",
     .default_choice = "auto",
     .choices = layers,
     .choice_meanings = layers_meanings,
     .minimum = 1,
     .maximum = 10000,
     .integers = true},
    DNI_PARAM_CHOICE("activation", "What a hidden unit makes of its weighted sum a.", "auto",
                     activations, activation_meanings),
    DNI_PARAM_CHOICE("solver", "How the objective is minimised.", "auto", solvers, solver_meanings),
    DNI_PARAM_LAMBDA("Strength of the penalty lambda * |W|^2 on the weights of all layers; the "
                     "loss is a mean over rows, biases are free."),
    {.name = "learning_rate",
     .type = DN_PARAM_NUMBER,
     .meaning = "adam: about the most by which a weight (of a standardised column) moves in a "
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
     .meaning = "adam: rows of a step. auto: a hundredth of the rows, from 16 to 256.",
     .default_choice = "auto",
     .default_number = 256,
     .minimum = 1,
     .maximum = 1e6,
     .word = "auto"},
    DNI_PARAM_MAX_ITERATIONS("Most iterations of a start: of lbfgs steps (auto: 1000), of adam "
                             "passes over the rows (auto: a million rows seen, from 20 "
                             "to 500 passes).",
                             1000),
    DNI_PARAM_TOLERANCE("lbfgs: the largest component of the gradient to stop at (auto: 1e-5). "
                        "adam: the share by which the objective has to fall "
                        "within `patience` passes to go on (auto: 1e-4).",
                        1e-5),
    {.name = "early_stopping",
     .type = DN_PARAM_NUMBER,
     .meaning = "Share of each class's training rows that is kept aside: nothing is learned from "
                "them, their loss decides when to stop and "
                "which weights to keep. 0: none.",
     .default_number = 0,
     .minimum = 0,
     .maximum = 0.9},
    {.name = "patience",
     .type = DN_PARAM_INTEGER,
     .meaning = "Iterations without a better loss before the end: of early_stopping, and of adam.",
     .default_number = 10,
     .minimum = 1,
     .maximum = 1e9},
    {.name = "restarts",
     .type = DN_PARAM_INTEGER,
     .meaning = "How many random starts are made; the best one's weights are kept. auto: 10 where "
                "rows times weights are at most 10^4, "
                "otherwise 1.",
     .default_choice = "auto",
     .default_number = 1,
     .minimum = 1,
     .maximum = 1000,
     .word = "auto"},
    DNI_PARAM_CHOICE(
        "init",
        "Where the weights (of standardised columns) start, from the seed; biases start at 0.",
        "glorot", inits, init_meanings),
    DNI_PARAM_MULTICLASS(dni_multiclass_softmax, "softmax"),
    DNI_PARAM_DISCRIMINANTS,
};

/* ---- what is asked ---- */
/* The first parameter given that is adam's alone; NULL: none. */
static const char *adams(const dn_params *p) {
    if (!dni_params_is(p, "learning_rate", "auto")) {
        return "learning_rate";
    }
    if (!dni_params_is(p, "batch_size", "auto")) {
        return "batch_size";
    }
    return dni_params_is(p, "schedule", "linear") ? NULL : "schedule";
}

static dn_status check_layers(const dn_params *p, dn_error *err) {
    size_t n;
    (void)dn_params_list(p, "layers", &n);
    if (n > DN_MAX_LAYERS - 1) {
        return dn_error_set(err, DN_ERR_ARGUMENT,
                            "parameter \"layers\" must have 1 to %d integers (got %zu)",
                            DN_MAX_LAYERS - 1, n);
    }
    return DN_OK;
}

static dn_status check(const dn_params *p, dn_error *err) {
    const char *field = "layers", *foreign = adams(p);
    dn_status status = check_layers(p, err);
    if (status == DN_OK && dni_params_is(p, "solver", "lbfgs") && foreign != NULL) {
        field = foreign;
        status = dn_error_set(err, DN_ERR_ARGUMENT,
                              "parameter \"%s\" belongs to solver adam (the solver is \"lbfgs\")",
                              foreign);
    }
    if (status == DN_OK) {
        return dni_multiclass_check(p, err);
    }
    dn_error_set_field(err, field);
    return status;
}

static double number_or(const dn_params *p, const char *name, double otherwise) {
    return dn_params_word(p, name) == NULL ? dn_params_number(p, name) : otherwise;
}

dni_mlp_plan dni_mlp_make_plan(const dn_params *p, size_t n_rows, size_t n_features,
                               size_t n_classes) {
    size_t n;
    const double *list = dn_params_list(p, "layers", &n), rows = (double)n_rows;
    dni_mlp_plan plan = {.n_layers = 2,
                         .units = {16},
                         .n_features = n_features,
                         .n_scores = n_classes == 2 ? 1 : n_classes};
    for (size_t i = 0; list != NULL && i < n && i + 1 < DN_MAX_LAYERS; i++) {
        plan.units[i] = (size_t)list[i];
        plan.n_layers = i + 2;
    }
    plan.units[plan.n_layers - 1] = plan.n_scores;
    const dni_layers shape = dni_mlp_layers(&plan);
    plan.n = (double)dni_layers_numbers(&shape);
    plan.adam = dni_params_is(p, "solver", "adam") ||
                (dni_params_is(p, "solver", "auto") && (adams(p) != NULL || rows * plan.n > 1e7));
    const bool smooth = dni_params_is(p, "activation", "tanh") ||
                        (dni_params_is(p, "activation", "auto") && !plan.adam);
    plan.activation = dni_params_is(p, "activation", "sigmoid") ? DN_ACTIVATION_SIGMOID
                      : smooth                                  ? DN_ACTIVATION_TANH
                                                                : DN_ACTIVATION_RELU;
    plan.fades = dni_params_is(p, "schedule", "linear");
    plan.he = dni_params_is(p, "init", "he");
    plan.lambda = dn_params_number(p, "lambda");
    plan.rate = number_or(p, "learning_rate", 2e-3);
    plan.tolerance = number_or(p, "tolerance", plan.adam ? 1e-4 : 1e-5);
    plan.aside = dn_params_number(p, "early_stopping");
    plan.batch_rows = (size_t)number_or(p, "batch_size", fmax(16, fmin(256, floor(rows / 100))));
    plan.max_iterations =
        (size_t)number_or(p, "max_iterations",
                          plan.adam ? fmax(20, fmin(500, ceil(1e6 / fmax(1, rows)))) : 1000);
    plan.patience = (size_t)dn_params_number(p, "patience");
    plan.restarts = (size_t)number_or(p, "restarts", rows * plan.n <= 1e4 ? 10 : 1);
    return plan;
}

static dn_status settle(dn_params *p, size_t n_rows, size_t n_features, size_t n_classes,
                        dn_error *err) {
    const dni_mlp_plan plan = dni_mlp_make_plan(p, n_rows, n_features, n_classes);
    double units[DN_MAX_LAYERS];
    for (size_t l = 0; l + 1 < plan.n_layers; l++) {
        units[l] = (double)plan.units[l];
    }
    dn_status status = dn_params_set_list(p, "layers", units, plan.n_layers - 1, err);
    if (status == DN_OK) {
        status = dn_params_set_word(p, "solver", plan.adam ? "adam" : "lbfgs", err);
    }
    if (status == DN_OK) {
        status = dn_params_set_word(p, "activation", activations[1 + plan.activation], err);
    }
    if (status == DN_OK && plan.adam) {
        status = dn_params_set_number(p, "learning_rate", plan.rate, err);
    }
    if (status == DN_OK && plan.adam) {
        status = dn_params_set_number(p, "batch_size", (double)plan.batch_rows, err);
    }
    if (status == DN_OK) {
        status = dn_params_set_number(p, "max_iterations", (double)plan.max_iterations, err);
    }
    if (status == DN_OK) {
        status = dn_params_set_number(p, "tolerance", plan.tolerance, err);
    }
    return status == DN_OK ? dn_params_set_number(p, "restarts", (double)plan.restarts, err)
                           : status;
}

static double memory(const dn_params *p, const dn_fit_shape *shape) {
    const dni_mlp_plan plan =
        dni_mlp_make_plan(p, shape->n_rows, shape->n_features, shape->n_classes);
    return dni_mlp_fit_memory(&plan, shape->n_rows, shape->n_classes, shape->n_slots);
}

static bool drops_first(const dn_params *p) {
    return dn_params_number(p, "lambda") == 0;
}

const dn_algorithm dni_algorithm_mlp = {
    .id = "mlp",
    .title = "Multilayer perceptron",
    .summary =
        "Logistic units in cascade: layers of them between the features and the sigmoid or softmax "
        "of logistic regression, learned "
        "jointly by backpropagation. For classes that no surface of a simple form tells apart. "
        "Minimises the mean cross-entropy "
        "plus lambda * |W|^2, which has more than one minimum: the answer depends on the seed.",
    .source = "Bishop, Pattern Recognition and Machine Learning, sections 5.1-5.3; Alpaydin, "
              "Introduction to Machine Learning, chapter 11; "
              "Kingma and Ba, Adam, ICLR 2015",
    .stopping_rule = "lbfgs: the largest component of the gradient with respect to the weights of "
                     "standardised columns is at most `tolerance`; adam: "
                     "`patience` passes in a row have not lowered the objective by the share "
                     "`tolerance`; with early_stopping also: `patience` "
                     "iterations in a row have not lowered the loss of the rows kept aside",
    .flags = DN_ALGORITHM_TARGET | DN_ALGORITHM_PROBABILITIES | DN_ALGORITHM_STANDARDIZE |
             DN_ALGORITHM_CURVED | DN_ALGORITHM_WHOLE,
    .params = params,
    .n_params = sizeof params / sizeof params[0],
    .check = check,
    .settle = settle,
    .drops_first = drops_first,
    .memory = memory,
    .fit = dni_mlp_fit,
};
