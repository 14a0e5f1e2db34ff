/* Reads and checks the decision rule of a job, the object "decision". */
#include "base/json/json.h"
#include "jobs/decision.h"
#include "jobs/request/class_weights.h"
#include "jobs/request/job_request.h"

#include <stdlib.h>
#include <string.h>

/* The names of the classes, if the summary of the dataset lists all of them; NULL: it does not. */
static const char **list_names(const struct jobs_request *r, const json_t *columns) {
    const json_t *top = json_object_get(json_array_get(columns, r->target.index), "top");
    const size_t n = json_array_size(top);
    const char **names =
        n > 0 && n == r->n_classes ? arena_alloc(r->arena, n * sizeof(*names)) : NULL;
    for (size_t i = 0; names != NULL && i < n; i++) {
        char room[DN_NUMBER_SIZE];
        const char *name = jobs_class_text(json_array_get(json_array_get(top, i), 0), room);
        names[i] = name != NULL ? arena_strdup(r->arena, name) : NULL;
        if (names[i] == NULL) {
            return NULL;
        }
    }
    return names;
}

static void check_classes(struct jobs_request *r, const struct decision *d) {
    struct problem ignored = {0};
    json_t *columns = json_parse(r->data.columns, strlen(r->data.columns), &ignored);
    (void)decision_check(d, "/decision", list_names(r, columns), r->n_classes, r->problem);
    problem_done(&ignored);
    json_decref(columns);
}

void jobs_decision_read(struct jobs_request *r, const json_t *root) {
    const json_t *object = json_object_get(root, "decision");
    const bool held_out = r->holdout > 0 || r->folds > 0 || r->split.by == JOBS_SPLIT_COLUMN;
    struct decision d;
    if (!json_is_object(object) || !decision_read(object, "/decision", &d, r->problem)) {
        return;
    }
    if (r->targetless) {
        json_fault(r->problem, "", "decision", "needs a target, and algorithm %s has none",
                   r->algorithm->id);
        return;
    }
    if (d.kind == DECISION_GOAL && !held_out) {
        json_fault(r->problem, "/decision",
                   d.goal == DN_RULE_PRECISION ? "precision_at_least" : "maximise",
                   "needs validation by holdout, folds or column: a threshold is chosen from the "
                   "predictions for held-out rows");
    }
    if (r->has_target && r->has_dataset) {
        check_classes(r, &d);
    }
    if (r->params != NULL && r->has_target &&
        !dn_params_have_probabilities(r->params, r->n_classes)) {
        json_fault(r->problem, "", "decision",
                   "needs probabilities, and %s with these parameters has none: set "
                   "params.calibrate, if the algorithm has it",
                   r->algorithm->id);
    }
    struct buf text = {0};
    decision_text(object, &text);
    r->decision = buf_cstr(&text) != NULL ? arena_strdup(r->arena, buf_cstr(&text)) : NULL;
    if (r->decision == NULL) {
        (void)problem_no_memory(r->problem);
    }
    buf_done(&text);
}
