/* POST …/evaluate_grid: predictions for the points of a grid over one or two columns of a model,
 * for plots of its decision boundaries. Runs on a pool thread, some points at a time. */
#include "api/handlers.h"
#include "api/policy.h"
#include "api/predictions/answer.h"
#include "api/predictions/grids/grid_request.h"
#include "api/predictions/instances.h"
#include "api/predictions/outputs.h"
#include "api/predictions/plan.h"
#include "api/predictions/snapshot.h"
#include "api/predictions/work.h"
#include "api/support.h"
#include "base/json/json_read.h"
#include "jobs/documents.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POINT_PRODUCTS 200 /* to write a point */
#define TILE_PRODUCTS 5e7  /* multiplications between two checks whether the client has left */
#define NOBODY_WAITS                                                                               \
    "the call was cancelled because the client has left or the daemon is shutting down"

/* The results of all points. Number p of a plane belongs to point p; x varies fastest. */
struct grid {
    struct http_call *call;
    const struct serving_model *m;
    struct grid_request request;
    struct snapshot_model snapshot; /* {0}: the trained model is scored */
    struct problem *problem;
    size_t nx, ny, n; /* points along x, along y (1 without y), in total */
    unsigned outputs;
    struct outputs_room room; /* room for the results of a tile */
    double *raw;              /* [tile × inputs] */
    size_t n_scores, n_probabilities, n_densities, n_posteriors; /* planes */
    double *scores, *probabilities, *distance, *log_density, *class_log_density,
        *posterior; /* the planes one after the other; NULL: not requested, or the model has none */
    uint32_t *label;             /* class index, UINT32_MAX: ambiguous */
    size_t held;                 /* bytes allocated for the results */
    const struct format *format; /* JSON: planes. CSV, TSV: a line for each point */
    struct predictions_writer lines;
    struct buf *body;
};

/* ---- room ---- */

static bool hold(struct grid *g, size_t bytes) {
    if (http_hold(g->call, bytes)) {
        return true;
    }
    if (http_may_ever_hold(g->call, bytes)) {
        return problem_set(g->problem, PROBLEM_UNAVAILABLE,
                           "a grid of %zu points does not fit in the memory that the bodies and "
                           "answers in flight leave of --body-memory; try again",
                           g->n);
    }
    return json_fault(
        g->problem, "", NULL,
        "the grid needs %zu MiB of memory, more than --body-memory allows: take fewer steps",
        bytes >> 20);
}

static double *plane(double **at, size_t n_planes, size_t n) {
    double *taken = n_planes > 0 ? *at : NULL;
    *at += n_planes * n;
    return taken;
}

static bool make_room(struct grid *g) {
    const dn_model *model = g->m->model;
    const size_t n_inputs = dn_encoder_n_inputs(dn_model_encoder(model)),
                 n_classes = dn_model_classes(model)->n;
    g->outputs = api_outputs_of(model, g->request.outputs);
    if (!api_outputs_check(g->m, g->outputs, g->problem) ||
        !outputs_room_init(&g->room, g->m, g->outputs, g->n, g->problem)) {
        return false;
    }
    g->room.rows.labels = g->request.labels;
    const dn_prediction *rows = &g->room.rows;
    const bool whole = g->format->answers->document;
    if (!whole && g->request.planes != NULL) {
        return json_fault(g->problem, "", "planes",
                          "is for answers as JSON: a line of a text has all classes");
    }
    const size_t n_planes = g->request.planes != NULL ? g->request.n_planes : n_classes;
    g->n_scores = rows->scores ? dn_model_n_scores(model) : 0;
    g->n_probabilities = rows->probabilities ? n_planes : 0;
    g->n_densities = rows->class_log_density ? n_planes : 0;
    g->n_posteriors = rows->posterior ? n_planes : 0;
    const size_t planes = g->n_scores + g->n_probabilities + (rows->distance ? 1 : 0) +
                          (rows->log_density ? 1 : 0) + g->n_densities + g->n_posteriors;
    if (g->n > OUTPUTS_MAX_NUMBERS / (planes + 1)) {
        return json_fault(g->problem, "/x", "steps",
                          "%zu points of %zu numbers each are more than the %d that one answer may "
                          "hold: take fewer steps",
                          g->n, planes + 1, OUTPUTS_MAX_NUMBERS);
    }
    const size_t label = whole && rows->label ? g->n * sizeof *g->label : 0,
                 kept = whole ? planes * g->n : 0;
    g->held = kept * sizeof(double) + label + g->room.n * n_inputs * sizeof(double) + g->room.size;
    if (!hold(g, g->held)) {
        return false;
    }
    double *numbers = malloc((kept + 1) * sizeof *numbers), *at = numbers;
    g->scores = numbers; /* the address to free */
    g->raw = malloc((g->room.n * n_inputs + 1) * sizeof *g->raw);
    g->label = label > 0 ? malloc(label) : NULL;
    if (!numbers || !g->raw || (label > 0 && !g->label)) {
        return problem_set(g->problem, PROBLEM_UNAVAILABLE, "no memory for a grid of %zu points",
                           g->n);
    }
    if (!whole) {
        return true;
    }
    at += g->n_scores * g->n;
    g->probabilities = plane(&at, g->n_probabilities, g->n);
    g->distance = plane(&at, rows->distance ? 1 : 0, g->n);
    g->log_density = plane(&at, rows->log_density ? 1 : 0, g->n);
    g->class_log_density = plane(&at, g->n_densities, g->n);
    g->posterior = plane(&at, g->n_posteriors, g->n);
    return true;
}

static void grid_done(struct grid *g) {
    predictions_writer_done(&g->lines);
    outputs_room_done(&g->room);
    free(g->scores);
    free(g->raw);
    free(g->label);
    grid_request_done(&g->request);
    snapshot_model_done(&g->snapshot);
}

/* ---- points ---- */

/* Sets the value of step i of an axis. */
static void set(const struct grid *g, const struct grid_axis *axis, size_t i, double *row) {
    const double value = grid_axis_at(axis, i);
    if (axis->form != NULL) {
        (void)dn_encoder_date(dn_model_encoder(g->m->model), axis->input, value, row + axis->input);
    } else {
        row[axis->input] = value;
    }
}

static void place(const struct grid *g, size_t point, double *row) {
    const struct grid_request *r = &g->request;
    memcpy(row, r->row, dn_encoder_n_inputs(dn_model_encoder(g->m->model)) * sizeof *row);
    set(g, &r->axes[0], point % g->nx, row);
    if (r->n_axes > 1) {
        set(g, &r->axes[1], point / g->nx, row);
    }
}

/* Copies column `from` of rows [n × width] to a plane, from point `first` on. */
static void spread_column(const double *rows, size_t width, size_t from, size_t first, size_t n,
                          double *out) {
    for (size_t i = 0; i < n; i++) {
        out[first + i] = rows[i * width + from];
    }
}

/* Copies rows [n × width] to planes, from point `first` on. */
static void spread(const struct grid *g, const double *rows, size_t width, size_t first, size_t n,
                   double *planes) {
    for (size_t k = 0; rows && planes && k < width; k++) {
        spread_column(rows, width, k, first, n, planes + k * g->n);
    }
}

/* The same for rows with a number for each class, of which the answer has n_planes. */
static void spread_classes(const struct grid *g, const double *rows, size_t n_planes, size_t first,
                           size_t n, double *planes) {
    const size_t n_classes = dn_model_classes(g->m->model)->n;
    for (size_t p = 0; rows && planes && p < n_planes; p++) {
        const size_t k = g->request.planes != NULL ? (size_t)g->request.planes[p] : p;
        spread_column(rows, n_classes, k, first, n, planes + p * g->n);
    }
}

static void keep(const struct grid *g, size_t first, size_t n) {
    const dn_prediction *rows = &g->room.rows;
    spread(g, rows->scores, g->n_scores, first, n, g->scores);
    spread_classes(g, rows->probabilities, g->n_probabilities, first, n, g->probabilities);
    spread(g, rows->distance, 1, first, n, g->distance);
    spread(g, rows->log_density, 1, first, n, g->log_density);
    spread_classes(g, rows->class_log_density, g->n_densities, first, n, g->class_log_density);
    spread_classes(g, rows->posterior, g->n_posteriors, first, n, g->posterior);
    for (size_t i = 0; g->label && i < n; i++) {
        g->label[first + i] =
            rows->label[i] == DN_AMBIGUOUS ? UINT32_MAX : (uint32_t)rows->label[i];
    }
}

/* ---- a line for each point ---- */

/* Writes the header: the columns of the axes, then those of a prediction. */
static void begin_lines(struct grid *g) {
    const struct answer_head head = {.name = g->m->name,
                                     .version = g->m->version,
                                     .texts = &predict_plan_of(g->m)->texts,
                                     .outputs = g->outputs,
                                     .format = g->format};
    const char delimiter = g->format->answers->delimiter;
    for (size_t a = 0; a < g->request.n_axes; a++) {
        const char *name =
            dn_encoder_input(dn_model_encoder(g->m->model), g->request.axes[a].input)->column;
        csv_text_write(name, strlen(name), delimiter, g->body);
        buf_putc(g->body, delimiter);
    }
    predictions_writer_begin(&g->lines, &head, g->m->model, &g->room.rows, g->body);
}

static void put_cell(struct grid *g, const struct grid_axis *axis, size_t i) {
    char text[DN_DATETIME_SIZE];
    const double value = grid_axis_at(axis, i);
    buf_append(g->body, text,
               axis->form != NULL ? dn_datetime_format(value, axis->form, text)
                                  : dn_number_format(value, text));
    buf_putc(g->body, g->lines.delimiter);
}

static bool write_lines(struct grid *g, size_t first, size_t n) {
    for (size_t i = 0; i < n; i++) {
        put_cell(g, &g->request.axes[0], (first + i) % g->nx);
        if (g->request.n_axes > 1) {
            put_cell(g, &g->request.axes[1], (first + i) / g->nx);
        }
        (void)predictions_writer_part(&g->lines, i, n, &g->room.rows, 0);
    }
    return hold(g, g->held + g->body->capacity);
}

/* ---- scores ---- */

/* Adds the fault of a point without a finite score, at the axis whose value is farther from 0.
 * Returns false. */
static bool refuse_point(struct grid *g, size_t point) {
    const struct grid_axis *axes = g->request.axes;
    const double x = grid_axis_at(&axes[0], point % g->nx),
                 y = g->request.n_axes > 1 ? grid_axis_at(&axes[1], point / g->nx) : 0;
    if (g->request.n_axes == 1) {
        return json_fault(g->problem, "", "x", "%g is so large that its scores overflow", x);
    }
    return json_fault(g->problem, "", fabs(y) > fabs(x) ? "y" : "x",
                      "the point x = %g, y = %g has values so large that its scores overflow", x,
                      y);
}

static bool keep_or_write(struct grid *g, size_t first, size_t n) {
    if (!g->format->answers->document) {
        return write_lines(g, first, n);
    }
    keep(g, first, n);
    return true;
}

static bool score(struct grid *g) {
    const size_t n_inputs = dn_encoder_n_inputs(dn_model_encoder(g->m->model));
    const double most = TILE_PRODUCTS / fmax(api_outputs_cost(g->m->model, g->outputs), 1);
    const size_t tile = most < 1 ? 1 : most < (double)g->room.n ? (size_t)most : g->room.n;
    for (size_t first = 0; first < g->n; first += tile) {
        const size_t n = g->n - first < tile ? g->n - first : tile;
        if (!http_go_on(g->call)) {
            return problem_set(g->problem, PROBLEM_UNAVAILABLE, NOBODY_WAITS);
        }
        for (size_t i = 0; i < n; i++) {
            place(g, first + i, g->raw + i * n_inputs);
        }
        const size_t scored = dn_model_predict(g->m->model, dn_raw_numbers(g->raw, n),
                                               g->room.workspace, &g->room.rows);
        if (scored < n) {
            return refuse_point(g, first + scored);
        }
        if (!keep_or_write(g, first, n)) {
            return false;
        }
    }
    return true;
}

/* ---- the answer ---- */

/* Writes a number, or a date in its form. */
static void put_number(const dn_datetime_form *form, double value, struct json_writer *w) {
    char text[DN_DATETIME_SIZE];
    if (form != NULL) {
        json_put_stringn(w, text, dn_datetime_format(value, form, text));
    } else {
        json_put_double(w, value);
    }
}

static void put_axis(const struct grid *g, const char *key, const struct grid_axis *axis,
                     struct json_writer *w) {
    json_put_key(w, key);
    if (!axis) {
        json_put_null(w);
        return;
    }
    json_begin_object(w);
    json_kv_string(w, "column",
                   dn_encoder_input(dn_model_encoder(g->m->model), axis->input)->column);
    json_put_key(w, "values");
    json_begin_array(w);
    for (size_t i = 0; i < axis->steps; i++) {
        put_number(axis->form, grid_axis_at(axis, i), w);
    }
    json_end_array(w);
    json_end_object(w);
}

/* Writes the value of an input that does not vary. */
static void put_value(const dn_input *input, double value, struct json_writer *w) {
    if (isnan(value) ||
        (input->type == DN_CATEGORICAL && !(value >= 0 && value < (double)input->levels.n))) {
        json_put_null(w);
    } else if (input->type == DN_CATEGORICAL) {
        const uint32_t *start = input->levels.start + (size_t)value;
        json_put_stringn(w, input->levels.bytes + start[0], start[1] - start[0]);
    } else if (input->type == DN_BOOLEAN) {
        json_put_bool(w, value != 0);
    } else {
        put_number(input->type == DN_DATETIME ? &input->form : NULL, value, w);
    }
}

static void put_at(const struct grid *g, struct json_writer *w) {
    const dn_encoder *encoder = dn_model_encoder(g->m->model);
    const struct grid_request *r = &g->request;
    json_put_key(w, "at");
    json_begin_object(w);
    for (size_t i = 0; i < dn_encoder_n_inputs(encoder); i++) {
        if (grid_request_varies(r, encoder, i)) {
            continue;
        }
        json_put_key(w, dn_encoder_input(encoder, i)->name);
        put_value(dn_encoder_input(encoder, i), r->row[i], w);
    }
    json_end_object(w);
}

static void put_classes(const struct grid *g, struct json_writer *w) {
    const dn_classes *classes = dn_model_classes(g->m->model);
    json_put_key(w, "classes");
    json_begin_array(w);
    for (size_t k = 0; k < classes->n; k++) {
        jobs_class_write(classes, k, w);
    }
    json_end_array(w);
}

static void put_prior(const struct grid *g, struct json_writer *w) {
    json_kv_begin_array(w, "prior");
    for (size_t k = 0; k < dn_model_classes(g->m->model)->n; k++) {
        json_put_double(w, dn_model_prior(g->m->model)[k]);
    }
    json_end_array(w);
}

/* Writes a row of a plane as JSON. */
static void put_row(const struct grid *g, const double *numbers, const uint32_t *labels,
                    struct buf *row, struct json_writer *w) {
    buf_clear(row);
    if (numbers) {
        answer_numbers_write(numbers, g->nx, row);
    }
    for (size_t i = 0; labels && i < g->nx; i++) {
        buf_putc(row, i == 0 ? '[' : ',');
        if (labels[i] == UINT32_MAX) {
            buf_puts(row, "null");
        } else {
            buf_printf(row, "%" PRIu32, labels[i]);
        }
    }
    if (labels) {
        buf_putc(row, ']');
    }
    const char *text = buf_cstr(row);
    w->out->failed = w->out->failed || !text;
    if (text) {
        json_put_raw(w, text, row->size);
    }
}

/* Writes a plane: a list with one row for each y; without y a list of numbers. Returns false if
 * there is no room. */
static bool put_plane(struct grid *g, const double *numbers, const uint32_t *labels,
                      struct json_writer *w) {
    const bool rows = g->request.n_axes > 1;
    struct buf row = {0};
    bool good = true;
    if (rows) {
        json_begin_array(w);
    }
    for (size_t j = 0; good && j < g->ny; j++) {
        put_row(g, numbers ? numbers + j * g->nx : NULL, labels ? labels + j * g->nx : NULL, &row,
                w);
        good = http_go_on(g->call) || problem_set(g->problem, PROBLEM_UNAVAILABLE, NOBODY_WAITS);
        good = good && hold(g, g->held + w->out->capacity);
    }
    if (rows) {
        json_end_array(w);
    }
    buf_done(&row);
    return good;
}

static bool put_planes(struct grid *g, const char *key, const double *planes, size_t n,
                       struct json_writer *w) {
    bool good = true;
    json_put_key(w, key);
    json_begin_array(w);
    for (size_t k = 0; good && k < n; k++) {
        good = put_plane(g, planes + k * g->n, NULL, w);
    }
    json_end_array(w);
    return good;
}

static bool write_answer(struct grid *g, struct buf *out) {
    const struct grid_request *r = &g->request;
    struct json_writer w;
    bool good = true;
    w = json_writer_of(out);
    json_begin_object(&w);
    json_kv_string(&w, "model", g->m->name);
    json_kv_int(&w, "version", g->m->version);
    if (r->snapshot >= 0) {
        json_kv_int(&w, "snapshot", r->snapshot);
    }
    put_classes(g, &w);
    put_axis(g, "x", &r->axes[0], &w);
    put_axis(g, "y", r->n_axes > 1 ? &r->axes[1] : NULL, &w);
    put_at(g, &w);
    if (g->label && (g->outputs & ANSWER_LABEL)) {
        json_put_key(&w, "labels");
        good = put_plane(g, NULL, g->label, &w);
    }
    if (good && g->n_probabilities > 0) {
        good = put_planes(g, "probabilities", g->probabilities, g->n_probabilities, &w);
    }
    if (good && g->n_scores > 0) {
        good = put_planes(g, "scores", g->scores, g->n_scores, &w);
    }
    if (good && g->distance) {
        json_put_key(&w, "distance");
        good = put_plane(g, g->distance, NULL, &w);
    }
    if (good && (g->outputs & ANSWER_LOG_DENSITY)) {
        json_put_key(&w, "log_density");
        if (g->log_density) {
            good = put_plane(g, g->log_density, NULL, &w);
        } else {
            json_put_null(&w);
        }
    }
    if (good && g->n_densities > 0) {
        good = put_planes(g, "class_log_density", g->class_log_density, g->n_densities, &w);
    }
    if (g->outputs & ANSWER_PRIOR) {
        put_prior(g, &w);
    }
    if (good && g->n_posteriors > 0) {
        good = put_planes(g, "posterior", g->posterior, g->n_posteriors, &w);
    }
    if (good) {
        row_notes_write(r->notes, dn_model_encoder(g->m->model), &w);
        json_end_object(&w);
    }
    return good;
}

static bool make_answer(struct grid *g) {
    if (g->request.snapshot >= 0) {
        if (!snapshot_model_init(&g->snapshot, g->call, g->m, g->request.snapshot, g->problem)) {
            return false;
        }
        g->m = &g->snapshot.lent;
    }
    if (!make_room(g)) {
        return false;
    }
    if (!g->format->answers->document) {
        begin_lines(g);
    }
    return score(g) && (!g->format->answers->document || write_answer(g, g->body));
}

static void answer(struct http_call *call, const struct serving_model *m) {
    struct problem problem = {0};
    struct buf body = {0};
    struct grid g = {.call = call,
                     .m = m,
                     .problem = &problem,
                     .body = &body,
                     .format = api_reply_format(call, &format_json)};
    if (!grid_request_read(call, m, &g.request)) {
        return;
    }
    g.nx = g.request.axes[0].steps;
    g.ny = g.request.n_axes > 1 ? g.request.axes[1].steps : 1;
    g.n = g.nx * g.ny;
    if (!api_may_work(call, (double)g.n * (predict_plan_of(m)->cost + POINT_PRODUCTS),
                      api_model_evaluate_grid)) {
        grid_done(&g);
        return;
    }
    const bool good = make_answer(&g);
    if (good) {
        api_instances_notes(call, m->name, m->model, g.request.notes);
    }
    grid_done(&g);
    if (good && g.format->answers->document) {
        api_reply_json(call, 200, &body);
        return;
    }
    if (good) {
        http_reply(call, 200, format_media_type(g.format), &body);
        return;
    }
    buf_done(&body);
    http_reply_problem(call, &problem);
}

void api_model_evaluate_grid(struct http_call *call) {
    const struct serving_model *m = api_model_take(call);
    if (m == NULL) {
        return;
    }
    answer(call, m);
    serving_release(api_app_of(call)->serving, m);
}
