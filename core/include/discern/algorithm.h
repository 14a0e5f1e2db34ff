/* The catalogue of algorithms: what each one is, its parameters, and how it trains. Adding one is one new file in core/learners and one line in the registry. */
#ifndef DISCERN_ALGORITHM_H
#define DISCERN_ALGORITHM_H

#include <discern/encoder.h>
#include <discern/rows.h>
#include <discern/run.h>
#include <discern/status.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum dn_param_type { DN_PARAM_NUMBER, DN_PARAM_INTEGER, DN_PARAM_BOOLEAN, DN_PARAM_CHOICE } dn_param_type;

/* One parameter: forms, validation and documentation all come from this row. */
typedef struct dn_param {
    const char *name;                   /* snake_case, the common names of ALGORITHMS.md */
    const char *meaning;                /* a sentence or two, with the unit */
    double default_number;              /* number, integer, boolean (0/1) */
    const char *default_choice;         /* choice; for a number that also takes a word (see word): the word, or NULL */
    double minimum, maximum;            /* closed unless open_*; ±INFINITY for none */
    const char *const *choices;         /* DN_PARAM_CHOICE: NULL-terminated */
    const char *const *choice_meanings; /* as long as choices */
    const char *word;                   /* DN_PARAM_NUMBER/INTEGER: a word allowed instead of a number ("auto"), or NULL */
    dn_param_type type;
    bool open_minimum, open_maximum;
} dn_param;

/* Values of an algorithm's parameters, in the order of its table. Always complete: defaults first, then what was set. */
typedef struct dn_param_value {
    double number;    /* number, integer, boolean */
    const char *word; /* the choice or the word (points into the descriptor), NULL when a number was given */
} dn_param_value;

typedef struct dn_algorithm dn_algorithm;
typedef struct dn_params {
    const dn_algorithm *algorithm;
    dn_param_value *values; /* [algorithm->n_params] */
} dn_params;

DN_MUST_USE dn_status dn_params_new(const dn_algorithm *algorithm, dn_params **out, dn_error *err); /* the defaults */
void dn_params_free(dn_params *params);
DN_MUST_USE dn_status dn_params_copy(const dn_params *params, dn_params **out, dn_error *err);
/* Set one by name. DN_ERR_ARGUMENT (field = name): no such parameter, wrong type, out of range; the message says the rule and, for an unknown name or choice, what there is. */
DN_MUST_USE dn_status dn_params_set_number(dn_params *params, const char *name, double value, dn_error *err);
DN_MUST_USE dn_status dn_params_set_word(dn_params *params, const char *name, const char *word, dn_error *err);
DN_MUST_USE dn_status dn_params_set_boolean(dn_params *params, const char *name, bool value, dn_error *err);
/* Rules between parameters (the algorithm's own check); called once after the last set. */
DN_MUST_USE dn_status dn_params_check(const dn_params *params, dn_error *err);
/* Replaces every "auto" by what a fit to so many rows, features and classes uses, as far as that shape decides it; what depends on the data stays "auto". The params are checked. */
DN_MUST_USE dn_status dn_params_settle(dn_params *params, size_t n_rows, size_t n_features, size_t n_classes, dn_error *err);
/* Read one that must exist (asserted). */
double dn_params_number(const dn_params *params, const char *name);
bool dn_params_boolean(const dn_params *params, const char *name);
const char *dn_params_word(const dn_params *params, const char *name); /* NULL when a number was given */

/* One of the numbers a method reports about itself ("seconds", "gradient_evaluations"): result.details of the service. */
typedef struct dn_detail {
    char name[48];
    double number; /* used when text is empty; NaN is null */
    char text[160];
} dn_detail;

#define DN_MAX_DETAILS 32
#define DN_MAX_WARNINGS 16
/* How a fit ended. */
typedef struct dn_report {
    bool converged;          /* honest: the stopping rule of the catalogue holds */
    const char *stop_reason; /* "tolerance", "max_iterations", "closed_form", "no_progress"… a static string */
    size_t iterations;
    double objective;     /* the one minimised, penalty included */
    double gradient_norm; /* at the end; NaN when the method has none */
    dn_detail details[DN_MAX_DETAILS];
    size_t n_details;
    char warnings[DN_MAX_WARNINGS][DN_MESSAGE_SIZE];
    size_t n_warnings;
} dn_report;
void dn_report_warn(dn_report *report, const char *format, ...) DN_PRINTF(2, 3); /* beyond the maximum: dropped */
void dn_report_number(dn_report *report, const char *name, double value);
void dn_report_text(dn_report *report, const char *name, const char *format, ...) DN_PRINTF(3, 4);

/* What a learner gets. Rows are encoded (standardised when the encoder says so); targets are class indexes; every class occurs. */
typedef struct dn_fit_input {
    const dn_rows *rows;
    size_t n_classes;
    const dn_params *params;
    const double *mean, *scale; /* [n_cols] of the encoder: raw = mean + scale·x, for snapshots in the raw space; NULL: 0 and 1 */
    const dn_encoder *encoder;  /* names the features in warnings; NULL: they are numbered */
} dn_fit_input;

/* What a learner leaves: linear scores g = W x + w0 on the encoded x. (Learners of other shapes extend this union-like struct; their kind says which.) */
typedef enum dn_model_kind { DN_MODEL_LINEAR } dn_model_kind;
typedef struct dn_fit_output {
    dn_model_kind kind;
    size_t n_scores; /* 1 for two classes (g > 0 chooses the second), K otherwise */
    double *w;       /* [n_scores × n_cols], malloc'ed by the learner, taken by the caller */
    double *w0;      /* [n_scores], malloc'ed likewise */
} dn_fit_output;

enum dn_algorithm_flags {
    DN_ALGORITHM_TARGET = 1,        /* needs a target column */
    DN_ALGORITHM_PROBABILITIES = 2, /* scores become probabilities: sigmoid for one score, softmax for K */
    DN_ALGORITHM_STANDARDIZE = 4,   /* features.standardize defaults to on */
    DN_ALGORITHM_STREAMS = 8        /* works on dn_rows that are not in memory */
};

struct dn_algorithm {
    const char *id, *title;
    const char *summary;       /* what it is for, two or three sentences */
    const char *source;        /* book or paper, section, equation */
    const char *stopping_rule; /* when `converged` is true */
    unsigned flags;
    const dn_param *params;
    size_t n_params;
    dn_status (*check)(const dn_params *params, dn_error *err); /* rules between parameters; NULL: none */
    /* dn_params_settle's; NULL: nothing to settle. */
    dn_status (*settle)(dn_params *params, size_t n_rows, size_t n_features, size_t n_classes, dn_error *err);
    /* Working memory of a fit in bytes, beside the rows. */
    double (*memory)(const dn_params *params, size_t n_rows, size_t n_features, size_t n_classes, size_t n_slots);
    dn_status (*fit)(const dn_fit_input *input, const dn_run *run, dn_fit_output *out, dn_report *report, dn_error *err);
};

/* The registry, in the catalogue's order. */
size_t dn_algorithm_count(void);
const dn_algorithm *dn_algorithm_at(size_t i);
const dn_algorithm *dn_algorithm_find(const char *id); /* NULL: none of that id */

#endif
