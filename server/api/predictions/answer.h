/* The answer of a prediction call. Some rows at a time are scored or projected; fewer rows at a
 * time are written, in the format that the client accepts. */
#ifndef API_ANSWER_H
#define API_ANSWER_H

#include "api/predictions/outputs.h"
#include "formats/formats.h"
#include "http/http.h"
#include "serving/serving.h"

#define API_ANSWER_BYTES (64 * 1024)

/* The results that are computed for rows. */
enum api_answer_kind { API_PREDICTIONS, API_COORDINATES };

struct api_answer {
    enum api_answer_kind kind;
    dn_coordinates of;   /* API_COORDINATES: which coordinates */
    size_t n_components; /* API_COORDINATES: coordinates of a row */
    const struct serving_model *m;
    const struct format *format;
    size_t n;    /* number of rows that are computed at a time */
    size_t each; /* numbers in the answer for one row */
    struct outputs_room room;
    bool by_threshold; /* labels by `rule` */
    dn_rule rule;
    double *baseline; /* [scores × features] contributions that are subtracted, followed by the
                       * [scores] intercepts; NULL: none */
    double *z;        /* [n x components] coordinates, followed by the workspace */
    struct predictions_writer predictions;
    struct coordinates_writer coordinates;
};
/* The options of an answer. */
struct api_answer_options {
    enum api_answer_kind kind;
    dn_coordinates of; /* API_COORDINATES: which coordinates */
    unsigned outputs;  /* API_PREDICTIONS: answer_output bits of the request */
    dn_labels labels;  /* API_PREDICTIONS: the rule for labels */
    bool by_threshold; /* API_PREDICTIONS: labels by `threshold` (api_threshold_rule) */
    double threshold;
    struct api_explain explain;
    const struct format *format;
    size_t n_rows;            /* rows of a block; 0: unknown */
    const struct keep *keep;  /* columns of the rows that the answer repeats; NULL: none */
    const char *refusal_base; /* see answer_head */
};
/* Returns false with a problem if the model does not have the coordinates. */
bool api_coordinates_check(const struct serving_model *m, dn_coordinates of,
                           struct problem *problem);
/* Returns false with a problem if the model does not have the coordinates or the outputs. */
bool api_answer_check(const struct serving_model *m, const struct api_answer_options *options,
                      struct problem *problem);
/* Returns false with a problem if a row would be too long, the model has no such coordinates or
 * outputs, or memory is short. The caller may take the contents of `out` between two calls. */
bool api_answer_begin(struct api_answer *a, const struct serving_model *m,
                      const struct api_answer_options *options, struct buf *out,
                      struct problem *problem);
/* Checks that one answer can hold n_rows rows. Returns false with a problem if it would be too
 * long. */
bool api_answer_fits(const struct api_answer *a, size_t n_rows, struct problem *problem);
/* Computes the results of up to n rows from `first` on. Returns the number of rows that are done.
 * *beyond: the next row has no finite result. */
size_t api_answer_score(struct api_answer *a, const struct instance_rows *in, size_t first,
                        size_t n, bool *beyond);
/* Writes results of the n rows that api_answer_score computed last, from row `first` (< n) on,
 * until `out` holds API_ANSWER_BYTES. Returns the number of rows written, at least one. */
size_t api_answer_write(struct api_answer *a, size_t first, size_t n);
/* Writes the reason why row `at` of `in` has no result, as the rest of a sentence that begins with
 * "instance 3 ". */
void api_answer_why_beyond(const struct api_answer *a, const struct instance_rows *in, size_t at,
                           char out[DN_MESSAGE_SIZE]);
/* Writes the problem of a refused line in the place of its row. */
void api_answer_refusal(struct api_answer *a, int64_t line, const struct problem *problem);
/* Writes the end of the answer. notes: about the rows; NULL: none. */
void api_answer_end(struct api_answer *a, const struct row_notes *notes);
void api_answer_done(
    struct api_answer *a); /* frees; the answer need not be ended, and may be {0} */
size_t api_answer_memory(const struct api_answer *a);

#endif
