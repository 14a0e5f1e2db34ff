/* The answer of a prediction call while it is made: rows are scored, or projected, some at a time,
 * and written, fewer at a time, as the client accepts them. */
#ifndef API_ANSWER_H
#define API_ANSWER_H

#include "api/predictions/outputs.h"
#include "formats/formats.h"
#include "http/http.h"
#include "serving/serving.h"

#define API_ANSWER_BYTES (64 * 1024)

/* What is made of rows. */
enum api_answer_kind { API_PREDICTIONS, API_COORDINATES };

struct api_answer {
    enum api_answer_kind kind;
    const struct serving_model *m;
    const struct format *format;
    size_t n;    /* rows at a time */
    size_t each; /* numbers that are said of a row */
    struct outputs_room room;
    double *z; /* coordinates of n rows, and the workspace behind them */
    struct predictions_writer predictions;
    struct coordinates_writer coordinates;
};
/* How an answer begins. */
struct api_answer_options {
    enum api_answer_kind kind;
    unsigned outputs; /* of predictions: as asked */
    const struct format *format;
    size_t n_rows;            /* that will come at a time; 0: nobody knows */
    const char *refusal_base; /* see answer_head */
};
/* false: a row would be too long, the model has no directions, or there is no memory (problem).
 * out: the caller's, who may take what it holds between two calls. */
bool api_answer_begin(struct api_answer *a, const struct serving_model *m,
                      const struct api_answer_options *options, struct buf *out,
                      struct problem *problem);
/* May one answer be made of so many rows? false: it would be too long (problem). */
bool api_answer_fits(const struct api_answer *a, size_t n_rows, struct problem *problem);
/* Computes what is said of up to n rows from `first` on; returns of how many. *beyond: of the row
 * behind them nothing can be said. */
size_t api_answer_score(struct api_answer *a, const struct instance_rows *in, size_t first,
                        size_t n, bool *beyond);
/* Writes it: of the n rows that were scored last those from `first` (a row among them, < n) on,
 * until `out` holds API_ANSWER_BYTES; returns how many, at least one. A row may be long, so that a
 * few hundred of them were more than an answer may take of the memory. */
size_t api_answer_write(struct api_answer *a, size_t first, size_t n);
/* … and why not, as it goes on behind "instance 3 ": row `at` of those at hand. */
void api_answer_why_beyond(const struct api_answer *a, const struct instance_rows *in, size_t at,
                           char out[DN_MESSAGE_SIZE]);
/* In the place of a row: a refused line. */
void api_answer_refusal(struct api_answer *a, int64_t line, const struct problem *problem);
void api_answer_end(struct api_answer *a); /* what stands behind the rows */
void api_answer_done(
    struct api_answer *a); /* frees; a begun answer that was not ended too, {0} too */
size_t api_answer_memory(const struct api_answer *a);

#endif
