/* The catalogue of algorithms: description, parameters and fit function of each algorithm.
 *
 * core/README.md describes how to add an algorithm. Forms, validation and documentation are
 * generated from the tables declared here.
 *
 * Functions with only const pointers may be called from several threads at once. */
#ifndef DISCERN_ALGORITHM_H
#define DISCERN_ALGORITHM_H

#include <discern/api.h>
#include <discern/decision.h>
#include <discern/encoder.h>
#include <discern/machine.h>
#include <discern/rows.h>
#include <discern/run.h>
#include <discern/status.h>
#include <discern/stop_reason.h>
#include <stdbool.h>
#include <stddef.h>

DN_BEGIN_DECLS

/* ---- parameters ---- */
typedef enum dn_param_type {
    DN_PARAM_NUMBER,
    DN_PARAM_INTEGER,
    DN_PARAM_BOOLEAN,
    DN_PARAM_CHOICE, /* one of several words */
    DN_PARAM_LIST    /* a list of numbers, each within the range; or one of several words */
} dn_param_type;

/* A word, in lower case, that other software uses for one of the choices. */
typedef struct dn_synonym {
    const char *word;
    const char *choice;
} dn_synonym;

/* The description of one parameter. */
typedef struct dn_param {
    const char *name;           /* in snake_case */
    const char *meaning;        /* one or two sentences, with the unit of the value */
    double default_number;      /* default of a number, integer or boolean (0 or 1) */
    const char *default_choice; /* choice or list: the default word. Number or integer with a
                                 * `word`: equal to `word` if that is the default, otherwise NULL */
    double minimum, maximum;    /* the range, including its ends unless open_* is set; -INFINITY,
                                 * INFINITY: no limit */
    const char *const *choices; /* choice, list, number: the allowed words, terminated by NULL */
    const char *const *choice_meanings; /* description of each element of `choices`, in the same
                                         * order */
    const dn_synonym *synonyms; /* synonyms of the choices, for suggestions; terminated by {NULL,
                                 * NULL}. NULL: none */
    const char *hint;      /* advice added to the error message if the parameter is given but has
                            * no effect. NULL: none */
    const char *word;      /* number, integer: a word allowed instead of a number ("auto"). NULL:
                            * none */
    const char *null_word; /* the word that JSON null is converted to ("hard" for C). NULL: a JSON
                            * null has the same effect as an omitted parameter */
    dn_param_type type;
    bool open_minimum, open_maximum;
    bool distribution; /* list: one probability per class, in class order, with sum 1 */
    bool matrix;       /* list: the elements of a square matrix, row by row */
    bool integers;     /* list: of integers */
    /* How the complexity of a model depends on a number: 1: it grows with the number; -1: it falls;
     * 0: neither. A search prefers simple models (search.h). */
    signed char complexity;
} dn_param;

/* The value of one parameter. */
typedef struct dn_param_value {
    double number;    /* value of a number, integer or boolean */
    const char *word; /* the choice or the word, a static string; NULL: the value is a number or a
                       * list */
    double *list;     /* [n_list] the list, unless the value is a word; owned by the dn_params */
    size_t n_list;
} dn_param_value;

typedef struct dn_algorithm dn_algorithm;

/* The rules that compute the values of parameters with the word "auto". A request that was stored
 * by an earlier version of the library keeps the rules of that version. */
typedef enum dn_rules {
    /* The rules before DN_RULES_CURRENT. kernel.width of rbf: the median distance between at most
     * 1000 rows. logistic: tolerance 1e-9 for lbfgs. mlp: at most 1000 steps of lbfgs; for adam
     * passes that visit a million rows, at least 20, and tolerance 1e-4. perceptron: step is mean
     * for criterion relaxation. naive_bayes: variance_floor is a share of the largest variance of a
     * column. gaussian: dn_params_drops_first returns true also with covariance diagonal. */
    DN_RULES_FIRST = 1,
    DN_RULES_CURRENT = 2 /* as the parameters' meanings document */
} dn_rules;

/* Values of all parameters of an algorithm. A parameter that is not set has its default. */
typedef struct dn_params {
    const dn_algorithm *algorithm;
    dn_param_value *values; /* [algorithm->n_params] in the order of the algorithm's table */
    dn_rules rules;         /* DN_RULES_CURRENT unless the caller changes it */
} dn_params;

/* Makes parameters with the default values. DN_ERR_MEMORY. */
DN_MUST_USE dn_status dn_params_new(const dn_algorithm *algorithm, dn_params **out, dn_error *err);
void dn_params_free(dn_params *params); /* NULL is allowed */
DN_MUST_USE dn_status dn_params_copy(const dn_params *params, dn_params **out, dn_error *err);

/* Set one parameter.
 *
 * DN_ERR_ARGUMENT (field = name): the algorithm has no such parameter, or the value has the wrong
 * type or is out of range. The message has the rule; for an unknown name or word it has the list
 * of valid ones. On failure the value is unchanged. */
DN_MUST_USE dn_status dn_params_set_number(dn_params *params,
                                           const char *name,
                                           double value,
                                           dn_error *err);
DN_MUST_USE dn_status dn_params_set_word(dn_params *params,
                                         const char *name,
                                         const char *word,
                                         dn_error *err);
DN_MUST_USE dn_status dn_params_set_boolean(dn_params *params,
                                            const char *name,
                                            bool value,
                                            dn_error *err);

/* Sets a list of 1 ... DN_MAX_LIST numbers.
 *
 *   values  [n] copied
 *
 * Further errors: DN_ERR_MEMORY. If a number is out of range, err->row is its index in the list. */
#define DN_MAX_LIST 65536
DN_MUST_USE dn_status dn_params_set_list(
    dn_params *params, const char *name, const double *values, size_t n, dn_error *err);

/* Checks rules between several parameters; call it once after the last parameter is set.
 * DN_ERR_ARGUMENT (field). */
DN_MUST_USE dn_status dn_params_check(const dn_params *params, dn_error *err);

/* Checks rules that depend on the number of classes: a distribution must have one probability per
 * class, with sum 1 within 1e-9. DN_ERR_ARGUMENT (field). */
DN_MUST_USE dn_status dn_params_check_classes(const dn_params *params,
                                              size_t n_classes,
                                              dn_error *err);

/* Returns true if parameter i of the table has an effect with the current values of the other
 * parameters: "kernel.degree" has an effect only if the kernel is polynomial. dn_params_set_words
 * and the service reject a parameter without effect; dn_params_check does not. */
bool dn_params_applies(const dn_params *params, size_t i);

/* Adapts the encoder to the algorithm. Called by dn_train and dn_train_memory.
 *
 *   columns  of the table
 *   n_rows   of the table
 *   spec     changed if the algorithm needs another encoding: a kernel of words needs texts as
 *            sets of words
 *
 * DN_ERR_ARGUMENT (field: a column or a parameter): the algorithm cannot use a column. */
DN_MUST_USE dn_status dn_params_encoding(const dn_params *params,
                                         const dn_table_column *columns,
                                         size_t n_rows,
                                         dn_encoder_spec *spec,
                                         dn_error *err);

/* Replaces "auto" values by the values that a fit to data of this shape uses. An "auto" that
 * depends on the values of the data is not replaced.
 *
 *   params  must have passed dn_params_check
 *
 * DN_ERR_ARGUMENT (field): a list does not fit the shape. */
DN_MUST_USE dn_status dn_params_resolve(
    dn_params *params, size_t n_rows, size_t n_features, size_t n_classes, dn_error *err);

/* Returns the decision rule of a model with these parameters, which must have passed
 * dn_params_check. */
dn_decision dn_params_decision(const dn_params *params);

/* Returns true if `categorical: auto` omits the feature of the first level of a category
 * (DN_DROP_FIRST). An algorithm without a penalty needs this: otherwise the weights are not
 * unique. */
bool dn_params_drops_first(const dn_params *params);

/* Returns true if the features are standardised by default with these parameters:
 * DN_ALGORITHM_STANDARDIZE, and for least_squares a penalty. */
bool dn_params_standardizes(const dn_params *params);

/* Returns true if the scores of a model with these parameters, which must have passed
 * dn_params_check, are linear in the features: least_squares, logistic, perceptron, fisher, svm
 * with a linear kernel, gaussian with a shared covariance. */
bool dn_params_is_linear(const dn_params *params);

/* Returns why a fit with these parameters, which must have passed dn_params_check, cannot be
 * divided among the ranks of a dn_group: "solver sgd changes the weights after each batch of
 * rows". NULL: it can. A static string. */
const char *dn_params_alone(const dn_params *params);

/* Return the value of a parameter; NaN, false or NULL if the algorithm does not have the
 * parameter. A word is NULL if the value is a number or a list. If the value is a word, the number
 * is default_number, the list is NULL and *out_n is 0. */
double dn_params_number(const dn_params *params, const char *name);
bool dn_params_boolean(const dn_params *params, const char *name);
const char *dn_params_word(const dn_params *params, const char *name);
const double *dn_params_list(const dn_params *params, const char *name, size_t *out_n);

/* Returns true if the algorithm has a parameter with this name. */
bool dn_params_has(const dn_params *params, const char *name);

/* ---- reports ---- */
/* A number, text or list that a method reports, such as "gradient_evaluations". */
typedef struct dn_detail {
    char name[48];
    double number; /* valid if `text` is empty and `list` is NULL; NaN: undefined */
    bool boolean;  /* true: `number` is a boolean, 0 or 1 */
    char text[160];
    double *list; /* [n_list] allocated by malloc, owned by the report; NULL: none */
    size_t n_list;
} dn_detail;

/* The cause of a warning. Programs should compare these codes, not the texts of warnings. */
typedef enum dn_warning_code {
    DN_WARNING_OTHER,
    DN_WARNING_PARAMETER,      /* a parameter has no effect */
    DN_WARNING_NOT_CONVERGED,  /* the stopping rule is not satisfied */
    DN_WARNING_NO_DECREASE,    /* no step decreases the objective */
    DN_WARNING_LOCAL_MINIMUM,  /* the objective is not convex */
    DN_WARNING_LEARNING_RATE,  /* the learning rate is too large to guarantee descent */
    DN_WARNING_SEPARABLE,      /* the weights are unbounded: the classes are linearly separable */
    DN_WARNING_NOT_SEPARABLE,  /* the perceptron has found no separating weights */
    DN_WARNING_NOT_UNIQUE,     /* the weights are not unique: other weights give the same scores */
    DN_WARNING_VARIANCE_FLOOR, /* a variance was raised to the floor */
    DN_WARNING_DIRECTIONS,     /* there are fewer directions than the classes or the parameters
                                * would allow */
    DN_WARNING_KERNEL_INDEFINITE,  /* the kernel matrix of the training rows is not positive
                                    * semidefinite */
    DN_WARNING_KERNEL_ZERO,        /* K(x, x) is 0 for some training rows */
    DN_WARNING_KERNEL_FLAT,        /* the values of the kernel are nearly equal for all pairs of
                                    * rows */
    DN_WARNING_CONSTANT_INPUT,     /* some inputs have the same value in all training rows */
    DN_WARNING_EMPTY_INPUT,        /* some inputs have no value in any training row */
    DN_WARNING_RARE_WORDS,         /* no word of a text input occurs in enough training rows */
    DN_WARNING_CONSTANT_FEATURES,  /* some features of bases have the same value in all training
                                    * rows */
    DN_WARNING_MANY_CLASSES,       /* most classes have one row */
    DN_WARNING_VALIDATION_ROWS,    /* there are no validation rows */
    DN_WARNING_VALIDATION_WEIGHTS, /* the validation rows have no weights */
    DN_WARNING_RANKING,            /* rank statistics (ROC area, average precision) are not
                                    * computed */
    DN_WARNING_CALIBRATION_FOLDS,  /* the calibration has fewer folds than the parameter requests */
    DN_WARNING_CALIBRATION_FITS,   /* some fits of the calibration did not converge */
    DN_WARNING_CALIBRATION_FLAT,   /* calibrated probabilities are nearly independent of the
                                    * scores */
    DN_WARNING_SINGULAR,           /* a covariance is singular and was shrunk */
    DN_WARNING_FOLD_CLASSES,       /* some classes have no row in some folds */
    DN_WARNING_VALIDATION_CLASSES, /* some classes have no validation row */
    DN_WARNING_UNSEEN,             /* some validation rows have categories that no training row
                                    * has */
    DN_WARNING_HELD_OUT            /* the predictions of held-out rows are not kept */
} dn_warning_code;

/* Value of machine and fold in dn_warning for a warning about the whole model. */
#define DN_WARNING_WHOLE SIZE_MAX
typedef struct dn_warning {
    dn_warning_code code;
    size_t machine; /* index of the machine; DN_WARNING_WHOLE: the warning is about the whole
                     * model */
    size_t fold;    /* fold of the cross-validation, from 0; DN_WARNING_WHOLE: the fit of the
                     * model */
    char text[DN_MESSAGE_SIZE];
} dn_warning;

/* The report of one of several two-class machines. */
typedef struct dn_report_part {
    size_t negative, positive; /* class indexes; negative SIZE_MAX: all other classes */
    bool converged;
    dn_stop_reason stop_reason;
    size_t iterations;
    double objective;
    dn_detail *details; /* [n_details] allocated by malloc */
    size_t n_details;
} dn_report_part;

/* Limits of a report. At most DN_MAX_PARTS machines have a part; machines that did not converge
 * take precedence. Details and warnings over the limits are dropped. */
#define DN_MAX_PARTS 128
#define DN_MAX_DETAILS 32
#define DN_MAX_WARNINGS 16

/* Result of a fit. Initialise it with {0}; free it with dn_report_done. */
typedef struct dn_report {
    bool converged; /* true: the stopping rule of the algorithm is satisfied */
    dn_stop_reason stop_reason;
    size_t iterations;
    double objective;     /* the minimum found, including the penalty */
    double gradient_norm; /* norm of the gradient at the end; NaN: not applicable to the method */
    dn_detail details[DN_MAX_DETAILS];
    size_t n_details;
    dn_warning warnings[DN_MAX_WARNINGS];
    size_t n_warnings;
    dn_report_part *parts; /* [n_parts] one per machine of a model with several machines, allocated
                            * by malloc; otherwise NULL */
    size_t n_parts;
} dn_report;

void dn_report_done(dn_report *report); /* frees parts and lists */

/* Add to a report. A list is copied; if there is no memory for the copy, the detail is NaN. */
void dn_report_warn(dn_report *report, dn_warning_code code, const char *format, ...)
    DN_PRINTF(3, 4);
void dn_report_number(dn_report *report, const char *name, double value);
void dn_report_boolean(dn_report *report, const char *name, bool value);
void dn_report_list(dn_report *report, const char *name, const double *values, size_t n);
void dn_report_text(dn_report *report, const char *name, const char *format, ...) DN_PRINTF(3, 4);

/* Receives the reports of several machines. */
typedef struct dn_report_receiver {
    /* Receives the report of machine i and takes ownership of its contents; *report becomes empty.
     * Called for i = 0, 1, ... in order. */
    dn_status (*receive)(void *ctx, size_t i, dn_report *report, dn_error *err);
    void *ctx;
} dn_report_receiver;

/* ---- algorithms ---- */
/* A prepared problem of a kernel method; see dn_fit_input. */
typedef struct dn_prepared dn_prepared;

/* The data of a fit. Targets are class indices; each class has at least one row with a positive
 * weight. Rows with weight 0 are ignored. Without DN_ALGORITHM_TARGET blocks have no targets
 * (NULL). */
typedef struct dn_fit_input {
    const dn_rows *rows; /* encoded */
    size_t n_classes;
    const dn_params *params;
    const double *mean, *scale; /* [n_cols] of the encoder: raw = mean + scale * x, for snapshots of
                                   weights in raw units. NULL: 0 and 1 */
    const dn_encoder *encoder;  /* names the features in warnings. NULL: features are numbered */
    const char *const *class_names; /* [n_classes] for messages. NULL: classes are numbered */
    const uint8_t *role; /* [n_source_rows] dn_row_role of the rows of the table: `rows` are those
                            with DN_ROW_TRAIN, in order. NULL: unknown */
    size_t n_source_rows;
    /* Number of rows that a weight of 1 stands for where a sum of weights is used as a sample size:
     * the sum of the weights times this number (DN_WEIGHTS_RELATIVE in model.h). 0: 1 */
    double rows_per_weight;
    /* Number of rows that the machines of the model are fitted to together, as for
     * dn_params_resolve: a machine of a pair of classes has fewer rows. 0: rows->n_rows */
    size_t n_model_rows;

    /* A machine of the same method that was fitted to the same rows and classes with another value
     * of a parameter with a complexity. An iteration may begin there. NULL: none */
    const dn_machine *start;

    /* Kernel methods: stores the prepared problem (kernel values, distinct rows, dual variables of
     * an SVM) from one fit to the next. The next fit reuses it if rows, kernel, seed and cache size
     * are the same. The caller sets *prepared to NULL before the first fit and calls
     * dn_prepared_free after the last. Only one fit at a time may use it. The rows and the runs of
     * all fits must outlive it. NULL: each fit prepares its own problem. */
    dn_prepared **prepared;

    /* The machine is only compared with others: an iteration ends at the tolerance, also where a
     * method would otherwise continue to the precision of its arithmetic (kernel SVM). */
    bool quick;
} dn_fit_input;

/* Frees a prepared problem; NULL is allowed. */
void dn_prepared_free(dn_prepared *prepared);

/* The shape of the data of a fit, for estimates of memory before the rows are read. */
typedef struct dn_fit_shape {
    size_t n_rows, n_features, n_classes, n_slots;
    double n_entries; /* number of stored entries of all rows if rows are sparse; INFINITY: rows
                       * are dense */
    bool counted;     /* true: no feature comes from a numeric column or a basis; false: unknown */
    bool fewer_rows;  /* true: the fit is one of several machines; it may have fewer than n_rows
                       * rows */
} dn_fit_shape;

/* Memory in bytes of machines that store training rows, or that score rows in tiles. */
typedef struct dn_kept_memory {
    double machine; /* size of the machines of the model; included in the memory of a fit */
    double scoring; /* working memory for scoring rows */
} dn_kept_memory;

enum dn_algorithm_flags {
    DN_ALGORITHM_TARGET = 1,        /* needs a target. Algorithms without this flag find outliers */
    DN_ALGORITHM_PROBABILITIES = 2, /* scores give probabilities: one score g is a log-odds, K
                                     * scores are logits of a softmax (decision.h) */
    DN_ALGORITHM_STANDARDIZE = 4,   /* features.standardize is on by default, unless
                                     * dn_algorithm.standardizes returns false */
    DN_ALGORITHM_STREAMS = 8,       /* accepts rows that are not in memory, but encoded each time
                                     * they are read */
    DN_ALGORITHM_DENSITY = 16,      /* a machine for all classes has class densities: ln p(x) */
    DN_ALGORITHM_TRANSFORM = 32,    /* a machine for all classes has discriminant directions to
                                     * project on */
    DN_ALGORITHM_NONLINEAR = 64,    /* no discriminant is linear in x, so that
                                     * dn_prediction.distance is undefined */
    DN_ALGORITHM_ALL_LEVELS = 128,  /* needs one feature for each level of a category: DN_DROP_FIRST
                                    * is not allowed */
    DN_ALGORITHM_NOT_ADDITIVE = 256 /* scores are not sums over features, so that there are no
                                     * contributions */
};

struct dn_algorithm {
    const char *id, *title;
    const char *summary;       /* its purpose, in two or three sentences */
    const char *source;        /* book or paper, section, equation */
    const char *stopping_rule; /* condition under which dn_report.converged is true */
    unsigned flags;
    const dn_param *params; /* [n_params] */
    size_t n_params;

    /* Implementations of dn_params_check, dn_params_check_classes, dn_params_resolve,
     * dn_params_drops_first, dn_params_standardizes, dn_params_applies and dn_params_encoding.
     * NULL, in this order: no rule, no rule, nothing to resolve, never, by the flag, always, no
     * change. */
    dn_status (*check)(const dn_params *params, dn_error *err);
    dn_status (*check_classes)(const dn_params *params, size_t n_classes, dn_error *err);
    dn_status (*resolve)(
        dn_params *params, size_t n_rows, size_t n_features, size_t n_classes, dn_error *err);
    bool (*drops_first)(const dn_params *params);
    bool (*standardizes)(const dn_params *params);
    bool (*applies)(const dn_params *params, size_t i);
    dn_status (*encoding)(const dn_params *params,
                          const dn_table_column *columns,
                          size_t n_rows,
                          dn_encoder_spec *spec,
                          dn_error *err);

    /* Adds warnings that depend only on the parameters; called once for all machines. NULL:
     * none. */
    void (*warn)(const dn_params *params, dn_report *report);

    /* Returns an upper bound of the peak memory in bytes that `fit` allocates from the run. The
     * machine may be included; the rows are not. Parameters may be "auto". */
    double (*memory)(const dn_params *params, const dn_fit_shape *shape);

    /* Fits a machine to input->n_classes classes; for one of several machines n_classes is 2.
     * Parameters have passed dn_params_check and are not resolved: they may be "auto". *out is NULL
     * and *report is {0} before the call. The caller owns both and frees them, also after a
     * failure. */
    dn_status (*fit)(const dn_fit_input *input,
                     const dn_run *run,
                     dn_machine **out,
                     dn_report *report,
                     dn_error *err);

    /* Returns true if one call of fit_together fits all machines of a model with more than two
     * classes, because they share work such as rows of the kernel matrix. NULL: `fit` fits each
     * machine. */
    bool (*together)(const dn_params *params);

    /* Fits all machines of a decision rule.
     *
     *   input     the data of all classes
     *   machines  [n] NULL before the call; set on success
     *   receiver  receives the reports of the machines */
    dn_status (*fit_together)(const dn_fit_input *input,
                              dn_decision decision,
                              const dn_run *run,
                              dn_machine **machines,
                              const dn_report_receiver *receiver,
                              dn_error *err);

    /* Returns the memory of machines that store training rows or score rows in tiles; the shape is
     * that of the fit. NULL: they do neither. */
    dn_kept_memory (*kept_memory)(const dn_params *params, const dn_fit_shape *shape);

    /* Implementation of dn_params_alone. NULL: the fit is not made of sums over blocks. */
    const char *(*alone)(const dn_params *params);
};

/* Access to the catalogue, in display order. */
size_t dn_algorithm_count(void);
const dn_algorithm *dn_algorithm_at(size_t i);         /* asserts i < dn_algorithm_count() */
const dn_algorithm *dn_algorithm_find(const char *id); /* NULL: there is none */
/* Returns the algorithm "combination" of combined models (dn_train_request.members). It is not in
 * the catalogue and has no parameters. */
const dn_algorithm *dn_algorithm_combination(void);

/* Returns the parameter with this name; NULL: the algorithm has no such parameter. */
const dn_param *dn_algorithm_param(const dn_algorithm *algorithm, const char *name);

DN_END_DECLS

#endif
