/* The model after some iterations of its training, from the snapshots of the job. */
#ifndef API_SNAPSHOT_H
#define API_SNAPSHOT_H

#include "http/http.h"
#include "serving/serving.h"

struct snapshot_model {
    struct serving_model lent; /* name and version of the trained model, with a plan of its own */
    dn_model *model;           /* the reference that is released */
};

/* Makes the model after `iteration` iterations, or updates if the job had "snapshots_of":"updates".
 * Its weights are read from the history of the job that trained m. May wait for the store. Returns
 * false with a problem, whose place is the member "snapshot". */
bool snapshot_model_init(struct snapshot_model *out, struct http_call *call,
                         const struct serving_model *m, int64_t iteration, struct problem *problem);
void snapshot_model_done(struct snapshot_model *snapshot); /* {0} is allowed */

#endif
