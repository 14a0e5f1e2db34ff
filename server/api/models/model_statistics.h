/* The statistics of weights (discern/statistics.h) in the reply of GET …/weights. */
#ifndef API_MODEL_STATISTICS_H
#define API_MODEL_STATISTICS_H

#include "base/json/json_write.h"
#include "http/http.h"
#include "serving/serving.h"

/* The query of a request for statistics. */
struct statistics_query {
    bool wanted;  /* ?statistics=true */
    double level; /* confidence level of the intervals; ?level= */
    bool matrices;
};

/* Reads ?statistics= and ?level=. Returns false if it has replied with 400. */
bool api_statistics_query(struct http_call *call, struct statistics_query *out);
/* Writes the classes of score k of machine i. */
typedef void api_put_about(struct json_writer *w, const dn_model *model, size_t i, size_t k);
/* Writes the member "statistics" of the open object. */
void api_statistics_write(const dn_model *model, const struct statistics_query *query,
                          api_put_about *put_about, struct json_writer *w);
/* Writes the weights of a linear model as cells: a header, then a line for each weight, with the
 * statistics if they are wanted. Statistics that do not exist are empty cells. */
void api_weights_write_cells(const dn_model *model, const struct statistics_query *query,
                             char delimiter, struct buf *out);

#endif
