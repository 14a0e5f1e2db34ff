/* Scores rows in the body of a call while they are read, for predict and transform. */
#ifndef API_SCORE_H
#define API_SCORE_H

#include "api/predictions/answer.h"

/* Reads the instances in the body and replies with their results, or with a problem. Works on one
 * block of rows at a time: a short body that describes many wide rows needs memory for its answer
 * only, which is counted against --body-memory. pool: the caller is a pool thread. Otherwise the
 * function may return false, without a reply, if the call takes too long for an I/O thread. */
bool api_score_body(struct http_call *call, const struct serving_model *m,
                    const struct instances_options *options, const struct api_answer_options *how,
                    bool pool);
/* Like api_score_body, for rows in memory. */
bool api_score_rows(struct http_call *call, const struct serving_model *m,
                    const struct instance_rows *rows, const struct api_answer_options *how,
                    bool pool);

#endif
