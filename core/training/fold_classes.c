/* Names the classes that have no row in a fold, or no validation row. */
#include "training/fold_classes.h"
#include "catalogue/report.h"

#include <math.h>
#include <stdio.h>

enum { NAMED = 8 }; /* maximum number of classes that are named for a fold */

/* The classes that a list names. */
struct listed {
    const dni_labels *labels;
    /* [n_strata] true: the fold has a row of the class. NULL: the classes with one row
     * are listed */
    const uint8_t *present;
};

static bool name_class(const void *ctx, size_t k, char out[DN_FIELD_SIZE]) {
    const struct listed *l = ctx;
    const size_t rows = l->labels->count[k];
    if (l->present == NULL ? rows != 1 : rows < 2 || l->present[k]) {
        return false;
    }
    dni_copy_name(l->labels->class_name[k], out);
    return true;
}

static void warn_of_single_rows(const dni_labels *labels, dn_report *report) {
    const struct listed single = {.labels = labels};
    char names[DNI_NAMES_SIZE];
    dni_name_list(&single, labels->n_strata, name_class, NAMED, names);
    if (names[0] != '\0') {
        dn_report_warn(report, DN_WARNING_FOLD_CLASSES,
                       "classes with one row are not validated, because the row is a training row "
                       "of every fold: %s",
                       names);
    }
}

/* Appends the classes that fold f does not have. Returns false if there is no room. */
static bool add_fold(const struct listed *missing, size_t f, char text[DN_MESSAGE_SIZE],
                     size_t *length) {
    enum { REST = 96 }; /* bytes for the beginning and the end of the message */
    char names[DNI_NAMES_SIZE];
    dni_name_list(missing, missing->labels->n_strata, name_class, NAMED, names);
    if (names[0] == '\0') {
        return true;
    }
    const size_t room = DN_MESSAGE_SIZE - REST - *length;
    const int n = snprintf(text + *length, room, "%sfold %zu has no row of %s",
                           *length == 0 ? "" : "; ", f + 1, names);
    if ((size_t)n >= room) {
        text[*length] = '\0';
        return false;
    }
    *length += (size_t)n;
    return true;
}

/* Adds the warnings for the folds. present: [n_folds × n_strata] true: the fold has a row of the
 * class. */
static void warn_of_folds(const dni_labels *labels, const uint8_t *present, size_t n_folds,
                          dn_report *report) {
    char text[DN_MESSAGE_SIZE] = "";
    size_t length = 0, f = 0, more = 0;
    for (bool room = true; f < n_folds; f++) {
        const struct listed missing = {labels, present + f * labels->n_strata};
        char name[DN_FIELD_SIZE];
        room = room && add_fold(&missing, f, text, &length);
        for (size_t k = 0; !room && k < labels->n_strata; k++) {
            if (name_class(&missing, k, name)) {
                more++;
                break;
            }
        }
    }
    if (more > 0) {
        dn_report_warn(report, DN_WARNING_FOLD_CLASSES,
                       "%s%s%zu more folds have no row of some classes", text,
                       length == 0 ? "" : "; ", more);
    } else if (length > 0) {
        dn_report_warn(report, DN_WARNING_FOLD_CLASSES, "%s", text);
    }
}

dn_status dni_warn_of_fold_classes(const dni_labels *labels, size_t n_rows, const uint16_t *fold,
                                   size_t n_folds, enum dni_fold_classes kind, dn_report *report,
                                   dn_error *err) {
    const size_t K = labels->n_strata;
    bool few = kind == DNI_FOLDS_ANY && labels->task->has_truth;
    for (size_t k = 0; k < K; k++) {
        few = few || (labels->count[k] > 1 && labels->count[k] < n_folds);
    }
    if (labels->task->has_truth) {
        warn_of_single_rows(labels, report);
    }
    if (!few || kind == DNI_FOLDS_OF_ONE_ROW) {
        return DN_OK;
    }
    void *memory;
    dn_status status =
        dn_run_alloc(labels->run, n_folds * K, 1, "the classes of the folds", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    uint8_t *present = memory;
    for (size_t i = 0; i < n_rows; i++) {
        if (!isnan(labels->stratum[i]) && fold[i] < n_folds) {
            present[fold[i] * K + (size_t)labels->stratum[i]] = 1;
        }
    }
    warn_of_folds(labels, present, n_folds, report);
    dn_run_free(labels->run, memory);
    return DN_OK;
}

/* The classes without validation rows. */
struct absent {
    const dni_labels *labels;
    const dn_metrics *metrics;
};

static bool name_absent(const void *ctx, size_t k, char out[DN_FIELD_SIZE]) {
    const struct absent *a = ctx;
    if (a->metrics->per_class[k].support > 0) {
        return false;
    }
    dni_copy_name(a->labels->class_name[k], out);
    return true;
}

void dni_warn_of_validation_classes(const dni_labels *labels, const dn_metrics *metrics,
                                    const char *rows, dn_report *report) {
    const struct absent absent = {labels, metrics};
    char names[DNI_NAMES_SIZE];
    dni_name_list(&absent, dni_labels_n_classes(labels), name_absent, NAMED, names);
    if (names[0] != '\0') {
        dn_report_warn(report, DN_WARNING_VALIDATION_CLASSES,
                       "classes without a %s row, which the validation metrics do not cover: %s",
                       rows, names);
    }
}
