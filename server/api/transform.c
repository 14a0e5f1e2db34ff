/* POST …/transform: rows in, their coordinates along the model's directions out (Fisher's projection). Runs on a pool thread. */
#include "api/handlers.h"
#include "api/instances.h"
#include "api/outputs.h"
#include "api/support.h"

#include <stdlib.h>

enum { SLICE = 256 };

/* Room for a slice's coordinates, and the workspace behind them. */
static double *room_for(const dn_model *model, size_t n_rows, struct problem *problem) {
    const size_t n_components = dn_model_n_components(model);
    if (n_rows > OUTPUTS_MAX_NUMBERS / n_components) {
        problem_set(problem, PROBLEM_ANSWER_TOO_LONG,
                    "%zu instances of %zu numbers each are more than the %d that one answer may hold: send them in parts", n_rows,
                    n_components, OUTPUTS_MAX_NUMBERS);
        return NULL;
    }
    double *room = calloc(SLICE * n_components + dn_model_workspace(model), sizeof *room);
    if (!room)
        problem_set(problem, PROBLEM_UNAVAILABLE, "no memory to transform %zu rows", n_rows);
    return room;
}

/* The rows as JSON arrays. false: problem. */
static bool put_rows(struct http_call *call, const dn_model *model, const struct wire_instances *in, struct buf *out,
                     struct problem *problem) {
    const size_t n_components = dn_model_n_components(model);
    double *z = room_for(model, in->n, problem);
    bool gone = false;
    if (!z)
        return false;
    for (size_t i = 0; i < in->n && !gone; i += SLICE) {
        const size_t n = in->n - i < SLICE ? in->n - i : SLICE;
        const size_t projected = dn_model_transform(model, in->raw + i * in->n_inputs, n, z + SLICE * n_components, z);
        if (projected < n) {
            free(z);
            return outputs_refuse_row(i + projected, "its coordinates", problem);
        }
        for (size_t k = 0; k < n; k++) {
            if (i + k > 0)
                buf_putc(out, ',');
            wire_numbers_write(z + k * n_components, n_components, out);
        }
        gone = http_gone(call);
    }
    free(z);
    return !gone || problem_set(problem, PROBLEM_UNAVAILABLE,
                                "the transformation was given up: the client has closed its side, or the daemon is shutting down");
}

static bool transform(struct http_call *call, const struct serving_model *m, struct buf *out, struct problem *problem) {
    struct wire_instances in = {0};
    struct json_writer w;
    if (dn_model_n_components(m->model) == 0)
        return problem_set(problem, PROBLEM_CONFLICT,
                           "model \"%s\" has no directions to project on: they come with algorithm \"fisher\" (its own is \"%s\"%s)",
                           m->name, dn_model_algorithm(m->model)->id, dn_model_n_machines(m->model) > 1 ? ", with several machines" : "");
    if (!api_instances_read(call, m->model, false, &in, problem))
        return false;
    json_writer_init(&w, out);
    json_begin_object(&w);
    json_kv_string(&w, "model", m->name);
    json_kv_int(&w, "version", m->version);
    json_kv_int(&w, "components", (int64_t)dn_model_n_components(m->model));
    json_put_key(&w, "rows");
    json_begin_array(&w);
    bool good = put_rows(call, m->model, &in, out, problem);
    json_end_array(&w);
    json_end_object(&w);
    wire_instances_done(&in);
    return good;
}

void api_model_transform(struct http_call *call) {
    static const char *const known[] = {NULL};
    struct api_app *app = api_app_of(call);
    struct problem problem = {0};
    struct buf body = {0};
    int64_t version;
    const char *name = api_model_path(call, &version);
    http_cache_control(call, "no-store");
    if (!name || !api_query_known(call, known))
        return;
    const struct serving_model *m = serving_get(app->serving, name, version, &problem);
    if (!m) {
        http_reply_problem(call, &problem);
        return;
    }
    if (transform(call, m, &body, &problem)) {
        api_reply_json(call, 200, &body);
    } else {
        buf_done(&body);
        http_reply_problem(call, &problem);
    }
    serving_release(app->serving, m);
}
