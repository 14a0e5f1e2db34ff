/* Parses parameters from a string such as "C=10 kernel=rbf layers=8,4". */
#include "base/argument.h"
#include "catalogue/suggest.h"
#include <discern/simple.h>
#include <discern/table.h>

#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n"

/* State of dn_params_set_words. */
struct words {
    dn_params *params;  /* a copy of the parameters of the caller */
    bool *given;        /* [n_params] true: the parameter occurs in the string */
    const char **names; /* [n_params + 1] names of all parameters, for suggestions;
                         * NULL-terminated */
    double *list;       /* the numbers of the list being parsed; large enough for the longest
                         * possible list */
};

/* Finds a parameter by name; "kernel.type" finds "kernel". Returns NULL if there is none. */
static const dn_param *find(const dn_algorithm *algorithm, const char *name) {
    static const char type[] = ".type";
    const size_t length = strlen(name), end = sizeof type - 1;
    const dn_param *param = dn_algorithm_param(algorithm, name);
    if (param != NULL || length <= end || strcmp(name + length - end, type) != 0) {
        return param;
    }
    for (size_t i = 0; i < algorithm->n_params; i++) {
        const dn_param *p = &algorithm->params[i];
        if (p->choices != NULL && strlen(p->name) == length - end &&
            strncmp(p->name, name, length - end) == 0) {
            return p;
        }
    }
    return NULL;
}

/* Finds a parameter by the part of its name after the dot: "width" finds "kernel.width". */
static const char *find_member(const dn_algorithm *algorithm, const char *name) {
    for (size_t i = 0; i < algorithm->n_params; i++) {
        const char *dot = strchr(algorithm->params[i].name, '.');
        if (dot != NULL && strcmp(dot + 1, name) == 0) {
            return algorithm->params[i].name;
        }
    }
    return NULL;
}

static dn_status refuse_name(const struct words *w, const char *name, dn_error *err) {
    const dn_algorithm *algorithm = w->params->algorithm;
    const char *similar = find_member(algorithm, name);
    if (similar == NULL) {
        similar = dni_suggest(w->names, NULL, name);
    }
    if (similar == NULL) {
        /* sets the error for an unknown name, with the list of all parameters */
        return dn_params_set_number(w->params, name, 0, err);
    }
    return dni_error_at(
        dn_error_set(err, DN_ERR_ARGUMENT,
                     "algorithm \"%s\" has no parameter \"%.64s\"; did you mean %s?", algorithm->id,
                     name, similar),
        name, -1, err);
}

static bool is_number(const char *text, double *out) {
    return dn_number_parse(text, strlen(text), out);
}

/* Sets a parameter of type list from text such as "8,4". A single number is a list with one
 * element; a word is a choice. */
static dn_status set_list(struct words *w, const dn_param *param, char *value, dn_error *err) {
    if (strchr(value, ',') == NULL && !is_number(value, w->list)) {
        return dn_params_set_word(w->params, param->name, value, err);
    }
    size_t n = 0;
    for (char *item = value, *next; item != NULL; item = next, n++) {
        next = strchr(item, ',');
        if (next != NULL) {
            *next++ = '\0';
        }
        if (!is_number(item, &w->list[n])) {
            return dni_error_at(
                dn_error_set(err, DN_ERR_ARGUMENT,
                             "parameter \"%s\" must be a list of %s (got \"%.64s\" at index %zu)",
                             param->name, param->integers ? "integers" : "finite numbers", item, n),
                param->name, (int64_t)n, err);
        }
    }
    return dn_params_set_list(w->params, param->name, w->list, n, err);
}

static dn_status set_value(struct words *w, const dn_param *param, char *value, dn_error *err) {
    double number;
    switch (param->type) {
    case DN_PARAM_LIST:
        return set_list(w, param, value, err);
    case DN_PARAM_BOOLEAN:
        if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0) {
            return dn_params_set_boolean(w->params, param->name, *value == 't', err);
        }
        break;
    case DN_PARAM_NUMBER:
    case DN_PARAM_INTEGER:
        if (is_number(value, &number)) {
            return dn_params_set_number(w->params, param->name, number, err);
        }
        break;
    case DN_PARAM_CHOICE:
        break;
    }
    return dn_params_set_word(w->params, param->name, value, err);
}

static dn_status set_word(struct words *w, char *word, dn_error *err) {
    char *value = strchr(word, '=');
    if (value == NULL || value == word || value[1] == '\0') {
        return dn_error_set(err, DN_ERR_ARGUMENT,
                            "parameters must be name=value, separated by blanks (got \"%.64s\")",
                            word);
    }
    *value++ = '\0';
    const dn_param *param = find(w->params->algorithm, word);
    if (param == NULL) {
        return refuse_name(w, word, err);
    }
    bool *given = &w->given[param - w->params->algorithm->params];
    if (*given) {
        return dni_error_at(dn_error_set(err, DN_ERR_ARGUMENT, "parameter \"%s\" is given twice",
                                         param->name),
                            param->name, -1, err);
    }
    *given = true;
    return set_value(w, param, value, err);
}

static dn_status check_effects(const struct words *w, dn_error *err) {
    const dn_algorithm *algorithm = w->params->algorithm;
    for (size_t i = 0; i < algorithm->n_params; i++) {
        const dn_param *param = &algorithm->params[i];
        if (w->given[i] && !dn_params_applies(w->params, i)) {
            return dni_error_at(dn_error_set(err, DN_ERR_ARGUMENT,
                                             "parameter \"%s\" has no effect with the given values "
                                             "of the other parameters: omit it%s%s",
                                             param->name, param->hint == NULL ? "" : "; ",
                                             param->hint == NULL ? "" : param->hint),
                                param->name, -1, err);
        }
    }
    return DN_OK;
}

static dn_status set_all(struct words *w, char *text, dn_error *err) {
    dn_status status = DN_OK;
    for (char *word = text + strspn(text, BLANKS); *word != '\0' && status == DN_OK;) {
        char *end = word + strcspn(word, BLANKS);
        char *next = end + strspn(end, BLANKS);
        *end = '\0';
        status = set_word(w, word, err);
        word = next;
    }
    if (status != DN_OK) {
        return status;
    }
    status = check_effects(w, err);
    return status == DN_OK ? dn_params_check(w->params, err) : status;
}

dn_status dn_params_set_words(dn_params *params, const char *words, dn_error *err) {
    dn_status status = dni_argument_not_null(params, "params", err);
    if (status != DN_OK) {
        return status;
    }
    words = words == NULL ? "" : words;
    const dn_algorithm *algorithm = params->algorithm;
    const size_t n = algorithm->n_params, length = strlen(words);
    struct words w = {.params = NULL};
    char *text = malloc(length + 1);
    w.given = calloc(n + 1, sizeof *w.given);
    w.names = calloc(n + 1, sizeof *w.names);
    /* each number of a list takes at least two bytes with its comma */
    w.list = malloc((length / 2 + 1) * sizeof *w.list);
    if (text == NULL || w.given == NULL || w.names == NULL || w.list == NULL) {
        status =
            dn_error_set(err, DN_ERR_MEMORY, "no memory for the parameters of %s", algorithm->id);
        goto cleanup;
    }
    memcpy(text, words, length + 1);
    for (size_t i = 0; i < n; i++) {
        w.names[i] = algorithm->params[i].name;
    }
    status = dn_params_copy(params, &w.params, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = set_all(&w, text, err);
    if (status == DN_OK) {
        dn_param_value *set = w.params->values;
        w.params->values = params->values;
        params->values = set;
    }
cleanup:
    dn_params_free(w.params);
    free(w.list);
    free(w.names);
    free(w.given);
    free(text);
    return status;
}
