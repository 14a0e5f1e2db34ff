/* Data that all predictions of one version of a model use. */
#include "api/predictions/plan.h"
#include "api/api.h"
#include "api/predictions/outputs.h"

#include <stdlib.h>

static void plan_free(void *made) {
    struct predict_plan *plan = made;
    if (plan != NULL) {
        free(plan->reading);
        instance_schema_free(plan->schema);
        answer_texts_done(&plan->texts);
        free(plan);
    }
}

static void *plan_make(const dn_model *model, const char *name, int64_t version,
                       const char *document) {
    struct predict_plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL) {
        return NULL;
    }
    plan->reading = table_reading_document(document);
    plan->schema = plan->reading != NULL ? instance_schema_new(model, plan->reading) : NULL;
    if (plan->schema == NULL || !answer_texts_init(&plan->texts, model, name, version)) {
        plan_free(plan);
        return NULL;
    }
    plan->n_workspace = dn_model_workspace(model);
    plan->outputs = api_outputs_of(model, API_OUTPUTS_USUAL);
    plan->cost = api_outputs_cost(model, plan->outputs);
    plan->costly_texts = dn_encoder_texts_are_costly(dn_model_encoder(model));
    return plan;
}

const struct serving_plans api_predict_plans = {.make = plan_make, .free = plan_free};
