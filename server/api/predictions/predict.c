/* POST and GET …/predict: labels, probabilities, scores and contributions for rows. A small call
 * is answered on the I/O thread if the model is in memory, otherwise on a pool thread. lines.c
 * answers NDJSON. */
#include "api/access.h"
#include "api/handlers.h"
#include "api/policy.h"
#include "api/predictions/answer.h"
#include "api/predictions/instances.h"
#include "api/predictions/lines.h"
#include "api/predictions/plan.h"
#include "api/predictions/score.h"
#include "api/predictions/stored_rows.h"
#include "api/predictions/work.h"
#include "api/support.h"
#include "base/nearest.h"

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
        !api_threshold_read(call, http_query(call, "decision") != NULL, &how.by_threshold,
                            &how.threshold) ||
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

/* The query parameters of a GET that are not columns. */
static const char *const pair_options[] = {"output", "decision", "keep", "extra", "threshold"};
enum {
    PAIR_OUTPUT,
    PAIR_DECISION,
    PAIR_KEEP,
    PAIR_EXTRA,
    PAIR_THRESHOLD,
    N_PAIR_OPTIONS = sizeof pair_options / sizeof pair_options[0]
};

static bool is_input(const dn_model *model, const char *name) {
    const dn_encoder *encoder = dn_model_encoder(model);
    for (size_t i = 0; i < dn_encoder_n_inputs(encoder); i++) {
        if (strcmp(dn_encoder_input(encoder, i)->column, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether the parameter is an option. `output` always is one; the other names are columns if the
 * model has such inputs. */
static bool is_option(const dn_model *model, const char *name, size_t option) {
    return strcmp(name, pair_options[option]) == 0 &&
           (option == PAIR_OUTPUT || !is_input(model, name));
}

/* Options of POST that would be ignored as unknown columns. */
static const char *const post_options[] = {"baseline", "top",    "missing",   "comment",
                                           "decimal",  "strip",  "thousands", "encoding",
                                           "header",   "names",  "delimiter", "skip_rows",
                                           "fields",   "format", "duplicates"};

/* Refuses a misspelt option, and one of POST: it would be ignored as an unknown column. Returns
 * false if it has replied. */
static bool judge_pair(struct http_call *call, const dn_model *model, const char *name) {
    struct nearest nearest = nearest_to(name, strlen(name));
    bool of_post = false;
    for (size_t k = 0; k < N_PAIR_OPTIONS; k++) {
        nearest_offer(&nearest, pair_options[k], strlen(pair_options[k]));
    }
    for (size_t k = 0; k < sizeof post_options / sizeof post_options[0]; k++) {
        of_post |= strcmp(name, post_options[k]) == 0;
    }
    const bool misspelt = nearest.hint[0] != '\0' && nearest.distance <= 1;
    if ((!misspelt && !of_post) || is_input(model, name)) {
        return true;
    }
    http_fail(call, PROBLEM_BAD_REQUEST,
              "query parameter \"%.100s\" is neither an option of this call nor a column of the "
              "model%s",
              name, misspelt ? nearest.hint : "; POST takes columns of any name, and options");
    return false;
}

/* The query of a GET: the names and values that are columns, and which options are given. */
struct pairs {
    const char **names, **values;
    size_t n;
    bool given[N_PAIR_OPTIONS];
};

/* Divides the query into columns and options. Returns false if it has replied. */
static bool pairs_take(struct http_call *call, const dn_model *model, struct pairs *out) {
    const size_t n = http_query_count(call);
    *out = (struct pairs){.names = arena_alloc(http_arena(call), (n + 1) * sizeof *out->names),
                          .values = arena_alloc(http_arena(call), (n + 1) * sizeof *out->values)};
    if (!out->names || !out->values) {
        http_fail(call, PROBLEM_UNAVAILABLE, "no memory for the prediction");
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const char **name = &out->names[out->n];
        size_t option = 0;
        http_query_at(call, i, name, &out->values[out->n]);
        while (option < N_PAIR_OPTIONS && !is_option(model, *name, option)) {
            option++;
        }
        if (option == N_PAIR_OPTIONS) {
            if (!judge_pair(call, model, *name)) {
                return false;
            }
            out->n++;
        } else if (out->given[option]) {
            http_fail(call, PROBLEM_BAD_REQUEST, "query parameter \"%s\" is given more than once",
                      *name);
            return false;
        } else {
            out->given[option] = true;
        }
    }
    return true;
}

static bool predict_pairs(struct http_call *call, const struct serving_model *m, bool pool) {
    struct instance_rows in = {0};
    struct problem problem = {0};
    struct pairs pairs;
    struct keep keep = {0};
    struct api_answer_options how = {.kind = API_PREDICTIONS,
                                     .format = api_reply_format(call, &format_json)};
    bool done = true, refuse_extra = false;
    if (!pairs_take(call, m->model, &pairs) || !api_outputs_read(call, &how.outputs) ||
        (pairs.given[PAIR_DECISION] && !api_decision_read(call, &how.labels)) ||
        (pairs.given[PAIR_THRESHOLD] && !api_threshold_read(call, pairs.given[PAIR_DECISION],
                                                            &how.by_threshold, &how.threshold)) ||
        (pairs.given[PAIR_EXTRA] && !api_instances_extra(call, &refuse_extra)) ||
        (pairs.given[PAIR_KEEP] && !api_instances_keep(call, &keep, &how.keep))) {
        return true;
    }
    if (instances_read_pairs(pairs.names, pairs.values, pairs.n, m->model,
                             predict_plan_of(m)->schema, how.keep, refuse_extra, &in, &problem)) {
        done = api_score_rows(call, m, &in, &how, pool);
    } else {
        api_charge_rows(call, 1);
        http_reply_problem(call, &problem);
    }
    instance_rows_done(&in);
    keep_done(&keep);
    return done;
}

/* Answers the call. Returns false if it must run on a pool thread. */
typedef bool predict_fn(struct http_call *call, const struct serving_model *m, bool pool);

static void on_pool(struct http_call *call, predict_fn *predict,
                    void (*handle)(struct http_call *call)) {
    const struct serving_model *m = api_model_take(call);
    if (!m) {
        return;
    }
    if (api_may_work(call, api_call_work(call, m), handle)) {
        (void)predict(call, m, true);
    }
    serving_release(api_app_of(call)->serving, m);
}

/* Returns false if the model is not in memory or the call takes too long for an I/O thread. */
static bool on_io(struct http_call *call, predict_fn *predict) {
    struct api_app *app = api_app_of(call);
    const struct serving_model *m =
        serving_try(app->serving, http_path_param(call, "model"), api_path_number(call, "version"),
                    http_change(call));
    if (!m) {
        return false;
    }
    bool done = !predict_plan_of(m)->costly_texts && predict(call, m, false);
    serving_release(app->serving, m);
    return done;
}

static void body_on_pool(struct http_call *call) {
    on_pool(call, predict_body, body_on_pool);
}

static void pairs_on_pool(struct http_call *call) {
    on_pool(call, predict_pairs, pairs_on_pool);
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
