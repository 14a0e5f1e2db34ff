/* The catalogue of algorithms: what each one is, its parameters, and how it trains. Adding one is one new file in core/learners and one line in the registry. */
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

/* DN_PARAM_LIST: one of the choices, or a list of numbers each within the range. */
typedef enum dn_param_type {
    DN_PARAM_NUMBER,
    DN_PARAM_INTEGER,
    DN_PARAM_BOOLEAN,
    DN_PARAM_CHOICE,
    DN_PARAM_LIST
} dn_param_type;

/* A word that others use, in small letters, and what it is here. */
typedef struct dn_synonym {
    const char *word, *meant;
} dn_synonym;

/* One parameter: forms, validation and documentation all come from this row. */
typedef struct dn_param {
    const char *name;      /* snake_case, the common names of ALGORITHMS.md */
    const char *meaning;   /* a sentence or two, with the unit */
    double default_number; /* number, integer, boolean (0/1) */
    const char *
        default_choice; /* choice; for a number that also takes a word (see word): the word, or NULL */
    double minimum, maximum;            /* closed unless open_*; ±INFINITY for none */
    const char *const *choices;         /* DN_PARAM_CHOICE, DN_PARAM_LIST: NULL-terminated */
    const char *const *choice_meanings; /* as long as choices */
    const dn_synonym *synonyms; /* of choices, for suggestions; the last has NULLs. NULL: none */
    const char *hint; /* what one may have meant who gives it where it does not apply, or NULL */
    const char
        *word; /* DN_PARAM_NUMBER/INTEGER: a word allowed instead of a number ("auto"), or NULL */
    const char *
        null_word; /* the word that JSON's null stands for ("hard" of C); NULL: null is as if it were not given */
    dn_param_type type;
    bool open_minimum, open_maximum;
    bool distribution; /* DN_PARAM_LIST: a share for each class, in class order, with sum 1 */
    bool matrix;       /* DN_PARAM_LIST: rows of a square matrix, one after the other */
    bool integers;     /* DN_PARAM_LIST: of integers */
} dn_param;

/* Values of an algorithm's parameters, in the order of its table. Always complete: defaults first, then what was set. */
typedef struct dn_param_value {
    double number; /* number, integer, boolean */
    const char *
        word; /* the choice or the word (points into the descriptor), NULL when a number or a list was given */
    double *list; /* [n_list] DN_PARAM_LIST, when no word was given; the params' own */
    size_t n_list;
} dn_param_value;

typedef struct dn_algorithm dn_algorithm;
typedef struct dn_params {
    const dn_algorithm *algorithm;
    dn_param_value *values; /* [algorithm->n_params] */
} dn_params;

DN_MUST_USE dn_status dn_params_new(const dn_algorithm *algorithm,
                                    dn_params **out,
                                    dn_error *err); /* the defaults */
void dn_params_free(dn_params *params);
DN_MUST_USE dn_status dn_params_copy(const dn_params *params, dn_params **out, dn_error *err);
/* Set one by name. DN_ERR_ARGUMENT (field = name): no such parameter, wrong type, out of range; the message says the rule and, for an unknown name or choice, what there is. */
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
/* values [n] is copied; DN_ERR_MEMORY too. The error's row is the place of a number that breaks the rule. A list has 1 … DN_MAX_LIST numbers. */
DN_MUST_USE dn_status dn_params_set_list(
    dn_params *params, const char *name, const double *values, size_t n, dn_error *err);
#define DN_MAX_LIST 65536
/* Rules between parameters (the algorithm's own check); called once after the last set. */
DN_MUST_USE dn_status dn_params_check(const dn_params *params, dn_error *err);
/* What only the number of classes can tell: lists that are distributions have a share for each class, and their sum is 1 within 1e-9. DN_ERR_ARGUMENT, field. */
DN_MUST_USE dn_status dn_params_check_classes(const dn_params *params,
                                              size_t n_classes,
                                              dn_error *err);
/* Whether the parameter at place i of the table matters for the values of the others ("kernel.degree" with kernel polynomial only). */
bool dn_params_applies(const dn_params *params, size_t i);
/* What the method asks of the encoder of its rows: changes spec (a kernel of words wants texts as sets of words), or refuses columns of a table of n_rows rows that it cannot take (DN_ERR_ARGUMENT, field: a
 * column or a parameter). dn_train and dn_train_memory do so by themselves. */
DN_MUST_USE dn_status dn_params_encoding(const dn_params *params,
                                         const dn_table_column *columns,
                                         size_t n_rows,
                                         dn_encoder_spec *spec,
                                         dn_error *err);
/* Replaces every "auto" by what a fit to so many rows, features and classes uses, as far as that shape decides it; what depends on the data stays "auto". The params are checked.
 * DN_ERR_ARGUMENT, field: a list that does not fit the shape. */
DN_MUST_USE dn_status dn_params_settle(
    dn_params *params, size_t n_rows, size_t n_features, size_t n_classes, dn_error *err);
/* How the machines of a model with these (checked) parameters decide among more than two classes. */
dn_decision dn_params_decision(const dn_params *params);
/* Whether `categorical: auto` leaves the first level of a category out (DN_DROP_FIRST): the algorithm, or λ = 0, has no penalty to choose among weights that give the same scores. */
bool dn_params_drops_first(const dn_params *params);
/* The value of a parameter. Without such a parameter: NaN, false, NULL. */
double dn_params_number(const dn_params *params, const char *name);
bool dn_params_boolean(const dn_params *params, const char *name);
const char *dn_params_word(const dn_params *params,
                           const char *name); /* NULL when a number or a list was given */
/* NULL when a word was given; *out_n is then 0. */
const double *dn_params_list(const dn_params *params, const char *name, size_t *out_n);
/* Whether the algorithm has a parameter of that name. */
bool dn_params_has(const dn_params *params, const char *name);

/* One of the numbers a method reports about itself ("seconds", "gradient_evaluations"): result.details of the service. */
typedef struct dn_detail {
    char name[48];
    double number; /* used when text is empty and there is no list; NaN is null */
    bool boolean;  /* the number is a truth, 0 or 1 */
    char text[160];
    double *list; /* [n_list] malloc'ed, the report's; NULL: none */
    size_t n_list;
} dn_detail;

/* How one of several two-class machines was fitted (multiclass.h). */
typedef struct dn_report_part {
    size_t negative, positive; /* class indexes; negative SIZE_MAX: all the others */
    bool converged;
    dn_stop_reason stop_reason;
    size_t iterations;
    double objective;
    dn_detail *details; /* [n_details] malloc'ed */
    size_t n_details;
} dn_report_part;

/* Of more machines than this the first are told of, those that have not converged before all others. */
#define DN_MAX_PARTS 128
#define DN_MAX_DETAILS 32
#define DN_MAX_WARNINGS 16
/* How a fit ended. {0} before; dn_report_done afterwards. */
typedef struct dn_report {
    bool converged; /* honest: the stopping rule of the catalogue holds */
    dn_stop_reason stop_reason;
    size_t iterations;
    double objective;     /* the one minimised, penalty included */
    double gradient_norm; /* at the end; NaN when the method has none */
    dn_detail details[DN_MAX_DETAILS];
    size_t n_details;
    char warnings[DN_MAX_WARNINGS][DN_MESSAGE_SIZE];
    size_t n_warnings;
    dn_report_part *
        parts; /* [n_parts], at most DN_MAX_PARTS, of a model of several machines, malloc'ed; NULL otherwise */
    size_t n_parts;
} dn_report;

/* Takes the report of machine i and leaves it empty; called for 0, 1 … in order. */
typedef struct dn_report_taker {
    dn_status (*take)(void *ctx, size_t i, dn_report *report, dn_error *err);
    void *ctx;
} dn_report_taker;
void dn_report_done(dn_report *report); /* frees the parts */
void dn_report_warn(dn_report *report, const char *format, ...)
    DN_PRINTF(2, 3); /* beyond the maximum: dropped */
void dn_report_number(dn_report *report, const char *name, double value);
void dn_report_boolean(dn_report *report, const char *name, bool value);
void dn_report_list(dn_report *report,
                    const char *name,
                    const double *values,
                    size_t n); /* copied; without memory for it: null */
void dn_report_text(dn_report *report, const char *name, const char *format, ...) DN_PRINTF(3, 4);

/* A prepared problem of a method with a kernel; see dn_fit_input. */
typedef struct dn_prepared dn_prepared;

/* What a learner gets. Rows are encoded (standardised when the encoder says so); targets are class indexes; every class occurs with a positive weight. Without a target blocks have none (NULL), and
 * the classes are inlier and outlier.
 * Rows of weight 0 count as none. */
typedef struct dn_fit_input {
    const dn_rows *rows;
    size_t n_classes;
    const dn_params *params;
    const double *mean,
        *scale; /* [n_cols] of the encoder: raw = mean + scale·x, for snapshots in the raw space; NULL: 0 and 1 */
    const dn_encoder *encoder;      /* names the features in warnings; NULL: they are numbered */
    const char *const *class_names; /* [n_classes] for messages; NULL: they are numbered */
    const uint8_t *
        role; /* [n_source_rows] dn_row_role: the rows are those with DN_ROW_TRAIN, in their order; NULL: not known */
    size_t n_source_rows;
    /* Methods with a kernel: keeps the prepared problem (kernel values, distinct rows) from one fit
     * to the next, which reuses it if rows, kernel, seed and cache are the same. The caller sets
     * *prepared to NULL before the first fit and calls dn_prepared_free after the last. One fit at a
     * time may use it, and the runs of all fits, as well as the rows, must outlive it. NULL: every
     * fit prepares its own problem. */
    dn_prepared **prepared;
} dn_fit_input;

/* Frees a prepared problem; NULL is allowed. */
void dn_prepared_free(dn_prepared *prepared);

/* What is known of a fit before there are rows: what its memory is reckoned from. */
typedef struct dn_fit_shape {
    size_t n_rows, n_features, n_classes, n_slots;
    double
        n_entries; /* that are stored, of all rows, when they are sparse; INFINITY: rows are dense */
} dn_fit_shape;

enum dn_algorithm_flags {
    DN_ALGORITHM_TARGET =
        1, /* needs a target column; without it the method learns what rows are like, and tells outliers */
    DN_ALGORITHM_PROBABILITIES =
        2,                        /* scores are log-odds: they become probabilities (decision.h) */
    DN_ALGORITHM_STANDARDIZE = 4, /* features.standardize defaults to on */
    DN_ALGORITHM_STREAMS = 8,     /* works on dn_rows that are not in memory */
    DN_ALGORITHM_DENSITY = 16,    /* one machine of all classes has their densities: ln p(x) */
    DN_ALGORITHM_TRANSFORM = 32,  /* … and directions to project on */
    DN_ALGORITHM_CURVED = 64,     /* no discriminant is ever linear in x: no distance */
    DN_ALGORITHM_LEVELS =
        128, /* a category must have a feature for every level: not DN_DROP_FIRST */
    DN_ALGORITHM_WHOLE =
        256 /* no score is a sum of parts that are a feature's each: no contributions */
};

struct dn_algorithm {
    const char *id, *title;
    const char *summary;       /* what it is for, two or three sentences */
    const char *source;        /* book or paper, section, equation */
    const char *stopping_rule; /* when `converged` is true */
    unsigned flags;
    const dn_param *params;
    size_t n_params;
    dn_status (*check)(const dn_params *params,
                       dn_error *err); /* rules between parameters; NULL: none */
    /* What only the number of classes can tell, beside the distributions; part of dn_params_check_classes. NULL: nothing. */
    dn_status (*check_classes)(const dn_params *params, size_t n_classes, dn_error *err);
    /* dn_params_settle's; NULL: nothing to settle. */
    dn_status (*settle)(
        dn_params *params, size_t n_rows, size_t n_features, size_t n_classes, dn_error *err);
    /* Warnings about the parameters alone, given once whatever the number of machines. NULL: none. */
    void (*remark)(const dn_params *params, dn_report *report);
    bool (*drops_first)(const dn_params *params); /* dn_params_drops_first's; NULL: never */
    /* Whether parameter i matters for the values of the others; one that does not is neither taken nor shown. NULL: all do. */
    bool (*applies)(const dn_params *params, size_t i);
    /* dn_params_encoding's; NULL: nothing to ask. */
    dn_status (*encoding)(const dn_params *params,
                          const dn_table_column *columns,
                          size_t n_rows,
                          dn_encoder_spec *spec,
                          dn_error *err);
    /* Working memory of a fit in bytes, beside the rows. */
    double (*memory)(const dn_params *params, const dn_fit_shape *shape);
    /* Leaves a machine for all n_classes (two of them when called for one of several machines): *out, taken by the caller, and *report untouched on failure. */
    dn_status (*fit)(const dn_fit_input *input,
                     const dn_run *run,
                     dn_machine **out,
                     dn_report *report,
                     dn_error *err);
    /* All machines of a decision at once, where they share work (rows of a kernel): machines [n], NULL at first, filled in on success, and their reports. `input` has all classes. `together` says
     * whether it is to be called for these parameters and more than two classes; NULL: `fit` is called for each machine. */
    bool (*together)(const dn_params *params);
    dn_status (*fit_together)(const dn_fit_input *input,
                              dn_decision decision,
                              const dn_run *run,
                              dn_machine **machines,
                              const dn_report_taker *taker,
                              dn_error *err);
};

/* The registry, in the catalogue's order. */
size_t dn_algorithm_count(void);
const dn_algorithm *dn_algorithm_at(size_t i);
const dn_algorithm *dn_algorithm_find(const char *id); /* NULL: none of that id */
/* The algorithm's parameter of that name; NULL: it has none. */
const dn_param *dn_algorithm_param(const dn_algorithm *algorithm, const char *name);

DN_END_DECLS

#endif
