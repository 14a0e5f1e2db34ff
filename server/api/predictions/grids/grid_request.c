/* Reads the body of POST …/evaluate_grid. Defaults come from the summary of the dataset that the
 * model was trained on, or from the model if the dataset was deleted. */
#include "api/predictions/grids/grid_request.h"
#include "api/access.h"
#include "api/predictions/instances.h"
#include "api/predictions/outputs.h"
#include "api/predictions/plan.h"
#include "api/support.h"
#include "base/json/json_read.h"
#include "base/nearest.h"
#include "base/utf8.h"
#include "formats/instances/row_notes.h"
#include "formats/text/cell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HINTS = 10, USUAL_STEPS = 100, SHOWN_LEVELS = 10, SHOWN_BYTES = 60 };
#define DAY 86400.0 /* seconds */
#define MARGIN 0.05 /* part of a column's range that the grid adds on either side */
#define GRID_OUTPUTS                                                                               \
    (unsigned)(ANSWER_LABEL | ANSWER_PROBABILITIES | ANSWER_SCORES | ANSWER_DISTANCE |             \
               ANSWER_LOG_DENSITY | ANSWER_PRIOR | ANSWER_POSTERIOR)

struct reading {
    struct http_call *call;
    const struct serving_model *m;
    const dn_encoder *encoder;
    struct problem *problem;
    json_t *summary;   /* columns of the dataset; NULL: the dataset was deleted */
    bool refuse_extra; /* ?extra=error */
    struct grid_request out;
};

/* Finds an input by the name of its column. Of inputs that read the same dates it is the first. */
static size_t find_column(const dn_encoder *encoder, const char *name) {
    for (size_t i = 0; i < dn_encoder_n_inputs(encoder); i++) {
        if (strcmp(dn_encoder_input(encoder, i)->column, name) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* Returns a hint at the column whose name is nearest, in *nearest. given: the columns that have a
 * value are left out; NULL: none has one. */
static const char *hint_column(const struct reading *r, const json_t *given, const char *name,
                               struct nearest *nearest) {
    *nearest = nearest_to(name, strlen(name));
    for (size_t i = 0; i < dn_encoder_n_inputs(r->encoder); i++) {
        const char *own = dn_encoder_input(r->encoder, i)->column;
        if (json_object_get(given, own) == NULL) {
            nearest_offer(nearest, own, strlen(own));
        }
    }
    return nearest->hint;
}

/* Finds a part of dates by its own name. */
static size_t find_part(const dn_encoder *encoder, const char *name) {
    for (size_t i = 0; i < dn_encoder_n_inputs(encoder); i++) {
        if (dn_encoder_input(encoder, i)->part != DN_PART_NONE &&
            strcmp(dn_encoder_input(encoder, i)->name, name) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

static bool is_date(const dn_input *in) {
    return in->type == DN_DATETIME || in->part != DN_PART_NONE;
}

bool grid_request_varies(const struct grid_request *r, const dn_encoder *encoder, size_t input) {
    for (size_t a = 0; a < r->n_axes; a++) {
        const dn_input *axis = dn_encoder_input(encoder, r->axes[a].input);
        if (strcmp(axis->column, dn_encoder_input(encoder, input)->column) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- the dataset of the training ---- */

static bool find_dataset(const struct reading *r, struct store_dataset *out) {
    const struct predict_plan *plan = predict_plan_of(r->m);
    const struct auth_token *token = api_token(r->call);
    struct problem ignored = {0};
    const bool found = plan->dataset != NULL &&
                       (token == NULL || auth_token_matches(token, plan->dataset)) &&
                       store_dataset_get(api_app_of(r->call)->store, plan->dataset,
                                         plan->dataset_version, out, &ignored);
    problem_done(&ignored);
    return found;
}

static void read_summary(struct reading *r) {
    struct store_dataset d;
    struct problem ignored = {0};
    if (!find_dataset(r, &d)) {
        return;
    }
    r->summary = json_parse(d.columns, strlen(d.columns), &ignored);
    problem_done(&ignored);
    store_dataset_done(&d);
}

/* Returns the summary of a column; NULL: there is none. */
static const json_t *summary_of(const struct reading *r, const char *name) {
    size_t i;
    json_t *column;
    json_array_foreach(r->summary, i, column) {
        const char *own = json_string_value(json_object_get(column, "name"));
        if (own && strcmp(own, name) == 0) {
            return column;
        }
    }
    return NULL;
}

/* A date of the body or of a description, in the form of the input. */
static bool date_of(const dn_input *in, const json_t *value, double *out) {
    return json_is_string(value) &&
           dn_datetime_parse(json_string_value(value), json_string_length(value), &in->form, out);
}

/* An end of the range in the summary of a column. */
static bool summary_value(const dn_input *in, const json_t *value, double *out) {
    if (is_date(in)) {
        return date_of(in, value, out);
    }
    *out = json_number_value(value);
    return json_is_number(value);
}

/* Sets the usual range of an axis: the column's range with MARGIN. If the dataset was deleted: the
 * mean and 3 standard deviations on either side. Returns false if the model does not have these
 * either. */
static bool usual_range(const struct reading *r, size_t input, double *from, double *to) {
    const dn_input *in = dn_encoder_input(r->encoder, input);
    const json_t *column = summary_of(r, in->column), *least = json_object_get(column, "min"),
                 *most = json_object_get(column, "max");
    const double *mean = dn_encoder_mean(r->encoder), *scale = dn_encoder_scale(r->encoder);
    double a = 0, b = 0;
    if (summary_value(in, least, &a) && summary_value(in, most, &b)) {
        const double margin = a < b ? MARGIN * (b - a) : is_date(in) ? DAY : 1;
        *from = a - margin;
        *to = b + margin;
    } else if (mean && !in->in_basis_only && in->part == DN_PART_NONE) {
        *from = mean[in->first_feature] - 3 * scale[in->first_feature];
        *to = mean[in->first_feature] + 3 * scale[in->first_feature];
    } else {
        return false;
    }
    if (is_date(in) && in->form.orders == 0) { /* times of day */
        *from = fmax(*from, 0);
        *to = fmin(*to, DAY - 1);
    }
    return isfinite(*from) && isfinite(*to) && *from < *to;
}

/* Returns the most frequent category. If it is unknown: the category that the encoder uses for
 * missing or unseen values, otherwise the first one. */
static double usual_level(const struct reading *r, size_t input) {
    const dn_input *in = dn_encoder_input(r->encoder, input);
    const json_t *top =
        json_array_get(json_array_get(json_object_get(summary_of(r, in->name), "top"), 0), 0);
    if (json_is_string(top)) {
        const double level =
            dn_encoder_level(r->encoder, input, json_string_value(top), json_string_length(top));
        if (level != DN_UNSEEN) {
            return level;
        }
    }
    return (double)(in->missing_as < in->levels.n  ? in->missing_as
                    : in->unseen_as < in->levels.n ? in->unseen_as
                                                   : 0);
}

static double usual_value(const struct reading *r, size_t input) {
    const dn_input *in = dn_encoder_input(r->encoder, input);
    if (in->type == DN_CATEGORICAL) {
        return usual_level(r, input);
    }
    return in->type == DN_BOOLEAN ? in->fill > 0.5 : in->fill;
}

/* ---- the body ---- */

/* Adds the fault that member `key` of `parent` is not `wanted`. */
static void refuse_kind(struct reading *r, const char *parent, const char *key, const char *wanted,
                        const json_t *value) {
    struct buf got = {0};
    json_describe(&got, value);
    json_fault(r->problem, parent, key, "must be %s, got %s", wanted,
               buf_cstr(&got) ? buf_cstr(&got) : "something else");
    buf_done(&got);
}

static void refuse_date(struct reading *r, const char *parent, const char *key, const dn_input *in,
                        const json_t *value) {
    char form[DN_DATETIME_FORM_SIZE], wanted[DN_DATETIME_FORM_SIZE + 32];
    (void)dn_datetime_form_write(&in->form, form);
    (void)snprintf(wanted, sizeof wanted, "a date or time of the form %s", form);
    refuse_kind(r, parent, key, wanted, value);
}

/* Refuses a category that is not in the training rows. */
static void refuse_level(struct reading *r, size_t input, const char *text, size_t n) {
    const dn_input *in = dn_encoder_input(r->encoder, input);
    struct buf known = {0};
    for (size_t k = 0; k < in->levels.n && k < SHOWN_LEVELS; k++) {
        const uint32_t start = in->levels.start[k], length = in->levels.start[k + 1] - start;
        buf_puts(&known, k > 0 ? ", " : "");
        utf8_append(&known, in->levels.bytes + start,
                    utf8_cut(in->levels.bytes + start, length, SHOWN_BYTES));
    }
    if (in->levels.n > SHOWN_LEVELS) {
        buf_printf(&known, ", … (%zu in all)", in->levels.n);
    }
    const char *list = buf_cstr(&known);
    json_fault(r->problem, "/at", in->name,
               "must be a category that training saw, got \"%.*s\"; it saw %s",
               (int)utf8_cut(text, n, SHOWN_BYTES), text, list ? list : "others");
    buf_done(&known);
}

static void note_unseen(struct reading *r, size_t input, const char *text, size_t n) {
    if (row_notes_unseen_add(&r->out.notes, dn_encoder_n_inputs(r->encoder), input, text, n)) {
        row_notes_row_end(r->out.notes);
    } else {
        problem_set(r->problem, PROBLEM_UNAVAILABLE, "no memory for a category");
    }
}

static double read_level(struct reading *r, size_t input, const json_t *value) {
    const char *name = dn_encoder_input(r->encoder, input)->name, *text = json_string_value(value);
    char number[DN_NUMBER_SIZE];
    size_t n = text ? json_string_length(value) : 0;
    if (json_is_number(value)) {
        n = dn_number_format(json_number_value(value), number);
        text = number;
    } else if (json_is_boolean(value)) {
        text = json_is_true(value) ? "true" : "false";
        n = strlen(text);
    }
    if (!text) {
        refuse_kind(r, "/at", name, "a category, as a string", value);
        return 0;
    }
    const double level = dn_encoder_level(r->encoder, input, text, n);
    if (level == DN_UNSEEN && dn_encoder_refuses_unseen(r->encoder)) {
        refuse_level(r, input, text, n);
    } else if (level == DN_UNSEEN) {
        note_unseen(r, input, text, n);
    }
    return level;
}

/* Reads the value of an input, as in an instance; null: missing. */
static double read_value(struct reading *r, size_t input, const json_t *value) {
    const dn_input *in = dn_encoder_input(r->encoder, input);
    bool truth = false;
    if (in->type == DN_BOOLEAN && json_is_string(value) &&
        text_boolean((struct text){json_string_value(value), json_string_length(value)}, &truth)) {
        return truth ? 1 : 0;
    }
    if (json_is_null(value)) {
        return (double)NAN;
    }
    if (in->type == DN_CATEGORICAL) {
        return read_level(r, input, value);
    }
    const double number = json_is_boolean(value) ? json_is_true(value) : json_number_value(value);
    if (in->type == DN_BOOLEAN
            ? !json_is_boolean(value) && !(json_is_number(value) && (number == 0 || number == 1))
            : !json_is_number(value)) {
        refuse_kind(r, "/at", in->name,
                    in->type == DN_BOOLEAN ? "true or false" : "a finite number", value);
    }
    return number;
}

/* Reads the date of the inputs that read the same column as `input`, the first of them. */
static void read_date(struct reading *r, size_t input, const json_t *value) {
    const dn_input *in = dn_encoder_input(r->encoder, input);
    const size_t n = dn_encoder_n_inputs(r->encoder);
    double seconds = 0;
    if (json_is_null(value)) {
        for (size_t i = input; i < n && (i == input || dn_encoder_input(r->encoder, i)->follows);
             i++) {
            r->out.row[i] = (double)NAN;
        }
    } else if (!date_of(in, value, &seconds)) {
        refuse_date(r, "/at", in->column, in, value);
    } else {
        (void)dn_encoder_date(r->encoder, input, seconds, r->out.row + input);
    }
}

/* Notes a column that the model does not have. It is refused if ?extra=error, or if its name is
 * near to that of an input without a value: the value would be lost. */
static void ignore_column(struct reading *r, const json_t *at, const char *name) {
    const size_t n = strlen(name);
    struct nearest nearest;
    const char *hint = r->problem->n_errors < HINTS ? hint_column(r, at, name, &nearest) : "";
    if (r->refuse_extra || hint[0] != '\0') {
        json_fault(r->problem, "/at", name, "the model has no column \"%s\"%s", name, hint);
    } else if (!row_notes_need(&r->out.notes, dn_encoder_n_inputs(r->encoder)) ||
               row_notes_ignore(r->out.notes, name, n, r->encoder) == IGNORED_NO_MEMORY) {
        problem_set(r->problem, PROBLEM_UNAVAILABLE, "no memory for a column");
    }
}

static void read_at(struct reading *r, const json_t *root) {
    const size_t n = dn_encoder_n_inputs(r->encoder);
    const json_t *at = NULL;
    r->out.row = arena_alloc(http_arena(r->call), (n + 1) * sizeof *r->out.row);
    if (!r->out.row) {
        problem_set(r->problem, PROBLEM_UNAVAILABLE, "no memory for a row of %zu inputs", n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        r->out.row[i] = grid_request_varies(&r->out, r->encoder, i) ? 0 : usual_value(r, i);
    }
    if (!json_read_object(root, "at", false, "", &at, r->problem)) {
        return;
    }
    for (void *m = json_object_iter((json_t *)(uintptr_t)at); m;
         m = json_object_iter_next((json_t *)(uintptr_t)at, m)) {
        const char *name = json_object_iter_key(m);
        const size_t part = find_part(r->encoder, name),
                     input = part != SIZE_MAX ? part : find_column(r->encoder, name);
        if (input == SIZE_MAX) {
            ignore_column(r, at, name);
        } else if (grid_request_varies(&r->out, r->encoder, input)) {
            json_fault(r->problem, "/at", name, "varies already, as %s",
                       strcmp(dn_encoder_input(r->encoder, r->out.axes[0].input)->column,
                              dn_encoder_input(r->encoder, input)->column) == 0
                           ? "x"
                           : "y");
        } else if (part == SIZE_MAX && is_date(dn_encoder_input(r->encoder, input))) {
            read_date(r, input, json_object_iter_value(m));
        } else {
            r->out.row[input] = read_value(r, input, json_object_iter_value(m));
        }
    }
}

/* Reads an end of the axis. Returns false if it is absent. */
static bool read_end(struct reading *r, const json_t *object, const char *place, const char *key,
                     const dn_input *in, double *out) {
    if (!is_date(in)) {
        return json_read_number(object, key, false, place, out, r->problem);
    }
    const json_t *value = json_read_any(object, key, false, place, r->problem);
    if (value != NULL && !date_of(in, value, out)) {
        refuse_date(r, place, key, in, value);
    }
    return value != NULL;
}

static void refuse_range(struct reading *r, const char *place, const char *key,
                         const struct grid_axis *axis) {
    char from[DN_DATETIME_SIZE], to[DN_DATETIME_SIZE];
    if (axis->form == NULL) {
        json_fault(r->problem, place, key, "makes the range empty (from %g to %g)", axis->from,
                   axis->to);
        return;
    }
    (void)dn_datetime_format(axis->from, axis->form, from);
    (void)dn_datetime_format(axis->to, axis->form, to);
    json_fault(r->problem, place, key, "makes the range empty (from %s to %s)", from, to);
}

/* Reads the ends of the axis. */
static void read_range(struct reading *r, const json_t *object, const char *place,
                       struct grid_axis *axis) {
    double from = 0, to = 0;
    const size_t before = r->problem->n_errors;
    const char *name = dn_encoder_input(r->encoder, axis->input)->column;
    const bool known = usual_range(r, axis->input, &axis->from, &axis->to);
    const dn_input *in = dn_encoder_input(r->encoder, axis->input);
    const bool begins = read_end(r, object, place, "from", in, &from);
    const bool ends = read_end(r, object, place, "to", in, &to);
    axis->form = is_date(in) ? &in->form : NULL;
    if (r->problem->n_errors > before) {
        return;
    }
    if (!known && !begins) {
        json_fault(r->problem, place, "from",
                   "is missing, and the dataset with the range of \"%s\" was deleted", name);
    }
    if (!known && !ends) {
        json_fault(r->problem, place, "to",
                   "is missing, and the dataset with the range of \"%s\" was deleted", name);
    }
    axis->from = begins ? from : axis->from;
    axis->to = ends ? to : axis->to;
    if (r->problem->n_errors == before && !(axis->from < axis->to)) {
        refuse_range(r, place, ends || !begins ? "to" : "from", axis);
    }
}

/* Reads the member "x" or "y". */
static void read_axis(struct reading *r, const json_t *root, const char *key) {
    static const char *const known[] = {"column", "from", "to", "steps", NULL};
    const json_t *object = NULL;
    const char *name = NULL, *place = key[0] == 'x' ? "/x" : "/y";
    struct grid_axis axis = {.steps = USUAL_STEPS};
    struct nearest nearest;
    int64_t steps = USUAL_STEPS;
    if (!json_read_object(root, key, key[0] == 'x', "", &object, r->problem)) {
        return;
    }
    json_refuse_unknown(object, known, place, r->problem);
    if (json_read_int(object, "steps", false, place, 2, GRID_MAX_STEPS, &steps, r->problem)) {
        axis.steps = (size_t)steps;
    }
    if (!json_read_string(object, "column", true, place, &name, r->problem)) {
        return;
    }
    axis.input = find_column(r->encoder, name);
    if (axis.input == SIZE_MAX) {
        json_fault(r->problem, place, "column", "the model has no input \"%s\"%s", name,
                   hint_column(r, NULL, name, &nearest));
    } else if (dn_encoder_input(r->encoder, axis.input)->type != DN_NUMERIC &&
               !is_date(dn_encoder_input(r->encoder, axis.input))) {
        json_fault(r->problem, place, "column",
                   "\"%s\" is %s: an axis is a numeric or datetime column", name,
                   dn_column_type_name(dn_encoder_input(r->encoder, axis.input)->type));
    } else if (grid_request_varies(&r->out, r->encoder, axis.input)) {
        json_fault(r->problem, place, "column", "\"%s\" is already the column of x", name);
    } else {
        read_range(r, object, place, &axis);
        r->out.axes[r->out.n_axes++] = axis;
    }
}

static void read_outputs(struct reading *r, const json_t *root) {
    const char *text = NULL;
    unsigned bits = ANSWER_LABEL | ANSWER_PROBABILITIES;
    if (json_read_string(root, "output", false, "", &text, r->problem) &&
        (!api_outputs_parse(text, &bits) || (bits & ~GRID_OUTPUTS) != 0)) {
        json_fault(r->problem, "", "output",
                   "must be a list of label, probabilities, scores, distance, log_density, prior, "
                   "posterior, got \"%.100s\"",
                   text);
    }
    r->out.outputs = bits;
}

static void read_decision(struct reading *r, const json_t *root) {
    static const char *const names[] = {"probabilities", "scores", NULL};
    size_t scores = 0;
    if (json_read_choice(root, "decision", false, "", names, &scores, r->problem)) {
        r->out.labels = scores == 1 ? DN_LABELS_SCORES : DN_LABELS_PROBABILITIES;
    }
}

/* Reads the classes with planes of their own. */
static void read_planes(struct reading *r, const json_t *root) {
    const size_t n_classes = dn_model_classes(r->m->model)->n;
    if (json_read_ints(root, "planes", false, "", 0, (int64_t)n_classes - 1, n_classes,
                       http_arena(r->call), &r->out.planes, &r->out.n_planes, r->problem) &&
        r->out.n_planes == 0) {
        json_fault(r->problem, "", "planes", "must have at least one class");
    }
}

/* Refuses models that have text or sparse inputs. */
static bool can_vary(struct reading *r) {
    if (dn_model_is_precomputed(r->m->model)) {
        return json_fault(r->problem, "", NULL,
                          "the model has a precomputed kernel: its inputs are kernel values with "
                          "training rows, which cannot vary independently");
    }
    for (size_t i = 0; i < dn_encoder_n_inputs(r->encoder); i++) {
        const dn_input *in = dn_encoder_input(r->encoder, i);
        if (in->type == DN_TEXT || in->type == DN_SPARSE) {
            return json_fault(
                r->problem, "", NULL,
                "a grid needs a model whose inputs are numeric, boolean, categorical or datetime: "
                "input \"%s\" is %s",
                in->name, dn_column_type_name(in->type));
        }
    }
    return true;
}

static void read_body(struct reading *r, const json_t *root) {
    static const char *const known[] = {"x",        "y",      "at",       "output",
                                        "decision", "planes", "snapshot", NULL};
    json_refuse_unknown(root, known, "", r->problem);
    if (!can_vary(r)) {
        return;
    }
    read_summary(r);
    read_axis(r, root, "x");
    read_axis(r, root, "y");
    read_at(r, root);
    read_outputs(r, root);
    read_decision(r, root);
    read_planes(r, root);
    r->out.snapshot = -1;
    (void)json_read_int(root, "snapshot", false, "", 0, JSON_READ_EXACT, &r->out.snapshot,
                        r->problem);
}

bool grid_request_read(struct http_call *call, const struct serving_model *m,
                       struct grid_request *out) {
    struct problem problem = {0};
    struct reading r = {.call = call,
                        .m = m,
                        .encoder = dn_model_encoder(m->model),
                        .problem = &problem};
    if (!api_instances_extra(call, &r.refuse_extra)) {
        return false;
    }
    json_t *root = api_body_object(call);
    if (!root) {
        return false;
    }
    read_body(&r, root);
    json_decref(r.summary);
    json_decref(root);
    if (problem.type) {
        grid_request_done(&r.out);
        http_reply_problem(call, &problem);
        return false;
    }
    *out = r.out;
    return true;
}

void grid_request_done(struct grid_request *r) {
    row_notes_free(r->notes);
    r->notes = NULL;
}

static double axis_number(const struct grid_axis *axis, size_t i) {
    const double last = (double)(axis->steps - 1), way = (axis->to - axis->from) * (double)i;
    if (i == 0 || i + 1 == axis->steps) {
        return i == 0 ? axis->from : axis->to;
    }
    return isfinite(way) ? axis->from + way / last
                         : (1 - (double)i / last) * axis->from + (double)i / last * axis->to;
}

double grid_axis_at(const struct grid_axis *axis, size_t i) {
    double value = axis_number(axis, i), shown = value;
    char text[DN_DATETIME_SIZE];
    if (axis->form != NULL &&
        dn_datetime_parse(text, dn_datetime_format(value, axis->form, text), axis->form, &shown)) {
        value = shown;
    }
    return value;
}
