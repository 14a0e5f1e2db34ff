/* The request of POST …/evaluate_grid: one or two columns that vary, the values of the other
 * columns, the outputs. */
#ifndef API_GRID_REQUEST_H
#define API_GRID_REQUEST_H

#include "formats/formats.h"
#include "http/http.h"
#include "serving/serving.h"

#define GRID_MAX_STEPS 500

struct grid_axis {
    /* index of a numeric input of the model, or of the first input that reads a datetime column */
    size_t input;
    double from, to;
    size_t steps;
    /* datetime: each value is the time that its text in this form is; NULL: numeric */
    const dn_datetime_form *form;
};

/* The caller sets it to {0} before grid_request_read, and calls grid_request_done at the end. The
 * arrays are in the arena of the call. */
struct grid_request {
    struct grid_axis axes[2]; /* x, y */
    size_t n_axes;
    double *row;      /* [n_inputs] raw values (encoder.h) of the inputs that do not vary */
    unsigned outputs; /* answer_output bits of the request */
    /* the indices of the classes with planes of their own in the answer; NULL: all classes */
    int64_t *planes; /* [n_planes] */
    size_t n_planes;
    dn_labels labels; /* the rule for the classes */
    int64_t snapshot; /* number of the snapshot of the training; -1: the trained model */
    /* the unseen categories and the ignored columns among the values; NULL: there are none */
    struct row_notes *notes;
};
void grid_request_done(struct grid_request *r);

/* Reads the body of the call. Defaults are the ranges and the most frequent categories of the
 * dataset that the model was trained on, if it still exists. May wait for the store. Returns false
 * if it has replied. */
bool grid_request_read(struct http_call *call, const struct serving_model *m,
                       struct grid_request *out);
/* Returns true if the input varies with an axis. */
bool grid_request_varies(const struct grid_request *r, const dn_encoder *encoder, size_t input);
/* Returns the value of step i. The first is exactly `from`, the last exactly `to`; of dates they
 * are the values of their texts. */
double grid_axis_at(const struct grid_axis *axis, size_t i);

#endif
