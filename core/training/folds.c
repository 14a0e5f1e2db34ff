/* The loop over folds. */
#include "training/folds.h"
#include "base/argument.h"
#include "base/share.h"

#include <math.h>
#include <stdio.h>

dn_status dni_error_prefixed(const dn_error *from, dn_status status, const char *prefix,
                             dn_error *err) {
    const bool cancelled = status == DN_ERR_STOPPED || status == DN_ERR_TIME;
    return dni_error_at(dn_error_set(err, status, "%s%s%s", cancelled ? "" : prefix,
                                     cancelled ? "" : ": ", from->message),
                        from->field, from->row, err);
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
        dn_error error;
        dni_share share;
        dn_error_clear(&error);
        set_roles(folds, f);
        dni_share_init(&share, folds->run, folds->first + f, folds->n_folds + 1);
        dni_share_fold(&share, f + 1);
        dni_fit fit = {.request = folds->request, .run = &share.run, .labels = folds->labels};
        const dn_status status = folds->make(folds->arg, f, &fit, &error);
        dni_fit_done(&fit);
        if (status != DN_OK) {
            char prefix[64];
            snprintf(prefix, sizeof prefix, "%s %zu", folds->name, f + 1);
            return dni_error_prefixed(&error, status, prefix, err);
        }
    }
    return DN_OK;
}
