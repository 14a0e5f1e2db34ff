/* The outputs of a prediction for each row, their cost, and the memory for them. */
#ifndef API_OUTPUTS_H
#define API_OUTPUTS_H

#include "formats/formats.h"
#include "http/http.h"
#include "serving/serving.h"

/* The outputs of a call without ?output=. */
#define API_OUTPUTS_USUAL (ANSWER_LABEL | ANSWER_PROBABILITIES)
/* Reads ?output=label,scores as answer_output bits; without it API_OUTPUTS_USUAL. Returns false if
 * it has replied with 400. */
bool api_outputs_read(struct http_call *call, unsigned *out);
/* Reads ?decision=scores or probabilities; without it the rule of the model. Returns false if it
 * has replied with 400. */
bool api_decision_read(struct http_call *call, dn_labels *out);
/* Reads ?threshold=, which takes the place of the decision rule of the model. Returns false if it
 * has replied with 400.
 *
 *   decision  ?decision= is given too, which is refused */
bool api_threshold_read(struct http_call *call, bool decision, bool *given, double *out);
/* Sets *out to the rule of a threshold. Returns false with a problem (400) if the
 * model has not two classes and probabilities. */
bool api_threshold_rule(const dn_model *model, double threshold, dn_rule *out,
                        struct problem *problem);
/* Reads ?of=directions, basis, hidden or scores; without it the directions. Returns false if it has
 * replied with 400. */
bool api_coordinates_read(struct http_call *call, dn_coordinates *out);
/* The options of contributions: ?baseline= and ?top=. */
struct api_explain {
    bool from_mean; /* as differences from the contributions of the mean training row */
    size_t top;     /* see answer_contributions */
};
/* Reads ?baseline=none or mean and ?top=. Returns false if it has replied with 400; both need the
 * output "contributions". */
bool api_explain_read(struct http_call *call, unsigned outputs, struct api_explain *out);
/* Reads "label,scores" as answer_output bits. Returns false if a name is unknown. */
bool api_outputs_parse(const char *text, unsigned *out);
/* Returns the outputs that this model gives: scores instead of probabilities that it does not
 * have. */
unsigned api_outputs_of(const dn_model *model, unsigned asked);
/* Returns false with a problem (409) if a prior or a posterior is requested and the model has no
 * class densities, or a set and it has no sets of labels. */
bool api_outputs_check(const struct serving_model *m, unsigned asked, struct problem *problem);
/* Returns the approximate number of multiplications for one row. */
double api_outputs_cost(const dn_model *model, unsigned outputs);

/* Maximum number of numbers in one answer. The results of a row with many classes or features can
 * be far longer than the row. */
#define OUTPUTS_MAX_NUMBERS (4 * 1024 * 1024)

/* Memory for the results of some rows. */
struct outputs_room {
    dn_prediction rows;
    size_t n;    /* rows that fit */
    size_t each; /* numbers in the results of one row */
    double *workspace;
    void *memory; /* all of it */
    size_t size;  /* bytes of the results, without the workspace */
};
/* Makes room for n_rows rows, or for fewer if n_rows is large. n_rows 0: the number is unknown.
 * Returns false with a problem if one row would be too long, or memory is short. */
bool outputs_room_init(struct outputs_room *room, const struct serving_model *m, unsigned outputs,
                       size_t n_rows, struct problem *problem);
void outputs_room_done(struct outputs_room *room);

#endif
