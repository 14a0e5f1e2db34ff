/* POST and GET …/predict: labels, probabilities, scores and contributions for rows. A small call
 * is answered on the I/O thread if the model is in memory, otherwise on a pool thread. lines.c
 * answers NDJSON. */
#include "api/handlers.h"
#include "api/policy.h"
#include "api/predictions/answer.h"
#include "api/predictions/instances.h"
#include "api/predictions/lines.h"
#include "api/predictions/plan.h"
#include "api/predictions/score.h"
#include "api/predictions/stored_rows.h"
#include "api/support.h"

#include <string.h>

/* Maximum size of a body that is parsed on an I/O thread. */
enum { ON_IO_BYTES = 256 * 1024 };

static bool predict_body(struct http_call *call, const struct serving_model *m, bool pool) {
    struct instances_options options;
    struct api_answer_options how = {.kind = API_PREDICTIONS,
                                     .format = api_reply_format(call, &format_json)};
    const bool stored = api_stored_rows_named(call);
    if (stored && !pool) {
        return false;
    }
    if (!stored && !api_instances_options(call, false, &options)) {
        return true;
    }
    if (!stored && options.format->instances->lines) {
        if (pool) {
            api_lines_answer(call, m, API_PREDICTIONS);
        }
        return pool;
    }
    if (!api_outputs_read(call, &how.outputs) || !api_decision_read(call, &how.labels) ||
        !api_explain_read(call, how.outputs, &how.explain)) {
        return true;
    }
    if (stored) {
        api_stored_rows(call, m, &how);
        return true;
    }
    struct keep keep;
    if (!api_instances_keep(call, &keep, &how.keep)) {
        return true;
    }
    const bool done = api_score_body(call, m, &options, &how, pool);
    keep_done(&keep);
    return done;
}

static bool predict_pairs(struct http_call *call, const struct serving_model *m, bool pool) {
    struct instance_rows in = {0};
    struct problem problem = {0};
    size_t n = http_query_count(call), n_pairs = 0;
    const char **names = arena_alloc(http_arena(call), (n + 1) * sizeof *names);
    const char **values = arena_alloc(http_arena(call), (n + 1) * sizeof *values);
    struct api_answer_options how = {.kind = API_PREDICTIONS,
                                     .format = api_reply_format(call, &format_json)};
    bool done = true;
    if (!names || !values) {
        http_fail(call, PROBLEM_UNAVAILABLE, "no memory for the prediction");
        return true;
    }
    if (!api_outputs_read(call, &how.outputs)) {
        return true;
    }
    for (size_t i = 0; i < n; i++) {
        http_query_at(call, i, &names[n_pairs], &values[n_pairs]);
        n_pairs += strcmp(names[n_pairs], "output") != 0;
    }
    if (n - n_pairs > 1) {
        http_fail(call, PROBLEM_BAD_REQUEST, "query parameter \"output\" is given more than once");
        return true;
    }
    if (instances_read_pairs(names, values, n_pairs, m->model, predict_plan_of(m)->schema, &in,
                             &problem)) {
        done = api_score_rows(call, m, &in, &how, pool);
    } else {
        http_reply_problem(call, &problem);
    }
    instance_rows_done(&in);
    return done;
}

/* Answers the call. Returns false if it must run on a pool thread. */
typedef bool predict_fn(struct http_call *call, const struct serving_model *m, bool pool);

static void on_pool(struct http_call *call, predict_fn *predict) {
    const struct serving_model *m = api_model_take(call);
    if (!m) {
        return;
    }
    (void)predict(call, m, true);
    serving_release(api_app_of(call)->serving, m);
}

/* Returns false if the model is not in memory or the call takes too long for an I/O thread. */
static bool on_io(struct http_call *call, predict_fn *predict) {
    struct api_app *app = api_app_of(call);
    const struct serving_model *m =
        serving_try(app->serving, http_path_param(call, "model"), api_path_number(call, "version"));
    if (!m) {
        return false;
    }
    bool done = !predict_plan_of(m)->costly_texts && predict(call, m, false);
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
    size_t size;
    http_body_bytes(call, &size);
    if (size > ON_IO_BYTES || !on_io(call, predict_body)) {
        http_defer(call, body_on_pool);
    }
}

void api_model_predict_query(struct http_call *call) {
    if (!on_io(call, predict_pairs)) {
        http_defer(call, pairs_on_pool);
    }
}
