/* What a prediction call wants to know of each row, what that costs, and the room where it is
 * computed. */
#ifndef API_OUTPUTS_H
#define API_OUTPUTS_H

#include "formats/formats.h"
#include "http/http.h"
#include "serving/serving.h"

/* The outputs of a call without ?output=. */
#define API_OUTPUTS_USUAL (ANSWER_LABEL | ANSWER_PROBABILITIES)
/* ?output=label,scores → answer_output bits; without it label and probabilities. false: answered
 * with 400. */
bool api_outputs_read(struct http_call *call, unsigned *out);
/* "label,scores" → bits, the same way. false: something in it is none of ours. */
bool api_outputs_parse(const char *text, unsigned *out);
/* The same for this model: one without probabilities gives its scores in their place. */
unsigned api_outputs_of(const dn_model *model, unsigned asked);
/* Multiplications that a row takes, about. */
double api_outputs_cost(const dn_model *model, unsigned outputs);

/* Numbers in one answer: a short row of a model with many classes or features answers with far more
 * than it brought. */
#define OUTPUTS_MAX_NUMBERS (4 * 1024 * 1024)

/* Room for some rows at a time. */
struct outputs_room {
    dn_prediction rows;
    size_t n;    /* rows it has room for */
    size_t each; /* numbers that are said of a row */
    double *workspace;
    void *memory; /* all of it */
    size_t size;  /* bytes of it, the workspace apart */
};
/* For n_rows rows, or some of them at a time; 0: nobody knows how many. false: one alone would be
 * too long, or there is no memory (problem). */
bool outputs_room_init(struct outputs_room *room, const struct serving_model *m, unsigned outputs,
                       size_t n_rows, struct problem *problem);
void outputs_room_done(struct outputs_room *room);

#endif
