/* Parameters of an algorithm: sets defaults, sets values by name with the checks of the parameter
 * table, and reads values. */
#include "base/argument.h"
#include "catalogue/suggest.h"
#include "number/number_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t index_of(const dn_algorithm *algorithm, const char *name) {
    for (size_t i = 0; i < algorithm->n_params; i++) {
        if (strcmp(algorithm->params[i].name, name) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

dn_status dn_params_new(const dn_algorithm *algorithm, dn_params **out, dn_error *err) {
    if (algorithm == NULL || out == NULL) {
        return dni_argument_null(algorithm == NULL ? "algorithm" : "out", err);
    }
    size_t n = algorithm->n_params;
    dn_params *params = malloc(sizeof *params);
    dn_param_value *values = malloc((n == 0 ? 1 : n) * sizeof *values);
    if (params == NULL || values == NULL) {
        free(params);
        free(values);
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for the parameters of %s",
                            algorithm->id);
    }
    for (size_t i = 0; i < n; i++) {
        values[i] = (dn_param_value){.number = algorithm->params[i].default_number,
                                     .word = algorithm->params[i].default_choice};
    }
    *params = (dn_params){algorithm, values, DN_RULES_CURRENT};
    *out = params;
    return DN_OK;
}

void dn_params_free(dn_params *params) {
    if (params == NULL) {
        return;
    }
    for (size_t i = 0; i < params->algorithm->n_params; i++) {
        free(params->values[i].list);
    }
    free(params->values);
    free(params);
}

dn_status dn_params_copy(const dn_params *params, dn_params **out, dn_error *err) {
    if (params == NULL || out == NULL) {
        return dni_argument_null(params == NULL ? "params" : "out", err);
    }
    dn_params *copy = NULL;
    dn_status status = dn_params_new(params->algorithm, &copy, err);
    if (copy == NULL) {
        return status;
    }
    copy->rules = params->rules;
    for (size_t i = 0; i < params->algorithm->n_params && status == DN_OK; i++) {
        const dn_param_value *from = &params->values[i];
        if (from->list != NULL) {
            status = dn_params_set_list(copy, params->algorithm->params[i].name, from->list,
                                        from->n_list, err);
        } else {
            copy->values[i] = *from;
        }
    }
    if (status != DN_OK) {
        dn_params_free(copy);
        return status;
    }
    *out = copy;
    return DN_OK;
}

/* Appends a name to a comma-separated list. The list is truncated to `size` bytes. */
static void append_name(char *list, size_t size, const char *name) {
    size_t length = strlen(list);
    snprintf(list + length, size - length, "%s%s", length == 0 ? "" : ", ", name);
}

static dn_status refuse_name(const dn_params *params, const char *name, dn_error *err) {
    char list[256] = "";
    for (size_t i = 0; i < params->algorithm->n_params; i++) {
        append_name(list, sizeof list, params->algorithm->params[i].name);
    }
    return dni_error_at(dn_error_set(err, DN_ERR_ARGUMENT,
                                     "algorithm \"%s\" has no parameter \"%.64s\"; it has %s",
                                     params->algorithm->id, name, list),
                        name, -1, err);
}

/* Writes the allowed range, such as "a finite number >= 0 and < 1". Returns the length of the
 * text. */
static size_t describe_range(const dn_param *param, const char *what, char *rule, size_t size) {
    char number[DN_NUMBER_SIZE];
    size_t n = (size_t)snprintf(rule, size, "%s", what);
    if (!isinf(param->minimum)) {
        n += (size_t)snprintf(rule + n, size - n, " %s %s", param->open_minimum ? ">" : ">=",
                              dni_number_text(param->minimum, number));
    }
    if (!isinf(param->maximum)) {
        n += (size_t)snprintf(rule + n, size - n, "%s %s %s", isinf(param->minimum) ? "" : " and",
                              param->open_maximum ? "<" : "<=",
                              dni_number_text(param->maximum, number));
    }
    return n;
}

/* Writes the rule for the values of a parameter, for an error message. */
static void describe_rule(const dn_param *param, char *rule, size_t size) {
    char list[200] = "";
    size_t n = 0;
    for (size_t i = 0; param->choices != NULL && param->choices[i] != NULL; i++) {
        append_name(list, sizeof list, param->choices[i]);
    }
    if (param->type == DN_PARAM_BOOLEAN) {
        snprintf(rule, size, "true or false");
    } else if (param->type == DN_PARAM_CHOICE) {
        snprintf(rule, size, "one of %s", list);
    } else if (param->type == DN_PARAM_LIST) {
        n = describe_range(param,
                           param->integers ? "a list of integers" : "a list of finite numbers",
                           rule, size);
        if (list[0] != '\0') {
            snprintf(rule + n, size - n,
                     strchr(list, ',') == NULL ? ", or \"%s\"" : ", or one of %s", list);
        }
    } else {
        n = describe_range(param,
                           param->type == DN_PARAM_INTEGER ? "an integer" : "a finite number", rule,
                           size);
        if (list[0] != '\0') {
            snprintf(rule + n, size - n, ", or one of %s", list);
        } else if (param->word != NULL) {
            snprintf(rule + n, size - n, " or %s\"%s\"", param->null_word != NULL ? "null = " : "",
                     param->word);
        }
    }
}

static dn_status refuse_value(const dn_param *param, const char *got, dn_error *err) {
    char rule[256] = "";
    describe_rule(param, rule, sizeof rule);
    return dni_error_at(dn_error_set(err, DN_ERR_ARGUMENT, "parameter \"%s\" must be %s (got %s)",
                                     param->name, rule, got),
                        param->name, -1, err);
}

static bool in_range(const dn_param *param, double value) {
    bool above = param->open_minimum ? value > param->minimum : value >= param->minimum;
    bool below = param->open_maximum ? value < param->maximum : value <= param->maximum;
    bool whole = param->type == DN_PARAM_INTEGER || param->integers;
    return isfinite(value) && above && below && (!whole || value == floor(value));
}

static void replace(dn_params *params, size_t i, dn_param_value value) {
    free(params->values[i].list);
    params->values[i] = value;
}

/* Returns the index of a parameter. SIZE_MAX: an argument is NULL, or there is no such parameter;
 * the error is set. */
static size_t find(const dn_params *params, const char *name, dn_error *err) {
    if (params == NULL || name == NULL) {
        (void)dni_argument_null(params == NULL ? "params" : "name", err);
        return SIZE_MAX;
    }
    const size_t i = index_of(params->algorithm, name);
    if (i == SIZE_MAX) {
        (void)refuse_name(params, name, err);
    }
    return i;
}

dn_status dn_params_set_number(dn_params *params, const char *name, double value, dn_error *err) {
    const size_t i = find(params, name, err);
    if (i == SIZE_MAX) {
        return DN_ERR_ARGUMENT;
    }
    const dn_param *param = &params->algorithm->params[i];
    bool numeric = param->type == DN_PARAM_NUMBER || param->type == DN_PARAM_INTEGER;
    if (!numeric || !in_range(param, value)) {
        char number[DN_NUMBER_SIZE], got[DN_NUMBER_SIZE + 24];
        dni_number_text(value, number);
        snprintf(got, sizeof got, "%s%s", number,
                 param->type == DN_PARAM_LIST ? ", which is not a list" : "");
        return refuse_value(param, got, err);
    }
    replace(params, i, (dn_param_value){.number = value});
    return DN_OK;
}

static dn_status refuse_length(const dn_param *param, size_t n, dn_error *err) {
    return dni_error_at(dn_error_set(err, DN_ERR_ARGUMENT,
                                     "parameter \"%s\" must have 1 to %d %s (got %zu)", param->name,
                                     DN_MAX_LIST, param->integers ? "integers" : "numbers", n),
                        param->name, -1, err);
}

dn_status dn_params_set_list(dn_params *params, const char *name, const double *values, size_t n,
                             dn_error *err) {
    const size_t i = find(params, name, err);
    if (i == SIZE_MAX) {
        return DN_ERR_ARGUMENT;
    }
    if (values == NULL && n > 0) {
        return dni_argument_null("values", err);
    }
    const dn_param *param = &params->algorithm->params[i];
    char got[DN_NUMBER_SIZE + 40] = "";
    if (param->type != DN_PARAM_LIST) {
        snprintf(got, sizeof got, "a list of %zu", n);
        return refuse_value(param, got, err);
    }
    if (n == 0 || n > DN_MAX_LIST) {
        return refuse_length(param, n, err);
    }
    for (size_t k = 0; k < n; k++) {
        if (in_range(param, values[k])) {
            continue;
        }
        char number[DN_NUMBER_SIZE];
        dni_number_text(values[k], number);
        snprintf(got, sizeof got, "%s at index %zu", number, k);
        return dni_error_at(refuse_value(param, got, err), NULL, (int64_t)k, err);
    }
    double *list = malloc(n * sizeof *list);
    if (list == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for a list of %zu numbers", n);
    }
    memcpy(list, values, n * sizeof *list);
    replace(params, i, (dn_param_value){.list = list, .n_list = n});
    return DN_OK;
}

dn_status dn_params_set_word(dn_params *params, const char *name, const char *word, dn_error *err) {
    const size_t i = find(params, name, err);
    if (i == SIZE_MAX) {
        return DN_ERR_ARGUMENT;
    }
    if (word == NULL) {
        return dni_argument_null("word", err);
    }
    const dn_param *param = &params->algorithm->params[i];
    const char *found = NULL;
    if (param->choices != NULL) {
        for (size_t k = 0; param->choices[k] != NULL; k++) {
            if (strcmp(param->choices[k], word) == 0) {
                found = param->choices[k];
            }
        }
    } else if (param->word != NULL && strcmp(param->word, word) == 0) {
        found = param->word;
    }
    if (found == NULL) {
        const char *similar =
            param->choices == NULL ? NULL : dni_suggest(param->choices, param->synonyms, word);
        char got[200];
        snprintf(got, sizeof got, "\"%.64s\"%s%s", word, similar == NULL ? "" : "; did you mean ",
                 similar == NULL ? "" : similar);
        return refuse_value(param, got, err);
    }
    replace(params, i, (dn_param_value){.number = param->default_number, .word = found});
    return DN_OK;
}

dn_status dn_params_set_boolean(dn_params *params, const char *name, bool value, dn_error *err) {
    const size_t i = find(params, name, err);
    if (i == SIZE_MAX) {
        return DN_ERR_ARGUMENT;
    }
    if (params->algorithm->params[i].type != DN_PARAM_BOOLEAN) {
        return refuse_value(&params->algorithm->params[i], value ? "true" : "false", err);
    }
    replace(params, i, (dn_param_value){.number = value ? 1.0 : 0.0});
    return DN_OK;
}

static const dn_param_value *value_of(const dn_params *params, const char *name) {
    static const dn_param_value none = {.number = (double)NAN};
    size_t i = index_of(params->algorithm, name);
    return i == SIZE_MAX ? &none : &params->values[i];
}

double dn_params_number(const dn_params *params, const char *name) {
    return value_of(params, name)->number;
}

bool dn_params_boolean(const dn_params *params, const char *name) {
    const double number = value_of(params, name)->number;
    return number != 0 && !isnan(number);
}

const char *dn_params_word(const dn_params *params, const char *name) {
    return value_of(params, name)->word;
}

const double *dn_params_list(const dn_params *params, const char *name, size_t *out_n) {
    const dn_param_value *value = value_of(params, name);
    *out_n = value->n_list;
    return value->list;
}

const dn_param *dn_algorithm_param(const dn_algorithm *algorithm, const char *name) {
    size_t i = index_of(algorithm, name);
    return i == SIZE_MAX ? NULL : &algorithm->params[i];
}

bool dn_params_has(const dn_params *params, const char *name) {
    return index_of(params->algorithm, name) != SIZE_MAX;
}
