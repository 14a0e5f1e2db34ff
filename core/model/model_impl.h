/* The members of a trained model, for the files that create, apply, evaluate and store models. */
#ifndef DNI_MODEL_IMPL_H
#define DNI_MODEL_IMPL_H

#include "model/classes.h"
#include <discern/model.h>
#include <stdatomic.h>

/* The mapping of one numeric or categorical input to features of x. */
typedef struct dni_term {
    size_t input; /* index in a raw row */
    bool categorical;
    /* Feature index. Categorical: of level `dropped`. Numeric: SIZE_MAX if only bases use the
     * input. */
    size_t first_feature;
    /* Categorical: number of levels without the missing level; 1 if the first level has no feature.
     * */
    size_t n_levels, dropped;
    /* Categorical: the feature that is 1 for such values. Numeric: the missing indicator. SIZE_MAX:
     * none. */
    size_t if_missing, if_unseen;
    double fill; /* numeric: replaces NaN */
} dni_term;

struct dn_model {
    atomic_size_t references;
    dn_params *params; /* the values used */
    uint64_t seed;
    char *target; /* name of the target column; "" without a target */
    dni_classes classes;
    dn_encoder *encoder;
    dn_decision decision;
    dn_calibration *calibration; /* NULL: none */
    size_t n_machines;
    dn_machine **machines; /* [n_machines] for the encoded x */
    dn_machine **raw;      /* [n_machines] the same for raw features */
    /* `raw` points to `machines`: no feature is standardized, or the machines stay encoded. */
    bool raw_shares;
    size_t n_scores, n_features, n_inputs;
    double *intercept; /* [n_scores] of the raw machines */
    size_t work;       /* doubles that a raw machine needs for one x */
    dni_term *terms;   /* [n_terms] of the inputs that are not text and not sparse */
    size_t n_terms;
    size_t n_plain;              /* maximum number of nonzero features of terms and bases */
    size_t first_basis, n_basis; /* features of the bases */
    bool expands;                /* scores or densities need all features of x */
    /* Members for linear machines; `linear`: all machines are linear. */
    bool linear;
    const double *w;          /* [n_scores × n_features] of the raw machines; w0 is `intercept` */
    const double *by_feature; /* [n_features × n_scores] transpose of w, for prediction */
    double *own_w;            /* memory of w; NULL: w belongs to a machine */
    double *own_by_feature;   /* allocation of by_feature; NULL: by_feature is w */
    double length;            /* one score: ‖w‖ */
    bool plain;               /* feature i is the numeric input i, for all i */
    bool encoded; /* the machines stay in the encoded space: `raw` are the same machines */
};

/* Arguments of dni_model_new. */
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

/* Creates a model. DN_ERR_MEMORY. DN_ERR_NUMERIC: weights for raw features are not finite. */
DN_MUST_USE dn_status dni_model_new(const dni_model_parts *parts, dn_model **out, dn_error *err);

/* Ends the accounting of the model's memory in the run that trained it. */
void dni_model_leave_run(dn_model *model);

/* Frees machines [n] and the array. NULL is allowed. */
void dni_machines_free(dn_machine **machines, size_t n);

/* The class that the scores [n_scores] of a row choose, or DN_AMBIGUOUS. */
size_t dni_model_label(const dn_model *model, const double *scores);

/* Whether the scores [n_scores] of a row are valid: finite, or, if they are logarithms of
 * densities, not NaN. */
bool dni_model_scores_good(const dn_model *model, const double *scores);

#endif
