/* Names of parameters, and parameters as JSON. */
#include "jobs/request/params.h"

#include "base/json/json.h"
#include "base/json/json_write.h"
#include "jobs/documents.h"
#include <stdio.h>
#include <string.h>

const char *jobs_param_member(const dn_param *param) {
    const char *dot = strchr(param->name, '.');
    return dot ? dot + 1 : NULL;
}

bool jobs_param_belongs(const dn_param *param, const char *owner) {
    const size_t n = strlen(owner);
    return strncmp(param->name, owner, n) == 0 && param->name[n] == '.';
}

bool jobs_param_is_object(const dn_algorithm *algorithm, const char *name) {
    for (size_t i = 0; i < algorithm->n_params; i++) {
        if (jobs_param_belongs(&algorithm->params[i], name)) {
            return true;
        }
    }
    return false;
}

const dn_param *jobs_param_owner(const dn_algorithm *algorithm, size_t i) {
    for (size_t k = 0; k < algorithm->n_params; k++) {
        if (jobs_param_belongs(&algorithm->params[i], algorithm->params[k].name)) {
            return &algorithm->params[k];
        }
    }
    return NULL;
}

uint64_t jobs_param_choices(const dn_algorithm *algorithm, size_t i) {
    const dn_param *owner = jobs_param_owner(algorithm, i);
    dn_params *params = NULL;
    uint64_t choices = 0;
    if (!owner || dn_params_new(algorithm, &params, NULL) != DN_OK) {
        return 0;
    }
    for (size_t k = 0; owner->choices && owner->choices[k] && k < 64; k++) {
        if (dn_params_set_word(params, owner->name, owner->choices[k], NULL) == DN_OK &&
            dn_params_applies(params, i)) {
            choices |= UINT64_C(1) << k;
        }
    }
    dn_params_free(params);
    return choices;
}

void jobs_param_pointer(const char *name, char out[JOBS_POINTER_SIZE]) {
    (void)snprintf(out, JOBS_POINTER_SIZE, "/params/%s", name);
    char *dot = strchr(out, '.');
    if (dot != NULL) {
        *dot = '/';
    }
}

/* Writes a square matrix as a list of its rows. */
static void matrix_put(const double *numbers, size_t n, struct json_writer *w) {
    size_t width = 0;
    while ((width + 1) * (width + 1) <= n) {
        width++;
    }
    json_put_matrix(w, NULL, numbers, width, width);
}

static void value_put(const dn_param *param, const dn_param_value *value, struct json_writer *w) {
    if (value->word && param->null_word && strcmp(value->word, param->null_word) == 0) {
        json_put_null(w);
    } else if (value->word) {
        json_put_string(w, value->word);
    } else if (value->list && param->matrix) {
        matrix_put(value->list, value->n_list, w);
    } else if (value->list) {
        json_put_vector(w, NULL, value->list, value->n_list);
    } else if (param->type == DN_PARAM_BOOLEAN) {
        json_put_bool(w, value->number != 0);
    } else {
        json_put_double(w, value->number);
    }
}

static void object_put(const dn_params *params, size_t owner, struct json_writer *w) {
    const dn_algorithm *a = params->algorithm;
    json_begin_object(w);
    json_put_key(w, "type");
    value_put(&a->params[owner], &params->values[owner], w);
    for (size_t i = 0; i < a->n_params; i++) {
        if (jobs_param_belongs(&a->params[i], a->params[owner].name) &&
            dn_params_applies(params, i)) {
            json_put_key(w, jobs_param_member(&a->params[i]));
            value_put(&a->params[i], &params->values[i], w);
        }
    }
    json_end_object(w);
}

void jobs_params_write(const dn_params *params, struct buf *out) {
    const dn_algorithm *a = params->algorithm;
    struct json_writer w = json_writer_of(out);
    json_begin_object(&w);
    for (size_t i = 0; i < a->n_params; i++) {
        if (jobs_param_member(&a->params[i]) || !dn_params_applies(params, i)) {
            continue;
        }
        json_put_key(&w, a->params[i].name);
        if (jobs_param_is_object(a, a->params[i].name)) {
            object_put(params, i, &w);
        } else {
            value_put(&a->params[i], &params->values[i], &w);
        }
    }
    json_end_object(&w);
}
