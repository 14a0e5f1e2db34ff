/* The loop over folds. */
#include "training/folds.h"
#include "base/share.h"

#include <math.h>

/* Copies an error and prefixes its message with the name of the fold. The message of a cancelled
 * run gets no prefix. */
static void set_fold_error(const dni_folds *folds, const dn_error *own, dn_status status, size_t f,
                           dn_error *err) {
    if (status == DN_ERR_STOPPED || status == DN_ERR_TIME) {
        dn_error_set(err, status, "%s", own->message);
    } else {
        dn_error_set(err, status, "%s %zu: %s", folds->name, f + 1, own->message);
    }
    dn_error_set_field(err, own->field);
    if (own->row >= 0) {
        dn_error_set_row(err, own->row);
    }
}

static void set_roles(const dni_folds *folds, size_t f) {
    for (size_t i = 0; i < folds->request->source->n_rows; i++) {
        folds->labels->role[i] = (uint8_t)(isnan(folds->stratum[i]) ? DN_ROW_SKIP
                                           : folds->fold[i] == f    ? DN_ROW_VALIDATE
                                                                    : DN_ROW_TRAIN);
    }
}

dn_status dni_folds_run(const dni_folds *folds, dn_error *err) {
    for (size_t f = 0; f < folds->n_folds; f++) {
        dn_error own;
        dni_share share;
        dn_error_clear(&own);
        set_roles(folds, f);
        dni_share_init(&share, folds->run, folds->first + f, folds->n_folds + 1);
        dni_share_fold(&share, f + 1);
        dni_fit fit = {.request = folds->request, .run = &share.run, .labels = folds->labels};
        const dn_status status = folds->make(folds->arg, f, &fit, &own);
        dni_fit_done(&fit);
        if (status != DN_OK) {
            set_fold_error(folds, &own, status, f, err);
            return status;
        }
    }
    return DN_OK;
}
