/* Joined encoders: the check that the parts read the same raw rows, and creation. */
#include "encoder/encoder_join.h"
#include "encoder/encoder_impl.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- do two encoders read the same raw rows? ---- */
static bool same_strings(dn_strings a, dn_strings b) {
    return a.n == b.n && (a.n == 0 || (memcmp(a.start, b.start, (a.n + 1) * sizeof *a.start) == 0 &&
                                       memcmp(a.bytes, b.bytes, a.start[a.n]) == 0));
}

static bool same_numbers(const double *a, const double *b, size_t n) {
    return (a == NULL) == (b == NULL) && (a == NULL || memcmp(a, b, n * sizeof *a) == 0);
}

static bool same_words(const dni_vocabulary *a, const dni_vocabulary *b) {
    return a->weighting == b->weighting && a->keep_case == b->keep_case && a->length == b->length &&
           a->n_features == b->n_features && a->buckets == b->buckets &&
           same_strings(dni_string_set_view(&a->words), dni_string_set_view(&b->words)) &&
           same_numbers(a->idf, b->idf, a->n_features);
}

static bool same_indices(const dni_index_set *a, const dni_index_set *b) {
    bool same = a->width == b->width && a->n == b->n;
    for (size_t k = 0; same && k < a->n; k++) {
        same = dni_index_set_at(a, k) == dni_index_set_at(b, k);
    }
    return same;
}

static bool same_input(const dn_encoder *a, const dn_encoder *b, size_t i) {
    const dn_input *x = &a->inputs[i], *y = &b->inputs[i];
    if (x->type != y->type || x->part != y->part || strcmp(x->name, y->name) != 0 ||
        !same_strings(x->levels, y->levels)) {
        return false;
    }
    return !dni_input_is_vector(x) ||
           (x->first_feature == y->first_feature && x->n_features == y->n_features &&
            same_words(&a->texts[i], &b->texts[i]) &&
            same_indices(&a->index_sets[i], &b->index_sets[i]));
}

static bool same_raw_rows(const dn_encoder *a, const dn_encoder *b) {
    bool same = a->n_inputs == b->n_inputs && a->n_parts == 0 && b->n_parts == 0;
    for (size_t i = 0; same && i < a->n_inputs; i++) {
        same = same_input(a, b, i);
    }
    return same;
}

/* ---- specs ---- */
bool dni_text_specs_equal(const dn_text_spec *a, const dn_text_spec *b) {
    return a->weighting == b->weighting && a->vocabulary == b->vocabulary &&
           a->min_rows == b->min_rows && a->buckets == b->buckets && a->keep_case == b->keep_case &&
           a->length == b->length;
}

bool dni_specs_join(const dn_encoder_spec *a, const dn_encoder_spec *b,
                    const dn_table_column *columns) {
    bool vectors = false;
    if (a->n_columns != b->n_columns ||
        memcmp(a->columns, b->columns, a->n_columns * sizeof *a->columns) != 0 ||
        a->index_filters != b->index_filters) {
        return false;
    }
    for (size_t i = 0; i < a->n_columns; i++) {
        const dn_column_type type = columns[a->columns[i]].type;
        vectors = vectors || type == DN_TEXT || type == DN_SPARSE;
    }
    /* the features of a vector input begin after those of the inputs before it */
    return !vectors ||
           (dni_text_specs_equal(&a->text, &b->text) &&
            a->missing_indicator == b->missing_indicator &&
            a->missing_category == b->missing_category && a->categorical == b->categorical &&
            a->n_bases == b->n_bases && (a->n_bases == 0 || a->bases == b->bases));
}

/* ---- creation ---- */
dn_status dni_encoder_join(dn_encoder *const *parts, size_t n, dn_encoder **out, dn_error *err) {
    double n_features = 0;
    for (size_t p = 0; p < n; p++) {
        n_features += (double)parts[p]->n_features;
        if (!same_raw_rows(parts[0], parts[p])) {
            return dn_error_set(err, DN_ERR_ARGUMENT,
                                "the encoders of the members do not read the same rows");
        }
    }
    if (n_features > UINT32_MAX) {
        return dn_error_set(err, DN_ERR_DATA, "the members have %.0f features, more than %lu",
                            n_features, (unsigned long)UINT32_MAX);
    }
    dn_encoder *joined = calloc(1, sizeof *joined);
    dn_encoder **own = calloc(n + 1, sizeof *own);
    if (joined == NULL || own == NULL) {
        free(joined);
        free((void *)own);
        return dni_encoder_no_memory(err);
    }
    const dn_encoder *first = parts[0];
    atomic_init(&joined->references, 1);
    joined->n_inputs = first->n_inputs; /* borrowed from the first part, as the arrays below */
    joined->inputs = first->inputs;
    joined->names = first->names;
    joined->levels = first->levels;
    joined->by_value = first->by_value;
    joined->texts = first->texts;
    joined->index_sets = first->index_sets;
    joined->vector_inputs = first->vector_inputs;
    joined->n_vector_inputs = first->n_vector_inputs;
    joined->active = first->active;
    joined->parts = own;
    joined->n_parts = n;
    for (size_t p = 0; p < n; p++) {
        own[p] = dn_encoder_ref(parts[p]);
        joined->n_features += parts[p]->n_features;
        joined->n_entries += parts[p]->n_entries;
        joined->vector_entries += parts[p]->vector_entries;
        joined->sparse = joined->sparse || parts[p]->sparse;
        joined->refuse_unseen = joined->refuse_unseen || parts[p]->refuse_unseen;
        joined->refuse_missing = joined->refuse_missing || parts[p]->refuse_missing;
    }
    joined->n_base = joined->n_features;
    *out = joined;
    return DN_OK;
}
