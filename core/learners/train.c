/* Training from a table: classes, split, encoder, rows, learner, model, metrics. */
#include "evaluate/judge.h"
#include "evaluate/split.h"
#include "learners/multiclass.h"
#include "learners/target.h"
#include "learners/training_set.h"
#include "linalg/tile.h"
#include "predict/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_MAX_CLASSES = 1000,
    /* for the memory estimate, rounded up */
    SLOT_BYTES = 16384, /* fixed parts of one slot's scan and encoding */
    COLUMN_BYTES = 400, /* of a column in one slot's scan and encoding */
    LEVEL_BYTES = 64    /* of a level in one slot's scan, its text included */
};

struct training {
    const dn_train_request *request;
    const dn_run *run;
    double *index; /* [n_rows] class of each row, NaN: missing */
    uint8_t *role; /* [n_rows] dn_row_role */
    dni_classes classes;
    dni_split split;
    dn_encoder *encoder;
    char *names;             /* of the classes, each with its NUL */
    const char **class_name; /* [n_classes] into names */
    dni_training_set set;
    dn_rows *rows; /* the training rows */
    bool streamed;
    dn_train_result result;
};

static dn_status refuse(const char *field, const char *message, dn_error *err) {
    dn_status status = dn_error_set(err, DN_ERR_ARGUMENT, "%s", message);
    dn_error_set_field(err, field);
    return status;
}

static dn_status check_request(const dn_train_request *r, dn_error *err) {
    if (!(r->holdout >= 0 && r->holdout < 1))
        return dn_error_set(err, DN_ERR_ARGUMENT, "holdout must be at least 0 and below 1 (got %g)", r->holdout);
    if (r->target >= r->source->n_cols)
        return refuse("target", "the target is no column of the table", err);
    if (r->features.n_columns == 0)
        return refuse("inputs", "training needs at least one input column", err);
    for (size_t i = 0; i < r->features.n_columns; i++) {
        if (r->features.columns[i] >= r->source->n_cols)
            return refuse("inputs", "an input is no column of the table", err);
        if (r->features.columns[i] == r->target)
            return refuse(r->source->columns[r->target].name, "the target cannot be an input too", err);
    }
    return DN_OK;
}

/* The classes' names as C strings. */
static dn_status name_classes(struct training *t, dn_error *err) {
    const dn_strings *from = &t->classes.shown.names;
    size_t n = t->classes.shown.n;
    t->names = malloc(from->start[n] + n + 1);
    t->class_name = malloc((n + 1) * sizeof *t->class_name);
    if (t->names == NULL || t->class_name == NULL)
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for the names of %zu classes", n);
    char *at = t->names;
    for (size_t k = 0; k < n; k++) {
        size_t length = from->start[k + 1] - from->start[k];
        memcpy(at, from->bytes + from->start[k], length);
        at[length] = '\0';
        t->class_name[k] = at;
        at += length + 1;
    }
    return DN_OK;
}

static dn_status load(struct training *t, dn_error *err) {
    const dn_train_request *r = t->request;
    size_t n = r->source->n_rows;
    void *memory;
    dn_status status = dn_run_alloc(t->run, n, sizeof(double), "the class indexes", &memory, err);
    if (status != DN_OK)
        return status;
    t->index = memory;
    status = dn_run_alloc(t->run, n, 1, "the roles of the rows", &memory, err);
    if (status != DN_OK)
        return status;
    t->role = memory;
    status = dni_target_read(r->source, r->target, r->max_classes == 0 ? DEFAULT_MAX_CLASSES : r->max_classes, t->run, t->index,
                             &t->classes, err);
    if (status != DN_OK)
        return status;
    status = dn_params_check_classes(r->params, t->classes.shown.n, err);
    if (status == DN_OK)
        status = name_classes(t, err);
    return status == DN_OK ? dni_split_holdout(t->index, n, t->classes.shown.n, r->holdout, t->run, t->role, &t->split, err) : status;
}

/* What the rows cost beside the learner: the scan for the encoder, a block of encoded rows for each slot (the held out rows are judged in one slot, while the
 * training rows still have their blocks), and what judging the model takes. Rows that are kept in memory take what is left of a budget, never more. */
static double rows_memory(const dn_train_request *request, size_t n_rows, size_t n_features, size_t n_classes, size_t n_slots) {
    double inputs = (double)request->features.n_columns, features = (double)n_features, slots = (double)n_slots,
           classes = (double)n_classes;
    double block = fmin((double)n_rows, DN_BLOCK_ROWS);
    double scores = (double)dn_decision_n_scores(dni_multiclass_decision(request->params), n_classes);
    double row = 4 * inputs < features ? 12 * inputs + 28 : 8 * features + 16; /* sparse, or dense */
    double blocks = (slots + (request->holdout > 0 ? 1 : 0)) * (block * row + SLOT_BYTES);
    double columns = slots * (COLUMN_BYTES * inputs + LEVEL_BYTES * features);
    double judge = 8 * (2 * scores * (features + 1) + DNI_TILE_ROWS * (scores + classes + 2));
    return blocks + columns + judge + 16 * (double)request->source->n_chunks + 8 * (double)n_rows / DN_BLOCK_ROWS;
}

static dn_status encode(struct training *t, dn_error *err) {
    const dn_train_request *r = t->request;
    dn_encoder_spec spec = r->features;
    spec.target = t->index;
    spec.n_classes = t->classes.shown.n;
    dn_status status = dn_encoder_fit(r->source, &spec, t->role, NULL, t->run, &t->encoder, err);
    if (status != DN_OK)
        return status;
    size_t n_features = dn_encoder_n_features(t->encoder), n_classes = t->classes.shown.n;
    t->set = (dni_training_set){.source = r->source,
                                .encoder = t->encoder,
                                .role = t->role,
                                .index = t->index,
                                .n_rows = t->split.n_train,
                                .n_classes = n_classes,
                                .params = r->params,
                                .class_names = t->class_name,
                                .reserve = rows_memory(r, r->source->n_rows, n_features, n_classes, 1)};
    return dni_training_rows(&t->set, t->run, &t->rows, &t->streamed, err);
}

/* The machines become a model that says with what it was trained: "auto" is no answer. */
static dn_status make_model(struct training *t, dn_machine *machines, size_t n_machines, dn_error *err) {
    const dn_train_request *r = t->request;
    const char *target = r->source->columns[r->target].name;
    dn_params *used;
    dn_status status = dn_params_copy(r->params, &used, err);
    if (status != DN_OK)
        return status;
    dn_decision decision = dni_multiclass_decision(used);
    status = dn_params_settle(used, t->rows->n_rows, t->rows->n_cols, decision == DN_DECISION_NATIVE ? t->classes.shown.n : 2, err);
    dni_model_parts parts = {.params = used,
                             .seed = t->run->seed,
                             .target = target,
                             .target_length = strlen(target),
                             .classes = &t->classes,
                             .encoder = t->encoder,
                             .decision = decision,
                             .machines = machines,
                             .n_machines = n_machines};
    if (status == DN_OK)
        status = dni_model_new(&parts, &t->result.model, err);
    dn_params_free(used);
    if (status == DN_OK)
        t->encoder = NULL; /* the model's now; its rows still borrow it */
    return status;
}

static dn_status fit(struct training *t, dn_error *err) {
    dn_machine *machines;
    size_t n_machines;
    dn_status status = dni_fit_machines(&t->set, t->rows, t->run, &machines, &n_machines, &t->result.report, err);
    if (status != DN_OK)
        return status;
    dn_report_text(&t->result.report, "rows", t->streamed ? "streamed" : "in memory");
    status = make_model(t, machines, n_machines, err);
    if (status != DN_OK)
        dni_machines_free(machines, n_machines);
    return status;
}

static dn_status evaluate(struct training *t, dn_error *err) {
    const dn_model *m = t->result.model;
    dn_status status = dni_judge_rows(t->rows, m, t->run, &t->result.train, err);
    if (status != DN_OK || t->request->holdout == 0)
        return status;
    if (t->split.n_validation == 0) {
        dn_report_warn(&t->result.report, "no row was held out: the classes have too few rows for a holdout of %g", t->request->holdout);
        return DN_OK;
    }
    dn_rows *rows;
    status = dn_rows_from_source(t->request->source, m->encoder, t->role, DN_ROW_VALIDATE, t->index, NULL, false, t->run, &rows, err);
    if (status != DN_OK)
        return status;
    status = dni_judge_rows(rows, m, t->run, &t->result.validation, err);
    dn_rows_free(rows);
    return status;
}

/* Runs a step and notes how long it took. */
static dn_status timed(struct training *t, dn_status (*step)(struct training *, dn_error *), double *seconds, dn_error *err) {
    double start = dn_run_elapsed(t->run);
    dn_status status = step(t, err);
    *seconds = dn_run_elapsed(t->run) - start;
    return status;
}

dn_status dn_train(const dn_train_request *request, const dn_run *run, dn_train_result *out, dn_error *err) {
    struct training t = {.request = request, .run = run};
    dn_status status = check_request(request, err);
    if (status == DN_OK)
        status = dn_params_check(request->params, err);
    if (status == DN_OK)
        status = timed(&t, load, &t.result.seconds_load, err);
    if (status == DN_OK)
        status = timed(&t, encode, &t.result.seconds_encode, err);
    if (status == DN_OK)
        status = timed(&t, fit, &t.result.seconds_fit, err);
    if (status == DN_OK)
        status = timed(&t, evaluate, &t.result.seconds_evaluate, err);
    t.result.n_train = t.split.n_train;
    t.result.n_validation = t.split.n_validation;
    t.result.n_skipped = t.split.n_skipped;
    dn_rows_free(t.rows);
    dn_encoder_unref(t.encoder);
    dni_classes_done(&t.classes);
    free(t.names);
    free((void *)t.class_name);
    dn_run_free(run, t.role);
    dn_run_free(run, t.index);
    if (status == DN_OK)
        *out = t.result;
    else
        dn_train_result_done(&t.result);
    return status;
}

void dn_train_result_done(dn_train_result *result) {
    dn_model_unref(result->model);
    dn_metrics_free(result->train);
    dn_metrics_free(result->validation);
    dn_report_done(&result->report);
    result->model = NULL;
    result->train = result->validation = NULL;
}

double dn_train_memory(const dn_train_request *request, size_t n_rows, size_t n_features, size_t n_classes, size_t n_slots) {
    const dn_algorithm *algorithm = request->params->algorithm;
    double rows = (double)n_rows, bytes = 9 * rows; /* class indexes and roles */
    if (!(algorithm->flags & DN_ALGORITHM_STREAMS))
        bytes += 8 * rows * (double)n_features;
    dn_decision decision = dni_multiclass_decision(request->params);
    bool several = n_classes > 2 && decision != DN_DECISION_NATIVE;
    if (several) /* their weights, and the rows of a pair or other targets */
        bytes += 16 * (double)dn_decision_n_machines(decision, n_classes) * ((double)n_features + 64) + 9 * rows +
                 8 * (double)n_slots * DN_BLOCK_ROWS;
    return bytes + rows_memory(request, n_rows, n_features, n_classes, n_slots) +
           algorithm->memory(request->params, n_rows, n_features, several ? 2 : n_classes, n_slots);
}
