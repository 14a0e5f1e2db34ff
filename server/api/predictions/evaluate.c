/* POST …/evaluate: metrics of a model on labelled rows, in the body or in a stored dataset; and
 * other computations with a stored dataset (evaluation.h). Pool threads. */
#include "api/access.h"
#include "api/cells.h"
#include "api/handlers.h"
#include "api/policy.h"
#include "api/predictions/charged_source.h"
#include "api/predictions/evaluation.h"
#include "api/predictions/instances.h"
#include "api/predictions/outputs.h"
#include "api/predictions/plan.h"
#include "api/predictions/row_weights.h"
#include "api/predictions/work.h"
#include "api/support.h"
#include "base/json/json_read.h"
#include "base/nearest.h"
#include "formats/formats.h"
#include "formats/instances/row_notes.h"
#include "formats/text/view_cell.h"
#include "jobs/budget.h"
#include "jobs/documents.h"
#include "jobs/model_columns.h"
#include "jobs/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sent when the client has left, or while the daemon shuts down. */
#define NOBODY_WAITS                                                                               \
    "the call was cancelled because the client has left or the daemon is shutting down"

enum { REFERENCE_BYTES = 4096, KEEP_BYTES = 16 * 1024 * 1024 };

/* Writes the mean cost of the labels that the rule chose, and the rows without a label. */
static void write_decision(const dn_metrics *m, const dn_rule *rule, struct json_writer *w) {
    const size_t K = m->n_classes;
    double cost = m->ambiguous * dn_rule_cost(rule, 0, DN_AMBIGUOUS);
    for (size_t i = 0; i < K * K; i++) {
        cost += m->confusion[i] * dn_rule_cost(rule, i / K, i % K);
    }
    json_kv_double(w, "cost", cost / m->weight);
    json_kv_begin_object(w, "rejected");
    json_kv_double(w, "weight", m->ambiguous);
    json_kv_double(w, "share", m->ambiguous / m->weight);
    json_end_object(w);
}

/* Writes the metrics, and the cost and the rejected rows of a rule, as one object.
 *
 *   rule  NULL: none */
static void write_cells(const struct serving_model *m, const dn_metrics *metrics,
                        const dn_rule *rule, struct buf *out) {
    struct buf text = {0};
    struct json_writer own = json_writer_of(&text), w = json_writer_of(out);
    jobs_metrics_write(metrics, dn_model_classes(m->model), &own);
    json_begin_object(&w);
    if (buf_cstr(&text) != NULL) {
        json_put_raw(&w, text.data + 1, text.size - 2); /* the members */
    }
    if (rule != NULL) {
        write_decision(metrics, rule, &w);
    }
    json_end_object(&w);
    out->failed = out->failed || text.failed;
    buf_done(&text);
}

/* Replies with names and values: the metrics, the decision, the weight column, the warnings. */
static void reply_cells(struct http_call *call, const struct serving_model *m,
                        const dn_metrics *metrics, const dn_rule *rule, const char *weight,
                        const struct row_notes *notes, const struct format *format) {
    struct buf body = {0}, document = {0};
    write_cells(m, metrics, rule, &document);
    if (buf_cstr(&document) != NULL) {
        api_cells_pairs(buf_cstr(&document), format->answers->delimiter, &body);
        buf_printf(&body, "weight%c", format->answers->delimiter);
        csv_text_write(weight != NULL ? weight : "", weight != NULL ? strlen(weight) : 0,
                       format->answers->delimiter, &body);
        buf_putc(&body, '\n');
        for (size_t i = 0; i < row_notes_n_warnings(notes); i++) {
            const char *text = row_notes_warning(notes, i);
            buf_printf(&body, "warning%c", format->answers->delimiter);
            csv_text_write(text, strlen(text), format->answers->delimiter, &body);
            buf_putc(&body, '\n');
        }
    }
    body.failed = body.failed || document.failed;
    buf_done(&document);
    api_instances_notes(call, m->name, m->model, notes);
    http_reply(call, 200, format_media_type(format), &body);
}

static void reply_metrics(struct http_call *call, const struct serving_model *m,
                          const dn_metrics *metrics, const dn_rule *rule, const char *weight,
                          const struct row_notes *notes) {
    const struct format *format = api_reply_format(call, &format_json);
    struct buf body = {0};
    struct json_writer w;
    w = json_writer_of(&body);
    if (!format->answers->document) {
        reply_cells(call, m, metrics, rule, weight, notes, format);
        return;
    }
    json_begin_object(&w);
    json_kv_string(&w, "model", m->name);
    json_kv_int(&w, "version", m->version);
    json_kv_double(&w, "rows", metrics->rows);
    json_kv_string(&w, "weight", weight);
    json_put_key(&w, "metrics");
    jobs_metrics_write(metrics, dn_model_classes(m->model), &w);
    if (rule != NULL) {
        write_decision(metrics, rule, &w);
    }
    row_notes_write(notes, dn_model_encoder(m->model), &w);
    json_end_object(&w);
    api_instances_notes(call, m->name, m->model, notes);
    api_reply_json(call, 200, &body);
}

/* ---- the run of an evaluation: limited memory, cancelled when the client leaves ---- */

struct evaluation {
    struct http_call *call;
    const dn_model *model;
    /* name of the column with the true classes; NULL: not known yet, or not given */
    const char *target;
    bool target_in_body;             /* `target` was named in the body */
    bool curves;                     /* wanted */
    dn_labels labels;                /* the rule for the predicted classes */
    const dn_rule *rule;             /* takes its place; NULL: none */
    const struct dataset_work *work; /* another computation is wanted; NULL: metrics */
    struct budget budget;
    dn_run run;
    const char *weight;      /* column of weights; NULL: none, or the rows do not have it */
    struct row_notes *notes; /* notes about the rows; NULL: none */
    const struct instance_schema *schema; /* how stored cells are read; NULL: without conversion */
    const struct instances_options *options; /* options of the call; set with `schema` */
    const struct jobs_source *source;        /* the stored rows; NULL: they are in the body */
    dn_metrics *metrics;                     /* the result; NULL: there is a problem */
    struct problem *problem;
};

static dn_status stop_when_gone(const dn_run *run) {
    const struct evaluation *e = run->ctx;
    return http_go_on(e->call) ? DN_OK : DN_ERR_STOPPED;
}

static void evaluation_init(struct evaluation *e, struct http_call *call, const dn_model *model,
                            bool curves, struct problem *problem) {
    *e = (struct evaluation){.call = call, .model = model, .curves = curves, .problem = problem};
    budget_init(&e->budget, jobs_limits(api_app_of(call)->jobs).memory_bytes);
    e->run = dn_run_default();
    e->run.allocator = &e->budget.allocator;
    e->run.stop = stop_when_gone;
    e->run.ctx = e;
}

/* Sets the problem for data that the core refused. dataset: the data came from a stored dataset,
 * otherwise from the body. */
static bool refuse(struct evaluation *e, bool dataset, const dn_error *err) {
    if (e->problem->type != PROBLEM_NONE) {
        return false; /* of the computation */
    }
    if (err->code == DN_ERR_STOPPED) {
        return problem_set(e->problem, PROBLEM_UNAVAILABLE, NOBODY_WAITS);
    }
    if (err->code == DN_ERR_SOURCE && e->source != NULL &&
        jobs_source_failed(e->source) != PROBLEM_NONE) {
        return problem_set(e->problem, jobs_source_failed(e->source), "%s", err->message);
    }
    if (err->code == DN_ERR_DATA && e->work != NULL && e->work->weight != NULL &&
        strcmp(err->field, e->work->weight) == 0) {
        return json_fault(e->problem, "", "weight", "%s", err->message);
    }
    if (err->code == DN_ERR_DATA && dataset && err->row >= 0 &&
        strstr(err->message, ", row ") == NULL) {
        return json_fault(e->problem, "", "dataset", "row %" PRId64 " (counted from 1): %s",
                          err->row + 1, err->message);
    }
    if (err->code == DN_ERR_DATA && dataset) {
        return json_fault(e->problem, "",
                          e->target_in_body && strcmp(err->field, e->target) == 0 ? "target"
                                                                                  : "dataset",
                          "%s", err->message);
    }
    jobs_problem_from_core(err, NULL, e->problem);
    return false;
}

/* Notes how many of the n rows have no class. */
static bool note_unlabelled(struct evaluation *e, size_t n_without, size_t n) {
    char text[TEXT_SHOWN + 200], shown[TEXT_SHOWN];
    if (n_without == 0) {
        return true;
    }
    (void)snprintf(text, sizeof text,
                   "%zu of %zu rows have no value of the target %s and were left "
                   "out",
                   n_without, n, text_show(e->target, strlen(e->target), shown));
    return (row_notes_need(&e->notes, dn_encoder_n_inputs(dn_model_encoder(e->model))) &&
            row_notes_warn(e->notes, text)) ||
           problem_set(e->problem, PROBLEM_UNAVAILABLE, "no memory to evaluate");
}

/* ---- rows in the body ---- */

/* Evaluates the rows that have a label; the body had n_given rows. weight NULL: all are 1. */
static bool evaluate_rows(struct evaluation *e, const struct instance_rows *in,
                          const double *weight, size_t n_given) {
    const dn_labelled_rows rows = {.raw = instance_rows_view(in, 0, in->n),
                                   .truth = in->label,
                                   .weight = weight,
                                   .labels = e->labels,
                                   .rule = e->rule};
    struct buf place = {0};
    dn_error err;
    dn_error_clear(&err);
    if (dn_model_evaluate_raw(e->model, &rows, e->curves, &e->run, &e->metrics, &err) == DN_OK) {
        return true;
    }
    if (err.code != DN_ERR_DATA || err.row < 0) {
        return refuse(e, false, &err);
    }
    const char *pointer = in->n == n_given && instance_rows_place(in, (size_t)err.row, &place)
                              ? buf_cstr(&place)
                              : NULL;
    problem_add(e->problem, PROBLEM_INVALID_INSTANCES, pointer, "%s", err.message);
    buf_done(&place);
    return false;
}

/* Counts the rows against --body-memory: all of them are in memory at once, and a short body can
 * describe many wide rows. Returns false after setting the problem. */
static bool hold_rows(void *arg, size_t bytes, struct problem *problem) {
    struct http_call *call = arg;
    if (http_hold(call, bytes)) {
        return true;
    }
    if (http_may_ever_hold(call, bytes)) {
        return problem_set(problem, PROBLEM_UNAVAILABLE,
                           "the %zu MiB of the instances do not fit in the memory that the "
                           "bodies and answers in flight leave of --body-memory; try again",
                           bytes >> 20);
    }
    return problem_add(problem, PROBLEM_INVALID_INSTANCES, "",
                       "the instances need %zu MiB of memory, more than --body-memory allows: send "
                       "fewer at a time",
                       bytes >> 20);
}

/* Evaluates the rows that were read. */
static bool evaluate_given(struct evaluation *e, struct instance_rows *in) {
    const size_t n_given = in->n;
    size_t n_without = 0;
    double *weight = NULL;
    for (size_t i = 0; i < in->n; i++) {
        n_without += in->label[i] == SIZE_MAX;
    }
    e->weight = in->kept.found ? e->weight : NULL;
    if (e->weight != NULL && !row_weights_take(in, &weight, e->problem)) {
        return false;
    }
    instance_rows_keep_labelled(in);
    e->notes = in->notes;
    in->notes = NULL;
    const bool good =
        note_unlabelled(e, n_without, n_given) &&
        (in->n > 0 || problem_add(e->problem, PROBLEM_INVALID_INSTANCES, "",
                                  "no row has a value of the target \"%s\"", e->target)) &&
        evaluate_rows(e, in, weight, n_given);
    free(weight);
    return good;
}

static bool evaluate_body(struct evaluation *e, struct instances_options *options) {
    struct instance_rows in = {0};
    struct keep weight = {0};
    int64_t n_read = 0;
    bool good = e->weight == NULL || keep_one(e->weight, &weight) ||
                problem_set(e->problem, PROBLEM_UNAVAILABLE, "no memory to evaluate");
    options->target = e->target;
    options->keep = e->weight != NULL ? &weight : NULL;
    options->may_lack_keep = options->keep_numbers = true;
    options->hold = hold_rows;
    options->arg = e->call;
    options->n_read = &n_read;
    good = good && api_instances_read(e->call, options, e->model, &in, e->problem);
    api_charge_rows(e->call, n_read);
    good = good && evaluate_given(e, &in);
    instance_rows_done(&in);
    options->keep = NULL;
    options->n_read = NULL;
    keep_done(&weight);
    return good;
}

/* ---- a stored dataset ---- */

/* Reads {"dataset":"iris-test","target":"class"}. Returns the text of "dataset", and sets e->target
 * if "target" is given. Returns NULL if the body is something else, or after setting the
 * problem. */
static const char *read_reference(struct http_call *call, struct evaluation *e,
                                  struct problem *problem) {
    static const char *const known[] = {"dataset", "target", NULL};
    struct problem ignored = {0};
    const char *text = NULL, *target = NULL, *copy = NULL;
    size_t size;
    const char *body = http_body_bytes(call, &size), *type = http_content_type(call);
    if (size > REFERENCE_BYTES || (type[0] != '\0' && strcmp(type, API_JSON) != 0) ||
        *json_first(body, size) != '{') {
        return NULL;
    }
    json_t *root = json_parse(body, size, &ignored);
    problem_done(&ignored); /* the reader of instances reports the same fault in more detail */
    if (json_object_get(root, "dataset")) {
        json_refuse_unknown(root, known, "", problem);
        if (json_read_string(root, "dataset", true, "", &text, problem)) {
            copy = arena_strdup(http_arena(call), text);
            e->target_in_body = json_read_string(root, "target", false, "", &target, problem);
            if (e->target_in_body) {
                e->target = arena_strdup(http_arena(call), target);
            }
            if (!copy || (target && !e->target)) {
                problem_set(problem, PROBLEM_UNAVAILABLE, "no memory to evaluate");
            }
        }
    }
    json_decref(root);
    return problem->type ? NULL : copy;
}

/* Lists the columns of another computation, target first, and returns their number. The core
 * reports missing ones. */
static size_t choose_work_columns(const struct schema *schema, const struct dataset_work *work,
                                  const char *target, struct jobs_column *out) {
    size_t n = 0;
    for (size_t i = 0; i <= work->n_columns; i++) {
        const ptrdiff_t at = schema_find(schema, i == 0 ? target : work->columns[i - 1]);
        if (at >= 0) {
            out[n++] = jobs_column_of(&schema->columns[at], (size_t)at);
        }
    }
    return n;
}

/* Returns the index of the input with this name, beginning the search at input `first`; SIZE_MAX:
 * none. */
static size_t find_input(const dn_encoder *encoder, const char *name, size_t first) {
    const size_t n = dn_encoder_n_inputs(encoder);
    for (size_t k = 0; k < n; k++) {
        const size_t i = first + k < n ? first + k : first + k - n;
        if (strcmp(dn_encoder_input(encoder, i)->name, name) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* Counts the missing cells of column j in chunk c. */
static bool count_missing(struct evaluation *e, const dn_table_source *table, size_t c, size_t j,
                          size_t *n) {
    dn_column_view view;
    dn_error err;
    dn_error_clear(&err);
    if (table->column(table, c, j, 0, &view, &err) != DN_OK) {
        return refuse(e, true, &err);
    }
    for (size_t i = 0; i < view.n_rows; i++) {
        *n += view_missing(&view, i);
    }
    return true;
}

/* Notes the unseen categories in the rows of the dataset, and the rows without a class. */
static bool note_rows(struct evaluation *e, const dn_table_source *table) {
    const dn_encoder *encoder = dn_model_encoder(e->model);
    dn_error err;
    dn_error_clear(&err);
    size_t next = 0; /* the columns are mostly in the order of the inputs */
    for (size_t j = 0; j < table->n_cols; j++) {
        const size_t i = find_input(encoder, table->columns[j].name, next);
        const bool read = i != SIZE_MAX && dn_encoder_input(encoder, i)->type == DN_CATEGORICAL &&
                          table->columns[j].type == DN_CATEGORICAL;
        const bool target = strcmp(table->columns[j].name, e->target) == 0;
        size_t n_without = 0;
        next = i != SIZE_MAX && i + 1 < dn_encoder_n_inputs(encoder) ? i + 1 : 0;
        for (size_t c = 0; target && c < table->n_chunks; c++) {
            if (!count_missing(e, table, c, j, &n_without)) {
                return false;
            }
        }
        if (!note_unlabelled(e, n_without, table->n_rows)) {
            return false;
        }
        for (size_t c = 0; read && c < table->n_chunks; c++) {
            dn_column_view view;
            if (dn_run_stop(&e->run, &err) != DN_OK ||
                table->column(table, c, j, 0, &view, &err) != DN_OK) {
                return refuse(e, true, &err);
            }
            if (!row_notes_view(&e->notes, encoder, i, NULL, &view)) {
                return problem_set(e->problem, PROBLEM_UNAVAILABLE, "no memory to evaluate");
            }
        }
    }
    return true;
}

/* Whether the answer has notes about the rows. */
static bool notes_rows(const struct evaluation *e) {
    return e->work == NULL || e->work->notes != NULL;
}

static bool evaluate_source(struct evaluation *e, const dn_table_source *table) {
    const dn_evaluate_options options = {.curves = e->curves,
                                         .target = e->target,
                                         .weight = e->weight,
                                         .labels = e->labels,
                                         .rule = e->rule};
    dn_error err;
    dn_error_clear(&err);
    const bool good =
        e->work != NULL
            ? e->work->compute(e->work->arg, table, e->target, &e->run, &err) == DN_OK
            : dn_model_evaluate(e->model, table, &options, &e->run, &e->metrics, &err) == DN_OK;
    return good ? !notes_rows(e) || note_rows(e, table) : refuse(e, true, &err);
}

/* Evaluates on columns of the dataset, whose cells are read as those of a body. */
static bool evaluate_read(struct evaluation *e, const struct store_dataset *d,
                          const struct schema *schema, struct jobs_column *columns, size_t n) {
    const bool reads = e->schema != NULL && instance_source_needed(e->schema, e->options);
    dn_table_column *as = calloc(n + 1, sizeof *as);
    struct jobs_source *source = NULL;
    struct instance_source *read = NULL;
    struct charged_source charged;
    bool good = as != NULL;
    for (size_t k = 0; k < n && good; k++) {
        as[k] = jobs_table_column(&columns[k]);
        const bool numbers = as[k].type == DN_NUMERIC || as[k].type == DN_BOOLEAN;
        if (reads && ((numbers && schema->columns[columns[k].index].type != as[k].type) ||
                      dn_datetime_is_form(&as[k].form))) {
            columns[k].type = DN_TEXT;
            columns[k].form = (dn_datetime_form){0};
            columns[k].part = DN_PART_NONE;
        }
    }
    good = good && jobs_source_open(api_app_of(e->call)->store, d->id, columns, n, 1, KEEP_BYTES,
                                    NULL, &source, e->problem);
    if (good && reads) {
        read = instance_source_new(e->model, e->schema, e->options, jobs_source_table(source), as);
        good = read != NULL;
    }
    if (!good && e->problem->type == PROBLEM_NONE) {
        problem_set(e->problem, PROBLEM_UNAVAILABLE, "no memory to evaluate");
    }
    if (good) {
        e->source = source;
        charged_source_init(&charged, e->call,
                            read != NULL ? instance_source_table(read) : jobs_source_table(source));
        good = evaluate_source(e, &charged.table);
        e->source = NULL;
    }
    instance_source_free(read);
    jobs_source_close(source);
    free(as);
    return good;
}

/* Notes or refuses the columns of the dataset that are not read. */
static bool note_ignored(struct evaluation *e, const struct schema *schema,
                         const struct jobs_column *columns, size_t n) {
    bool *read = calloc(schema->n + 1, sizeof *read);
    bool good =
        read != NULL && row_notes_need(&e->notes, dn_encoder_n_inputs(dn_model_encoder(e->model)));
    for (size_t k = 0; k < n && good; k++) {
        read[columns[k].index] = true;
    }
    for (size_t j = 0; j < schema->n && good; j++) {
        const char *name = schema->columns[j].name;
        if (!read[j] && e->options->refuse_extra) {
            free(read);
            return json_fault(e->problem, "", "dataset", "the model has no column \"%s\"", name);
        }
        good = read[j] || row_notes_ignored(e->notes) == IGNORED_MAX ||
               row_notes_ignore(e->notes, name, strlen(name), dn_model_encoder(e->model)) >= 0;
    }
    free(read);
    return good || problem_set(e->problem, PROBLEM_UNAVAILABLE, "no memory to evaluate");
}

/* Refuses a dataset without the column of the true classes. */
static bool find_target(struct evaluation *e, const struct store_dataset *d,
                        const struct schema *schema) {
    if (schema_find(schema, e->target) >= 0) {
        return true;
    }
    struct nearest nearest = nearest_to(e->target, strlen(e->target));
    for (size_t i = 0; i < schema->n; i++) {
        nearest_offer(&nearest, schema->columns[i].name, strlen(schema->columns[i].name));
    }
    return json_fault(e->problem, "", e->target_in_body ? "target" : "dataset",
                      "dataset \"%s\" version %" PRId64
                      " has no column \"%s\", the column of the true classes%s",
                      d->name, d->version, e->target, nearest.hint);
}

static bool evaluate_columns(struct evaluation *e, const struct store_dataset *d,
                             const struct schema *schema) {
    const size_t n_others = e->work != NULL ? e->work->n_columns : 0;
    struct jobs_column *columns =
        calloc(dn_encoder_n_inputs(dn_model_encoder(e->model)) + n_others + 2, sizeof *columns);
    if (!columns) {
        return problem_set(e->problem, PROBLEM_UNAVAILABLE, "no memory to evaluate");
    }
    size_t n = e->work != NULL && e->work->columns != NULL
                   ? choose_work_columns(schema, e->work, e->target, columns)
                   : jobs_model_columns(schema, e->model, e->target, columns);
    const char *name = e->work != NULL ? e->work->weight : e->weight;
    const ptrdiff_t weight = name != NULL ? schema_find(schema, name) : -1;
    if (weight >= 0) {
        columns[n++] = jobs_column_of(&schema->columns[weight], (size_t)weight);
    } else {
        e->weight = NULL; /* the dataset has no weights */
    }
    const bool good =
        (e->options == NULL || !notes_rows(e) || note_ignored(e, schema, columns, n)) &&
        evaluate_read(e, d, schema, columns, n);
    free(columns);
    return good;
}

bool api_dataset_referenced(struct http_call *call, const char *reference,
                            struct store_dataset *out, struct problem *problem) {
    char name[IDS_NAME_SIZE];
    int64_t version;
    struct problem why = {0};
    if (!ids_reference_parse(reference, name, &version)) {
        json_fault(problem, "", "dataset",
                   "must be a dataset's name, or its name and version as in \"iris@2\", got \"%s\"",
                   reference);
        return false;
    }
    if (!api_may_read_dataset(call, name, problem)) {
        return false;
    }
    if (store_dataset_get(api_app_of(call)->store, name, version, out, &why)) {
        return true;
    }
    if (why.type == PROBLEM_UNKNOWN_DATASET) {
        json_fault(problem, "", "dataset", "%s",
                   why.detail ? why.detail : "there is no such dataset");
    } else {
        problem_move(problem, &why);
    }
    problem_done(&why);
    return false;
}

static bool evaluate_dataset(struct evaluation *e, const char *reference) {
    struct store_dataset d;
    struct schema schema = {0};
    if (!api_dataset_referenced(e->call, reference, &d, e->problem)) {
        return false;
    }
    bool good = schema_parse(d.columns, &schema, e->problem) && find_target(e, &d, &schema) &&
                evaluate_columns(e, &d, &schema);
    schema_done(&schema);
    store_dataset_done(&d);
    return good;
}

/* Chooses the column with the true classes: the one that the body or the query names, otherwise the
 * model's target. Returns false after setting the problem. */
static bool choose_target(struct evaluation *e) {
    const dn_encoder *encoder = dn_model_encoder(e->model);
    const char *const given = e->target ? e->target : http_query(e->call, "target");
    e->target = given ? given : dn_model_target(e->model);
    if (!e->target) {
        return json_fault(e->problem, "", "target",
                          "the model was trained without a target: name the column with the true "
                          "classes, inlier and outlier, as ?target= or beside \"dataset\"");
    }
    for (size_t i = 0; given && i < dn_encoder_n_inputs(encoder); i++) {
        if (strcmp(dn_encoder_input(encoder, i)->column, given) == 0) {
            return json_fault(e->problem, "", "target",
                              "column \"%s\" is an input of the model and cannot have the true "
                              "classes",
                              given);
        }
    }
    return true;
}

void api_model_evaluate(struct http_call *call) {
    struct api_app *app = api_app_of(call);
    struct problem problem = {0};
    struct instances_options options;
    struct evaluation e;
    bool curves = false;
    bool by_threshold = false;
    double threshold = 0;
    dn_rule rule;
    dn_labels labels;
    if (!api_query_bool(call, "curves", &curves) || !api_decision_read(call, &labels) ||
        !api_threshold_read(call, http_query(call, "decision") != NULL, &by_threshold,
                            &threshold)) {
        return;
    }
    const struct serving_model *m = api_model_take(call);
    if (!m) {
        return;
    }
    if (!api_may_work(call, api_call_work(call, m), api_model_evaluate)) {
        serving_release(app->serving, m);
        return;
    }
    evaluation_init(&e, call, m->model, curves, &problem);
    e.labels = labels;
    e.rule = labels == DN_LABELS_OF_MODEL ? dn_model_rule(m->model) : NULL;
    if (by_threshold) {
        if (!api_threshold_rule(m->model, threshold, &rule, &problem)) {
            http_reply_problem(call, &problem);
            goto cleanup;
        }
        e.rule = &rule;
    }
    if (!api_weight_column(call, m, &e.weight)) {
        goto cleanup; /* answered */
    }
    const char *reference = read_reference(call, &e, &problem);
    const bool good = !problem.type && choose_target(&e);
    if (good && e.weight != NULL && strcmp(e.weight, e.target) == 0) {
        e.weight = NULL;
    }
    if (good && reference) {
        e.schema = predict_plan_of(m)->schema;
        e.options = &options;
        if (!api_instances_stored(call, &options)) {
            goto cleanup; /* answered */
        }
        (void)evaluate_dataset(&e, reference);
    } else if (good && !api_instances_options(call, true, &options)) {
        goto cleanup; /* answered */
    } else if (good) {
        options.schema = predict_plan_of(m)->schema;
        (void)evaluate_body(&e, &options);
    }
    if (e.metrics && !problem.type) {
        reply_metrics(call, m, e.metrics, e.rule, e.weight, e.notes);
    } else {
        http_reply_problem(call, &problem);
    }
cleanup:
    dn_metrics_free(e.metrics);
    row_notes_free(e.notes);
    serving_release(app->serving, m);
}

/* ---- other computations ---- */

bool api_dataset_work(struct http_call *call, const dn_model *model,
                      const struct dataset_work *work, struct problem *problem) {
    struct evaluation e;
    evaluation_init(&e, call, model, false, problem);
    e.work = work;
    e.target = work->target;
    e.target_in_body = work->target != NULL;
    e.schema = work->schema;
    e.options = work->options;
    if (work->allocator != NULL) {
        e.run.allocator = work->allocator;
    }
    const bool good = choose_target(&e) && evaluate_dataset(&e, work->dataset);
    if (work->notes != NULL) {
        *work->notes = e.notes;
    }
    return good;
}
