/* The dependence of parameters is found by the checks that a job has: there is no table of it. */
#include "jobs/request/param_needs.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { MAX_CHOICES = 64 };

/* Returns a number in the range of the parameter that is not its default, nor the number that a
 * default word most frequently means. */
static double other_number(const dn_param *p) {
    const double usual = p->default_number;
    const double end = usual > p->minimum && isfinite(p->minimum) ? p->minimum : p->maximum;
    const double other = isfinite(end) ? (usual + end) / 2 : usual + 1;
    return p->type == DN_PARAM_INTEGER ? floor(other) : other;
}

/* Sets the parameter to its other value number k. Returns false if it has fewer. */
static bool other_set(dn_params *params, const dn_param *p, size_t k) {
    switch (p->type) {
    case DN_PARAM_CHOICE:
        return strcmp(p->choices[k], p->default_choice) != 0 &&
               dn_params_set_word(params, p->name, p->choices[k], NULL) == DN_OK;
    case DN_PARAM_BOOLEAN:
        return dn_params_set_boolean(params, p->name, p->default_number == 0, NULL) == DN_OK;
    case DN_PARAM_NUMBER:
    case DN_PARAM_INTEGER:
        return dn_params_set_number(params, p->name, other_number(p), NULL) == DN_OK;
    case DN_PARAM_LIST:
        break;
    }
    return false;
}

/* Whether a job may have a choice of `of`, all other parameters at their defaults, except p (NULL:
 * none, otherwise parameter i) at its other value number k. */
static bool permitted(const dn_algorithm *a, const dn_param *of, const char *choice,
                      const dn_param *p, size_t i, size_t k) {
    dn_params *params = NULL;
    if (dn_params_new(a, &params, NULL) != DN_OK) {
        return false;
    }
    const bool result = dn_params_set_word(params, of->name, choice, NULL) == DN_OK &&
                        (p == NULL || (other_set(params, p, k) && dn_params_applies(params, i))) &&
                        dn_params_check(params, NULL) == DN_OK;
    dn_params_free(params);
    return result;
}

uint64_t jobs_param_needs(const dn_algorithm *algorithm, size_t i, size_t of) {
    const dn_param *p = &algorithm->params[i], *owner = &algorithm->params[of];
    if (i == of || owner->type != DN_PARAM_CHOICE || p->type == DN_PARAM_LIST) {
        return 0;
    }
    uint64_t found = 0;
    bool depends = false;
    for (size_t c = 0; owner->choices[c] != NULL && c < MAX_CHOICES; c++) {
        bool any = false;
        for (size_t k = 0; k == 0 || (p->type == DN_PARAM_CHOICE && p->choices[k] != NULL); k++) {
            any = any || permitted(algorithm, owner, owner->choices[c], p, i, k);
        }
        found |= (uint64_t)any << c;
        /* A choice that is refused without the parameter says nothing about it. */
        depends = depends || (!any && permitted(algorithm, owner, owner->choices[c], NULL, 0, 0));
    }
    return depends ? found : 0;
}
