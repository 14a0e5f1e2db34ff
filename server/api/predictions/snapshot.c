/* The model after some iterations of its training. The weights are JSON in the history of the job,
 * with all digits: numbers are written and read exactly. */
#include "api/predictions/snapshot.h"
#include "api/api.h"
#include "api/predictions/plan.h"
#include "api/support.h"
#include "base/json/json_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool no_memory(struct problem *problem) {
    return problem_set(problem, PROBLEM_UNAVAILABLE, "no memory for the snapshot");
}

/* Sets *job to the id of the job that trained the model. Returns false if it is unknown. */
static bool find_job(struct store *store, const struct serving_model *m, int64_t *job) {
    struct store_model stored;
    struct problem ignored = {0};
    if (!store_model_get(store, m->name, m->version, &stored, &ignored)) {
        problem_done(&ignored);
        return false;
    }
    json_t *info =
        stored.info != NULL ? json_parse(stored.info, strlen(stored.info), &ignored) : NULL;
    const json_t *number = json_object_get(info, "job");
    *job = (int64_t)json_number_value(number);
    const bool found = json_is_number(number);
    problem_done(&ignored);
    json_decref(info);
    store_model_done(&stored);
    return found;
}

/* Reads the document of the snapshot. Returns NULL with a problem. */
static json_t *read_snapshot(struct store *store, const struct serving_model *m, int64_t iteration,
                             struct problem *problem) {
    struct problem why = {0};
    char *doc = NULL;
    int64_t job = 0;
    if (!find_job(store, m, &job)) {
        json_fault(problem, "", "snapshot", "the job that trained the model is unknown");
        return NULL;
    }
    if (!store_job_snapshot(store, job, iteration, &doc, &why)) {
        if (why.type == PROBLEM_UNKNOWN_JOB) {
            json_fault(problem, "", "snapshot",
                       "job %" PRId64 ", which trained the model, was deleted together with its "
                       "snapshots: train the model again",
                       job);
        } else {
            problem_move(problem, &why);
        }
        problem_done(&why);
        return NULL;
    }
    if (doc == NULL) {
        json_fault(problem, "", "snapshot",
                   "job %" PRId64 ", which trained the model, kept no snapshot %" PRId64
                   ": the member \"snapshots\" of a job lists the iterations to keep",
                   job, iteration);
        return NULL;
    }
    json_t *root = json_parse(doc, strlen(doc), problem);
    free(doc);
    return root;
}

/* Copies the n numbers of a JSON array. Returns false if it does not have exactly n numbers. */
static bool copy_numbers(const json_t *list, size_t n, double *out) {
    if (json_array_size(list) != n) {
        return false;
    }
    for (size_t j = 0; j < n; j++) {
        const json_t *number = json_array_get(list, j);
        if (!json_is_number(number)) {
            return false;
        }
        out[j] = json_number_value(number);
    }
    return true;
}

/* Sets w [S × d] and w0 [S] to the snapshot. If there is one score, the snapshot has a vector w and
 * a number w0. */
static bool copy_weights(const json_t *root, size_t S, size_t d, double *w, double *w0) {
    const json_t *rows = json_object_get(root, "w"), *intercepts = json_object_get(root, "w0");
    if (S == 1) {
        *w0 = json_number_value(intercepts);
        return json_is_number(intercepts) && copy_numbers(rows, d, w);
    }
    bool good = json_array_size(rows) == S && copy_numbers(intercepts, S, w0);
    for (size_t k = 0; good && k < S; k++) {
        good = copy_numbers(json_array_get(rows, k), d, w + k * d);
    }
    return good;
}

static dn_model *make_model(const struct serving_model *m, const json_t *root,
                            struct problem *problem) {
    const size_t S = dn_model_n_scores(m->model),
                 d = dn_encoder_n_features(dn_model_encoder(m->model));
    double *w = calloc(S * (d + 1), sizeof *w);
    dn_model *model = NULL;
    dn_error err;
    dn_error_clear(&err);
    if (w == NULL) {
        no_memory(problem);
    } else if (!copy_weights(root, S, d, w, w + S * d)) {
        json_fault(problem, "", "snapshot",
                   "the weights of the snapshot are not finite or do not fit the model");
    } else if (dn_model_with_weights(m->model, w, w + S * d, &model, &err) != DN_OK) {
        if (err.code == DN_ERR_MEMORY) {
            no_memory(problem);
        } else {
            json_fault(problem, "", "snapshot", "%s", err.message);
        }
    }
    free(w);
    return model;
}

bool snapshot_model_init(struct snapshot_model *out, struct http_call *call,
                         const struct serving_model *m, int64_t iteration,
                         struct problem *problem) {
    if (!dn_model_takes_weights(m->model)) {
        return json_fault(problem, "", "snapshot",
                          "only a model with one linear discriminant function for each class, "
                          "fitted together, has snapshots (kind \"%s\", %zu machines)",
                          dn_model_kind(m->model), dn_model_n_machines(m->model));
    }
    json_t *root = read_snapshot(api_app_of(call)->store, m, iteration, problem);
    if (root == NULL) {
        return false;
    }
    out->model = make_model(m, root, problem);
    json_decref(root);
    if (out->model == NULL) {
        return false;
    }
    out->lent = *m;
    out->lent.model = out->model;
    out->lent.plan =
        api_predict_plans.make(out->model, m->name, m->version, predict_plan_of(m)->reading);
    return out->lent.plan != NULL || no_memory(problem);
}

void snapshot_model_done(struct snapshot_model *snapshot) {
    if (snapshot->model != NULL) {
        api_predict_plans.free((void *)(uintptr_t)snapshot->lent.plan);
        dn_model_unref(snapshot->model);
    }
}
