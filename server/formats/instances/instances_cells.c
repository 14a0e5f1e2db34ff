/* The columns of rows without names: lines of separated text without a header, and arrays of JSON.
 *
 * A row has either one cell for each feature in the order of the inputs, or one for each column of
 * the training table. To read the target, its position must be known. The rows have the target last
 * if the training table had it behind all inputs, or if the model does not know its position. */
#include "formats/instances/instances.h"
#include "formats/instances/row_notes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct slot instances_cell(const struct instances *in, size_t cell) {
    if ((!in->schema->sparse && !in->schema->shared) || cell >= in->schema->n_cells) {
        return (struct slot){cell < in->schema->n_cells ? cell : in->n_inputs, 0};
    }
    size_t i = 0;
    for (;; i++) {
        const size_t width = instances_is_sparse(in, i)
                                 ? dn_encoder_input(in->encoder, i)->n_features
                                 : !instances_follows(in, i);
        if (cell < width) {
            return (struct slot){i, instances_is_sparse(in, i)
                                        ? dn_encoder_sparse_index(in->encoder, i, cell)
                                        : 0};
        }
        cell -= width;
    }
}

static size_t plain_cells(const struct instances *in) {
    return in->schema->n_cells + in->labelled;
}

enum target_place {
    TARGET_UNREAD,  /* the target is not read */
    TARGET_UNKNOWN, /* the training table is unknown, or it did not have the target */
    TARGET_LAST,    /* no input is behind the target */
    TARGET_WITHIN
};

static enum target_place place_target(const struct instances *in) {
    const struct names *columns = &in->schema->reading.columns;
    const ptrdiff_t at =
        in->labelled ? names_find(columns, in->target, strlen(in->target)) : (ptrdiff_t)columns->n;
    const char *last = in->n_inputs > 0 ? instances_name(in, in->n_inputs - 1) : "";
    if (at < 0 || !in->labelled) {
        return in->labelled ? TARGET_UNKNOWN : TARGET_UNREAD;
    }
    /* the inputs have the order of the table */
    return at > names_find(columns, last, strlen(last)) ? TARGET_LAST : TARGET_WITHIN;
}

/* Returns the number of columns of the training table, if a row may have them all. */
static size_t table_cells(const struct instances *in, enum target_place place) {
    return place == TARGET_UNKNOWN ? 0 : in->schema->reading.columns.n;
}

bool instances_is_plain(const struct instances *in, size_t n) {
    return n == plain_cells(in);
}

bool instances_may_have(const struct instances *in, size_t n) {
    const enum target_place place = place_target(in);
    return n > 0 &&
           ((place != TARGET_WITHIN && n == plain_cells(in)) || n == table_cells(in, place));
}

void instances_put_expected(const struct instances *in, struct buf *out) {
    const enum target_place place = place_target(in);
    const size_t plain = plain_cells(in), table = table_cells(in, place);
    if (place != TARGET_WITHIN) {
        buf_printf(out, "%zu%s", plain, in->labelled ? " (the target last)" : "");
    }
    if (table > 0 && (table != plain || place == TARGET_WITHIN)) {
        buf_printf(out, "%s%zu (the columns of the training table)",
                   place != TARGET_WITHIN ? " or " : "", table);
    }
}

/* Finds the slots of the columns of the training table. */
static void claim_columns(struct instances *in, const char *pointer, int64_t line) {
    const struct names *columns = &in->schema->reading.columns;
    for (size_t i = 0, input = 0; i < columns->n && !in->stopped; i++) {
        const char *why = instances_claim(in, columns->text[i], input, &in->cell[i]);
        input += in->cell[i].input == input;
        if (why != NULL) {
            instances_fault(in, pointer, line, line > 0, "%s", why);
            in->cell[i].input = SIZE_MAX;
        }
    }
}

static void claim_inputs(struct instances *in) {
    instances_keep_cells(in);
    for (size_t i = 0; i < in->n_row; i++) {
        in->cell[i] = instances_keep_cell(in, instances_cell(in, i));
    }
}

/* Notes that the last cell was taken as the target. */
static void note_target(struct instances *in) {
    char text[SLOT_SHOWN + 200], shown[SLOT_SHOWN];
    (void)snprintf(text, sizeof text,
                   "the rows do not name their columns, and the model does not know where its "
                   "training table had %s: the last value of each row was read as %s",
                   instances_show(in, (struct slot){in->n_inputs, 0}, shown), shown);
    instances_warn(in, text);
}

bool instances_know_cells(struct instances *in, size_t n, const char *pointer, int64_t line) {
    const enum target_place place = place_target(in);
    const size_t plain = plain_cells(in), table = table_cells(in, place);
    const bool by_table = place == TARGET_WITHIN || (n == table && n != plain);
    in->all_named = true;
    in->n_row = by_table ? table : plain;
    if (n != in->n_row) {
        return !in->stopped; /* a fault of this row; the next may be well */
    }
    in->cells_known = true;
    if (place == TARGET_UNKNOWN) {
        note_target(in);
    }
    if (by_table || in->keep != NULL) {
        in->cell = malloc((n + 1) * sizeof *in->cell);
        if (in->cell == NULL) {
            instances_no_memory(in);
        } else if (by_table) {
            claim_columns(in, pointer, line);
        } else {
            claim_inputs(in);
        }
    }
    return !in->stopped;
}
