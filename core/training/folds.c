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
        const uint16_t fold = folds->fold[i];
        folds->labels->role[i] =
            (uint8_t)(isnan(folds->stratum[i]) ? DN_ROW_SKIP
                      : fold == f              ? DN_ROW_VALIDATE
                      : folds->rolling && fold > f && (size_t)fold < folds->n_folds ? DN_ROW_SKIP
                                                                                    : DN_ROW_TRAIN);
    }
}

dn_status dni_folds_run(const dni_folds *folds, dn_error *err) {
    for (size_t f = 0; f < folds->n_folds; f++) {
        const size_t number = folds->n_before + f;
        dn_error error;
        dni_share share;
        dn_error_clear(&error);
        set_roles(folds, f);
        dni_share_init(&share, folds->run, folds->first + number, folds->n_parts);
        dni_share_fold(&share, number + 1);
        dni_fit fit = {.request = folds->request, .run = &share.run, .labels = folds->labels};
        const dn_status status = folds->make(folds->arg, number, &fit, &error);
        dni_fit_done(&fit);
        if (status != DN_OK) {
            char prefix[64];
            snprintf(prefix, sizeof prefix, "%s %zu", folds->name, number + 1);
            return dni_error_prefixed(&error, status, prefix, err);
        }
    }
    return DN_OK;
}
