/* Shared by the readers of instances: the inputs of the model, the matrix, the rules for values.
 * Private to formats.
 *
 * The type of an input determines its values:
 *   numeric      a finite JSON number; in CSV and queries the text of one
 *   datetime     a string or text of the form of the training table
 *   boolean      true, false, 0, 1; in JSON also as strings
 *   categorical  any text; JSON numbers and booleans as they are written. A category that training
 *                did not see is DN_UNSEEN, or is refused if the encoder is configured to
 *   text         as categorical. It becomes the entries of its words, of its paths if it is a
 *                graph, or of its characters
 *   sparse       as numeric, for one feature of the input; the value becomes an entry
 *
 * Missing values are null, an absent key, and in text and strings the tokens empty, NA, null, ? and
 * those of the reading. NaN is also a token where no number is expected. Numeric and sparse inputs
 * accept no strings but tokens of the reading. A
 * missing text has no words; a missing feature of a sparse input is 0. */
#ifndef FORMATS_INSTANCES_H
#define FORMATS_INSTANCES_H

#include "formats/formats.h"
#include "formats/instances/instance_schema.h"
#include "formats/text/cell.h"
#include "formats/text/names.h"

/* Limit of the memory of the matrix and the entries. It is needed because a short object like {}
 * may need a large row. */
#define INSTANCES_MAX_BYTES (512 * 1024 * 1024)
#define INSTANCES_MAX_FAULTS 1000 /* reading stops at this number of faults */
/* Limit of the numbers in the matrix of a block, and of the sparse entries of a block. */
#define INSTANCES_BLOCK_NUMBERS (32 * 1024)

#define INSTANCES_MEANT 8 /* limit of the misspelt names that are looked for in one object */

enum value_kind {
    VALUE_MISSING,
    VALUE_NUMBER,
    VALUE_NOT_FINITE,
    VALUE_TRUE,
    VALUE_FALSE,
    VALUE_STRING,
    VALUE_TEXT,
    VALUE_NESTED
};
struct value {
    enum value_kind kind;
    double number;    /* valid if the kind is VALUE_NUMBER */
    struct text text; /* the value as written; VALUE_STRING: the decoded string */
    bool bare;        /* a cell of separated text without quotes: blanks around it do not count */
};

/* Where a value is stored: the input, and for a sparse input the feature. */
struct slot {
    /* n_inputs: the target; n_inputs + 1 + k: column k of `keep`, whose value may also belong to
     * another slot; SIZE_MAX: the value is ignored */
    size_t input;
    /* feature index within a sparse input; if it is not below the width, training had no such
     * feature */
    size_t place;
};

struct instances {
    const dn_model *model;
    const dn_encoder *encoder;
    const dn_classes *classes;
    size_t n_inputs;
    const struct instance_schema *schema;
    const struct missing *missing;      /* the tokens for missing values */
    const bool *comma;                  /* as in the schema */
    const dn_datetime_form *form;       /* of the dates of the row; NULL: those of the inputs */
    struct instance_schema *own_schema; /* NULL: the caller owns the schema */
    struct marks marks;                 /* how numbers in texts are written */
    /* in a body that is delimited by commas: the inputs (as in `comma`) whose points may separate
     * thousands; doubts_all: all inputs */
    const bool *doubts;
    bool doubts_all;
    char comment;     /* as in table_options */
    bool trims;       /* blanks around cells without quotes are no part of categories */
    bool marks_given; /* by the options of the call */
    /* numbers in texts are read by `marks` and `comma`: set by instances_use_marks */
    bool marked;
    bool labelled;     /* the target column is read */
    bool takes_extra;  /* columns that the model does not have are noted and ignored */
    bool keep_checked; /* instances_check_keep was called */
    bool all_named;    /* a row without names was read, which has all columns */
    bool stopped;      /* reading stopped: too many faults, or out of memory */
    /* rows without names (instances_cells.c): whether their cells are known, and [n_row] the slot
     * of each cell; NULL: the cells are in the order of the inputs, then the target */
    bool cells_known;
    size_t n_row;
    struct slot *cell;
    /* name of the target column; NULL: the model has none, so no target is read */
    const char *target;
    struct instance_rows rows;
    /* number of entries of all rows, including the current one */
    size_t n_entries;
    /* limit of the bytes of the matrix, and of the entries */
    size_t max_bytes;
    const struct instances_options *options; /* how the body is read; NULL: no body */
    struct problem *problem;                 /* the caller's problem */
    const struct keep *keep;                 /* columns whose values are kept; NULL: none */
    struct slot *keep_slot; /* [keep] where values are stored as well; input SIZE_MAX: nowhere */
    /* [n_inputs + 1 + keep] number of the last row, from 1, that names the input, the target or the
     * kept column */
    int64_t *named;
    int64_t n_begun;     /* number of rows that were begun, including rows that were removed */
    int64_t header_line; /* line of the header of separated text; 0: there is none */
    struct names names;  /* the names of the inputs and of the target; filled when first needed */
    dn_text_work *words; /* workspace for texts; NULL until first needed */
    struct buf why;      /* message: why the last value or name was refused */
    /* inputs whose names are near to ignored names of the current object */
    size_t meant[INSTANCES_MEANT], ignored[INSTANCES_MEANT];
    size_t n_meant;
};

/* schema: of the model; if NULL, the function makes one. */
bool instances_init(struct instances *in, const dn_model *model,
                    const struct instance_schema *schema, bool labelled, struct problem *problem);
void instances_done(struct instances *in);
/* Applies the options of a call, which must stay valid. Returns false if out of memory. */
bool instances_use_options(struct instances *in, const struct instances_options *options);
/* Makes texts be read with the decimal marks of the reading. delimiter: of separated text, '\0':
 * the body is not delimited. In a body delimited by commas numbers have decimal points, unless the
 * training table was delimited by commas or the call gives the marks. */
void instances_use_marks(struct instances *in, char delimiter);
/* Reads a trimmed text as a number. comma: of a column with decimal commas. Returns false if it is
 * none. */
bool instances_number(const struct instances *in, bool comma, struct text t, double *out);
/* Begins another row, in which all values are missing. If the block is full, passes it on first.
 * Returns NULL if reading stopped. */
double *instances_row(struct instances *in);
/* Ends the row: sorts its entries. Returns a feature that was given twice; SIZE_MAX if there is
 * none. */
size_t instances_row_end(struct instances *in);
void instances_clear(struct instances *in); /* removes all rows */
/* Whether the rows are a full block by their sparse entries or kept values. */
static inline bool instances_is_full(const struct instances *in) {
    return in->n_entries >= INSTANCES_BLOCK_NUMBERS || in->rows.kept.text.size >= KEPT_BLOCK_BYTES;
}
/* removes the last row; it may be complete or not */
void instances_row_drop(struct instances *in);

/* ---- kept columns (instances_keep.c) ---- */
/* Makes the values of these columns kept. Returns false if out of memory. */
bool instances_keep(struct instances *in, const struct keep *keep);
/* Returns the slot for a named value that belongs to `slot` (input SIZE_MAX: to none): the slot of
 * the kept column of that name if there is one, otherwise `slot`. */
struct slot instances_keep_named(struct instances *in, struct text name, struct slot slot);
/* The same for a value of a row without names, which belongs to `slot`. Call instances_keep_cells
 * before. */
struct slot instances_keep_cell(const struct instances *in, struct slot slot);
void instances_keep_cells(struct instances *in);
static inline bool instances_is_kept(const struct instances *in, struct slot slot) {
    return slot.input > in->n_inputs && slot.input != SIZE_MAX;
}
/* Returns the slot to which a value belongs beside that of a kept column; input SIZE_MAX: none. */
static inline struct slot instances_used(const struct instances *in, struct slot slot) {
    return instances_is_kept(in, slot) ? in->keep_slot[slot.input - in->n_inputs - 1] : slot;
}
/* Stores the value of kept column k of the last row. Returns false if it is an array, an object or
 * not a finite number. */
bool instances_keep_put(struct instances *in, size_t k, const struct value *value);
/* Reports kept columns that no row has. pointer: as in instances_fault. */
void instances_check_keep(struct instances *in, const char *pointer);

/* Whether input i (n_inputs: the target) is sparse. */
static inline bool instances_is_sparse(const struct instances *in, size_t i) {
    return i < in->n_inputs && in->schema->type[i] == DN_SPARSE;
}
/* Returns the slot for a name; input SIZE_MAX if no column has it. expected: the input to compare
 * with first. */
struct slot instances_find(struct instances *in, const char *name, size_t n, size_t expected);
/* ---- rows without names (instances_cells.c) ---- */
/* Whether a row without names may have n cells. */
bool instances_may_have(const struct instances *in, size_t n);
/* Whether n is the number of cells of a row that has the inputs only, or, if rows are labelled, the
 * inputs and the target. */
bool instances_is_plain(const struct instances *in, size_t n);
/* Finds the columns of the cells by the number of cells of the first row without names. Sets
 * in->n_row to the number that each row must have. pointer, line: the place of the row. Returns
 * false if reading stopped. */
bool instances_know_cells(struct instances *in, size_t n, const char *pointer, int64_t line);
/* Writes the number of cells that a row must have, for a message. */
void instances_put_expected(const struct instances *in, struct buf *out);
/* Returns the slot of value number `cell` of a row in the order of the inputs; the target if `cell`
 * is not below n_cells. */
struct slot instances_cell(const struct instances *in, size_t cell);
/* Returns the slot of value number `cell` of a row without names. */
static inline struct slot instances_cell_slot(const struct instances *in, size_t cell) {
    return in->cell != NULL ? in->cell[cell] : instances_cell(in, cell);
}
/* Whether the input reads the same column as the one before it: it has no value of its own. */
static inline bool instances_follows(const struct instances *in, size_t i) {
    return in->schema->shared && i < in->n_inputs && dn_encoder_input(in->encoder, i)->follows;
}
/* returns the name of the column of input i; n_inputs: of the target */
const char *instances_name(const struct instances *in, size_t i);
/* Writes the name of the column in quotes; for a sparse input the name of the feature. */
#define SLOT_SHOWN 320
const char *instances_show(const struct instances *in, struct slot slot, char out[SLOT_SHOWN]);

/* Stores a value of the last row. Returns NULL on success. If the value does not fit, returns a
 * message with the rule and the value, which is valid until the next call. */
const char *instances_put(struct instances *in, struct slot slot, const struct value *value);
/* Notes the parts of a date of input i, and of the inputs that follow it, that training did not
 * see. raw: [n_inputs] memory. Returns false if out of memory. */
bool instances_note_date(struct instances *in, size_t i, const struct value *value, double *raw,
                         struct row_notes **notes);
/* Returns the text of in->why; "" if out of memory. */
const char *instances_why(struct instances *in);
/* Finds the column for a name in a header. A header may name each column once, but a feature of a
 * sparse input several times. Returns NULL on success. Otherwise returns a message; *slot is then
 * the slot of the column that was named before, or has input SIZE_MAX. */
const char *instances_claim(struct instances *in, struct text name, size_t expected,
                            struct slot *slot);
/* Notes a feature of a sparse input as an ignored column if the training table did not have it; only
 * the first IGNORED_MAX are listed. Returns false, with a message in `why`, if it is refused. */
bool instances_beyond(struct instances *in, struct slot slot, struct buf *why);
/* Notes an ignored column. Returns NULL, or a message if the column is refused. object: the name is
 * a key of an object, which instances_object_end checks. */
const char *instances_ignore(struct instances *in, struct text name, bool object);
/* Begins an object that is a row. */
void instances_object_begin(struct instances *in);
/* Checks an object: returns a message if it lacks an input whose name is near to that of an ignored
 * column, *name, otherwise NULL. */
const char *instances_object_end(struct instances *in, struct text *name);
/* Reports the inputs, and the target if it is read, that no row names. pointer: as in
 * instances_fault. */
void instances_check_named(struct instances *in, const char *pointer);
/* Reports that no row names input i. */
void instances_fault_absent(struct instances *in, const char *pointer, size_t i);
/* Stores a finite number for feature `place` of sparse input i. */
void instances_put_entry(struct instances *in, size_t i, size_t place, double number);
/* Adds an entry to the current row. */
void instances_put_feature(struct instances *in, size_t feature, double value);
/* Reports a fault. pointer may be NULL and line 0. Reading stops after too many faults. */
void instances_fault(struct instances *in, const char *pointer, int64_t line, int64_t column,
                     const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Reports that the value of a cell does not fit its column. */
void instances_fault_cell(struct instances *in, struct slot slot, int64_t line, int64_t column,
                          const char *why);
void instances_no_memory(struct instances *in);
/* Notes a warning about how the rows were read. */
void instances_warn(struct instances *in, const char *text);
/* Reads a body line by line; LF, CRLF or CR ends a line. `line` is called with `arg` for each line
 * and returns false to stop. */
void instances_read_lines(struct instances *in, const char *body, size_t size,
                          bool (*line)(void *arg, const char *bytes, size_t n, int64_t line),
                          void *arg);
/* Checks the rules that need all rows: there is at least one row, and each column that is not
 * sparse is named in at least one row. pointer: to the array of instances, or NULL. Then moves the
 * rows to *out, or passes on the last block. Returns false if there was a fault. */
bool instances_finish(struct instances *in, const char *pointer, struct instance_rows *out);

#endif
