/* Rows in the body of a call, scored while they are read: predict and transform. */
#ifndef API_SCORE_H
#define API_SCORE_H

#include "api/predictions/answer.h"

/* Reads the instances in the call's body and answers with what is said of them, or with the
 * problem; a block of rows at a time, so that a short body that stands for many wide rows needs no
 * more memory than its answer, which is counted against --body-memory. pool: on a pool thread;
 * false is returned, and nothing answered, if there is too much to do for another. */
bool api_score_body(struct http_call *call, const struct serving_model *m,
                    const struct instances_options *options, const struct api_answer_options *how,
                    bool pool);
/* The same for rows that are read already. */
bool api_score_rows(struct http_call *call, const struct serving_model *m,
                    const struct instance_rows *rows, const struct api_answer_options *how,
                    bool pool);

#endif
