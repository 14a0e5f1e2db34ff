/* Data that all predictions of one version of a model use, computed once when the model is loaded.
 * Immutable: any number of calls use one plan at the same time. serving keeps it with the model and
 * frees both after the last use. */
#ifndef API_PLAN_H
#define API_PLAN_H

#include "formats/formats.h"
#include "serving/serving.h"

struct predict_plan {
    char *reading; /* document with the reading of the training table, for other plans */
    char *weight;  /* the weight column of the training; NULL: none */
    char *dataset; /* the name of the training table; NULL: there is none */
    int64_t dataset_version;
    struct instance_schema *schema; /* the inputs, for the readers of instances */
    struct answer_texts texts;      /* the classes and the beginning of an answer */
    size_t n_workspace;             /* doubles that dn_model_predict needs */
    unsigned outputs;               /* answer_output bits of a call without ?output= */
    double cost;                    /* multiplications for one row with these outputs */
    bool costly_texts;              /* scoring a short text may take long
                                       (dn_encoder_texts_are_costly): such calls are predicted on
                                       the pool */
};

/* Returns the plan of a model that serving has lent. serving must have been opened with
 * api_predict_plans (api.h). */
static inline const struct predict_plan *predict_plan_of(const struct serving_model *m) {
    return m->plan;
}

#endif
