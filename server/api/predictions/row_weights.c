/* Weights of the rows in a body. A stored dataset has its weights in a column that the core
 * reads. */
#include "api/predictions/row_weights.h"
#include "api/predictions/plan.h"
#include "api/support.h"
#include "base/json/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool api_weight_column(struct http_call *call, const struct serving_model *m, const char **out) {
    const char *given = http_query(call, "weight");
    if (given != NULL && strcmp(given, "none") != 0 && strcmp(given, "auto") != 0) {
        http_fail(call, PROBLEM_BAD_REQUEST,
                  "query parameter \"weight\" must be auto or none, got \"%.60s\"", given);
        return false;
    }
    *out = given != NULL && strcmp(given, "none") == 0 ? NULL : predict_plan_of(m)->weight;
    return true;
}

static bool refuse(const struct instance_rows *rows, size_t i, const char *rule, double weight,
                   struct problem *problem) {
    const struct text name = rows->kept.keep->names.text[0];
    struct buf place = {0}, pointer = {0};
    char number[DN_NUMBER_SIZE] = "";
    if (!isnan(weight)) {
        (void)dn_number_format(weight, number);
    }
    if (instance_rows_place(rows, i, &place) && buf_cstr(&place) != NULL) {
        json_pointer(&pointer, place.data, name.bytes);
    }
    (void)problem_add(problem, PROBLEM_INVALID_INSTANCES,
                      pointer.size > 0 ? buf_cstr(&pointer) : NULL,
                      "instance %zu, column \"%.*s\": the weight %s%s%s%s", i, (int)name.n,
                      name.bytes, rule, number[0] != '\0' ? " (got " : "", number,
                      number[0] != '\0' ? ")" : "");
    buf_done(&place);
    buf_done(&pointer);
    return false;
}

bool row_weights_take(struct instance_rows *rows, double **out, struct problem *problem) {
    double *weight = malloc((rows->n + 1) * sizeof *weight);
    size_t n = 0, n_labelled = 0;
    if (weight == NULL) {
        return problem_set(problem, PROBLEM_UNAVAILABLE, "no memory for the weights");
    }
    for (size_t i = 0; i < rows->n; i++) {
        double v = (double)NAN;
        if (rows->label[i] == SIZE_MAX) {
            continue;
        }
        n_labelled++;
        if (!kept_number(&rows->kept, i, 0, &v)) {
            free(weight);
            return refuse(rows, i, "is missing or not a number", (double)NAN, problem);
        }
        if (v != 0 && !(v >= DN_MIN_WEIGHT && v <= DN_MAX_WEIGHT)) {
            free(weight);
            return refuse(rows, i, "must be 0 or from 1e-100 to 1e100", v, problem);
        }
        if (v == 0) {
            rows->label[i] = SIZE_MAX;
        } else {
            weight[n++] = v;
        }
    }
    if (n == 0 && n_labelled > 0) {
        free(weight);
        return problem_add(problem, PROBLEM_INVALID_INSTANCES, "",
                           "the weight column \"%s\" is 0 in all rows, so all rows are ignored",
                           rows->kept.keep->names.text[0].bytes);
    }
    *out = weight;
    return true;
}
