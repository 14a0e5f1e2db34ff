/* The parameters of kernels: their names, the kernels that use them, and the conversion to a
 * dn_kernel. */
#include "learners/shared/kernel_params.h"
#include "base/argument.h"
#include "linalg/cholesky.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(DN_MAX_PATHS == 100000 && DN_MAX_CHARACTERS == 10000, "the catalogue states both");

const char *const dni_kernel_type_meanings[] = {
    "x'z",
    "(gamma x'z + coef0)^degree",
    "exp(-|x - z|^2/(2 width^2))",
    "tanh(scale x'z + coef0): not positive semidefinite",
    "exp(-(x - z)'S^-1(x - z)/2)",
    "exp(-D(x, z)/(2 width^2)) for a metric D",
    "the number of distinct words, in lower case, that two texts have in common",
    ("the number of pairs of equal label sequences along simple paths of at most `length` labels "
     "in two graphs, each given as a text of edges \"a-b b-c\". A graph has at most 100000 edges "
     "and 100000 paths"),
    "the columns are the kernel's values: row i has K(x_i, x_j) in column j",
    NULL};
#define EDIT "{\"type\": \"distance\", \"metric\": \"edit\"}"
const dn_synonym dni_kernel_type_synonyms[] = {
    {"gaussian", "rbf"},
    {"gauss", "rbf"},
    {"radial", "rbf"},
    {"squaredexponential", "rbf"},
    {"tanh", "sigmoid"},
    {"edit", EDIT},
    {"levenshtein", EDIT},
    {"string", EDIT},
    {"laplacian", "{\"type\": \"distance\", \"metric\": \"manhattan\"}"},
    {"words", "shared_words"},
    {"paths", "shared_paths"},
    {"graph", "shared_paths"},
    {NULL, NULL},
};
const char *const dni_kernel_metric_meanings[] = {
    "|x - z|",
    "the sum of |x_j - z_j|",
    "the greatest |x_j - z_j|: the kernel is not positive semidefinite for more than two columns",
    ("1 - x'z/(|x| |z|). Rows with a norm below 1.5e-154 have distance 0 from each other and 1 "
     "from all other rows. Training rows with a norm above 1e150 and rows to predict with a norm "
     "above 1e154 are refused"),
    ("Levenshtein: characters to change, insert or delete between two texts of at most 10000 "
     "characters; the kernel is not positive semidefinite"),
    NULL};
const dn_synonym dni_kernel_metric_synonyms[] = {
    {"l1", "manhattan"},      {"cityblock", "manhattan"},
    {"taxicab", "manhattan"}, {"l2", "euclidean"},
    {"linf", "chebyshev"},    {"maximum", "chebyshev"},
    {"levenshtein", "edit"},  {NULL, NULL},
};
const char *const dni_kernel_covariances[] = {"estimated", NULL};
const char *const dni_kernel_covariance_meanings[] = {"the covariance of the training rows", NULL};

static size_t choice_of(const char *const *choices, const char *word) {
    size_t i = 0;
    while (strcmp(choices[i], word) != 0) {
        i++;
    }
    return i;
}

static dn_kernel_type type_of(const dn_params *p) {
    return (dn_kernel_type)choice_of(dni_kernel_types, dn_params_word(p, "kernel"));
}

static double or_else(const dn_params *p, const char *name, double otherwise) {
    return dn_params_word(p, name) == NULL ? dn_params_number(p, name) : otherwise;
}

dn_kernel dni_kernel_of(const dn_params *p, size_t n_features) {
    const bool median = type_of(p) == DN_KERNEL_RBF && p->rules == DN_RULES_FIRST;
    return (dn_kernel){.type = type_of(p),
                       .metric = (dn_metric)choice_of(dni_kernel_metrics,
                                                      dn_params_word(p, "kernel.metric")),
                       .gamma = or_else(p, "kernel.gamma", 1),
                       .coef0 = or_else(p, "kernel.coef0", 1),
                       .scale = or_else(p, "kernel.scale", 2),
                       .width = or_else(p, "kernel.width", median ? DNI_KERNEL_MEDIAN_WIDTH : 0),
                       .degree = (unsigned)dn_params_number(p, "kernel.degree"),
                       .length = (unsigned)dn_params_number(p, "kernel.length"),
                       .normalize = dn_params_boolean(p, "kernel.normalize"),
                       .n_features = n_features};
}

bool dni_kernel_param_applies(const dn_params *params, size_t i) {
    static const struct {
        const char *name;
        dn_kernel_type of[2];
    } members[] = {{"kernel.gamma", {DN_KERNEL_POLYNOMIAL, DN_KERNEL_POLYNOMIAL}},
                   {"kernel.coef0", {DN_KERNEL_POLYNOMIAL, DN_KERNEL_SIGMOID}},
                   {"kernel.degree", {DN_KERNEL_POLYNOMIAL, DN_KERNEL_POLYNOMIAL}},
                   {"kernel.scale", {DN_KERNEL_SIGMOID, DN_KERNEL_SIGMOID}},
                   {"kernel.width", {DN_KERNEL_RBF, DN_KERNEL_DISTANCE}},
                   {"kernel.metric", {DN_KERNEL_DISTANCE, DN_KERNEL_DISTANCE}},
                   {"kernel.length", {DN_KERNEL_SHARED_PATHS, DN_KERNEL_SHARED_PATHS}},
                   {"kernel.covariance", {DN_KERNEL_MAHALANOBIS, DN_KERNEL_MAHALANOBIS}}};
    const char *name = params->algorithm->params[i].name;
    const dn_kernel_type type = type_of(params);
    for (size_t k = 0; k < sizeof members / sizeof members[0]; k++) {
        if (strcmp(members[k].name, name) == 0) {
            return type == members[k].of[0] || type == members[k].of[1];
        }
    }
    return strcmp(name, "kernel.normalize") != 0 || type != DN_KERNEL_PRECOMPUTED;
}

bool dni_kernel_takes_scale(const dn_kernel *kernel) {
    switch (kernel->type) {
    case DN_KERNEL_MAHALANOBIS:
    case DN_KERNEL_SHARED_WORDS:
    case DN_KERNEL_SHARED_PATHS:
    case DN_KERNEL_PRECOMPUTED:
        return false;
    case DN_KERNEL_DISTANCE:
        return kernel->metric != DN_METRIC_EDIT;
    case DN_KERNEL_LINEAR:
    case DN_KERNEL_POLYNOMIAL:
    case DN_KERNEL_RBF:
    case DN_KERNEL_SIGMOID:
        break;
    }
    return true;
}

const char *dni_kernel_advice(const dn_kernel *kernel) {
    switch (kernel->type) {
    case DN_KERNEL_LINEAR:
        return "features.standardize";
    case DN_KERNEL_POLYNOMIAL:
        return "features.standardize, another gamma or degree";
    case DN_KERNEL_SIGMOID:
        return "features.standardize, another scale";
    case DN_KERNEL_RBF:
        return "features.standardize, another width";
    case DN_KERNEL_DISTANCE:
        return kernel->metric == DN_METRIC_EDIT ? "another width"
                                                : "features.standardize, another width";
    case DN_KERNEL_MAHALANOBIS:
    case DN_KERNEL_SHARED_WORDS:
    case DN_KERNEL_SHARED_PATHS:
        return "another kernel";
    case DN_KERNEL_PRECOMPUTED:
        break;
    }
    return NULL;
}

dn_status dni_kernel_params_check(const dn_params *p, dn_error *err) {
    const dn_kernel_type type = type_of(p);
    const double scale = or_else(p, "kernel.scale", 2);
    if (type == DN_KERNEL_PRECOMPUTED && dn_params_boolean(p, "kernel.normalize")) {
        return dni_error_at(
            dn_error_set(err, DN_ERR_ARGUMENT,
                         "parameter \"kernel.normalize\" must be false for kernel "
                         "precomputed, because K(x, x) of a row to predict is not known"),
            "kernel.normalize", -1, err);
    }
    if (type == DN_KERNEL_SIGMOID && scale == 0) {
        return dni_error_at(dn_error_set(err, DN_ERR_ARGUMENT,
                                         "parameter \"kernel.scale\" must not be 0"),
                            "kernel.scale", -1, err);
    }
    return DN_OK;
}

/* The columns are kernel values, not features: they are neither standardised nor imputed. */
dn_status dni_precomputed_encoding(const dn_table_column *columns, size_t n_rows,
                                   dn_encoder_spec *spec, dn_error *err) {
    for (size_t i = 0; i < spec->n_columns; i++) {
        const dn_table_column *column = &columns[spec->columns[i]];
        if (column->type != DN_NUMERIC) {
            return dni_error_at(
                dn_error_set(
                    err, DN_ERR_ARGUMENT,
                    "column \"%.128s\" is %s: a precomputed kernel needs numeric columns only",
                    column->name, dn_column_type_name(column->type)),
                column->name, -1, err);
        }
    }
    if (spec->n_columns != n_rows) {
        return dni_error_at(
            dn_error_set(
                err, DN_ERR_ARGUMENT,
                "a precomputed kernel needs as many columns as rows: %zu rows, %zu columns", n_rows,
                spec->n_columns),
            "kernel", -1, err);
    }
    if (spec->n_bases > 0) {
        return dni_error_at(dn_error_set(err, DN_ERR_ARGUMENT,
                                         "a precomputed kernel has no basis: its columns are "
                                         "kernel values, not coordinates"),
                            "basis", -1, err);
    }
    spec->standardize = spec->standardize_sparse = spec->missing_indicator = false;
    spec->missing_number = DN_MISSING_NONE;
    return DN_OK;
}

dn_status dni_kernel_params_resolve(dn_params *p, dn_error *err) {
    const dn_kernel kernel = dni_kernel_of(p, 0);
    dn_status status = dn_params_set_number(p, "kernel.gamma", kernel.gamma, err);
    if (status == DN_OK) {
        status = dn_params_set_number(p, "kernel.coef0", kernel.coef0, err);
    }
    return status == DN_OK ? dn_params_set_number(p, "kernel.scale", kernel.scale, err) : status;
}

/* Fails if the covariance `given` [d × d] is not positive definite. It has at most DN_MAX_LIST
 * numbers, so the computation is too short to poll the stop flag. */
static dn_status check_definite(const double *given, size_t d, dn_error *err) {
    const dn_run run = dn_run_default();
    double *factor = malloc((d * d + 1) * sizeof *factor);
    bool definite = false;
    if (factor == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for a covariance of %zu features", d);
    }
    memcpy(factor, given, d * d * sizeof *factor);
    dn_status status = dni_cholesky(&run, factor, d, &definite, err);
    free(factor);
    if (status != DN_OK || definite) {
        return status;
    }
    return dni_error_at(
        dn_error_set(err, DN_ERR_ARGUMENT,
                     "parameter \"kernel.covariance\" must be positive definite, but some linear "
                     "combination of the features has a variance <= 0"),
        "kernel.covariance", -1, err);
}

dn_status dni_kernel_params_shape(const dn_params *p, size_t d, dn_error *err) {
    size_t n = 0;
    const double *given = dn_params_list(p, "kernel.covariance", &n);
    if (type_of(p) != DN_KERNEL_MAHALANOBIS || given == NULL) {
        return DN_OK;
    }
    if (d > DN_MAX_LIST || n != d * d) {
        return dni_error_at(
            dn_error_set(err, DN_ERR_ARGUMENT,
                         "parameter \"kernel.covariance\" must have %zu rows of %zu numbers, a row "
                         "for each feature (got %zu numbers in all)",
                         d, d, n),
            "kernel.covariance", -1, err);
    }
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < i; j++) {
            if (!(fabs(given[i * d + j] - given[j * d + i]) <=
                  1e-9 * fmax(fabs(given[i * d + i]), fabs(given[j * d + j])))) {
                return dni_error_at(
                    dn_error_set(err, DN_ERR_ARGUMENT,
                                 "parameter \"kernel.covariance\" must be symmetric: row "
                                 "%zu column %zu is %g, row %zu column %zu is %g",
                                 i + 1, j + 1, given[i * d + j], j + 1, i + 1, given[j * d + i]),
                    "kernel.covariance", -1, err);
            }
        }
    }
    return check_definite(given, d, err);
}

/* ---- the encoding ---- */
/* Returns the name of the kernel in messages. */
static const char *kernel_label(const dn_kernel *kernel) {
    return kernel->type == DN_KERNEL_DISTANCE ? "distance with metric edit"
                                              : dni_kernel_types[kernel->type];
}

static dn_status refuse_type(const dn_kernel *kernel, const dn_table_column *column,
                             dn_error *err) {
    const char *hint = column->type == DN_CATEGORICAL
                           ? "; upload the rows with types=NAME:text if it holds texts"
                           : "; name it in features.include";
    return dni_error_at(
        dn_error_set(err, DN_ERR_ARGUMENT,
                     "kernel %s needs one text column and nothing else: \"%.128s\" is %s%s",
                     kernel_label(kernel), column->name, dn_column_type_name(column->type), hint),
        "kernel", -1, err);
}

/* True if `text` is the default encoding of texts or the encoding that the kernel requires. */
static bool is_default_text(const dn_text_spec *text, const dn_text_spec *required) {
    const bool usual = text->weighting == DN_TEXT_COUNTS &&
                       (text->vocabulary == 0 || text->vocabulary == DN_DEFAULT_VOCABULARY) &&
                       text->min_rows <= 1 && text->buckets == 0 && !text->keep_case;
    return usual || (text->weighting == required->weighting && text->length == required->length &&
                     text->keep_case == required->keep_case);
}

/* Sets the encoding of the text column to `required`. Fails unless the only column is a text
 * column. */
static dn_status set_text_encoding(const dn_kernel *kernel, const dn_table_column *columns,
                                   dn_text_spec required, dn_encoder_spec *spec, dn_error *err) {
    for (size_t i = 0; i < spec->n_columns; i++) {
        if (columns[spec->columns[i]].type != DN_TEXT) {
            return refuse_type(kernel, &columns[spec->columns[i]], err);
        }
    }
    if (spec->n_columns != 1) {
        return dni_error_at(
            dn_error_set(err, DN_ERR_ARGUMENT,
                         "kernel %s needs one text column and nothing else (got %zu): "
                         "name it in features.include",
                         kernel_label(kernel), spec->n_columns),
            "kernel", -1, err);
    }
    if (!is_default_text(&spec->text, &required)) {
        return dni_error_at(
            dn_error_set(err, DN_ERR_ARGUMENT,
                         "kernel %s sets the encoding of its text: leave \"text\" out",
                         kernel_label(kernel)),
            "text", -1, err);
    }
    spec->text = required;
    return DN_OK;
}

/* Fails if there is a text column or a sparse column: a covariance is computed for numeric columns
 * and category levels only. */
static dn_status refuse_sparse(const dn_kernel *kernel, const dn_table_column *columns,
                               const dn_encoder_spec *spec, dn_error *err) {
    for (size_t i = 0; i < spec->n_columns; i++) {
        const dn_table_column *column = &columns[spec->columns[i]];
        if (column->type == DN_TEXT || column->type == DN_SPARSE) {
            return dni_error_at(
                dn_error_set(err, DN_ERR_ARGUMENT,
                             "kernel %s takes no text and no sparse column: \"%.128s\" is %s",
                             kernel_label(kernel), column->name, dn_column_type_name(column->type)),
                "kernel", -1, err);
        }
    }
    return DN_OK;
}

dn_status dni_kernel_encoding(const dn_params *p, const dn_table_column *columns, size_t n_rows,
                              dn_encoder_spec *spec, dn_error *err) {
    const dn_kernel kernel = dni_kernel_of(p, 0);
    switch (kernel.type) {
    case DN_KERNEL_SHARED_WORDS:
        return set_text_encoding(&kernel, columns, (dn_text_spec){.weighting = DN_TEXT_SET}, spec,
                                 err);
    case DN_KERNEL_SHARED_PATHS:
        return set_text_encoding(&kernel, columns,
                                 (dn_text_spec){.weighting = DN_TEXT_PATHS,
                                                .length = kernel.length},
                                 spec, err);
    case DN_KERNEL_DISTANCE:
        if (kernel.metric == DN_METRIC_EDIT) {
            return set_text_encoding(&kernel, columns,
                                     (dn_text_spec){.weighting = DN_TEXT_CHARACTERS}, spec, err);
        }
        break;
    case DN_KERNEL_MAHALANOBIS:
        return refuse_sparse(&kernel, columns, spec, err);
    case DN_KERNEL_LINEAR:
    case DN_KERNEL_POLYNOMIAL:
    case DN_KERNEL_RBF:
    case DN_KERNEL_SIGMOID:
        break;
    case DN_KERNEL_PRECOMPUTED:
        return dni_precomputed_encoding(columns, n_rows, spec, err);
    }
    return DN_OK;
}
