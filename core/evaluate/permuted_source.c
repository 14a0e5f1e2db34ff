/* A table source with the cells of one column in another order. The column is read once; its cells
 * are gathered chunk by chunk into buffers of the slot. */
#include "evaluate/permuted_source.h"

#include <stdlib.h>
#include <string.h>

/* The buffers of one slot, to which the views of the column point. */
struct dni_permuted_slot {
    double *number;    /* [largest chunk] or [n_entries] */
    uint32_t *code;    /* [largest chunk] */
    uint32_t *start;   /* [largest chunk + 1] text */
    char *bytes;       /* text: [size of all texts] */
    size_t *row_start; /* [largest chunk + 1] sparse */
    uint32_t *index;   /* [n_entries] sparse */
};

static dn_status take(const dni_permuted *p, size_t n, size_t size, void *out, dn_error *err) {
    return dn_run_alloc(p->run, n + 1, size, "the cells of a permuted column", out, err);
}

static bool has_texts(const dni_permuted *p) {
    return p->type == DN_CATEGORICAL || p->type == DN_TEXT;
}

/* ---- the whole column ---- */
struct sizes {
    size_t n_entries, n_bytes, n_texts;
};

static dn_status read_chunk(const dni_permuted *p, size_t chunk, dn_column_view *view,
                            dn_error *err) {
    const dn_status status = dn_run_stop(p->run, err);
    return status == DN_OK ? p->base->column(p->base, chunk, p->column, 0, view, err) : status;
}

/* Measures the column. Texts of a categorical column are counted once for each chunk. */
static dn_status measure(const dni_permuted *p, struct sizes *out, dn_error *err) {
    for (size_t c = 0; c < p->base->n_chunks && (has_texts(p) || p->type == DN_SPARSE); c++) {
        dn_column_view view;
        const dn_status status = read_chunk(p, c, &view, err);
        if (status != DN_OK) {
            return status;
        }
        if (p->type == DN_SPARSE) {
            out->n_entries += view.row_start[view.n_rows];
            continue;
        }
        if (p->type == DN_CATEGORICAL) {
            out->n_texts += view.strings.n;
            out->n_bytes += view.strings.start[view.strings.n];
            continue;
        }
        out->n_texts += view.n_rows;
        for (size_t i = 0; i < view.n_rows; i++) {
            if (view.code[i] != DN_CODE_MISSING) {
                out->n_bytes +=
                    view.strings.start[view.code[i] + 1] - view.strings.start[view.code[i]];
            }
        }
    }
    return DN_OK;
}

static dn_status allocate(dni_permuted *p, const struct sizes *sizes, dn_error *err) {
    const size_t n = p->base->n_rows;
    dn_status status = take(p, n, sizeof *p->rows, &p->rows, err);
    if (status == DN_OK) {
        status = take(p, n, sizeof *p->order, &p->order, err);
    }
    if (status == DN_OK) {
        status = take(p, n, sizeof *p->from, &p->from, err);
    }
    if (status == DN_OK && !has_texts(p)) {
        status = take(p, p->type == DN_SPARSE ? sizes->n_entries : n, sizeof *p->number, &p->number,
                      err);
    }
    if (status == DN_OK && p->type == DN_SPARSE) {
        status = take(p, n + 1, sizeof *p->row_start, &p->row_start, err);
    }
    if (status == DN_OK && p->type == DN_SPARSE) {
        status = take(p, sizes->n_entries, sizeof *p->index, &p->index, err);
    }
    if (status != DN_OK || !has_texts(p)) {
        return status;
    }
    if (sizes->n_bytes > UINT32_MAX || sizes->n_texts >= UINT32_MAX) {
        return dn_error_set(err, DN_ERR_BUDGET,
                            "column \"%.128s\" has more than 4 GiB of text, which cannot be "
                            "permuted",
                            p->base->columns[p->column].name);
    }
    status = take(p, n, sizeof *p->code, &p->code, err);
    if (status == DN_OK) {
        status = take(p, sizes->n_texts + 1, sizeof *p->start, &p->start, err);
    }
    return status == DN_OK ? take(p, sizes->n_bytes, 1, &p->bytes, err) : status;
}

static void append_text(dni_permuted *p, const char *text, size_t length) {
    const uint32_t at = p->start[p->n_texts];
    memcpy(p->bytes + at, text, length);
    p->start[++p->n_texts] = at + (uint32_t)length;
}

/* Copies the cells of a chunk. Categorical: every text is appended, also duplicates of texts in
 * earlier chunks; merge_texts removes the duplicates. */
static void copy_chunk(dni_permuted *p, const dn_column_view *view, size_t first) {
    const size_t offset = p->type == DN_SPARSE ? p->row_start[first] : first;
    const uint32_t *start = view->strings.start;
    const size_t known = p->n_texts;
    if (!has_texts(p)) {
        const size_t n = p->type == DN_SPARSE ? view->row_start[view->n_rows] : view->n_rows;
        memcpy(p->number + offset, view->number, n * sizeof *p->number);
        for (size_t i = 0; p->type == DN_SPARSE && i < view->n_rows; i++) {
            p->row_start[first + i + 1] = offset + view->row_start[i + 1];
        }
        if (p->type == DN_SPARSE) {
            memcpy(p->index + offset, view->index, n * sizeof *p->index);
        }
        return;
    }
    for (size_t k = 0; p->type == DN_CATEGORICAL && k < view->strings.n; k++) {
        append_text(p, view->strings.bytes + start[k], start[k + 1] - start[k]);
    }
    for (size_t i = 0; i < view->n_rows; i++) {
        const uint32_t code = view->code[i];
        p->code[first + i] = code == DN_CODE_MISSING ? code : (uint32_t)known + code;
        if (p->type == DN_TEXT) {
            const bool missing = code == DN_CODE_MISSING;
            append_text(p, missing ? "" : view->strings.bytes + start[code],
                        missing ? 0 : start[code + 1] - start[code]);
            p->code[first + i] = missing ? code : (uint32_t)(first + i);
        }
    }
}

/* A text of the column, for sorting. */
struct entry {
    const char *text;
    uint32_t length, code;
};

static int compare_entries(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    const uint32_t shorter = x->length < y->length ? x->length : y->length;
    const int order = memcmp(x->text, y->text, shorter);
    if (order != 0) {
        return order;
    }
    if (x->length != y->length) {
        return x->length < y->length ? -1 : 1;
    }
    return (x->code > y->code) - (x->code < y->code);
}

/* Makes the texts of a categorical column distinct, in the order of their first appearance, and
 * renumbers the codes of the cells. */
static dn_status merge_texts(dni_permuted *p, dn_error *err) {
    const size_t n = p->n_texts;
    void *memory;
    uint32_t *code = NULL;
    dn_status status = take(p, n, sizeof(struct entry), &memory, err);
    if (status == DN_OK) {
        status = take(p, n, sizeof *code, &code, err);
        if (status != DN_OK) {
            dn_run_free(p->run, memory);
        }
    }
    if (status != DN_OK) {
        return status;
    }
    struct entry *entries = memory;
    for (size_t k = 0; k < n; k++) {
        entries[k] =
            (struct entry){p->bytes + p->start[k], p->start[k + 1] - p->start[k], (uint32_t)k};
    }
    qsort(entries, n, sizeof *entries, compare_entries);
    for (size_t k = 0; k < n; k++) { /* equal texts are adjacent, the first appearance first */
        const bool again = k > 0 && entries[k].length == entries[k - 1].length &&
                           memcmp(entries[k].text, entries[k - 1].text, entries[k].length) == 0;
        code[entries[k].code] = again ? code[entries[k - 1].code] : entries[k].code;
    }
    size_t distinct = 0;
    uint32_t at = 0;
    for (size_t k = 0; k < n; k++) { /* in order of first appearance: texts move to the front */
        const uint32_t begin = p->start[k], length = p->start[k + 1] - begin;
        if (code[k] == k) {
            memmove(p->bytes + at, p->bytes + begin, length);
            p->start[distinct] = at;
            at += length;
            code[k] = (uint32_t)distinct++;
        } else {
            code[k] = code[code[k]]; /* already the new code of an earlier text */
        }
    }
    p->start[distinct] = at;
    p->n_texts = distinct;
    for (size_t i = 0; i < p->base->n_rows; i++) {
        if (p->code[i] != DN_CODE_MISSING) {
            p->code[i] = code[p->code[i]];
        }
    }
    dn_run_free(p->run, code);
    dn_run_free(p->run, memory);
    return DN_OK;
}

/* ---- views ---- */
static void gather_sparse(const dni_permuted *p, struct dni_permuted_slot *slot, size_t first,
                          size_t n, dn_column_view *out) {
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t begin = p->row_start[p->from[first + i]],
                     length = p->row_start[p->from[first + i] + 1] - begin;
        slot->row_start[i] = at;
        memcpy(slot->number + at, p->number + begin, length * sizeof *slot->number);
        memcpy(slot->index + at, p->index + begin, length * sizeof *slot->index);
        at += length;
    }
    slot->row_start[n] = at;
    out->row_start = slot->row_start;
    out->index = slot->index;
    out->number = slot->number;
}

static void gather_texts(const dni_permuted *p, struct dni_permuted_slot *slot, size_t first,
                         size_t n, dn_column_view *out) {
    uint32_t at = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t code = p->code[p->from[first + i]];
        slot->code[i] = code;
        if (p->type == DN_TEXT) {
            const uint32_t length =
                code == DN_CODE_MISSING ? 0 : p->start[code + 1] - p->start[code];
            slot->start[i] = at;
            if (length > 0) {
                memcpy(slot->bytes + at, p->bytes + p->start[code], length);
            }
            at += length;
            slot->code[i] = code == DN_CODE_MISSING ? code : (uint32_t)i;
        }
    }
    out->code = slot->code;
    out->strings = (dn_strings){p->n_texts, p->start, p->bytes};
    if (p->type == DN_TEXT) {
        slot->start[n] = at;
        out->strings = (dn_strings){n, slot->start, slot->bytes};
    }
}

static dn_status permuted_column(const dn_table_source *source, size_t chunk, size_t column,
                                 size_t slot_index, dn_column_view *out, dn_error *err) {
    const dni_permuted *p = source->ctx;
    if (column != p->column) {
        return p->base->column(p->base, chunk, column, slot_index, out, err);
    }
    struct dni_permuted_slot *slot = &p->slots[slot_index];
    const size_t first = p->base->chunk_first_row[chunk],
                 n = p->base->chunk_first_row[chunk + 1] - first;
    *out = (dn_column_view){.type = p->type, .n_rows = n};
    if (p->type == DN_SPARSE) {
        gather_sparse(p, slot, first, n, out);
        return DN_OK;
    }
    if (has_texts(p)) {
        gather_texts(p, slot, first, n, out);
        return DN_OK;
    }
    for (size_t i = 0; i < n; i++) {
        slot->number[i] = p->number[p->from[first + i]];
    }
    out->number = slot->number;
    return DN_OK;
}

/* ---- open and close ---- */
static dn_status open_slots(dni_permuted *p, const struct sizes *sizes, dn_error *err) {
    const bool sparse = p->type == DN_SPARSE, text = p->type == DN_TEXT;
    size_t largest = 0;
    for (size_t c = 0; c < p->base->n_chunks; c++) {
        const size_t n = p->base->chunk_first_row[c + 1] - p->base->chunk_first_row[c];
        largest = n > largest ? n : largest;
    }
    dn_status status = take(p, p->base->n_slots, sizeof *p->slots, &p->slots, err);
    for (size_t i = 0; status == DN_OK && i < p->base->n_slots; i++) {
        struct dni_permuted_slot *s = &p->slots[i];
        if (!has_texts(p)) {
            status =
                take(p, sparse ? sizes->n_entries : largest, sizeof *s->number, &s->number, err);
        } else {
            status = take(p, largest, sizeof *s->code, &s->code, err);
        }
        if (status == DN_OK && text) {
            status = take(p, largest + 1, sizeof *s->start, &s->start, err);
        }
        if (status == DN_OK && text) {
            status = take(p, sizes->n_bytes, 1, &s->bytes, err);
        }
        if (status == DN_OK && sparse) {
            status = take(p, largest + 1, sizeof *s->row_start, &s->row_start, err);
        }
        if (status == DN_OK && sparse) {
            status = take(p, sizes->n_entries, sizeof *s->index, &s->index, err);
        }
    }
    return status;
}

dn_status dni_permuted_open(dni_permuted *p, const dn_table_source *base, size_t column,
                            const uint8_t *role, uint8_t wanted, const dn_run *run, dn_error *err) {
    struct sizes sizes = {0};
    *p = (dni_permuted){.table = *base,
                        .base = base,
                        .run = run,
                        .column = column,
                        .type = base->columns[column].type};
    p->table.column = permuted_column;
    p->table.ctx = p;
    dn_status status = measure(p, &sizes, err);
    if (status == DN_OK) {
        status = allocate(p, &sizes, err);
    }
    if (status == DN_OK) {
        status = open_slots(p, &sizes, err);
    }
    for (size_t c = 0; status == DN_OK && c < base->n_chunks; c++) {
        dn_column_view view;
        status = read_chunk(p, c, &view, err);
        if (status == DN_OK) {
            copy_chunk(p, &view, base->chunk_first_row[c]);
        }
    }
    if (status == DN_OK && p->type == DN_CATEGORICAL) {
        status = merge_texts(p, err);
    }
    for (size_t i = 0; status == DN_OK && i < base->n_rows; i++) {
        p->from[i] = i;
        if (role[i] == wanted) {
            p->order[p->n_moved] = i;
            p->rows[p->n_moved++] = i;
        }
    }
    return status;
}

void dni_permuted_shuffle(dni_permuted *p, dni_random *random) {
    dni_random_shuffle(random, p->order, p->n_moved);
    for (size_t i = 0; i < p->n_moved; i++) {
        p->from[p->rows[i]] = p->order[i];
    }
}

void dni_permuted_close(dni_permuted *p) {
    for (size_t i = 0; p->slots != NULL && i < p->base->n_slots; i++) {
        struct dni_permuted_slot *s = &p->slots[i];
        dn_run_free(p->run, s->number);
        dn_run_free(p->run, s->code);
        dn_run_free(p->run, s->start);
        dn_run_free(p->run, s->bytes);
        dn_run_free(p->run, s->row_start);
        dn_run_free(p->run, s->index);
    }
    void *const arrays[] = {p->rows,  p->order, p->from,  p->number,    p->code,
                            p->start, p->bytes, p->index, p->row_start, p->slots};
    for (size_t i = 0; p->run != NULL && i < sizeof arrays / sizeof *arrays; i++) {
        dn_run_free(p->run, arrays[i]);
    }
    *p = (dni_permuted){0};
}
