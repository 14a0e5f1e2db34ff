/* Notes about rows that are accepted. */
#include "formats/instances/row_notes.h"
#include "base/json/json_write.h"
#include "base/memory/array.h"
#include "base/nearest.h"
#include "base/utf8.h"
#include "formats/text/view_cell.h"

#include <stdlib.h>
#include <string.h>

/* Maximum of the comparisons of ignored names with names of inputs. They find misspelt names. */
enum { MAX_COMPARED = 200000 };

/* ---- begin and end ---- */
bool row_notes_need(struct row_notes **notes, size_t n_inputs) {
    struct row_notes *t = *notes != NULL ? NULL : calloc(1, sizeof *t);
    if (t == NULL) {
        return *notes != NULL;
    }
    t->n_inputs = n_inputs;
    hash_key_make(&t->key);
    t->rows = calloc(n_inputs + 1, sizeof *t->rows);
    t->pending_of = calloc(n_inputs + 1, sizeof *t->pending_of);
    if (t->rows == NULL || t->pending_of == NULL) {
        row_notes_free(t);
        return false;
    }
    *notes = t;
    return true;
}

void row_notes_free(struct row_notes *t) {
    if (t != NULL) {
        free(t->rows);
        free(t->pending_of);
        free(t->meant);
        names_done(&t->ignored);
        arena_done(&t->names);
        free(t);
    }
}

/* ---- unseen categories ---- */
/* Returns the entry of this category, which may be new; NULL if the list is full. */
static struct unseen_value *entry_of(struct row_notes *t, size_t input, const char *text,
                                     size_t n) {
    const size_t kept = utf8_cut(text, n, UNSEEN_BYTES);
    const uint64_t hash = hash_keyed(&t->key, text, n);
    struct unseen_value *spare = NULL;
    for (size_t k = 0; k < t->n_values; k++) {
        struct unseen_value *v = &t->values[k];
        if (v->input == input && v->hash == hash && v->kept == kept &&
            memcmp(v->text, text, kept) == 0) {
            return v;
        }
        if (v->rows == 0 && !v->pending) { /* all rows that had it were refused */
            spare = v;
        }
    }
    if (t->n_values < UNSEEN_LISTED) {
        spare = &t->values[t->n_values++];
    }
    if (spare != NULL) {
        *spare = (struct unseen_value){.input = input, .hash = hash, .kept = kept};
        memcpy(spare->text, text, kept);
    }
    return spare;
}

bool row_notes_unseen_add(struct row_notes **notes, size_t n_inputs, size_t input, const char *text,
                          size_t n) {
    if (!row_notes_need(notes, n_inputs)) {
        return false;
    }
    struct row_notes *t = *notes;
    struct unseen_value *v = entry_of(t, input, text, n);
    if (v != NULL) {
        v->pending = true;
    }
    t->pending = t->pending_of[input] = true;
    return true;
}

static void end_row(struct row_notes *t, bool counts) {
    if (!t->pending) {
        return;
    }
    for (size_t k = 0; k < t->n_values; k++) {
        t->values[k].rows += counts && t->values[k].pending;
        t->values[k].pending = false;
    }
    for (size_t i = 0; i < t->n_inputs; i++) {
        t->rows[i] += counts && t->pending_of[i];
        t->n_unseen += counts && t->pending_of[i];
        t->pending_of[i] = false;
    }
    t->pending = false;
}

void row_notes_row_end(struct row_notes *t) {
    end_row(t, true);
}

void row_notes_row_drop(struct row_notes *t) {
    end_row(t, false);
}

/* Adds a category of a row to the notes, if it is unseen. */
static bool note_category(struct row_notes **notes, const dn_encoder *encoder, size_t input,
                          struct text t) {
    const bool added =
        row_notes_unseen_add(notes, dn_encoder_n_inputs(encoder), input, t.bytes, t.n);
    if (added) {
        row_notes_row_end(*notes);
    }
    return added;
}

static bool is_unseen(const dn_encoder *encoder, size_t input, const struct missing *missing,
                      struct text t) {
    return dn_encoder_level(encoder, input, t.bytes, t.n) == DN_UNSEEN &&
           (missing == NULL || !missing_has(missing, text_trim(t.bytes, t.n)));
}

bool row_notes_view(struct row_notes **notes, const dn_encoder *encoder, size_t input,
                    const struct missing *missing, const dn_column_view *view) {
    const size_t n = view_has_strings(view) ? view->strings.n : 0;
    bool well = true, *unseen = calloc(n + 1, sizeof *unseen), any = !view_has_strings(view);
    if (unseen == NULL) {
        return false;
    }
    for (size_t k = 0; k < n; k++) {
        unseen[k] = is_unseen(encoder, input, missing, strings_text(&view->strings, k));
        any |= unseen[k];
    }
    for (size_t i = 0; any && i < view->n_rows && well; i++) {
        char room[DN_NUMBER_SIZE];
        struct text t;
        if (view_cell(view, i, room, &t) &&
            (n > 0 ? unseen[view->code[i]] : is_unseen(encoder, input, missing, t))) {
            well = note_category(notes, encoder, input, t);
        }
    }
    free(unseen);
    return well;
}

int64_t row_notes_unseen(const struct row_notes *t) {
    return t != NULL ? t->n_unseen : 0;
}

int64_t row_notes_unseen_of(const struct row_notes *t, size_t input) {
    return t != NULL ? t->rows[input] : 0;
}

static void write_unseen(const struct row_notes *t, const dn_encoder *encoder,
                         struct json_writer *w) {
    json_kv_begin_array(w, "unseen");
    for (size_t k = 0; k < t->n_values; k++) {
        const struct unseen_value *v = &t->values[k];
        if (v->rows == 0) {
            continue; /* all rows that had it were refused */
        }
        json_begin_object(w);
        json_kv_string(w, "column", dn_encoder_input(encoder, v->input)->name);
        json_put_key(w, "value");
        json_put_stringn(w, v->text, v->kept);
        json_kv_int(w, "rows", v->rows);
        json_end_object(w);
    }
    json_end_array(w);
}

/* ---- ignored columns ---- */
/* Returns the input whose name is nearest to this one; SIZE_MAX if none is near, or after too many
 * comparisons. */
static size_t find_meant(struct row_notes *t, const dn_encoder *encoder, const char *name,
                         size_t n) {
    size_t best = SIZE_MAX, meant = SIZE_MAX;
    for (size_t i = 0; i < t->n_inputs && t->n_compared < MAX_COMPARED; i++) {
        t->n_compared++;
        const dn_input *input = dn_encoder_input(encoder, i);
        const size_t d = input->type == DN_SPARSE || input->follows
                             ? SIZE_MAX
                             : nearest_distance(name, n, input->column, strlen(input->column));
        if (d < best) {
            best = d;
            meant = i;
        }
    }
    return meant;
}

ptrdiff_t row_notes_ignore(struct row_notes *t, const char *name, size_t n,
                           const dn_encoder *encoder) {
    const ptrdiff_t known = names_find(&t->ignored, name, n);
    if (known >= 0) {
        return known;
    }
    if (t->ignored.n == IGNORED_MAX) {
        return IGNORED_FULL;
    }
    const char *copy = arena_strndup(&t->names, name, n);
    if (copy == NULL ||
        (t->ignored.n == t->meant_capacity &&
         !array_grow(&t->meant, &t->meant_capacity, 8, sizeof *t->meant)) ||
        !names_add(&t->ignored, copy, n)) {
        return IGNORED_NO_MEMORY;
    }
    t->meant[t->ignored.n - 1] = find_meant(t, encoder, name, n);
    return (ptrdiff_t)t->ignored.n - 1;
}

size_t row_notes_ignored(const struct row_notes *t) {
    return t != NULL ? t->ignored.n : 0;
}

/* ---- answers ---- */
bool row_notes_warn(struct row_notes *t, const char *text) {
    const char *copy = arena_strdup(&t->names, text);
    if (copy != NULL && t->n_warnings < ROW_NOTES_WARNINGS) {
        t->warnings[t->n_warnings++] = copy;
    }
    return copy != NULL;
}

size_t row_notes_n_warnings(const struct row_notes *t) {
    return t != NULL ? t->n_warnings : 0;
}

const char *row_notes_warning(const struct row_notes *t, size_t i) {
    return t->warnings[i];
}

void row_notes_write(const struct row_notes *t, const dn_encoder *encoder, struct json_writer *w) {
    if (row_notes_unseen(t) > 0) {
        write_unseen(t, encoder, w);
    }
    if (row_notes_ignored(t) > 0) {
        json_kv_begin_array(w, "ignored_columns");
        for (size_t k = 0; k < t->ignored.n; k++) {
            json_put_stringn(w, t->ignored.text[k].bytes, t->ignored.text[k].n);
        }
        json_end_array(w);
    }
    if (row_notes_n_warnings(t) > 0) {
        json_kv_begin_array(w, "warnings");
        for (size_t k = 0; k < t->n_warnings; k++) {
            json_put_string(w, t->warnings[k]);
        }
        json_end_array(w);
    }
}
