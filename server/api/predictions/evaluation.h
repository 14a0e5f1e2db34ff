/* Computations of a call with a stored dataset. The run of a computation is limited to the memory
 * of a job, and it is cancelled when the client leaves. */
#ifndef API_EVALUATION_H
#define API_EVALUATION_H

#include "http/http.h"
#include "store/store.h"
#include <discern/discern.h>

/* The computation of a call. */
struct dataset_work {
    const char *dataset; /* "name" or "name@version", as in the request body */
    const char *target;  /* column with the true classes; NULL: the model's target */
    const char *weight;  /* column of weights; NULL: none */
    /* [n_columns] columns that are read beside target and weight; NULL: the inputs of the model */
    const char *const *columns;
    size_t n_columns;
    /* how the cells are read; NULL: as they are stored */
    const struct instance_schema *schema;
    const struct instances_options *options; /* set with `schema` */
    const dn_allocator *allocator;           /* of the run; NULL: limited to the memory of a job */
    /* set to notes about the rows, which the caller frees with row_notes_free; NULL: not wanted */
    struct row_notes **notes;
    /* Computes the result. target: the column with the true classes, never NULL. A failure that is
     * one of the request may be set as the problem of the call before. */
    dn_status (*compute)(void *arg, const dn_table_source *table, const char *target,
                         const dn_run *run, dn_error *err);
    void *arg;
};
/* Opens the dataset and computes. Returns false with a problem. May wait for the store. */
bool api_dataset_work(struct http_call *call, const dn_model *model,
                      const struct dataset_work *work, struct problem *problem);

/* Finds the dataset "name" or "name@version". Returns false with a problem at /dataset; otherwise
 * the caller calls store_dataset_done. */
bool api_dataset_referenced(struct http_call *call, const char *reference,
                            struct store_dataset *out, struct problem *problem);

#endif
