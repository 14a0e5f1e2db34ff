/* Division of the searched rows, and their encoded forms. */
#include "search/search_folds.h"
#include <discern/search.h>

#include "base/argument.h"
#include "base/layout.h"
#include "base/tasks.h"
#include "encoder/encoder_join.h"
#include "task/split_column.h"
#include "task/split_share.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- comparison of features ---- */
bool dni_search_same_features(const dn_encoder_spec *a, const dn_encoder_spec *b) {
    return a->columns == b->columns && a->n_columns == b->n_columns &&
           a->index_filters == b->index_filters && a->standardize == b->standardize &&
           a->standardize_sparse == b->standardize_sparse && a->max_levels == b->max_levels &&
           a->missing_number == b->missing_number && a->missing_category == b->missing_category &&
           a->missing_indicator == b->missing_indicator && a->categorical == b->categorical &&
           a->unseen == b->unseen && dni_text_specs_equal(&a->text, &b->text) &&
           a->bases == b->bases && a->n_bases == b->n_bases;
}

/* ---- division ---- */
struct shape {
    size_t n_rows, n_strata, n_fits, n_repeats;
    bool class_weighted;
};

/* The arrays of all folds together. */
struct arrays {
    uint16_t *fold; /* [n_repeats × n_rows] */
    uint8_t *role;  /* [n_fits × n_rows] */
    double *value;  /* [n_fits × n_rows]; NULL without class weights */
    size_t *count;  /* [2 × n_strata] */
    size_t *order;  /* [n_rows] */
};

static void arrays_layout(dni_layout *layout, const void *shape, void *out) {
    const struct shape *s = shape;
    struct arrays *a = out;
    a->fold = dni_layout_array(layout, s->n_repeats * s->n_rows, sizeof *a->fold);
    a->role = dni_layout_array(layout, s->n_fits * s->n_rows, sizeof *a->role);
    a->value = s->class_weighted ? dni_layout_matrix(layout, s->n_fits, s->n_rows) : NULL;
    a->count = dni_layout_array(layout, 2 * s->n_strata, sizeof *a->count);
    a->order = dni_layout_array(layout, s->n_rows, sizeof *a->order);
}

double dni_search_folds_memory(const dn_train_request *training, size_t folds, size_t n_repeats,
                               size_t n_rows, size_t n_classes) {
    const struct shape shape = {n_rows, n_classes, folds * n_repeats, n_repeats,
                                training->class_weight != DN_CLASS_WEIGHT_NONE};
    struct arrays a;
    return dni_layout_bytes(arrays_layout, &shape, &a);
}

/* Removes the rows that are not training rows of the validation from labels->stratum and
 * labels->count. */
static void keep_training_rows(dni_search_folds *f) {
    dni_labels *l = &f->labels;
    memset(l->count, 0, l->n_strata * sizeof *l->count);
    for (size_t i = 0; i < f->request.source->n_rows; i++) {
        if (l->role[i] == DN_ROW_TRAIN) {
            l->count[(size_t)l->stratum[i]]++;
            f->n_rows++;
        } else {
            l->stratum[i] = (double)NAN;
        }
    }
}

/* Sets the roles of the rows of each fold for the present share. */
static void set_roles(dni_search_folds *f) {
    const dn_train_request *r = &f->request;
    const size_t n = r->source->n_rows;
    for (size_t k = 0; k < f->n; k++) {
        dni_search_fold *fold = &f->folds[k];
        const uint16_t *of = f->fold + k / r->folds * n;
        const size_t own = k % r->folds;
        fold->n_held_out = 0;
        for (size_t i = 0; i < n; i++) {
            fold->labels.role[i] =
                (uint8_t)(isnan(f->labels.stratum[i]) ? DN_ROW_SKIP
                                                      : dni_division_role(r, of[i], own));
            fold->n_held_out += fold->labels.role[i] == DN_ROW_VALIDATE;
        }
        if (f->share < 1) {
            dni_split_share(f->order, f->n_rows, f->labels.stratum, f->labels.n_strata, f->share,
                            f->count, fold->labels.role);
        }
    }
}

/* Makes the folds: as many as rows that can be left out with DN_LEAVE_ONE_OUT. */
static dn_status make_folds(dni_search_folds *f, bool marked, dn_error *err) {
    const size_t n = dni_labels_fold_rows(&f->labels);
    if (f->request.folds == DN_LEAVE_ONE_OUT && (n < 2 || n > DN_MAX_FOLDS)) {
        return dni_error_at(
            dn_error_set(err, DN_ERR_DATA,
                         "there are %zu rows to leave out one by one, and a search allows 2 to %d: "
                         "use folds",
                         n, DN_MAX_FOLDS),
            "folds", -1, err);
    }
    if (f->request.folds == DN_LEAVE_ONE_OUT) {
        f->request.folds = n;
    }
    f->n = dni_division_fits(&f->request);
    f->folds = calloc(f->n, sizeof *f->folds);
    if (f->folds == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for %zu folds", f->n);
    }
    return marked ? DN_OK : dni_labels_check_folds(&f->labels, f->request.folds, err);
}

/* fold [n_rows] ← 0 for the rows marked for the comparison, otherwise 1. */
static dn_status divide_by_marks(dni_search_folds *f, uint16_t *fold, dn_error *err) {
    const dn_train_request *r = &f->request;
    dni_split split;
    const dn_status status = dni_split_marks(r->source, r->mark, f->run, &f->labels, &split, err);
    for (size_t i = 0; i < r->source->n_rows && status == DN_OK; i++) {
        fold[i] = f->labels.role[i] != DN_ROW_VALIDATE;
    }
    return status;
}

static dn_status divide(dni_search_folds *f, bool marked, dn_error *err) {
    const dn_train_request *r = &f->request;
    const size_t n = r->source->n_rows, n_repeats = f->n / r->folds;
    const struct shape shape = {n, f->labels.n_strata, f->n, n_repeats, f->labels.value != NULL};
    struct arrays a;
    dn_status status = dni_layout_take(f->run, arrays_layout, &shape, &a, "the folds of the search",
                                       &f->memory, err);
    for (size_t repeat = 0; repeat < n_repeats && status == DN_OK; repeat++) {
        status = marked
                     ? divide_by_marks(f, a.fold, err)
                     : dni_division_folds(r, repeat, f->run, &f->labels, a.fold + repeat * n, err);
    }
    if (status != DN_OK) {
        return status;
    }
    f->fold = a.fold;
    f->count = a.count;
    f->order = a.order;
    (void)dni_split_shuffle(f->labels.stratum, n, f->run, a.order);
    for (size_t k = 0; k < f->n; k++) {
        dni_search_fold *fold = &f->folds[k];
        fold->labels = f->labels;
        fold->labels.role = a.role + k * n;
        fold->labels.value = a.value == NULL ? NULL : a.value + k * n;
        fold->run = dni_task_run(f->run);
    }
    set_roles(f);
    return DN_OK;
}

dn_status dni_search_folds_init(dni_search_folds *f, const dn_train_request *outer,
                                const dn_train_request *inner, bool marked, const dn_run *run,
                                dn_error *err) {
    dni_split split;
    *f = (dni_search_folds){.run = run, .request = *inner, .share = 1, .keep = true};
    dn_status status = dni_labels_read(inner, run, &f->labels, err);
    if (status == DN_OK) {
        status = dni_division_holdout(outer, run, &f->labels, &split, err);
    }
    if (status != DN_OK) {
        return status;
    }
    keep_training_rows(f);
    status = make_folds(f, marked, err);
    return status == DN_OK ? divide(f, marked, err) : status;
}

void dni_search_folds_done(dni_search_folds *f) {
    dni_search_folds_drop(f);
    free(f->folds);
    dni_labels_done(&f->labels);
    dn_run_free(f->run, f->memory);
    *f = (dni_search_folds){.run = f->run};
}

/* ---- encoded rows ---- */
void dni_search_fold_drop(dni_search_fold *fold) {
    dn_model_unref(fold->last);
    dn_prepared_free(fold->kernel);
    dn_rows_free(fold->held_out);
    dni_prepared_unref(fold->prepared);
    fold->last = NULL;
    fold->kernel = NULL;
    fold->held_out = NULL;
    fold->prepared = NULL;
}

void dni_search_folds_drop(dni_search_folds *f) {
    for (size_t k = 0; f->folds != NULL && k < f->n; k++) {
        dni_search_fold_drop(&f->folds[k]);
    }
}

dn_status dni_search_folds_select(dni_search_folds *f, const dn_params *params,
                                  const dn_encoder_spec *features, double share, dn_error *err) {
    dn_train_request *r = &f->request;
    dn_encoder_spec spec = *features;
    dn_status status =
        dn_params_encoding(params, r->source->columns, r->source->n_rows, &spec, err);
    if (status != DN_OK) {
        return status;
    }
    r->params = params;
    if (share == f->share && dni_search_same_features(&spec, &r->features)) {
        return DN_OK;
    }
    dni_search_folds_drop(f);
    f->keep = true;
    r->features = spec;
    if (share != f->share) {
        f->share = share;
        set_roles(f);
    }
    return DN_OK;
}

dn_status dni_search_folds_encode(dni_search_folds *f, size_t k, dn_error *err) {
    dni_search_fold *fold = &f->folds[k];
    dni_fit fit = {.request = &f->request, .run = f->run, .labels = &fold->labels};
    dn_error refused;
    if (fold->prepared != NULL) {
        return DN_OK;
    }
    dn_status status = dni_fit_encode(&fit, err);
    if (status != DN_OK) {
        dni_fit_done(&fit);
        return status;
    }
    fold->prepared = fit.prepared;
    dn_error_clear(&refused);
    for (int in_memory = 1; in_memory >= 0; in_memory--) {
        fold->held_in_memory = in_memory != 0;
        status = dn_rows_from_source(f->request.source, fold->prepared->encoder, fold->labels.role,
                                     DN_ROW_VALIDATE, dni_labels_target(&fold->labels), NULL,
                                     fold->held_in_memory, f->run, &fold->held_out,
                                     in_memory ? &refused : err);
        if (!in_memory || !dni_search_refused(status)) {
            break;
        }
    }
    if (status != DN_OK && err != NULL && err->code == DN_OK) {
        *err = refused;
    }
    return status;
}
