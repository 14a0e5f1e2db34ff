/* What POST …/evaluate_grid asks: one or two columns that vary, what the others are, which outputs.
 */
#ifndef API_GRID_REQUEST_H
#define API_GRID_REQUEST_H

#include "http/http.h"
#include "serving/serving.h"

#define GRID_MAX_STEPS 500

struct grid_axis {
    size_t input; /* of the model, numeric */
    double from, to;
    size_t steps;
};

/* {0} before reading; arrays live in the call's arena. */
struct grid_request {
    struct grid_axis axes[2]; /* x, y */
    size_t n_axes;
    double *row;      /* [inputs] raw, encoder.h: what the inputs that do not vary are */
    unsigned outputs; /* answer_output bits, as asked */
};

/* Reads the call's body for the model. What is left out is what the dataset that the model was
 * trained on suggests, while it is there: ranges, the most frequent categories. May wait for the
 * store. false: answered. */
bool grid_request_read(struct http_call *call, const struct serving_model *m,
                       struct grid_request *out);
/* The value of step i: the first is `from`, the last `to`, to the last digit. */
double grid_axis_at(const struct grid_axis *axis, size_t i);

#endif
