/* Reads rows of a stored table as instances. A column may have another type than its input: then
 * each value is read as the same value in a body would be. */
#include "formats/instances/instances.h"
#include "formats/instances/row_notes.h"
#include "formats/text/view_cell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct instance_table {
    struct instances in;
    struct instances_options options;
    struct problem problem; /* faults of the current row */
    struct slot *slot;      /* [n_columns] where the values of each column are stored */
    dn_datetime_form *form; /* [n_columns] of the datetime columns; otherwise {0} */
    size_t n_columns, max_rows;
};

/* ---- columns ---- */
static void fault_sparse(struct instances *in, const char *name, const char *why) {
    char shown[TEXT_SHOWN];
    instances_fault(in, "/dataset", 0, 0, "column %s of the dataset is sparse%s",
                    text_show(name, strlen(name), shown), why);
}

/* Finds the slot of a sparse column. Its name is not that of a column of a body. */
static void claim_sparse(struct instance_table *t, const char *name, struct slot *slot) {
    struct instances *in = &t->in;
    const struct text text = {name, strlen(name)};
    for (size_t i = 0; i < in->n_inputs; i++) {
        if (strcmp(instances_name(in, i), name) == 0) {
            slot->input = i;
        }
    }
    if (instances_is_kept(in, instances_keep_named(in, text, *slot))) {
        fault_sparse(in, name, " and cannot be kept");
    } else if (slot->input != SIZE_MAX && !instances_is_sparse(in, slot->input)) {
        fault_sparse(in, name, ", but that of the model is not");
    } else if (slot->input != SIZE_MAX) {
        in->named[slot->input] = 1;
    }
}

/* Reports a column of dates that do not mean the same as those of the model. */
static void check_form(struct instances *in, const dn_table_column *column, size_t input) {
    const dn_input *own = dn_encoder_input(in->encoder, input);
    char form[DN_DATETIME_FORM_SIZE], of_model[DN_DATETIME_FORM_SIZE];
    if (!dn_datetime_is_form(&own->form) || !dn_datetime_is_form(&column->form) ||
        dn_datetime_is_alike(&own->form, &column->form)) {
        return;
    }
    (void)dn_datetime_form_write(&column->form, form);
    (void)dn_datetime_form_write(&own->form, of_model);
    instances_fault(in, "/dataset", 0, 0,
                    "column \"%s\" of the dataset has the form %s, and that of the model has the "
                    "form %s",
                    column->name, form, of_model);
}

/* Finds the slot of a column of the table. Columns that are not used are noted, but at most
 * IGNORED_MAX of them. */
static void claim(struct instance_table *t, const dn_table_column *column, struct slot *slot) {
    struct instances *in = &t->in;
    const struct text text = {column->name, strlen(column->name)};
    *slot = (struct slot){SIZE_MAX, 0};
    if (column->type == DN_SPARSE) {
        claim_sparse(t, column->name, slot);
        return;
    }
    const struct slot own = instances_find(in, text.bytes, text.n, SIZE_MAX);
    if (instances_keep_named(in, text, own).input == SIZE_MAX && in->takes_extra &&
        row_notes_ignored(in->rows.notes) == IGNORED_MAX) {
        return;
    }
    const char *why = instances_claim(in, text, SIZE_MAX, slot);
    const struct slot used = instances_used(in, *slot);
    if (why == NULL && column->type == DN_DATETIME && used.input < in->n_inputs) {
        check_form(in, column, used.input);
    }
    if (why != NULL) {
        instances_fault(in, "/dataset", 0, 0, "%s", why);
    }
    if (!instances_is_kept(in, *slot) && slot->input >= in->n_inputs) {
        slot->input = SIZE_MAX; /* the target */
    }
}

/* Finds the slots. Returns false after a fault. */
static bool claim_all(struct instance_table *t, const dn_table_column *columns, size_t n,
                      struct problem *problem) {
    struct instances *in = &t->in;
    for (size_t j = 0; j < n && !in->stopped; j++) {
        claim(t, &columns[j], &t->slot[j]);
        t->form[j] = columns[j].form;
    }
    for (size_t i = 0; i < in->n_inputs && !in->stopped; i++) {
        if (in->named[i] == 0 && !instances_follows(in, i)) {
            instances_fault_absent(in, "/dataset", i);
        }
    }
    instances_check_keep(in, "/dataset");
    if (in->problem->type != PROBLEM_NONE) {
        problem_move(problem, in->problem);
        return false;
    }
    return true;
}

struct instance_table *instance_table_new(const dn_model *model,
                                          const struct instance_schema *schema,
                                          const struct instances_options *options,
                                          const dn_table_column *columns, size_t n_columns,
                                          struct problem *problem) {
    struct instance_table *t = calloc(1, sizeof *t);
    if (t == NULL) {
        problem_no_memory(problem);
        return NULL;
    }
    t->options = *options;
    t->n_columns = n_columns;
    t->slot = calloc(n_columns + 1, sizeof *t->slot);
    t->form = calloc(n_columns + 1, sizeof *t->form);
    bool well = instances_init(&t->in, model, schema, false, &t->problem) && t->slot != NULL &&
                t->form != NULL;
    well = well && instances_use_options(&t->in, &t->options);
    if (well) {
        instances_use_marks(&t->in, '\0');
    }
    if (!well) {
        problem_done(&t->problem);
        problem_no_memory(problem);
    } else if (!claim_all(t, columns, n_columns, problem)) {
        well = false;
    }
    if (!well) {
        instance_table_free(t);
        return NULL;
    }
    t->max_rows = t->in.schema->block_rows;
    return t;
}

void instance_table_free(struct instance_table *t) {
    if (t != NULL) {
        instances_done(&t->in);
        problem_done(&t->problem);
        free(t->slot);
        free(t->form);
        free(t);
    }
}

bool instance_table_keeps(const struct instance_table *t, size_t column) {
    return instances_is_kept(&t->in, t->slot[column]);
}

size_t instance_table_input(const struct instance_table *t, size_t column) {
    const struct slot slot = instances_used(&t->in, t->slot[column]);
    return slot.input < t->in.n_inputs ? slot.input : SIZE_MAX;
}

struct row_notes *instance_table_take_notes(struct instance_table *t) {
    struct row_notes *notes = t->in.rows.notes;
    t->in.rows.notes = NULL;
    return notes;
}

/* ---- rows ---- */
static void put_sparse(struct instances *in, struct slot slot, const dn_column_view *view,
                       size_t row) {
    for (size_t e = view->row_start[row]; e < view->row_start[row + 1]; e++) {
        instances_put_entry(in, slot.input, view->index[e], view->number[e]);
    }
}

/* Returns the value of a cell. Strings of a numeric or boolean input are read like cells of text,
 * and strings of other inputs like strings of JSON. */
static struct value value_of(const struct instances *in, struct slot used,
                             const dn_column_view *view, size_t row, char room[DN_NUMBER_SIZE]) {
    struct value value = {.kind = VALUE_MISSING, .text = {"", 0}};
    if (!view_cell(view, row, room, &value.text)) {
        value.text = (struct text){"", 0};
        return value;
    }
    if (view->type == DN_NUMERIC) {
        value.kind = VALUE_NUMBER;
        value.number = view->number[row];
    } else if (view->type == DN_BOOLEAN) {
        value.kind = view->number[row] != 0 ? VALUE_TRUE : VALUE_FALSE;
    } else {
        const bool numeric =
            used.input < in->n_inputs && (in->schema->type[used.input] == DN_NUMERIC ||
                                          in->schema->type[used.input] == DN_BOOLEAN);
        value.kind = numeric ? VALUE_TEXT : VALUE_STRING;
    }
    return value;
}

static size_t skip_digits(struct text t, size_t at) {
    while (at < t.n && t.bytes[at] >= '0' && t.bytes[at] <= '9') {
        at++;
    }
    return at;
}

/* Whether the text is a number that JSON can write (RFC 8259), true or false. */
static bool is_literal(struct text t) {
    const size_t first = t.n > 0 && t.bytes[0] == '-', whole = skip_digits(t, first);
    size_t at = whole;
    double number = 0;
    if (text_is(t, "true") || text_is(t, "false")) {
        return true;
    }
    if (whole == first || (t.bytes[first] == '0' && whole > first + 1)) {
        return false;
    }
    if (at < t.n && t.bytes[at] == '.') {
        at = skip_digits(t, at + 1);
        if (at == whole + 1) {
            return false;
        }
    }
    return (at == t.n || t.bytes[at] == 'e' || t.bytes[at] == 'E') &&
           dn_number_parse(t.bytes, t.n, &number);
}

/* Stores the value of a kept column as it was written. Numbers and truth values that JSON cannot
 * write so are texts. */
static void keep_cell(struct instances *in, struct slot slot, const dn_column_view *spelled,
                      size_t row) {
    struct value value = {.kind = VALUE_MISSING, .text = {"", 0}};
    char room[DN_NUMBER_SIZE];
    if (view_cell(spelled, row, room, &value.text)) {
        value.kind = is_literal(value.text) ? VALUE_NUMBER : VALUE_STRING;
    }
    (void)instances_keep_put(in, slot.input - in->n_inputs - 1, &value);
}

static void put_cell(struct instance_table *t, size_t column, const dn_column_view *view,
                     const dn_column_view *spelled, size_t row, double *out) {
    struct instances *in = &t->in;
    struct slot slot = t->slot[column];
    const struct slot used = instances_used(in, slot);
    char room[DN_NUMBER_SIZE], shown[SLOT_SHOWN];
    if (instances_is_kept(in, slot)) {
        keep_cell(in, slot, spelled, row);
        slot = used;
    }
    if (slot.input >= in->n_inputs) { /* the target, or no column of the model */
        return;
    }
    if (view->type == DN_NUMERIC && slot.input < in->n_inputs && !in->missing->numbers &&
        in->schema->type[slot.input] == DN_NUMERIC) {
        out[slot.input] = view->number[row];
        return;
    }
    if (view->type == DN_SPARSE && instances_is_sparse(in, used.input)) {
        put_sparse(in, used, view, row);
        return;
    }
    const struct value value = value_of(in, used, view, row, room);
    in->form = dn_datetime_is_form(&t->form[column]) ? &t->form[column] : NULL;
    const char *why = instances_put(in, slot, &value);
    in->form = NULL;
    if (why != NULL) {
        instances_fault(in, NULL, 0, 0, "column %s: %s", instances_show(in, used, shown), why);
    }
}

bool instance_table_note_levels(struct instance_table *t, struct row_notes **notes, size_t column,
                                const dn_column_view *view) {
    return row_notes_view(notes, t->in.encoder, instances_used(&t->in, t->slot[column]).input,
                          t->in.missing, view);
}

bool instance_table_note_dates(struct instance_table *t, struct row_notes **notes, size_t column,
                               const dn_column_view *view) {
    const struct slot used = instances_used(&t->in, t->slot[column]);
    struct instances *in = &t->in;
    if (!in->schema->parts || used.input >= in->n_inputs) {
        return true;
    }
    double *raw = calloc(in->n_inputs + 1, sizeof *raw);
    bool well = raw != NULL;
    for (size_t i = 0; well && i < view->n_rows; i++) {
        char room[DN_NUMBER_SIZE];
        const struct value value = value_of(in, used, view, i, room);
        in->form = dn_datetime_is_form(&t->form[column]) ? &t->form[column] : NULL;
        well = instances_note_date(in, used.input, &value, raw, notes);
        in->form = NULL;
    }
    free(raw);
    return well;
}

enum instance_lines_state instance_table_read(struct instance_table *t, const dn_column_view *views,
                                              const dn_column_view *spelled, size_t first, size_t n,
                                              size_t *used, struct problem *problem) {
    struct instances *in = &t->in;
    for (size_t i = first; i < first + n; i++) {
        *used = i - first;
        if (in->rows.n == t->max_rows || instances_is_full(in)) {
            return INSTANCE_LINES_FULL;
        }
        double *out = instances_row(in);
        for (size_t j = 0; out != NULL && j < t->n_columns && !in->stopped; j++) {
            if (t->slot[j].input != SIZE_MAX) {
                put_cell(t, j, &views[j], &spelled[j], i, out);
            }
        }
        if (out != NULL) {
            (void)instances_row_end(in);
        }
        *used = i - first + 1;
        if (t->problem.type != PROBLEM_NONE) {
            const bool failed = t->problem.type == PROBLEM_UNAVAILABLE;
            if (out != NULL) {
                instances_row_drop(in);
            }
            problem_move(problem, &t->problem);
            in->stopped = failed;
            return failed ? INSTANCE_LINES_FAILED : INSTANCE_LINES_FAULT;
        }
    }
    *used = n;
    return INSTANCE_LINES_MORE;
}

const struct instance_rows *instance_table_block(const struct instance_table *t) {
    return &t->in.rows;
}

void instance_table_clear(struct instance_table *t) {
    instances_clear(&t->in);
}
