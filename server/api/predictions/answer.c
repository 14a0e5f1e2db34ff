/* Computes and writes an answer, some rows at a time. */
#include "api/predictions/answer.h"
#include "api/predictions/plan.h"
#include "api/support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SLICE = 256 }; /* rows that are projected together */

bool api_coordinates_check(const struct serving_model *m, dn_coordinates of,
                           struct problem *problem) {
    static const char *const what[] = {
        [DN_COORDINATES_DIRECTIONS] = "directions to project on, which algorithm \"fisher\" gives",
        [DN_COORDINATES_BASIS] = "basis functions, which features.basis of a job gives",
        [DN_COORDINATES_HIDDEN] = "hidden layer, which algorithm \"mlp\" gives",
        [DN_COORDINATES_SCORES] = "scores",
    };
    const dn_model *model = m->model;
    const bool machines = of != DN_COORDINATES_BASIS && dn_model_n_machines(model) > 1;
    return dn_model_n_components(model, of) > 0 ||
           problem_set(problem, PROBLEM_CONFLICT,
                       "model \"%s\" has no %s; it was trained by \"%s\"%s", m->name, what[of],
                       dn_model_algorithm(model)->id, machines ? " and has several machines" : "");
}

bool api_answer_check(const struct serving_model *m, const struct api_answer_options *options,
                      struct problem *problem) {
    dn_rule rule;
    return options->kind == API_COORDINATES
               ? api_coordinates_check(m, options->of, problem)
               : api_outputs_check(m, options->outputs, problem) &&
                     (!options->by_threshold ||
                      api_threshold_rule(m->model, options->threshold, &rule, problem));
}

static bool coordinates_begin(struct api_answer *a, struct problem *problem) {
    const dn_model *model = a->m->model;
    const size_t n_components = dn_model_n_components(model, a->of);
    if (n_components > OUTPUTS_MAX_NUMBERS / SLICE) {
        return problem_set(problem, PROBLEM_ANSWER_TOO_LONG,
                           "a row has %zu coordinates, more than the %d of one answer",
                           n_components, OUTPUTS_MAX_NUMBERS / SLICE);
    }
    a->n_components = n_components;
    a->each = n_components;
    a->n = SLICE;
    a->z = calloc(SLICE * n_components + predict_plan_of(a->m)->n_workspace, sizeof *a->z);
    return a->z || problem_set(problem, PROBLEM_UNAVAILABLE, "no memory to transform rows");
}

static size_t baseline_numbers(const dn_model *model) {
    return dn_model_n_scores(model) * (dn_encoder_n_features(dn_model_encoder(model)) + 1);
}

/* Computes the contributions of the mean row, and the intercepts with their sums. */
static bool baseline_begin(struct api_answer *a, struct problem *problem) {
    const dn_model *model = a->m->model;
    const size_t n_scores = dn_model_n_scores(model),
                 n_features = dn_encoder_n_features(dn_model_encoder(model));
    if (dn_model_feature_means(model) == NULL) {
        return problem_set(problem, PROBLEM_CONFLICT,
                           "version %" PRId64
                           " of model \"%s\" has no mean row, because an earlier version of "
                           "discernd trained it: train it again, or set \"baseline=none\"",
                           a->m->version, a->m->name);
    }
    a->baseline = calloc(baseline_numbers(model), sizeof *a->baseline);
    if (!a->baseline || dn_model_mean_contributions(model, a->baseline, NULL) != DN_OK) {
        return problem_set(problem, PROBLEM_UNAVAILABLE, "no memory for the mean row");
    }
    for (size_t k = 0; k < n_scores; k++) {
        double *intercept = a->baseline + n_scores * n_features + k;
        *intercept = dn_model_intercept(model)[k];
        for (size_t j = 0; j < n_features; j++) {
            *intercept += a->baseline[k * n_features + j];
        }
    }
    return true;
}

/* Subtracts the contributions of the mean row from those of n rows. */
static void subtract_baseline(struct api_answer *a, size_t n) {
    const size_t each = baseline_numbers(a->m->model) - dn_model_n_scores(a->m->model);
    for (size_t i = 0; i < n; i++) {
        double *row = a->room.rows.contributions + i * each;
        for (size_t j = 0; j < each; j++) {
            row[j] -= a->baseline[j];
        }
    }
}

bool api_answer_begin(struct api_answer *a, const struct serving_model *m,
                      const struct api_answer_options *options, struct buf *out,
                      struct problem *problem) {
    struct answer_head head = {.name = m->name,
                               .version = m->version,
                               .texts = &predict_plan_of(m)->texts,
                               .format = options->format,
                               .keep = options->keep,
                               .refusal_base = options->refusal_base};
    *a = (struct api_answer){.kind = options->kind,
                             .of = options->of,
                             .m = m,
                             .format = options->format};
    if (!api_answer_check(m, options, problem)) {
        return false;
    }
    if (a->kind == API_COORDINATES) {
        if (!coordinates_begin(a, problem)) {
            return false;
        }
        coordinates_writer_begin(&a->coordinates, &head, a->n_components, out);
        return true;
    }
    head.outputs = api_outputs_of(m->model, options->outputs);
    if (!outputs_room_init(&a->room, m, head.outputs, options->n_rows, problem)) {
        return false;
    }
    a->room.rows.labels = options->labels;
    a->by_threshold = options->by_threshold;
    if (a->by_threshold && !api_threshold_rule(m->model, options->threshold, &a->rule, problem)) {
        return false;
    }
    a->n = a->room.n;
    a->each = a->room.each;
    head.contributions.top = options->explain.top;
    if (options->explain.from_mean && a->room.rows.contributions) {
        if (!baseline_begin(a, problem)) {
            return false;
        }
        head.contributions.baseline = "mean";
        head.contributions.intercept =
            a->baseline + baseline_numbers(m->model) - dn_model_n_scores(m->model);
    }
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
    a->predictions.kept = a->coordinates.kept = &in->kept;
    a->predictions.first_kept = a->coordinates.first_kept = first;
    const dn_raw_rows rows = instance_rows_view(in, first, n);
    a->room.rows.rule = a->by_threshold ? &a->rule : NULL; /* the answer may have been moved */
    const size_t done =
        a->kind == API_PREDICTIONS
            ? dn_model_predict(a->m->model, rows, a->room.workspace, &a->room.rows)
            : dn_model_transform(a->m->model, a->of, rows, a->z + SLICE * a->n_components, a->z);
    if (a->baseline) {
        subtract_baseline(a, done);
    }
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
        (void)snprintf(out, DN_MESSAGE_SIZE, "has values so large that its coordinates overflow");
    }
}

void api_answer_refusal(struct api_answer *a, int64_t line, const struct problem *problem) {
    if (a->kind == API_PREDICTIONS) {
        predictions_writer_refusal(&a->predictions, line, problem);
    } else {
        coordinates_writer_refusal(&a->coordinates, line, problem);
    }
}

void api_answer_end(struct api_answer *a, const struct row_notes *notes) {
    const dn_encoder *encoder = dn_model_encoder(a->m->model);
    if (a->kind == API_PREDICTIONS) {
        predictions_writer_end(&a->predictions, encoder, notes);
    } else {
        coordinates_writer_end(&a->coordinates, encoder, notes);
    }
}

void api_answer_done(struct api_answer *a) {
    predictions_writer_done(&a->predictions);
    outputs_room_done(&a->room);
    free(a->baseline);
    free(a->z);
    a->baseline = a->z = NULL;
}

size_t api_answer_memory(const struct api_answer *a) {
    if (!a->m) {
        return 0;
    }
    const size_t workspace =
        (predict_plan_of(a->m)->n_workspace + (a->baseline ? baseline_numbers(a->m->model) : 0)) *
        sizeof(double);
    return workspace +
           (a->kind == API_PREDICTIONS ? a->room.size : SLICE * a->n_components * sizeof(double));
}
