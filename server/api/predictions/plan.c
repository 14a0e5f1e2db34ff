/* Data that all predictions of one version of a model use. */
#include "api/predictions/plan.h"
#include "api/api.h"
#include "api/predictions/outputs.h"
#include "base/json/json.h"

#include <stdlib.h>
#include <string.h>

static void plan_free(void *made) {
    struct predict_plan *plan = made;
    if (plan != NULL) {
        free(plan->reading);
        free(plan->weight);
        free(plan->dataset);
        instance_schema_free(plan->schema);
        answer_texts_done(&plan->texts);
        free(plan);
    }
}

/* Copies a text. Returns false if out of memory. */
static bool copy_text(const char *from, char **out) {
    *out = from != NULL ? strdup(from) : NULL;
    return from == NULL || *out != NULL;
}

/* Copies the names of the weight column and of the training table from the document of a version,
 * which has megabytes if there are many classes. Returns false if out of memory. */
static bool take_names(const char *document, struct predict_plan *plan) {
    struct problem ignored = {0};
    json_t *root = document != NULL ? json_parse(document, strlen(document), &ignored) : NULL;
    const json_t *dataset = json_object_get(root, "dataset");
    plan->dataset_version = (int64_t)json_number_value(json_object_get(dataset, "version"));
    /* without a version the dataset is unknown: 0 would be the newest one */
    const char *name =
        plan->dataset_version >= 1 ? json_string_value(json_object_get(dataset, "name")) : NULL;
    const bool good =
        ignored.type != PROBLEM_UNAVAILABLE &&
        copy_text(json_string_value(json_object_get(root, "weight")), &plan->weight) &&
        copy_text(name, &plan->dataset);
    problem_done(&ignored);
    json_decref(root);
    return good;
}

static void *plan_make(const dn_model *model, const char *name, int64_t version,
                       const char *document) {
    struct predict_plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL) {
        return NULL;
    }
    plan->reading = table_reading_document(document);
    plan->schema = plan->reading != NULL ? instance_schema_new(model, plan->reading) : NULL;
    if (plan->schema == NULL || !take_names(document, plan) ||
        !answer_texts_init(&plan->texts, model, name, version)) {
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
