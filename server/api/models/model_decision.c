/* PUT, GET and DELETE /v1/models/{model}/decision: the rule that chooses the labels of a version. */
#include "api/access.h"
#include "api/handlers.h"
#include "api/support.h"
#include "jobs/decision.h"
#include "jobs/held_out_chunks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The predictions for held-out rows of a version. */
struct kept_rows_of {
    struct decision_rows rows; /* n 0: none */
    double *p, *weight;
    uint32_t *truth;
};

static void kept_done(struct kept_rows_of *k) {
    free(k->p);
    free(k->weight);
    free(k->truth);
}

static bool damaged(struct problem *problem) {
    return problem_set(problem, PROBLEM_INTERNAL,
                       "stored data is damaged: the predictions of a model are incomplete");
}

/* Copies the rows of a chunk. */
static bool take_chunk(struct kept_rows_of *k, const struct held_out_chunk *c, size_t n_classes,
                       size_t n_all, struct problem *problem) {
    if (c->n_values != n_classes || c->n > n_all - k->rows.n) {
        return damaged(problem);
    }
    for (size_t i = 0; i < c->n; i++) {
        const struct held_out_row row = held_out_chunk_row(c, i);
        const size_t at = k->rows.n++;
        if (row.truth >= n_classes) {
            return damaged(problem);
        }
        k->truth[at] = row.truth;
        k->weight[at] = row.weight;
        k->rows.folds = k->rows.folds || row.fold > 0;
        for (size_t j = 0; j < n_classes; j++) {
            k->p[at * n_classes + j] = held_out_chunk_value(c, i, j);
        }
    }
    return true;
}

/* Reads the predictions of a version that has probabilities. */
static bool read_kept(struct store *store, const char *name, int64_t version, size_t n_classes,
                      struct kept_rows_of *k, struct problem *problem) {
    struct store_chunk *chunks = NULL;
    size_t n = 0;
    struct buf bytes = {0};
    if (!store_model_predictions(store, name, version, &chunks, &n, problem)) {
        return false;
    }
    const size_t n_all = n > 0 ? (size_t)(chunks[n - 1].first_row + chunks[n - 1].n_rows) : 0;
    bool good = true;
    if (n > 0) {
        k->p = calloc(n_all * n_classes + 1, sizeof *k->p);
        k->weight = calloc(n_all + 1, sizeof *k->weight);
        k->truth = calloc(n_all + 1, sizeof *k->truth);
        if (k->p == NULL || k->weight == NULL || k->truth == NULL) {
            (void)problem_no_memory(problem);
            good = false;
        }
    }
    for (size_t i = 0; good && i < n; i++) {
        struct held_out_chunk chunk;
        good = store_chunk_read(store, &chunks[i], 0, &bytes, problem) &&
               held_out_chunk_read(bytes.data, bytes.size, &chunk, problem) &&
               take_chunk(k, &chunk, n_classes, n_all, problem);
    }
    k->rows.p = k->p;
    k->rows.truth = k->truth;
    k->rows.weight = k->weight;
    buf_done(&bytes);
    free(chunks);
    return good;
}

static void reply_rule(struct http_call *call, struct store_model *m) {
    struct buf body = {0};
    struct json_writer w = json_writer_of(&body);
    http_etag(call, m->etag);
    json_begin_object(&w);
    json_kv_string(&w, "model", m->name);
    json_kv_int(&w, "version", m->version);
    json_kv_int(&w, "revision", m->rule_revision);
    api_put_members(&w, m->rule);
    json_end_object(&w);
    api_reply_json(call, 200, &body);
    store_model_done(m);
}

/* Makes the document of the body's rule for the model. Returns false after setting the problem. */
static bool make_rule(struct http_call *call, const struct serving_model *m, const json_t *root,
                      struct buf *out, struct problem *problem) {
    struct decision d;
    struct kept_rows_of kept = {0};
    bool good = decision_read(root, "", &d, problem);
    if (good && dn_model_has_probabilities(m->model)) {
        good = read_kept(api_app_of(call)->store, m->name, m->version,
                         dn_model_classes(m->model)->n, &kept, problem);
    }
    good =
        good && decision_write(&d, "", m->model, kept.rows.n > 0 ? &kept.rows : NULL, out, problem);
    kept_done(&kept);
    return good;
}

void api_model_decision_put(struct http_call *call) {
    struct problem problem = {0};
    struct buf rule = {0};
    struct store_model changed;
    json_t *root = api_body_object(call);
    if (root == NULL) {
        return;
    }
    const struct serving_model *m = api_model_take(call);
    if (m == NULL) {
        json_decref(root);
        return;
    }
    const struct store_condition condition = api_condition(call);
    const struct store_actor by = api_actor(call);
    if (make_rule(call, m, root, &rule, &problem) &&
        store_model_set_rule(api_app_of(call)->store, &by, m->name, m->version, buf_cstr(&rule),
                             &condition, &changed, &problem)) {
        reply_rule(call, &changed);
    } else {
        http_reply_problem(call, &problem);
    }
    serving_release(api_app_of(call)->serving, m);
    buf_done(&rule);
    json_decref(root);
}

static bool refuse_absent(const struct store_model *m, struct problem *problem) {
    return problem_set(problem, PROBLEM_NOT_FOUND,
                       "version %" PRId64 " of model \"%s\" has no decision rule: its labels are "
                       "those of params.decision",
                       m->version, m->name);
}

void api_model_decision_get(struct http_call *call) {
    struct problem problem = {0};
    struct store_model m;
    if (!store_model_get(api_app_of(call)->store, http_path_param(call, "model"),
                         api_path_number(call, "version"), &m, &problem)) {
        http_reply_problem(call, &problem);
    } else if (m.rule == NULL) {
        refuse_absent(&m, &problem);
        store_model_done(&m);
        http_reply_problem(call, &problem);
    } else {
        reply_rule(call, &m);
    }
}

void api_model_decision_delete(struct http_call *call) {
    struct store *store = api_app_of(call)->store;
    struct problem problem = {0};
    struct store_model m, changed;
    const struct store_condition condition = api_condition(call);
    const struct store_actor by = api_actor(call);
    if (!store_model_get(store, http_path_param(call, "model"), api_path_number(call, "version"),
                         &m, &problem)) {
        http_reply_problem(call, &problem);
        return;
    }
    if (m.rule == NULL) {
        refuse_absent(&m, &problem);
    } else if (store_model_set_rule(store, &by, m.name, m.version, NULL, &condition, &changed,
                                    &problem)) {
        store_model_done(&changed);
    }
    store_model_done(&m);
    if (problem.type != PROBLEM_NONE) {
        http_reply_problem(call, &problem);
    } else {
        http_reply_empty(call, 204);
    }
}
