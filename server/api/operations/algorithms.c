/* The catalogue of algorithms, written from the descriptors of the library. */
#include "api/handlers.h"
#include "api/support.h"
#include "base/nearest.h"
#include "jobs/request/param_needs.h"
#include "jobs/request/params.h"

#include <discern/algorithm.h>
#include <math.h>
#include <string.h>

static const char *type_name(dn_param_type type) {
    switch (type) {
    case DN_PARAM_NUMBER:
        return "number";
    case DN_PARAM_INTEGER:
        return "integer";
    case DN_PARAM_BOOLEAN:
        return "boolean";
    case DN_PARAM_LIST:
        return "list";
    case DN_PARAM_CHOICE:
        break;
    }
    return "choice";
}

static void put_default(struct json_writer *w, const dn_param *p) {
    json_put_key(w, "default");
    if (p->default_choice) {
        json_put_string(w, p->default_choice);
    } else if (p->type == DN_PARAM_BOOLEAN) {
        json_put_bool(w, p->default_number != 0);
    } else {
        json_put_double(w, p->default_number);
    }
}

static void put_choices(struct json_writer *w, const dn_param *p) {
    json_kv_begin_array(w, "choices");
    for (size_t i = 0; p->choices[i]; i++) {
        json_put_string(w, p->choices[i]);
    }
    json_end_array(w);
    if (!p->choice_meanings) {
        return;
    }
    json_kv_begin_object(w, "choice_meanings");
    for (size_t i = 0; p->choices[i]; i++) {
        json_kv_string(w, p->choices[i], p->choice_meanings[i]);
    }
    json_end_object(w);
}

/* Writes the bounds of a parameter; an infinite bound is null. */
static void put_range(struct json_writer *w, const dn_param *p) {
    json_kv_double(w, "minimum", p->minimum);
    json_kv_double(w, "maximum", p->maximum);
    json_kv_bool(w, "exclusive_minimum", p->open_minimum && isfinite(p->minimum));
    json_kv_bool(w, "exclusive_maximum", p->open_maximum && isfinite(p->maximum));
    if (p->type == DN_PARAM_LIST) {
        return;
    }
    json_kv_string(w, "word", p->word);
    if (p->null_word) {
        json_kv_string(w, "null_means", p->null_word);
    }
}

/* Writes the members that all parameters have, except name and type. */
static void put_rest(struct json_writer *w, const dn_param *p) {
    put_default(w, p);
    if (p->choices) {
        put_choices(w, p);
    }
    if (p->type != DN_PARAM_CHOICE && p->type != DN_PARAM_BOOLEAN) {
        put_range(w, p);
    }
    if (p->type == DN_PARAM_LIST) {
        json_kv_bool(w, "distribution", p->distribution);
        json_kv_bool(w, "matrix", p->matrix);
        json_kv_bool(w, "integers", p->integers);
    }
    json_kv_string(w, "meaning", p->meaning);
}

/* Writes the types of the object that use the member with index i. */
static void put_types(struct json_writer *w, const dn_algorithm *a, const dn_param *owner,
                      size_t i) {
    const uint64_t choices = jobs_param_choices(a, i);
    json_kv_begin_array(w, "applies_to");
    for (size_t k = 0; k < 64 && choices >> k; k++) {
        if (choices >> k & 1) {
            json_put_string(w, owner->choices[k]);
        }
    }
    json_end_array(w);
}

static void put_members(struct json_writer *w, const dn_algorithm *a, const dn_param *owner) {
    json_kv_begin_array(w, "members");
    for (size_t i = 0; i < a->n_params; i++) {
        const dn_param *p = &a->params[i];
        if (!jobs_param_belongs(p, owner->name)) {
            continue;
        }
        json_begin_object(w);
        json_kv_string(w, "name", jobs_param_member(p));
        json_kv_string(w, "type", type_name(p->type));
        put_types(w, a, owner, i);
        put_rest(w, p);
        json_end_object(w);
    }
    json_end_array(w);
}

/* Writes the choices of other parameters that parameter i needs, if it needs any. */
static void put_needs(struct json_writer *w, const dn_algorithm *a, size_t i) {
    bool begun = false;
    for (size_t of = 0; of < a->n_params; of++) {
        const uint64_t choices = jobs_param_needs(a, i, of);
        if (choices == 0) {
            continue;
        }
        if (!begun) {
            json_kv_begin_object(w, "needs");
            begun = true;
        }
        json_kv_begin_array(w, a->params[of].name);
        for (size_t k = 0; k < 64 && choices >> k; k++) {
            if (choices >> k & 1) {
                json_put_string(w, a->params[of].choices[k]);
            }
        }
        json_end_array(w);
    }
    if (begun) {
        json_end_object(w);
    }
}

static void put_param(struct json_writer *w, const dn_algorithm *a, size_t i) {
    const dn_param *p = &a->params[i];
    const bool object = jobs_param_is_object(a, p->name);
    json_begin_object(w);
    json_kv_string(w, "name", p->name);
    json_kv_string(w, "type", object ? "object" : type_name(p->type));
    put_rest(w, p);
    put_needs(w, a, i);
    if (object) {
        put_members(w, a, p);
    }
    json_end_object(w);
}

/* Writes the values of ?output= for models of the algorithm. */
static void put_outputs(struct json_writer *w, const dn_algorithm *a) {
    const struct {
        const char *name;
        bool offered;
    } outputs[] = {
        {"label", true},
        {"probabilities",
         (a->flags & DN_ALGORITHM_PROBABILITIES) || dn_algorithm_param(a, "calibrate") != NULL},
        {"scores", true},
        {"distance", !(a->flags & DN_ALGORITHM_NONLINEAR)},
        {"contributions", !(a->flags & DN_ALGORITHM_NOT_ADDITIVE)},
        {"ambiguous", dn_algorithm_param(a, "multiclass") != NULL},
        {"log_density", a->flags & DN_ALGORITHM_DENSITY},
        {"prior", a->flags & DN_ALGORITHM_DENSITY},
        {"posterior", a->flags & DN_ALGORITHM_DENSITY},
    };
    json_kv_begin_array(w, "outputs");
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        if (outputs[i].offered) {
            json_put_string(w, outputs[i].name);
        }
    }
    json_end_array(w);
}

static void put_algorithm(struct json_writer *w, const dn_algorithm *a) {
    json_begin_object(w);
    json_kv_string(w, "id", a->id);
    json_kv_string(w, "title", a->title);
    json_kv_string(w, "summary", a->summary);
    json_kv_string(w, "source", a->source);
    json_kv_string(w, "stopping_rule", a->stopping_rule);
    json_kv_bool(w, "needs_target", (a->flags & DN_ALGORITHM_TARGET) != 0);
    json_kv_bool(w, "probabilities", (a->flags & DN_ALGORITHM_PROBABILITIES) != 0);
    json_kv_bool(w, "standardizes", (a->flags & DN_ALGORITHM_STANDARDIZE) != 0);
    json_kv_bool(w, "streams", (a->flags & DN_ALGORITHM_STREAMS) != 0);
    json_kv_bool(w, "transform", (a->flags & DN_ALGORITHM_TRANSFORM) != 0);
    put_outputs(w, a);
    json_kv_begin_array(w, "parameters");
    for (size_t i = 0; i < a->n_params; i++) {
        if (!jobs_param_member(&a->params[i])) {
            put_param(w, a, i);
        }
    }
    json_end_array(w);
    json_end_object(w);
}

static void write_item(const void *arg, size_t i, struct json_writer *w) {
    (void)arg;
    put_algorithm(w, dn_algorithm_at(i));
}

void api_algorithms_list(struct http_call *call) {
    static const char *const fields[] = {"id",
                                         "title",
                                         "summary",
                                         "source",
                                         "stopping_rule",
                                         "needs_target",
                                         "probabilities",
                                         "standardizes",
                                         "streams",
                                         "transform",
                                         "outputs",
                                         "parameters",
                                         NULL};
    static const char *const long_members[] = {NULL};
    api_items_reply(call, &(struct api_items){.n = dn_algorithm_count(),
                                              .write = write_item,
                                              .fields = fields,
                                              .long_members = long_members});
}

void api_algorithm_get(struct http_call *call) {
    struct buf body = {0};
    const char *id = http_path_param(call, "algorithm");
    const dn_algorithm *a = dn_algorithm_find(id);
    if (!a) {
        struct nearest nearest = nearest_to(id, strlen(id));
        for (size_t i = 0; i < dn_algorithm_count(); i++) {
            nearest_offer(&nearest, dn_algorithm_at(i)->id, strlen(dn_algorithm_at(i)->id));
        }
        http_fail(call, PROBLEM_UNKNOWN_ALGORITHM, "there is no algorithm \"%s\"%s", id,
                  nearest.hint);
        return;
    }
    struct json_writer w = json_writer_of(&body);
    put_algorithm(&w, a);
    api_reply_json(call, 200, &body);
}
