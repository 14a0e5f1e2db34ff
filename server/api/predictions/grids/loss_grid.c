/* POST …/loss_grid: a loss over one or two weights of a linear model, on a stored dataset. Runs on
 * a pool thread. */
#include "api/handlers.h"
#include "api/predictions/evaluation.h"
#include "api/predictions/grids/grid_request.h"
#include "api/predictions/plan.h"
#include "api/predictions/work.h"
#include "api/support.h"
#include "base/json/json_read.h"
#include "base/nearest.h"
#include "formats/formats.h"
#include "jobs/documents.h"

#include <stdint.h>
#include <string.h>

enum { USUAL_STEPS = 101 };

static const char *const losses[] = {[DN_LOSS_CROSS_ENTROPY] = "cross_entropy",
                                     [DN_LOSS_SQUARED_ERROR] = "squared_error",
                                     [DN_LOSS_HINGE] = "hinge",
                                     [DN_LOSS_PERCEPTRON] = "perceptron",
                                     NULL};

struct request {
    struct http_call *call;
    const dn_model *model;
    dn_loss_grid_options options;
    const char *names[2];         /* names of the weights that vary */
    size_t classes[2], n_classes; /* classes of the score, as in "class" */
    dn_loss_grid *result;
    struct problem *problem;
};

/* ---- the class ---- */

/* Sets *out to the index of a class. */
static bool read_class(struct request *r, const char *parent, const char *key, const json_t *value,
                       size_t *out) {
    const dn_column_type type = dn_model_classes(r->model)->type;
    size_t k = SIZE_MAX;
    if (type == DN_NUMERIC && json_is_number(value)) {
        k = dn_model_class_of_number(r->model, json_number_value(value));
    } else if (type == DN_BOOLEAN && json_is_boolean(value)) {
        k = dn_model_class_of_number(r->model, json_is_true(value));
    } else if (type != DN_NUMERIC && type != DN_BOOLEAN && json_is_string(value)) {
        k = dn_model_class_of_text(r->model, json_string_value(value), json_string_length(value));
    }
    if (k == SIZE_MAX) {
        return json_refuse_value(r->problem, parent, key, "a class of the model", value);
    }
    *out = k;
    return true;
}

static bool read_classes(struct request *r, const json_t *value, bool pair) {
    if (!pair) {
        r->n_classes = 1;
        return read_class(r, "", "class", value, &r->classes[0]);
    }
    if (json_array_size(value) != 2) {
        return json_refuse_value(r->problem, "", "class",
                                 "an array of two classes, since a discriminant separates a pair",
                                 value);
    }
    r->n_classes = 2;
    return read_class(r, "/class", "0", json_array_get(value, 0), &r->classes[0]) &&
           read_class(r, "/class", "1", json_array_get(value, 1), &r->classes[1]);
}

/* Whether score i belongs to the classes of the request. */
static bool is_score_of(const struct request *r, size_t i) {
    size_t negative, positive;
    dn_decision_machine(dn_model_decision(r->model), dn_model_classes(r->model)->n, i, &negative,
                        &positive);
    if (positive == SIZE_MAX || negative == SIZE_MAX) {
        return (positive == SIZE_MAX ? i : positive) == r->classes[0];
    }
    return (negative == r->classes[0] && positive == r->classes[1]) ||
           (negative == r->classes[1] && positive == r->classes[0]);
}

/* Reads the member "class" and chooses the score whose weights vary. */
static void choose_score(struct request *r, const json_t *root) {
    const size_t n_classes = dn_model_classes(r->model)->n;
    const json_t *value = json_object_get(root, "class");
    size_t negative, positive, i = 0;
    dn_decision_machine(dn_model_decision(r->model), n_classes, 0, &negative, &positive);
    if (n_classes == 2) {
        if (value != NULL && !json_is_null(value)) {
            json_fault(r->problem, "", "class",
                       "is for models of three classes or more: two classes have one discriminant");
        }
        return;
    }
    if (value == NULL || json_is_null(value)) {
        json_fault(r->problem, "", "class",
                   "is missing: the model has %zu discriminants, listed by GET …/weights",
                   dn_model_n_scores(r->model));
        return;
    }
    if (!read_classes(r, value, negative != SIZE_MAX)) {
        return;
    }
    while (i < dn_model_n_scores(r->model) && !is_score_of(r, i)) {
        i++;
    }
    r->options.score = i;
    if (i == dn_model_n_scores(r->model)) {
        json_fault(r->problem, "", "class",
                   "must be a class or pair of classes of a discriminant of the model; GET "
                   "…/weights lists them");
    }
}

/* ---- the weights ---- */

/* Returns the index of a weight. A feature may have the name "intercept"; it then hides w0.
 * SIZE_MAX: there is no such weight; *nearest is set to the index of the weight with the most
 * similar name, or to SIZE_MAX. */
static size_t find_weight(const dn_encoder *encoder, const char *name, struct buf *text,
                          size_t *nearest) {
    const size_t d = dn_encoder_n_features(encoder);
    size_t best = SIZE_MAX;
    *nearest = SIZE_MAX;
    for (size_t j = 0; j <= d; j++) {
        const char *own = j < d ? answer_feature_name(encoder, j, text) : "intercept";
        if (own == NULL) {
            continue; /* no memory */
        }
        if (strcmp(own, name) == 0) {
            return j;
        }
        const size_t distance = nearest_distance(name, strlen(name), own, strlen(own));
        *nearest = distance < best ? j : *nearest;
        best = distance < best ? distance : best;
    }
    return SIZE_MAX;
}

static void read_name(struct request *r, const char *name, const char *place, dn_loss_axis *axis) {
    const dn_encoder *encoder = dn_model_encoder(r->model);
    struct buf text = {0};
    size_t nearest;
    axis->feature = find_weight(encoder, name, &text, &nearest);
    if (axis->feature == SIZE_MAX && nearest != SIZE_MAX) {
        const char *meant = nearest < dn_encoder_n_features(encoder)
                                ? answer_feature_name(encoder, nearest, &text)
                                : "intercept";
        json_fault(r->problem, place, "name",
                   "the model has no weight \"%.100s\"; did you mean \"%.100s\"?", name,
                   meant != NULL ? meant : "");
    } else if (axis->feature == SIZE_MAX) {
        json_fault(r->problem, place, "name",
                   "the model has no weight \"%.100s\": GET …/weights lists them in \"features\", "
                   "beside \"intercept\"",
                   name);
    } else if (r->options.n_axes == 1 && axis->feature == r->options.axis[0].feature) {
        json_fault(r->problem, place, "name", "\"%.100s\" varies already", name);
    }
    buf_done(&text);
}

static void read_values(struct request *r, const struct grid_axis *range, const char *place,
                        dn_loss_axis *axis) {
    if (!(range->from < range->to)) {
        json_fault(r->problem, place, "to", "makes the range empty (from %g to %g)", range->from,
                   range->to);
        return;
    }
    double *values = arena_alloc(http_arena(r->call), range->steps * sizeof *values);
    if (values == NULL) {
        problem_set(r->problem, PROBLEM_UNAVAILABLE, "no memory for %zu weights", range->steps);
        return;
    }
    for (size_t i = 0; i < range->steps; i++) {
        values[i] = grid_axis_at(range, i);
    }
    axis->values = values;
    axis->n_values = range->steps;
}

static void read_axis(struct request *r, const json_t *item, const char *place) {
    static const char *const known[] = {"name", "from", "to", "steps", NULL};
    struct grid_axis range = {0};
    dn_loss_axis axis = {0};
    int64_t steps = USUAL_STEPS;
    const char *name = NULL;
    if (!json_read_root(item, place, r->problem)) {
        return;
    }
    json_refuse_unknown(item, known, place, r->problem);
    const bool named = json_read_string(item, "name", true, place, &name, r->problem),
               begins = json_read_number(item, "from", true, place, &range.from, r->problem),
               ends = json_read_number(item, "to", true, place, &range.to, r->problem);
    json_read_int(item, "steps", false, place, 2, DN_MAX_LOSS_VALUES, &steps, r->problem);
    range.steps = (size_t)steps;
    if (named) {
        read_name(r, name, place, &axis);
    }
    if (begins && ends) {
        read_values(r, &range, place, &axis);
    }
    r->names[r->options.n_axes] = name;
    r->options.axis[r->options.n_axes++] = axis;
}

static void read_axes(struct request *r, const json_t *root) {
    static const char *const places[] = {"/weights/0", "/weights/1"};
    const json_t *list = NULL;
    if (!json_read_array(root, "weights", true, "", &list, r->problem)) {
        return;
    }
    const size_t n = json_array_size(list);
    if (n < 1 || n > 2) {
        json_fault(r->problem, "", "weights", "must have one or two weights, got %zu", n);
        return;
    }
    for (size_t a = 0; a < n; a++) {
        read_axis(r, json_array_get(list, a), places[a]);
    }
    const dn_loss_axis *axis = r->options.axis;
    if (n == 2 && axis[0].n_values * axis[1].n_values > DN_MAX_LOSS_POINTS) {
        json_fault(r->problem, "", "weights",
                   "%zu times %zu steps are more than the %d points of a grid: take fewer steps",
                   axis[0].n_values, axis[1].n_values, DN_MAX_LOSS_POINTS);
    }
}

/* ---- the answer ---- */

static void put_axis(const struct request *r, size_t a, struct json_writer *w) {
    const dn_loss_axis *axis = &r->options.axis[a];
    dn_linear linear = {0};
    (void)dn_model_linear(r->model, &linear);
    json_begin_object(w);
    json_kv_string(w, "name", r->names[a]);
    json_kv_double(w, "weight",
                   axis->feature < linear.n_features
                       ? linear.w[r->options.score * linear.n_features + axis->feature]
                       : linear.w0[r->options.score]);
    json_put_vector(w, "values", axis->values, axis->n_values);
    json_end_object(w);
}

static void put_class(const struct request *r, struct json_writer *w) {
    if (r->n_classes == 0) {
        return;
    }
    json_put_key(w, "class");
    if (r->n_classes == 2) {
        json_begin_array(w);
    }
    for (size_t i = 0; i < r->n_classes; i++) {
        jobs_class_write(dn_model_classes(r->model), r->classes[i], w);
    }
    if (r->n_classes == 2) {
        json_end_array(w);
    }
}

static void put_minimum(const struct request *r, struct json_writer *w) {
    const dn_loss_grid *g = r->result;
    const double at[2] = {r->options.axis[0].values[g->best % g->n_x],
                          r->options.n_axes == 2 ? r->options.axis[1].values[g->best / g->n_x] : 0};
    json_kv_begin_object(w, "minimum");
    json_put_vector(w, "weights", at, r->options.n_axes);
    json_kv_double(w, "value", g->value[g->best]);
    json_end_object(w);
}

static void reply(const struct request *r, const struct serving_model *m) {
    const dn_loss_grid *g = r->result;
    struct buf body = {0};
    struct json_writer w = json_writer_of(&body);
    json_begin_object(&w);
    json_kv_string(&w, "model", m->name);
    json_kv_int(&w, "version", m->version);
    json_kv_string(&w, "loss", losses[r->options.loss]);
    put_class(r, &w);
    json_kv_int(&w, "rows", (int64_t)g->n_rows);
    json_kv_begin_array(&w, "weights");
    for (size_t a = 0; a < r->options.n_axes; a++) {
        put_axis(r, a, &w);
    }
    json_end_array(&w);
    put_minimum(r, &w);
    if (r->options.n_axes == 2) {
        json_put_matrix(&w, "values", g->value, g->n_y, g->n_x);
    } else {
        json_put_vector(&w, "values", g->value, g->n_x);
    }
    json_end_object(&w);
    api_reply_json(r->call, 200, &body);
}

static dn_status compute(void *arg, const dn_table_source *table, const char *target,
                         const dn_run *run, dn_error *err) {
    struct request *r = arg;
    r->options.target = target;
    return dn_model_loss_grid(r->model, table, &r->options, run, &r->result, err);
}

/* Sets r->result or r->problem. */
static void make(struct request *r, const struct serving_model *m, const json_t *root) {
    static const char *const known[] = {"dataset", "weights", "loss", "class",
                                        "target",  "weight",  NULL};
    static const struct instances_options as_trained = {0};
    struct dataset_work work = {.schema = predict_plan_of(m)->schema,
                                .options = &as_trained,
                                .compute = compute,
                                .arg = r};
    size_t loss = DN_LOSS_CROSS_ENTROPY;
    if (!dn_model_has_loss_grid(r->model)) {
        problem_set(r->problem, PROBLEM_CONFLICT,
                    "model \"%s\" has no linear discriminants of classes with weights that can "
                    "vary (algorithm \"%s\", kind \"%s\")",
                    m->name, dn_model_algorithm(r->model)->id, dn_model_kind(r->model));
        return;
    }
    json_refuse_unknown(root, known, "", r->problem);
    json_read_string(root, "dataset", true, "", &work.dataset, r->problem);
    read_axes(r, root);
    json_read_choice(root, "loss", false, "", losses, &loss, r->problem);
    choose_score(r, root);
    json_read_string(root, "target", false, "", &work.target, r->problem);
    json_read_string(root, "weight", false, "", &work.weight, r->problem);
    r->options.loss = (dn_loss)loss;
    r->options.weight = work.weight;
    if (!r->problem->type) {
        (void)api_dataset_work(r->call, r->model, &work, r->problem);
    }
}

void api_model_loss_grid(struct http_call *call) {
    struct problem problem = {0};
    const struct serving_model *m = api_model_take(call);
    if (m == NULL) {
        return;
    }
    if (!api_may_work(call, api_stored_work(call, m, USUAL_STEPS * USUAL_STEPS),
                      api_model_loss_grid)) {
        serving_release(api_app_of(call)->serving, m);
        return;
    }
    struct request r = {.call = call, .model = m->model, .problem = &problem};
    json_t *root = api_body_object(call);
    if (root != NULL) {
        make(&r, m, root);
        if (r.result != NULL) {
            reply(&r, m);
        } else {
            http_reply_problem(call, &problem);
        }
    }
    dn_loss_grid_free(r.result);
    json_decref(root);
    serving_release(api_app_of(call)->serving, m);
}
