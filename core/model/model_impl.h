/* The members of a trained model. For files that create, apply, evaluate or store models. */
#ifndef DNI_MODEL_IMPL_H
#define DNI_MODEL_IMPL_H

#include "model/classes.h"
#include "model/model_statistics.h"
#include <discern/model.h>
#include <stdatomic.h>

/* The mapping of one numeric or categorical input to features of x. */
typedef struct dni_term {
    size_t input; /* index in a raw row */
    bool categorical;
    /* Index of a feature. Categorical: the feature of level `dropped`. Numeric: the feature of the
     * input; SIZE_MAX if only bases use the input. */
    size_t first_feature;
    size_t n_levels; /* categorical: number of levels, not counting the missing level */
    size_t dropped;  /* categorical: index of the first level that has a feature, 0 or 1 */
    /* Categorical: index of the feature that is 1 for a missing or an unseen value. Numeric:
     * if_missing is the missing indicator. SIZE_MAX: no feature. */
    size_t if_missing, if_unseen;
    double fill; /* numeric: replaces NaN */
} dni_term;

struct dn_model {
    atomic_size_t references;
    dn_params *params; /* parameters with "auto" resolved */
    uint64_t seed;
    char *target; /* name of the target column; "" without a target */
    dni_classes classes;
    dn_encoder *encoder;
    dn_decision decision;
    dn_calibration *calibration; /* NULL: none */
    dn_conformal *conformal;     /* sets of labels, from dni_conformal_fit; NULL: none */
    dn_rule *rule;               /* takes the place of `labels`; NULL: none */
    dn_labels labels;            /* the rule for labels; not DN_LABELS_OF_MODEL */
    bool may_disagree;           /* true: the most probable class can differ from the class that the
                                  * scores choose */
    dni_statistics *statistics;  /* statistics of the weights; NULL: none */
    double *feature_mean; /* [n_features] means of the raw features over the training rows; NULL:
                           * none */
    size_t n_machines;
    dn_machine **machines; /* [n_machines] machines for encoded x */
    dn_machine **raw;      /* [n_machines] the same machines, converted to raw features */
    /* true: `raw` has the same machines as `machines`, because no feature is standardised, or
     * because the machines need encoded rows */
    bool raw_shares;
    size_t n_scores, n_features, n_inputs;
    double *intercept; /* [n_scores] intercepts of the machines `raw` */
    size_t work;     /* number of doubles of workspace that a machine of `raw` needs for one row */
    dni_term *terms; /* [n_terms] mappings of the numeric and categorical inputs */
    size_t n_terms;
    size_t n_plain;              /* maximum number of nonzero features of terms and bases */
    size_t first_basis, n_basis; /* index of the first basis feature, and number of basis
                                  * features */
    bool expands;                /* true: scores or densities need all features of x */
    /* The following members are set if `linear` is true: all machines are linear. */
    bool linear;
    const double *w; /* [n_scores × n_features] weights of the machines `raw`; their w0 are
                               * in `intercept` */
    const double *by_feature; /* [n_features × n_scores] transpose of w, for prediction */
    double *own_w;            /* the allocation of w; NULL: w points into a machine */
    double *own_by_feature;   /* the allocation of by_feature; NULL: by_feature points to w */
    double length;            /* one score: ‖w‖ */
    bool plain;               /* feature i is the numeric input i, for all i */
    bool encoded; /* true: the machines need encoded rows, and `raw` are the same machines as
                   * `machines` */
};

/* Arguments of dni_model_new. */
typedef struct dni_model_parts {
    const dn_params *params; /* copied */
    uint64_t seed;
    const char *target; /* copied, target_length bytes without NUL */
    size_t target_length;
    dni_classes *classes; /* owned by the model on success */
    dn_encoder *encoder;  /* owned by the model on success */
    dn_decision decision;
    dn_machine **machines; /* [n_machines] allocated by malloc; owned by the model on success */
    size_t n_machines;
    dn_calibration *calibration; /* owned by the model on success; NULL: none */
    dni_statistics *statistics;  /* owned by the model on success; NULL: none */
    /* [n_features] allocated by malloc; owned by the model on success; NULL: none */
    double *feature_mean;
} dni_model_parts;

/* Creates a model. DN_ERR_MEMORY. DN_ERR_NUMERIC: the weights converted to raw features are not
 * finite. */
DN_MUST_USE dn_status dni_model_new(const dni_model_parts *parts, dn_model **out, dn_error *err);

/* Subtracts the memory of the machines from the memory charged to the run that trained the
 * model. */
void dni_model_leave_run(dn_model *model);

/* Frees machines [n] and the array. NULL is allowed. */
void dni_machines_free(dn_machine **machines, size_t n);

/* Returns the rule for labels: `given`, or that of the model with DN_LABELS_OF_MODEL; NULL: none. */
static inline const dn_rule *dni_rule_used(const dn_model *model, dn_labels labels,
                                           const dn_rule *given) {
    return given != NULL ? given : labels == DN_LABELS_OF_MODEL ? model->rule : NULL;
}
/* Returns the class of a row with these scores [n_scores], or DN_AMBIGUOUS.
 *
 *   p     [K] the probabilities of the row if dni_labels_need_probabilities, otherwise NULL
 *   rule  from dni_rule_used */
size_t dni_model_label(const dn_model *model, const double *scores, const double *p,
                       const dn_rule *rule);
bool dni_labels_need_probabilities(const dn_model *model, dn_labels labels, const dn_rule *rule);

/* Returns true if the scores [n_scores] of a row are valid. Logarithms of densities must not be
 * NaN; other scores must be finite. */
bool dni_model_scores_valid(const dn_model *model, const double *scores);

#endif
