/* POST and GET …/predict: rows in; labels, probabilities, scores and what explains them out. Small calls on a model in memory are answered on the I/O thread;
 * large ones, and those that must wait for the model, on a pool thread. */
#include "api/handlers.h"
#include "api/instances.h"
#include "api/outputs.h"
#include "api/support.h"

#include <string.h>

/* On an I/O thread: a larger body, or more multiplications (a short body can stand for many wide rows), would hold it for too long. */
enum { ON_IO_BYTES = 256 * 1024, ON_IO_PRODUCTS = 4000000 };

/* Scores the rows and answers. False: too much work for an I/O thread, nothing was answered. */
static bool answer(struct http_call *call, const struct serving_model *m, const struct wire_instances *in, unsigned asked, bool pool) {
    const unsigned outputs = api_outputs_of(m->model, asked);
    struct problem problem = {0};
    struct outputs_room room;
    struct wire_predictions writer;
    struct buf body = {0};
    bool gone = false;
    if (!pool && (double)in->n * api_outputs_cost(m->model, outputs) > ON_IO_PRODUCTS)
        return false;
    if (!outputs_room_init(&room, m->model, outputs, in->n, &problem)) {
        http_reply_problem(call, &problem);
        return true;
    }
    wire_predictions_begin(&writer, m->model, m->name, m->version, outputs, &body);
    for (size_t i = 0; i < in->n && !gone && !body.failed; i += room.n) {
        const size_t n = in->n - i < room.n ? in->n - i : room.n;
        const size_t scored = dn_model_predict(m->model, in->raw + i * in->n_inputs, n, room.workspace, &room.rows);
        if (scored < n) {
            outputs_refuse_row(i + scored, "its scores", &problem);
            break;
        }
        wire_predictions_rows(&writer, n, &room.rows);
        gone = pool && http_gone(call);
    }
    wire_predictions_end(&writer);
    outputs_room_done(&room);
    if (problem.type != PROBLEM_NONE) {
        buf_done(&body);
        http_reply_problem(call, &problem);
    } else if (gone) {
        buf_done(&body);
        http_fail(call, PROBLEM_UNAVAILABLE, "the prediction was given up: the client has closed its side, or the daemon is shutting down");
    } else {
        api_reply_json(call, 200, &body);
    }
    return true;
}

static bool predict_body(struct http_call *call, const struct serving_model *m, bool pool) {
    struct wire_instances in = {0};
    struct problem problem = {0};
    unsigned asked;
    bool done = true;
    if (!api_outputs_read(call, &asked))
        return true;
    if (api_instances_read(call, m->model, false, &in, &problem))
        done = answer(call, m, &in, asked, pool);
    else
        http_reply_problem(call, &problem);
    wire_instances_done(&in);
    return done;
}

static bool predict_pairs(struct http_call *call, const struct serving_model *m, bool pool) {
    struct wire_instances in = {0};
    struct problem problem = {0};
    size_t n = http_query_count(call), n_pairs = 0;
    const char **names = arena_alloc(http_arena(call), (n + 1) * sizeof *names);
    const char **values = arena_alloc(http_arena(call), (n + 1) * sizeof *values);
    unsigned asked;
    bool done = true;
    if (!names || !values) {
        http_fail(call, PROBLEM_UNAVAILABLE, "no memory for the prediction");
        return true;
    }
    if (!api_outputs_read(call, &asked))
        return true;
    for (size_t i = 0; i < n; i++) {
        http_query_at(call, i, &names[n_pairs], &values[n_pairs]);
        n_pairs += strcmp(names[n_pairs], "output") != 0;
    }
    if (n - n_pairs > 1) {
        http_fail(call, PROBLEM_BAD_REQUEST, "query parameter \"output\" is given more than once");
        return true;
    }
    if (wire_instances_pairs(names, values, n_pairs, m->model, &in, &problem))
        done = answer(call, m, &in, asked, pool);
    else
        http_reply_problem(call, &problem);
    wire_instances_done(&in);
    return done;
}

/* False: it needs a pool thread. */
typedef bool predict_fn(struct http_call *call, const struct serving_model *m, bool pool);

static void on_pool(struct http_call *call, predict_fn *predict) {
    struct api_app *app = api_app_of(call);
    struct problem problem = {0};
    int64_t version;
    const char *name = api_model_path(call, &version);
    if (!name)
        return;
    const struct serving_model *m = serving_get(app->serving, name, version, &problem);
    if (!m) {
        http_reply_problem(call, &problem);
        return;
    }
    (void)predict(call, m, true);
    serving_release(app->serving, m);
}

/* False: the model is not in memory, or there is too much to do. */
static bool on_io(struct http_call *call, predict_fn *predict) {
    struct api_app *app = api_app_of(call);
    int64_t version;
    const char *name = api_model_path(call, &version);
    if (!name)
        return true;
    const struct serving_model *m = serving_try(app->serving, name, version);
    if (!m)
        return false;
    bool done = predict(call, m, false);
    serving_release(app->serving, m);
    return done;
}

static void body_on_pool(struct http_call *call) {
    on_pool(call, predict_body);
}

static void pairs_on_pool(struct http_call *call) {
    on_pool(call, predict_pairs);
}

void api_model_predict(struct http_call *call) {
    static const char *const known[] = {"output", NULL};
    size_t size;
    http_cache_control(call, "no-store");
    if (!api_query_known(call, known))
        return;
    http_body_bytes(call, &size);
    if (size > ON_IO_BYTES || !on_io(call, predict_body))
        http_defer(call, body_on_pool);
}

void api_model_predict_query(struct http_call *call) {
    http_cache_control(call, "no-store");
    if (!on_io(call, predict_pairs))
        http_defer(call, pairs_on_pool);
}
