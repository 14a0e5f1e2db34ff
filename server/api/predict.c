/* POST and GET …/predict: rows in, labels, probabilities and scores out. Small calls on a model in memory are answered on the I/O thread; large ones, and
 * those that must wait for the model, on a pool thread. */
#include "api/handlers.h"
#include "api/support.h"
#include "wire/wire.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* On an I/O thread: a larger body, or more multiplications (a short body can stand for many wide rows), would hold it for too long. In one answer: a short
 * row of a model with many classes answers with far more numbers than it brought. */
enum { ON_IO_BYTES = 256 * 1024, ON_IO_PRODUCTS = 4000000, MAX_NUMBERS = 4 * 1024 * 1024 };

enum output { OUTPUT_LABEL = 1, OUTPUT_PROBABILITIES = 2, OUTPUT_SCORES = 4 };
static const struct {
    const char *name;
    unsigned bit;
} outputs[] = {{"label", OUTPUT_LABEL}, {"probabilities", OUTPUT_PROBABILITIES}, {"scores", OUTPUT_SCORES}};
enum { N_OUTPUTS = sizeof outputs / sizeof outputs[0] };

/* ?output=label,scores. */
static bool read_outputs(struct http_call *call, unsigned *out) {
    const char *text = http_query(call, "output");
    unsigned bits = 0;
    if (!text) {
        *out = OUTPUT_LABEL | OUTPUT_PROBABILITIES;
        return true;
    }
    for (const char *at = text;; at++) {
        size_t n = strcspn(at, ","), i = 0;
        while (i < N_OUTPUTS && (strlen(outputs[i].name) != n || memcmp(outputs[i].name, at, n) != 0))
            i++;
        if (i == N_OUTPUTS) {
            http_fail(call, PROBLEM_BAD_REQUEST,
                      "query parameter \"output\" must be a list of label, probabilities, scores, got \"%.100s\"", text);
            return false;
        }
        bits |= outputs[i].bit;
        at += n;
        if (!*at)
            break;
    }
    *out = bits;
    return true;
}

/* Where the answer of n rows is computed. */
struct results {
    dn_prediction out;
    double *workspace;
};

static void results_done(struct results *r) {
    free(r->out.label);
    free(r->out.probabilities);
    free(r->out.scores);
    free(r->workspace);
}

/* Zeroed room for rows × each; a count of 0 is no failure. The product was bounded by MAX_NUMBERS. */
static void *room(size_t rows, size_t each, size_t size) {
    return calloc(rows * each > 0 ? rows * each : 1, size);
}

static bool results_init(struct results *r, const dn_model *model, size_t n, unsigned wanted, struct problem *problem) {
    const size_t n_classes = dn_model_classes(model)->n, n_scores = dn_model_n_scores(model);
    *r = (struct results){0};
    if ((wanted & OUTPUT_PROBABILITIES) && !dn_model_has_probabilities(model))
        wanted = (wanted & ~(unsigned)OUTPUT_PROBABILITIES) | OUTPUT_SCORES;
    bool label = wanted & OUTPUT_LABEL, probabilities = wanted & OUTPUT_PROBABILITIES, scores = wanted & OUTPUT_SCORES;
    size_t each = (probabilities ? n_classes : 0) + (scores ? n_scores : 0) + 1;
    if (n > MAX_NUMBERS / each) {
        problem_set(problem, PROBLEM_ANSWER_TOO_LONG,
                    "%zu instances of %zu numbers each are more than the %d that one answer may hold: send them in parts", n, each,
                    MAX_NUMBERS);
        return false;
    }
    r->workspace = room(1, dn_model_workspace(model), sizeof(double));
    r->out.label = label ? room(n, 1, sizeof(size_t)) : NULL;
    r->out.probabilities = probabilities ? room(n, n_classes, sizeof(double)) : NULL;
    r->out.scores = scores ? room(n, n_scores, sizeof(double)) : NULL;
    if (r->workspace && (r->out.label || !label) && (r->out.probabilities || !probabilities) && (r->out.scores || !scores))
        return true;
    results_done(r);
    problem_set(problem, PROBLEM_UNAVAILABLE, "no memory for %zu predictions", n);
    return false;
}

/* Scores the rows and answers. False: too much work for an I/O thread, nothing was answered. */
static bool answer(struct http_call *call, const struct serving_model *m, const struct wire_instances *in, unsigned wanted, bool pool) {
    struct problem problem = {0};
    struct results r;
    struct buf body = {0};
    double products = (double)in->n * (double)dn_model_n_scores(m->model) * (double)dn_encoder_n_features(dn_model_encoder(m->model));
    if (!pool && products > ON_IO_PRODUCTS)
        return false;
    if (!results_init(&r, m->model, in->n, wanted, &problem)) {
        http_reply_problem(call, &problem);
        return true;
    }
    dn_model_predict(m->model, in->raw, in->n, r.workspace, &r.out);
    wire_predictions_write(m->model, m->name, m->version, in->n, &r.out, &body);
    results_done(&r);
    api_reply_json(call, 200, &body);
    return true;
}

static bool predict_body(struct http_call *call, const struct serving_model *m, bool pool) {
    struct wire_instances in = {0};
    enum wire_instances_format format;
    struct problem problem = {0};
    unsigned wanted;
    bool done = true;
    size_t size;
    const char *body = http_body_bytes(call, &size);
    if (!read_outputs(call, &wanted))
        return true;
    if (!wire_instances_format(http_content_type(call), &format)) {
        http_fail(call, PROBLEM_UNSUPPORTED_MEDIA_TYPE,
                  "instances are application/json or text/csv (or no Content-Type: then it is found out), got \"%s\"",
                  http_content_type(call));
        return true;
    }
    if (wire_instances_read(body, size, format, m->model, false, &in, &problem))
        done = answer(call, m, &in, wanted, pool);
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
    unsigned wanted;
    bool done = true;
    if (!names || !values) {
        http_fail(call, PROBLEM_UNAVAILABLE, "no memory for the prediction");
        return true;
    }
    if (!read_outputs(call, &wanted))
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
        done = answer(call, m, &in, wanted, pool);
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
