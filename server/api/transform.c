/* POST …/transform: rows in, their coordinates along the model's directions out (Fisher's projection). Runs on a pool thread; NDJSON is taken by lines.c. */
#include "api/answer.h"
#include "api/handlers.h"
#include "api/instances.h"
#include "api/lines.h"
#include "api/support.h"

static bool put_rows(struct http_call *call, struct api_answer *a, const struct wire_instances *in, struct problem *problem) {
    bool beyond = false;
    for (size_t i = 0; i < in->n && !beyond;) {
        const size_t scored = api_answer_score(a, in, i, in->n - i, &beyond);
        for (size_t written = 0; written < scored;)
            written += api_answer_write(a, written, scored);
        i += scored;
        if (beyond)
            return api_answer_refuse_beyond(a, i, problem);
        if (http_gone(call))
            return problem_set(problem, PROBLEM_UNAVAILABLE,
                               "the transformation was given up: the client has closed its side, or the daemon is shutting down");
    }
    api_answer_end(a);
    return true;
}

static void transform(struct http_call *call, const struct serving_model *m, const struct wire_instances_options *options) {
    struct wire_instances in = {0};
    struct problem problem = {0};
    struct api_answer_options how = {.kind = API_COORDINATES};
    struct api_answer a = {0};
    struct buf body = {0};
    if (!api_answer_accept(call, WIRE_ANSWER_JSON, &how.format))
        return;
    bool good = api_instances_read(call, options, m->model, &in, &problem);
    how.n_rows = in.n;
    good = good && api_answer_begin(&a, m, &how, &body, &problem) && put_rows(call, &a, &in, &problem);
    if (good && how.format == WIRE_ANSWER_JSON)
        buf_putc(&body, '\n');
    if (good)
        http_reply(call, 200, api_answer_type(how.format), &body);
    else
        http_reply_problem(call, &problem);
    api_answer_done(&a);
    buf_done(&body);
    wire_instances_done(&in);
}

void api_model_transform(struct http_call *call) {
    static const char *const known[] = {"zero_based", NULL};
    struct api_app *app = api_app_of(call);
    struct wire_instances_options options;
    struct problem problem = {0};
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
    if (api_instances_options(call, false, &options)) {
        if (options.format == WIRE_INSTANCES_NDJSON)
            api_lines_answer(call, m, API_COORDINATES);
        else
            transform(call, m, &options);
    }
    serving_release(app->serving, m);
}
