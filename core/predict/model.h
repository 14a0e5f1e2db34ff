/* The inside of a trained model, for the files that make, apply, judge and store one. */
#ifndef DNI_PREDICT_MODEL_H
#define DNI_PREDICT_MODEL_H

#include "predict/classes.h"
#include <discern/model.h>
#include <stdatomic.h>

/* How one input becomes part of a score. */
typedef struct dni_term {
    bool categorical;
    size_t first_feature;         /* of the encoder's features; categorical: of level `dropped` */
    size_t n_levels, dropped;     /* categorical: without the missing one; 1 when the first level is no feature */
    size_t if_missing, if_unseen; /* categorical: the feature that is 1 then; SIZE_MAX: none */
    double fill;                  /* numeric: stands for NaN */
} dni_term;

struct dn_model {
    atomic_size_t references;
    dn_params *params; /* the values used */
    uint64_t seed;
    char *target; /* name of the target column */
    dni_classes classes;
    dn_encoder *encoder;
    dn_decision decision;
    size_t n_machines;
    dn_machine *machines; /* [n_machines] of the encoded x */
    dn_machine *raw;      /* [n_machines] the same of the raw features */
    size_t n_scores, n_features, n_inputs;
    double *intercept; /* [n_scores] of the raw machines */
    size_t work;       /* doubles that a raw machine needs for one x */
    /* every machine linear: */
    bool linear;
    double *w;          /* [n_scores × n_features] of the raw machines, one after the other; their w0 is `intercept` */
    double *by_feature; /* [n_features × n_scores] w transposed: what prediction walks through */
    dni_term *terms;    /* [n_inputs]; NULL: features do not follow input by input (bases, indicators), x is made */
    bool plain;         /* feature i is input i, a number */
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
    dn_machine *machines; /* [n_machines] malloc'ed, taken on success */
    size_t n_machines;
} dni_model_parts;

/* DN_ERR_MEMORY, or DN_ERR_NUMERIC when weights of the raw features are not finite. */
DN_MUST_USE dn_status dni_model_new(const dni_model_parts *parts, dn_model **out, dn_error *err);

/* machines[n] and the array itself. */
void dni_machines_free(dn_machine *machines, size_t n);

/* Scores of x (raw features), [n_scores]; work [model->work]. false: some machine finds x impossible (machine.h). */
bool dni_model_scores(const dn_model *model, const double *x, double *scores, double *work);
/* Whether scores [n_scores] of a row are an answer: finite when linear, numbers or an infinity of densities. */
bool dni_model_scores_good(const dn_model *model, const double *scores);

#endif
