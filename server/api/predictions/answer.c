/* Computes and writes an answer, some rows at a time. */
#include "api/predictions/answer.h"
#include "api/predictions/plan.h"
#include "api/support.h"

#include <stdio.h>
#include <stdlib.h>

enum { SLICE = 256 }; /* rows that are projected together */

static bool coordinates_begin(struct api_answer *a, struct problem *problem) {
    const dn_model *model = a->m->model;
    const size_t n_components = dn_model_n_components(model);
    if (n_components == 0) {
        return problem_set(problem, PROBLEM_CONFLICT,
                           "model \"%s\" has no directions to project on: they come with algorithm "
                           "\"fisher\" (its own is \"%s\"%s)",
                           a->m->name, dn_model_algorithm(model)->id,
                           dn_model_n_machines(model) > 1 ? ", with several machines" : "");
    }
    a->each = n_components;
    a->n = SLICE;
    a->z = calloc(SLICE * n_components + predict_plan_of(a->m)->n_workspace, sizeof *a->z);
    return a->z || problem_set(problem, PROBLEM_UNAVAILABLE, "no memory to transform rows");
}

bool api_answer_begin(struct api_answer *a, const struct serving_model *m,
                      const struct api_answer_options *options, struct buf *out,
                      struct problem *problem) {
    struct answer_head head = {.name = m->name,
                               .version = m->version,
                               .texts = &predict_plan_of(m)->texts,
                               .format = options->format,
                               .refusal_base = options->refusal_base};
    *a = (struct api_answer){.kind = options->kind, .m = m, .format = options->format};
    if (a->kind == API_COORDINATES) {
        if (!coordinates_begin(a, problem)) {
            return false;
        }
        coordinates_writer_begin(&a->coordinates, &head, dn_model_n_components(m->model), out);
        return true;
    }
    head.outputs = api_outputs_of(m->model, options->outputs);
    if (!outputs_room_init(&a->room, m, head.outputs, options->n_rows, problem)) {
        return false;
    }
    a->n = a->room.n;
    a->each = a->room.each;
    predictions_writer_begin(&a->predictions, &head, m->model, &a->room.rows, out);
    return true;
}

bool api_answer_fits(const struct api_answer *a, size_t n_rows, struct problem *problem) {
    return n_rows <= OUTPUTS_MAX_NUMBERS / a->each ||
           problem_set(problem, PROBLEM_ANSWER_TOO_LONG,
                       "%zu instances of %zu numbers each are more than the %d that one answer may "
                       "hold: send them in parts%s",
                       n_rows, a->each, OUTPUTS_MAX_NUMBERS,
                       a->room.rows.contributions ? ", or ask for less than contributions" : "");
}

size_t api_answer_score(struct api_answer *a, const struct instance_rows *in, size_t first,
                        size_t n, bool *beyond) {
    n = n < a->n ? n : a->n;
    const dn_raw_rows rows = instance_rows_view(in, first, n);
    const size_t done =
        a->kind == API_PREDICTIONS
            ? dn_model_predict(a->m->model, rows, a->room.workspace, &a->room.rows)
            : dn_model_transform(a->m->model, rows,
                                 a->z + SLICE * dn_model_n_components(a->m->model), a->z);
    *beyond = done < n;
    return done;
}

size_t api_answer_write(struct api_answer *a, size_t first, size_t n) {
    return a->kind == API_PREDICTIONS
               ? predictions_writer_part(&a->predictions, first, n, &a->room.rows, API_ANSWER_BYTES)
               : coordinates_writer_part(&a->coordinates, first, n, a->z, API_ANSWER_BYTES);
}

void api_answer_why_beyond(const struct api_answer *a, const struct instance_rows *in, size_t at,
                           char out[DN_MESSAGE_SIZE]) {
    if (a->kind == API_PREDICTIONS) {
        dn_model_predict_why(a->m->model, instance_rows_view(in, at, 1), 0, out);
    } else {
        (void)snprintf(out, DN_MESSAGE_SIZE,
                       "has values so large that its coordinates leave the finite numbers");
    }
}

void api_answer_refusal(struct api_answer *a, int64_t line, const struct problem *problem) {
    if (a->kind == API_PREDICTIONS) {
        predictions_writer_refusal(&a->predictions, line, problem);
    } else {
        coordinates_writer_refusal(&a->coordinates, line, problem);
    }
}

void api_answer_end(struct api_answer *a) {
    if (a->kind == API_PREDICTIONS) {
        predictions_writer_end(&a->predictions);
    } else {
        coordinates_writer_end(&a->coordinates);
    }
}

void api_answer_done(struct api_answer *a) {
    predictions_writer_done(&a->predictions);
    outputs_room_done(&a->room);
    free(a->z);
    a->z = NULL;
}

size_t api_answer_memory(const struct api_answer *a) {
    if (!a->m) {
        return 0;
    }
    const size_t workspace = predict_plan_of(a->m)->n_workspace * sizeof(double);
    return workspace + (a->kind == API_PREDICTIONS
                            ? a->room.size
                            : SLICE * dn_model_n_components(a->m->model) * sizeof(double));
}
