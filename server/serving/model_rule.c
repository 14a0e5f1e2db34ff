/* The decision rule of a model in memory. */
#include "serving/model_rule.h"

#include "base/json/json.h"
#include "base/problem.h"
#include <stdlib.h>
#include <string.h>

/* Returns the costs [n × n], allocated by malloc; NULL: they are not n × n numbers. */
static double *read_costs(const json_t *rows, size_t n) {
    double *cost = malloc((n * n + 1) * sizeof *cost);
    bool good = cost != NULL && json_array_size(rows) == n;
    for (size_t i = 0; good && i < n; i++) {
        const json_t *row = json_array_get(rows, i);
        good = json_array_size(row) == n;
        for (size_t k = 0; good && k < n; k++) {
            cost[i * n + k] = json_number_value(json_array_get(row, k));
        }
    }
    if (!good) {
        free(cost);
        cost = NULL;
    }
    return cost;
}

bool model_rule_read(const json_t *document, size_t n, dn_rule *out, double **out_cost) {
    const json_t *threshold = json_object_get(document, "threshold"),
                 *costs = json_object_get(document, "costs"),
                 *reject = json_object_get(document, "reject");
    if (!json_is_object(document)) {
        return false;
    }
    double *cost = costs != NULL ? read_costs(costs, n) : NULL;
    if (costs != NULL && cost == NULL) {
        return false;
    }
    *out = (dn_rule){.n_classes = n,
                     .by_threshold = threshold != NULL,
                     .positive =
                         (size_t)json_number_value(json_object_get(document, "positive_index")),
                     .threshold = json_number_value(threshold),
                     .cost = cost,
                     .rejects = reject != NULL,
                     .reject = json_number_value(reject)};
    *out_cost = cost;
    return true;
}

bool model_rule_set(dn_model *model, const char *document) {
    struct problem ignored = {0};
    dn_rule rule;
    double *cost = NULL;
    if (document == NULL || strcmp(document, "null") == 0) {
        return true;
    }
    json_t *root = json_parse(document, strlen(document), &ignored);
    const bool good = model_rule_read(root, dn_model_classes(model)->n, &rule, &cost) &&
                      dn_model_set_rule(model, &rule, NULL) == DN_OK;
    free(cost);
    json_decref(root);
    problem_done(&ignored);
    return good;
}
