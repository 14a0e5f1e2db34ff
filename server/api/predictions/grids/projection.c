/* POST …/projection_curve: Fisher's criterion over the angle in the plane of two columns of a
 * stored dataset. Runs on a pool thread. */
#include "api/handlers.h"
#include "api/predictions/evaluation.h"
#include "api/predictions/plan.h"
#include "api/predictions/work.h"
#include "api/support.h"
#include "base/json/json_read.h"

#include <string.h>

enum { USUAL_STEPS = 181 };

struct curve {
    const dn_model *model;
    dn_projection_options options;
    dn_projection *result;
};

static dn_status compute(void *arg, const dn_table_source *table, const char *target,
                         const dn_run *run, dn_error *err) {
    struct curve *c = arg;
    c->options.target = target;
    return dn_model_projection(c->model, table, &c->options, run, &c->result, err);
}

static void reply(struct http_call *call, const struct serving_model *m, const struct curve *c) {
    const dn_projection *p = c->result;
    struct buf body = {0};
    struct json_writer w = json_writer_of(&body);
    json_begin_object(&w);
    json_kv_string(&w, "model", m->name);
    json_kv_int(&w, "version", m->version);
    json_kv_begin_array(&w, "columns");
    json_put_string(&w, c->options.column[0]);
    json_put_string(&w, c->options.column[1]);
    json_end_array(&w);
    json_kv_int(&w, "rows", (int64_t)p->n_rows);
    json_kv_begin_object(&w, "maximum");
    json_kv_double(&w, "angle", p->best_angle);
    json_kv_double(&w, "criterion", p->best_value);
    json_end_object(&w);
    json_put_vector(&w, "angles", p->angle, p->n_angles);
    json_put_vector(&w, "criterion", p->value, p->n_angles);
    json_end_object(&w);
    api_reply_json(call, 200, &body);
}

/* Reads the columns of the plane. */
static void read_columns(struct http_call *call, const json_t *root, struct curve *c,
                         struct problem *problem) {
    const char **names = NULL;
    size_t n = 0;
    if (!json_read_strings(root, "columns", true, "", 2, http_arena(call), &names, &n, problem)) {
        return;
    }
    if (n != 2 || strcmp(names[0], names[1]) == 0) {
        json_fault(problem, "", "columns", "must be the names of two different columns");
        return;
    }
    c->options.column[0] = names[0];
    c->options.column[1] = names[1];
}

static bool make(struct http_call *call, const json_t *root, const struct serving_model *m,
                 struct curve *c, struct problem *problem) {
    static const char *const known[] = {"dataset", "columns", "steps", "target", "weight", NULL};
    static const struct instances_options as_trained = {0};
    struct dataset_work work = {.schema = predict_plan_of(m)->schema,
                                .options = &as_trained,
                                .columns = c->options.column,
                                .n_columns = 2,
                                .compute = compute,
                                .arg = c};
    int64_t steps = USUAL_STEPS;
    json_refuse_unknown(root, known, "", problem);
    json_read_string(root, "dataset", true, "", &work.dataset, problem);
    read_columns(call, root, c, problem);
    json_read_int(root, "steps", false, "", 2, DN_MAX_ANGLES, &steps, problem);
    json_read_string(root, "target", false, "", &work.target, problem);
    json_read_string(root, "weight", false, "", &work.weight, problem);
    c->options.n_angles = (size_t)steps;
    c->options.weight = work.weight;
    return !problem->type && api_dataset_work(call, c->model, &work, problem);
}

void api_model_projection_curve(struct http_call *call) {
    struct problem problem = {0};
    const struct serving_model *m = api_model_take(call);
    if (m == NULL) {
        return;
    }
    if (!api_may_work(call, api_stored_work(call, m, USUAL_STEPS), api_model_projection_curve)) {
        serving_release(api_app_of(call)->serving, m);
        return;
    }
    struct curve c = {.model = m->model};
    json_t *root = api_body_object(call);
    if (root != NULL) {
        if (make(call, root, m, &c, &problem)) {
            reply(call, m, &c);
        } else {
            http_reply_problem(call, &problem);
        }
    }
    dn_projection_free(c.result);
    json_decref(root);
    serving_release(api_app_of(call)->serving, m);
}
