/* The folds of a search: the rows of each fit, encoded for the present features. */
#ifndef DNI_SEARCH_FOLDS_H
#define DNI_SEARCH_FOLDS_H

#include "task/division.h"
#include "training/fit.h"

/* The rows of one fold, and what its fits keep for the next one. */
typedef struct dni_search_fold {
    dni_labels labels;      /* those of the search, with own roles and effective weights */
    dni_prepared *prepared; /* encoded training rows; NULL: not encoded */
    dn_rows *held_out;      /* encoded held-out rows */
    size_t n_held_out;
    bool held_in_memory;
    dn_prepared *kernel;          /* prepared problem of a kernel method */
    dn_model *last;               /* the model of the previous candidate; NULL: none */
    const dn_params *last_params; /* its parameters as given */
    dn_run run;                   /* for fits in one thread */
} dni_search_fold;

typedef struct dni_search_folds {
    const dn_run *run;        /* without progress */
    dn_train_request request; /* of the fits: the rows are divided by the search; `params` and
                               * `features` are those of the present candidate */
    dni_labels labels;        /* stratum is NaN for rows that are not searched */
    uint16_t *fold;           /* [n_rows × repeats] */
    size_t *order;            /* [n_rows] the searched rows in random order, for shares */
    size_t *count;            /* [2 × n_strata] working memory */
    size_t n_rows;            /* number of rows that are searched */
    double share;             /* of the training rows */
    bool keep;                /* encoded rows of all folds are kept for the next candidate */
    dni_search_fold *folds;   /* [n] */
    size_t n;
    void *memory;
} dni_search_folds;

/* Reads the labels, divides the rows and prepares the folds, with share 1.
 *
 *   outer  the validation, whose training rows are searched
 *   inner  the rows of `outer`, with the folds of the search; DN_LEAVE_ONE_OUT becomes their number
 *   marked  the column inner->mark divides the rows, in one fold
 *   run    must outlive `folds`
 *
 * The caller calls dni_search_folds_done, also after a failure. */
DN_MUST_USE dn_status dni_search_folds_init(dni_search_folds *folds, const dn_train_request *outer,
                                            const dn_train_request *inner, bool marked,
                                            const dn_run *run, dn_error *err);
/* Returns the bytes of the folds. */
double dni_search_folds_memory(const dn_train_request *training, size_t folds, size_t n_repeats,
                               size_t n_rows, size_t n_classes);
void dni_search_folds_done(dni_search_folds *folds);

/* Sets the parameters, the features and the share of the next fits. Drops encoded rows if they
 * would differ. */
DN_MUST_USE dn_status dni_search_folds_select(dni_search_folds *folds, const dn_params *params,
                                              const dn_encoder_spec *features, double share,
                                              dn_error *err);
/* Returns true if two specs give the same features. Arrays are compared by their addresses. */
bool dni_search_same_features(const dn_encoder_spec *a, const dn_encoder_spec *b);
/* Encodes the rows of a fold, unless they are encoded. */
DN_MUST_USE dn_status dni_search_folds_encode(dni_search_folds *folds, size_t f, dn_error *err);
/* Drops the encoded rows of a fold, or of all folds, and what their fits kept. */
void dni_search_fold_drop(dni_search_fold *fold);
void dni_search_folds_drop(dni_search_folds *folds);

/* Returns true if memory was refused. */
static inline bool dni_search_refused(dn_status status) {
    return status == DN_ERR_BUDGET || status == DN_ERR_MEMORY;
}

#endif
