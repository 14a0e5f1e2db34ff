/* Columns of instances whose values are kept for the answer. The model may use them or not. */
#include "base/nearest.h"
#include "formats/instances/instances.h"
#include "formats/instances/row_notes.h"

#include <stdlib.h>
#include <string.h>

/* Maximum of the comparisons that find the name nearest to an unknown one. */
enum { MAX_COMPARED = 200000 };

bool instances_keep(struct instances *in, const struct keep *keep) {
    const size_t n = keep->names.n;
    int64_t *named = calloc(in->n_inputs + 1 + n, sizeof *named);
    in->keep_slot = calloc(n, sizeof *in->keep_slot);
    if (named == NULL || in->keep_slot == NULL) {
        free(named);
        return problem_no_memory(in->problem);
    }
    free(in->named);
    in->named = named;
    in->keep = in->rows.kept.keep = keep;
    for (size_t k = 0; k < n; k++) {
        in->keep_slot[k].input = SIZE_MAX;
    }
    return true;
}

struct slot instances_keep_named(struct instances *in, struct text name, struct slot slot) {
    const ptrdiff_t k = in->keep == NULL ? -1 : names_find(&in->keep->names, name.bytes, name.n);
    if (k < 0) {
        return slot;
    }
    in->keep_slot[k] = slot;
    return (struct slot){in->n_inputs + 1 + (size_t)k, 0};
}

void instances_keep_cells(struct instances *in) {
    for (size_t k = 0; in->keep != NULL && k < in->keep->names.n; k++) {
        const struct text name = in->keep->names.text[k];
        const struct slot slot = instances_find(in, name.bytes, name.n, SIZE_MAX);
        if (slot.input < in->n_inputs) {
            in->keep_slot[k] = slot;
            in->named[in->n_inputs + 1 + k] = 1;
        }
    }
}

struct slot instances_keep_cell(const struct instances *in, struct slot slot) {
    for (size_t k = 0; in->keep != NULL && k < in->keep->names.n; k++) {
        const struct slot own = in->keep_slot[k];
        if (own.input == slot.input && own.place == slot.place) {
            return (struct slot){in->n_inputs + 1 + k, 0};
        }
    }
    return slot;
}

/* ---- values ---- */
/* Reads the text of kept column k as a number, with the marks of the reading. */
static bool marked_number(const struct instances *in, size_t k, struct text t, double *out) {
    const struct text name = in->keep->names.text[k];
    const bool comma =
        in->comma != NULL && names_find(&in->schema->reading.commas, name.bytes, name.n) >= 0;
    return instances_number(in, comma, text_trim(t.bytes, t.n), out);
}

bool instances_keep_put(struct instances *in, size_t k, const struct value *value) {
    struct text text = value->bare ? text_trim(value->text.bytes, value->text.n) : value->text;
    enum kept_kind kind = KEPT_LITERAL;
    char canonical[DN_NUMBER_SIZE];
    double number = 0;
    if (value->kind == VALUE_NESTED || value->kind == VALUE_NOT_FINITE) {
        return false;
    }
    if (value->kind == VALUE_TRUE || value->kind == VALUE_FALSE) {
        text = value->kind == VALUE_TRUE ? (struct text){"true", 4} : (struct text){"false", 5};
    } else if (value->kind == VALUE_MISSING || (value->kind == VALUE_TEXT && text.n == 0)) {
        kind = KEPT_NULL;
        text.n = 0;
    } else if (value->kind != VALUE_NUMBER) {
        kind = KEPT_TEXT;
    }
    if (kind == KEPT_TEXT && in->options != NULL && in->options->keep_numbers && in->marked) {
        const bool is_number = marked_number(in, k, text, &number);
        text = (struct text){canonical, is_number ? dn_number_format(number, canonical) : 0};
        kind = is_number ? KEPT_LITERAL : KEPT_NULL;
    }
    if (!kept_rows_put(&in->rows.kept, in->rows.n - 1, k, kind, text.bytes, text.n)) {
        instances_no_memory(in);
    }
    return true;
}

/* ---- names ---- */
/* Offers the names of the columns of the rows, while there are few. */
static void offer_columns(const struct instances *in, struct nearest *nearest, size_t *n) {
    for (size_t i = 0; i <= in->n_inputs && *n < MAX_COMPARED; i++) {
        const char *name = instances_name(in, i);
        if (name != NULL && (in->named[i] > 0 || (in->all_named && i < in->n_inputs))) {
            nearest_offer(nearest, name, strlen(name));
            ++*n;
        }
    }
    const struct names *ignored = in->rows.notes != NULL ? &in->rows.notes->ignored : NULL;
    for (size_t k = 0; ignored != NULL && k < ignored->n && *n < MAX_COMPARED; k++, ++*n) {
        nearest_offer(nearest, ignored->text[k].bytes, ignored->text[k].n);
    }
}

void instances_check_keep(struct instances *in, const char *pointer) {
    size_t n_compared = 0;
    const bool optional = in->options != NULL && in->options->may_lack_keep;
    for (size_t k = 0; in->keep != NULL && !in->keep_checked && k < in->keep->names.n; k++) {
        char shown[TEXT_SHOWN];
        in->rows.kept.found |= in->named[in->n_inputs + 1 + k] > 0;
        if (in->named[in->n_inputs + 1 + k] > 0 || in->stopped || optional) {
            continue;
        }
        const struct text unknown = in->keep->names.text[k];
        struct nearest nearest = nearest_to(unknown.bytes, unknown.n);
        offer_columns(in, &nearest, &n_compared);
        instances_fault(in, pointer, in->header_line, in->header_line > 0,
                        "the rows have no column %s, which query parameter \"keep\" names%s",
                        text_show(unknown.bytes, unknown.n, shown), nearest.hint);
    }
    in->keep_checked = true;
}
