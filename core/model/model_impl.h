/* The inside of a trained model, for the files that make, apply, judge and store one. */
#ifndef DNI_MODEL_IMPL_H
#define DNI_MODEL_IMPL_H

#include "model/classes.h"
#include <discern/model.h>
#include <stdatomic.h>

/* How one input, a number or a category, becomes part of x. */
typedef struct dni_term {
    size_t input; /* its place in a raw row */
    bool categorical;
    size_t
        first_feature; /* of the encoder's features; categorical: of level `dropped`; numeric: SIZE_MAX: a basis has taken it */
    size_t n_levels,
        dropped; /* categorical: without the missing one; 1 when the first level is no feature */
    size_t if_missing,
        if_unseen; /* categorical: the feature that is 1 then; numeric: the indicator; SIZE_MAX: none */
    double fill; /* numeric: stands for NaN */
} dni_term;

struct dn_model {
    atomic_size_t references;
    dn_params *params; /* the values used */
    uint64_t seed;
    char *target; /* name of the target column; empty without */
    dni_classes classes;
    dn_encoder *encoder;
    dn_decision decision;
    dn_calibration *calibration; /* NULL: none */
    size_t n_machines;
    dn_machine **machines; /* [n_machines] of the encoded x */
    dn_machine **raw;      /* [n_machines] the same of the raw features */
    bool
        raw_shares; /* `raw` are the same machines: nothing is standardised, or they stay encoded */
    size_t n_scores, n_features, n_inputs;
    double *intercept; /* [n_scores] of the raw machines */
    size_t work;       /* doubles that a raw machine needs for one x */
    dni_term *terms;   /* [n_terms] of the inputs that are not text and not sparse */
    size_t n_terms;
    size_t n_plain;              /* features of terms and bases that can be other than 0 in a row */
    size_t first_basis, n_basis; /* features of the bases */
    bool expands;                /* scores or densities need all of x, 0 or not */
    /* every machine linear: */
    bool linear;
    const double *
        w; /* [n_scores × n_features] of the raw machines, one after the other; their w0 is `intercept` */
    const double
        *by_feature; /* [n_features × n_scores] w transposed: what prediction walks through */
    double *own_w;   /* w, unless it is a machine's */
    double *own_by_feature; /* by_feature, unless it is w */
    double length;          /* one score: ‖w‖ */
    bool plain;             /* feature i is input i, a number */
    bool encoded; /* the machines stay in the encoded space: `raw` are the same machines */
};

/* What a model is made of. */
typedef struct dni_model_parts {
    const dn_params *params; /* copied */
    uint64_t seed;
    const char *target; /* copied, target_length bytes without NUL */
    size_t target_length;
    dni_classes *classes; /* taken on success */
    dn_encoder *encoder;  /* taken on success */
    dn_decision decision;
    dn_machine **machines; /* [n_machines] malloc'ed, taken on success */
    size_t n_machines;
    dn_calibration *calibration; /* taken on success; NULL: none */
} dni_model_parts;

/* DN_ERR_MEMORY, or DN_ERR_NUMERIC when weights of the raw features are not finite. */
DN_MUST_USE dn_status dni_model_new(const dni_model_parts *parts, dn_model **out, dn_error *err);

/* Ends the accounting of the model's memory in the run that trained it. */
void dni_model_leave_run(dn_model *model);

/* machines[n] and the array itself. */
void dni_machines_free(dn_machine **machines, size_t n);

/* The class that the scores [n_scores] of a row choose, or DN_AMBIGUOUS. */
size_t dni_model_label(const dn_model *model, const double *scores);

/* Whether the scores [n_scores] of a row are an answer: finite, or where class densities multiply,
 * numbers or infinities. */
bool dni_model_scores_good(const dn_model *model, const double *scores);

#endif
