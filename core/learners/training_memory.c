/* The estimate of dn_train_memory, rounded up. */
#include "learners/training_memory.h"
#include "evaluate/judge.h"
#include "learners/labels.h"
#include "learners/multiclass.h"

#include <math.h>

enum {
    SLOT_BYTES = 16384, /* fixed parts of one slot's scan and encoding */
    COLUMN_BYTES = 400, /* of a column in one slot's scan and encoding */
    LEVEL_BYTES = 64    /* of a level in one slot's scan, its text included */
};

/* Bytes of an encoded row: sparse, or dense. Bases have no zeros; a sparse row is never larger than a dense one would be. */
static double row_bytes(const dn_train_request *request, size_t n_features) {
    const dn_encoder_spec *spec = &request->features;
    double entries = (spec->missing_indicator ? 2 : 1) * (double)spec->n_columns, features = (double)n_features;
    return spec->n_bases == 0 && 4 * entries < features ? 12 * entries + 28 : 8 * features + 16;
}

double dni_rows_memory(const dn_train_request *request, size_t n_rows, size_t n_features, size_t n_classes, size_t n_slots) {
    double inputs = (double)request->features.n_columns, features = (double)n_features, slots = (double)n_slots;
    bool judged = request->holdout > 0 || request->folds > 0 || request->validation != NULL;
    size_t n_scores = dn_decision_n_scores(dn_params_decision(request->params), n_classes);
    double blocks = (slots + (judged ? 1 : 0)) * (fmin((double)n_rows, DN_BLOCK_ROWS) * row_bytes(request, n_features) + SLOT_BYTES);
    double columns = slots * (COLUMN_BYTES * inputs + LEVEL_BYTES * features);
    double bytes = blocks + columns + dni_judge_memory(n_scores, n_features, n_classes) + 16 * (double)request->source->n_chunks +
                   8 * (double)n_rows / DN_BLOCK_ROWS;
    if (request->validation != NULL)
        bytes += 17 * (double)request->validation->n_rows + 16 * (double)request->validation->n_chunks +
                 (DN_BLOCK_ROWS - fmin((double)n_rows, DN_BLOCK_ROWS)) * row_bytes(request, n_features);
    return bytes;
}

double dn_train_memory(const dn_train_request *request, size_t n_rows, size_t n_features, size_t n_classes, size_t n_slots) {
    const dn_algorithm *algorithm = request->params->algorithm;
    double rows = (double)n_rows, bytes = dni_labels_memory(request, n_rows);
    if (request->folds > 0) /* which row is in which, and the list from which they are dealt */
        bytes += 10 * rows;
    if (!(algorithm->flags & DN_ALGORITHM_STREAMS))
        bytes += rows * row_bytes(request, n_features);
    dn_decision decision = dn_params_decision(request->params);
    bool several = n_classes > 2 && decision != DN_DECISION_NATIVE;
    if (several) /* their weights, and the rows of a pair or other targets */
        bytes += 16 * (double)dn_decision_n_machines(decision, n_classes) * ((double)n_features + 64) + 9 * rows +
                 8 * (double)n_slots * DN_BLOCK_ROWS;
    double fit = algorithm->memory(request->params, n_rows, n_features, several ? 2 : n_classes, n_slots);
    return bytes + dni_rows_memory(request, n_rows, n_features, n_classes, n_slots) +
           fmax(fit, dn_encoder_bases_memory(&request->features, n_rows, n_classes, n_slots));
}
