/* Compares parameters by value. */
#include "catalogue/param_step.h"

#include <string.h>

static bool same_value(const dn_param_value *a, const dn_param_value *b) {
    if (a->word != NULL || b->word != NULL) {
        return a->word != NULL && b->word != NULL && strcmp(a->word, b->word) == 0;
    }
    if (a->list != NULL || b->list != NULL) {
        return a->list != NULL && b->list != NULL && a->n_list == b->n_list &&
               memcmp(a->list, b->list, a->n_list * sizeof *a->list) == 0;
    }
    return a->number == b->number;
}

static bool is_number(const dn_param_value *value) {
    return value->word == NULL && value->list == NULL;
}

size_t dni_params_step(const dn_params *a, const dn_params *b) {
    size_t step = SIZE_MAX;
    if (a->algorithm != b->algorithm || a->rules != b->rules) {
        return SIZE_MAX;
    }
    for (size_t i = 0; i < a->algorithm->n_params; i++) {
        if (same_value(&a->values[i], &b->values[i])) {
            continue;
        }
        if (step != SIZE_MAX || a->algorithm->params[i].complexity == 0 ||
            !is_number(&a->values[i]) || !is_number(&b->values[i])) {
            return SIZE_MAX;
        }
        step = i;
    }
    return step;
}

bool dni_params_simpler(const dn_params *a, const dn_params *b, size_t step) {
    const double x = a->values[step].number, y = b->values[step].number;
    return a->algorithm->params[step].complexity > 0 ? x < y : x > y;
}
