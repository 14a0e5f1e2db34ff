/* The catalogue of algorithms: what each one is, its parameters, and how it is fitted.
 *
 * core/README.md describes how to add an algorithm. Forms, validation and documentation come from
 * the tables here.
 *
 * Functions that take const pointers may be called from several threads at once. */
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
    DN_PARAM_LIST    /* a list of numbers, each within the range, or one of several words */
} dn_param_type;

/* A word that other software uses, in lower case, and the choice that it corresponds to. */
typedef struct dn_synonym {
    const char *word;
    const char *choice;
} dn_synonym;

/* The description of one parameter. */
typedef struct dn_param {
    const char *name;           /* in snake_case */
    const char *meaning;        /* one or two sentences, with the unit */
    double default_number;      /* number, integer, boolean (0 or 1) */
    const char *default_choice; /* choice or list: the default. Number or integer with a `word`: the
                                   word if it is the default, otherwise NULL */
    double minimum, maximum;    /* the range, closed unless open_*; -INFINITY, INFINITY: none */
    const char *const *choices; /* choice, list: the words, ending with NULL */
    const char *const *choice_meanings; /* as long as `choices` */
    const dn_synonym *synonyms; /* of the choices, for suggestions; ends with NULLs. NULL: none */
    const char *hint;      /* added to the error if the parameter is given but does not apply: what
                              to do instead. NULL: nothing */
    const char *word;      /* number, integer: a word allowed instead ("auto"). NULL: none */
    const char *null_word; /* the word that JSON's null stands for ("hard" of C). NULL: a null is
                                   treated as if the parameter were not given */
    dn_param_type type;
    bool open_minimum, open_maximum;
    bool distribution; /* list: a share for each class, in class order, with sum 1 */
    bool matrix;       /* list: a square matrix, row by row */
    bool integers;     /* list: of integers */
} dn_param;

/* The value of one parameter. */
typedef struct dn_param_value {
    double number;    /* number, integer, boolean */
    const char *word; /* the choice or the word, static; NULL: a number or a list was given */
    double *list;     /* [n_list] the list, if no word was given; owned by the dn_params */
    size_t n_list;
} dn_param_value;

typedef struct dn_algorithm dn_algorithm;

/* Values of all parameters of an algorithm: the defaults, until they are set. */
typedef struct dn_params {
    const dn_algorithm *algorithm;
    dn_param_value *values; /* [algorithm->n_params] in the order of the algorithm's table */
} dn_params;

/* Makes parameters with the default values. DN_ERR_MEMORY. */
DN_MUST_USE dn_status dn_params_new(const dn_algorithm *algorithm, dn_params **out, dn_error *err);
void dn_params_free(dn_params *params); /* NULL is allowed */
DN_MUST_USE dn_status dn_params_copy(const dn_params *params, dn_params **out, dn_error *err);

/* Set one parameter.
 *
 * DN_ERR_ARGUMENT (field = name): there is no such parameter, or the value has the wrong type or is
 * out of range. The message states the rule and, for an unknown name or word, those that exist. On
 * failure the parameter keeps its value. */
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
 * Further errors: DN_ERR_MEMORY. If a number is out of range, the error's row is its index. */
#define DN_MAX_LIST 65536
DN_MUST_USE dn_status dn_params_set_list(
    dn_params *params, const char *name, const double *values, size_t n, dn_error *err);

/* Checks the rules between parameters; called once after the last parameter is set.
 * DN_ERR_ARGUMENT, field. */
DN_MUST_USE dn_status dn_params_check(const dn_params *params, dn_error *err);

/* Checks the rules that depend on the number of classes. A distribution has a share for each class,
 * and its sum is 1 within 1e-9. DN_ERR_ARGUMENT, field. */
DN_MUST_USE dn_status dn_params_check_classes(const dn_params *params,
                                              size_t n_classes,
                                              dn_error *err);

/* Whether the parameter with index i in the table has an effect, given the values of the others:
 * "kernel.degree" has one only if the kernel is polynomial. dn_params_set_words and the service
 * refuse a parameter without effect; dn_params_check does not. */
bool dn_params_applies(const dn_params *params, size_t i);

/* Adapts the encoder to the algorithm. dn_train and dn_train_memory call it.
 *
 *   columns  of the table
 *   n_rows   of the table
 *   spec     changed where the algorithm needs another encoding: a kernel of words needs texts as
 *            sets of words
 *
 * DN_ERR_ARGUMENT (field: a column or a parameter): the algorithm cannot use a column. */
DN_MUST_USE dn_status dn_params_encoding(const dn_params *params,
                                         const dn_table_column *columns,
                                         size_t n_rows,
                                         dn_encoder_spec *spec,
                                         dn_error *err);

/* Replaces each "auto" by the value that a fit to data of this shape uses. An "auto" that depends
 * on the data themselves remains.
 *
 *   params  checked
 *
 * DN_ERR_ARGUMENT, field: a list does not fit the shape. */
DN_MUST_USE dn_status dn_params_resolve(
    dn_params *params, size_t n_rows, size_t n_features, size_t n_classes, dn_error *err);

/* The decision rule of a model with these parameters, which are checked. */
dn_decision dn_params_decision(const dn_params *params);

/* Whether `categorical: auto` leaves out the first level of a category (DN_DROP_FIRST). An
 * algorithm without a penalty needs this: otherwise many weights give the same scores. */
bool dn_params_drops_first(const dn_params *params);

/* The value of a parameter; NaN, false or NULL if the algorithm does not have it. A word is NULL if
 * a number or a list was given. If a word was given, the number is default_number, the list is NULL
 * and *out_n is 0. */
double dn_params_number(const dn_params *params, const char *name);
bool dn_params_boolean(const dn_params *params, const char *name);
const char *dn_params_word(const dn_params *params, const char *name);
const double *dn_params_list(const dn_params *params, const char *name, size_t *out_n);

/* Whether the algorithm has a parameter of this name. */
bool dn_params_has(const dn_params *params, const char *name);

/* ---- reports ---- */
/* One number that a method reports about itself, such as "gradient_evaluations". */
typedef struct dn_detail {
    char name[48];
    double number; /* if `text` is empty and there is no list; NaN: not defined */
    bool boolean;  /* `number` is a truth value, 0 or 1 */
    char text[160];
    double *list; /* [n_list] allocated by malloc, owned by the report; NULL: none */
    size_t n_list;
} dn_detail;

/* What a warning is about. Code that compares warnings compares these, never the texts. */
typedef enum dn_warning_code {
    DN_WARNING_OTHER,
    DN_WARNING_PARAMETER,      /* a parameter has no effect */
    DN_WARNING_NOT_CONVERGED,  /* the stopping rule does not hold */
    DN_WARNING_NO_DECREASE,    /* no step decreases the objective */
    DN_WARNING_LOCAL_MINIMUM,  /* the objective is not convex */
    DN_WARNING_LEARNING_RATE,  /* the learning rate is too large for descent to be certain */
    DN_WARNING_SEPARABLE,      /* the weights are unbounded */
    DN_WARNING_NOT_SEPARABLE,  /* the perceptron found no separating weights */
    DN_WARNING_NOT_UNIQUE,     /* several weights give the same scores */
    DN_WARNING_VARIANCE_FLOOR, /* a variance was raised to the floor */
    DN_WARNING_DIRECTIONS,     /* there are fewer directions than classes or parameters suggest */
    DN_WARNING_KERNEL_INDEFINITE,  /* the kernel is not positive semidefinite on the rows */
    DN_WARNING_KERNEL_ZERO,        /* K(x, x) is 0 for some rows */
    DN_WARNING_KERNEL_FLAT,        /* the kernel hardly depends on the rows */
    DN_WARNING_CONSTANT_INPUT,     /* inputs have one value in all training rows */
    DN_WARNING_EMPTY_INPUT,        /* inputs have no value in any training row */
    DN_WARNING_RARE_WORDS,         /* no word of a text is in enough training rows */
    DN_WARNING_CONSTANT_FEATURES,  /* features of bases have one value in all training rows */
    DN_WARNING_MANY_CLASSES,       /* most classes have one row */
    DN_WARNING_VALIDATION_ROWS,    /* there are no rows to validate with */
    DN_WARNING_VALIDATION_WEIGHTS, /* the validation rows have no weights */
    DN_WARNING_RANKING,            /* metrics of ranks are not computed */
    DN_WARNING_CALIBRATION_FOLDS,  /* the calibration has fewer folds than the parameter says */
    DN_WARNING_CALIBRATION_FITS,   /* fits of the calibration did not converge */
    DN_WARNING_CALIBRATION_FLAT    /* calibrated probabilities hardly depend on the scores */
} dn_warning_code;

/* The machine or the fold that a warning is about. */
#define DN_WARNING_WHOLE SIZE_MAX
typedef struct dn_warning {
    dn_warning_code code;
    size_t machine; /* index of the machine; DN_WARNING_WHOLE: of the model */
    size_t fold;    /* of the cross-validation, from 0; DN_WARNING_WHOLE: of the model */
    char text[DN_MESSAGE_SIZE];
} dn_warning;

/* How one of several two-class machines was fitted. */
typedef struct dn_report_part {
    size_t negative, positive; /* class indexes; negative SIZE_MAX: all other classes */
    bool converged;
    dn_stop_reason stop_reason;
    size_t iterations;
    double objective;
    dn_detail *details; /* [n_details] allocated by malloc */
    size_t n_details;
} dn_report_part;

/* At most DN_MAX_PARTS machines are reported one by one; those that did not converge take
 * precedence. Further details and warnings are dropped. */
#define DN_MAX_PARTS 128
#define DN_MAX_DETAILS 32
#define DN_MAX_WARNINGS 16

/* How a fit ended. {0} before; dn_report_done afterwards. */
typedef struct dn_report {
    bool converged; /* the algorithm's stopping rule holds */
    dn_stop_reason stop_reason;
    size_t iterations;
    double objective;     /* the minimum found, with penalty */
    double gradient_norm; /* at the end; NaN: the method has none */
    dn_detail details[DN_MAX_DETAILS];
    size_t n_details;
    dn_warning warnings[DN_MAX_WARNINGS];
    size_t n_warnings;
    dn_report_part *parts; /* [n_parts] of a model of several machines, by malloc; NULL otherwise */
    size_t n_parts;
} dn_report;

void dn_report_done(dn_report *report); /* frees parts and lists */

/* Add to a report. A list is copied; without memory for it the detail is NaN. */
void dn_report_warn(dn_report *report, dn_warning_code code, const char *format, ...)
    DN_PRINTF(3, 4);
void dn_report_number(dn_report *report, const char *name, double value);
void dn_report_boolean(dn_report *report, const char *name, bool value);
void dn_report_list(dn_report *report, const char *name, const double *values, size_t n);
void dn_report_text(dn_report *report, const char *name, const char *format, ...) DN_PRINTF(3, 4);

/* Receives the reports of several machines. */
typedef struct dn_report_receiver {
    /* Takes the report of machine i, which becomes empty. Called for 0, 1, ... in order. */
    dn_status (*receive)(void *ctx, size_t i, dn_report *report, dn_error *err);
    void *ctx;
} dn_report_receiver;

/* ---- algorithms ---- */
/* A prepared problem of a method with a kernel; see dn_fit_input. */
typedef struct dn_prepared dn_prepared;

/* The data of a fit. Targets are class indexes; each class has a row with a positive weight. Rows
 * of weight 0 are ignored. Without DN_ALGORITHM_TARGET blocks have no targets (NULL). */
typedef struct dn_fit_input {
    const dn_rows *rows; /* encoded */
    size_t n_classes;
    const dn_params *params;
    const double *mean, *scale; /* [n_cols] of the encoder: raw = mean + scale * x, for snapshots of
                                   weights in raw units. NULL: 0 and 1 */
    const dn_encoder *encoder;  /* names features in warnings. NULL: they are numbered */
    const char *const *class_names; /* [n_classes] for messages. NULL: classes are numbered */
    const uint8_t *role; /* [n_source_rows] dn_row_role of the rows of the table: `rows` are those
                            with DN_ROW_TRAIN, in order. NULL: unknown */
    size_t n_source_rows;

    /* Methods with a kernel: keeps the prepared problem (kernel values, distinct rows) from one fit
     * to the next, which reuses it if rows, kernel, seed and cache are the same. The caller sets
     * *prepared to NULL before the first fit and calls dn_prepared_free after the last. One fit at
     * a time may use it, and the runs of all fits, as well as the rows, must outlive it. NULL:
     * every fit prepares its own problem. */
    dn_prepared **prepared;
} dn_fit_input;

/* Frees a prepared problem; NULL is allowed. */
void dn_prepared_free(dn_prepared *prepared);

/* The shape of a fit, from which its memory is computed before there are rows. */
typedef struct dn_fit_shape {
    size_t n_rows, n_features, n_classes, n_slots;
    double n_entries; /* stored numbers of all rows if they are sparse; INFINITY: rows are dense */
    bool counted;     /* no feature is of a numeric column or of a basis; false: not known */
} dn_fit_shape;

/* Bytes of machines that keep training rows. */
typedef struct dn_kept_memory {
    double machine; /* of the model; part of the memory of a fit */
    double scoring; /* working memory for scoring rows */
} dn_kept_memory;

enum dn_algorithm_flags {
    DN_ALGORITHM_TARGET = 1,        /* needs a target. Without it the algorithm finds outliers */
    DN_ALGORITHM_PROBABILITIES = 2, /* scores become probabilities: one score g is a log-odds, and
                                       K scores are logits of a softmax (decision.h) */
    DN_ALGORITHM_STANDARDIZE = 4,   /* features.standardize is on by default */
    DN_ALGORITHM_STREAMS = 8,       /* accepts rows that are not in memory */
    DN_ALGORITHM_DENSITY = 16,      /* the machine of all classes has class densities: ln p(x) */
    DN_ALGORITHM_TRANSFORM = 32,    /* the machine of all classes has directions to project on */
    DN_ALGORITHM_NONLINEAR = 64,    /* no discriminant is linear in x: there is no distance */
    DN_ALGORITHM_ALL_LEVELS = 128, /* a category needs a feature for each level: no DN_DROP_FIRST */
    DN_ALGORITHM_NOT_ADDITIVE = 256 /* scores are not sums over features: no contributions */
};

struct dn_algorithm {
    const char *id, *title;
    const char *summary;       /* its use, in two or three sentences */
    const char *source;        /* book or paper, section, equation */
    const char *stopping_rule; /* when `converged` is true */
    unsigned flags;
    const dn_param *params; /* [n_params] */
    size_t n_params;

    /* The functions behind dn_params_check, _check_classes, _resolve, _drops_first, _applies and
     * _encoding. NULL: no rule, nothing to resolve, never, always, no change. */
    dn_status (*check)(const dn_params *params, dn_error *err);
    dn_status (*check_classes)(const dn_params *params, size_t n_classes, dn_error *err);
    dn_status (*resolve)(
        dn_params *params, size_t n_rows, size_t n_features, size_t n_classes, dn_error *err);
    bool (*drops_first)(const dn_params *params);
    bool (*applies)(const dn_params *params, size_t i);
    dn_status (*encoding)(const dn_params *params,
                          const dn_table_column *columns,
                          size_t n_rows,
                          dn_encoder_spec *spec,
                          dn_error *err);

    /* Adds warnings that depend on the parameters alone, once for all machines. NULL: none. */
    void (*warn)(const dn_params *params, dn_report *report);

    /* Returns at least the peak of the bytes that `fit` takes from the run. The machine may be
     * included; the rows are not. Parameters may be "auto". */
    double (*memory)(const dn_params *params, const dn_fit_shape *shape);

    /* Fits a machine to input->n_classes classes; for one of several machines there are 2.
     * Parameters are checked and not resolved: they may be "auto". The caller owns *out, which is
     * NULL before, and *report, which is {0} before. It releases what they hold also after a
     * failure. */
    dn_status (*fit)(const dn_fit_input *input,
                     const dn_run *run,
                     dn_machine **out,
                     dn_report *report,
                     dn_error *err);

    /* Whether all machines of more than two classes are fitted by one call of fit_together, because
     * they share work such as rows of the kernel matrix. NULL: each is fitted by `fit`. */
    bool (*together)(const dn_params *params);

    /* Fits all machines of a decision rule.
     *
     *   input     with all classes
     *   machines  [n] NULL before; filled in on success
     *   receiver  receives the machines' reports */
    dn_status (*fit_together)(const dn_fit_input *input,
                              dn_decision decision,
                              const dn_run *run,
                              dn_machine **machines,
                              const dn_report_receiver *receiver,
                              dn_error *err);

    /* Memory of machines that keep training rows; the shape is that of the fit. NULL: machines keep
     * no rows. */
    dn_kept_memory (*kept_memory)(const dn_params *params, const dn_fit_shape *shape);
};

/* The catalogue, in the order in which it is shown. */
size_t dn_algorithm_count(void);
const dn_algorithm *dn_algorithm_at(size_t i);         /* i < dn_algorithm_count(), asserted */
const dn_algorithm *dn_algorithm_find(const char *id); /* NULL: there is none */

/* The parameter of this name; NULL: the algorithm has none. */
const dn_param *dn_algorithm_param(const dn_algorithm *algorithm, const char *name);

DN_END_DECLS

#endif
