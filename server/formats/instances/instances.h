/* What the readers of instances share: the model's inputs, the growing matrix, the rules for a
 * value. Private to formats.
 *
 * A value is judged by its input's type.
 *   numeric      a JSON number, or text (CSV, query) that is a number; finite
 *   boolean      true, false, 0, 1, in JSON also as strings
 *   categorical  any text; JSON numbers and booleans as they are written; one that training never
 * saw is DN_UNSEEN, or refused if the encoder says so text         as categorical; it becomes the
 * entries of its words, of its paths if it is a graph, or of its characters sparse       as
 * numeric, for one place of it; it becomes an entry Missing: null, an absent key, and for text and
 * strings (a numeric or sparse input takes no strings) the tokens empty, NA, null, ?; NaN too where
 * no number is expected. A text that is missing has no words, a place of a sparse input that is
 * missing is 0. */
#ifndef FORMATS_INSTANCES_H
#define FORMATS_INSTANCES_H

#include "formats/formats.h"
#include "formats/instances/instance_schema.h"
#include "formats/text/cell.h"
#include "formats/text/names.h"

#define INSTANCES_MAX_BYTES                                                                        \
    (512 * 1024 *                                                                                  \
     1024) /* of the matrix and the entries: an empty object is short, its row may not be */
#define INSTANCES_MAX_FAULTS 1000           /* reading stops there */
#define INSTANCES_BLOCK_NUMBERS (32 * 1024) /* of a block's matrix, or entries: it is full then */

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
    double number;    /* VALUE_NUMBER */
    struct text text; /* as written, or the string's; VALUE_TEXT: CSV and query */
};

/* Where a value belongs. */
struct slot {
    size_t input; /* n_inputs: the target; SIZE_MAX: nowhere */
    size_t place; /* of a sparse input; at least its width: training had no such place */
};

struct instances {
    const dn_model *model;
    const dn_encoder *encoder;
    const dn_classes *classes;
    size_t n_inputs;
    const struct instance_schema *schema;
    struct instance_schema *own_schema; /* NULL: the schema is the caller's */
    bool labelled;                      /* the target column is wanted */
    const char *target;                 /* its name; NULL: the model has none, and none is wanted */
    struct instance_rows rows;
    size_t n_entries; /* of all rows, the one at hand too */
    size_t max_bytes; /* the most that matrix and entries may take */
    const struct instances_options
        *options; /* of a body: where rows go, and who is asked for memory; NULL: neither */
    struct problem *problem; /* the caller's */
    int64_t *named;  /* [n_inputs + 1] the last row (from 1) that names the input; the last element
                        is the target's */
    int64_t n_begun; /* rows begun in all, those dropped again too */
    bool all_named;  /* a row came in input order: it names all */
    struct names names; /* of the inputs, then the target if there is one; made when first needed */
    dn_text_work *words; /* NULL: not needed yet */
    struct buf why;      /* why a value or a name was refused */
    bool stopped;        /* too many faults, or no memory */
};

/* schema: of the model; NULL: one is made. */
bool instances_init(struct instances *in, const dn_model *model,
                    const struct instance_schema *schema, bool labelled, struct problem *problem);
void instances_done(struct instances *in);
/* A further row, all missing; a full block before it is given away. NULL: stopped. */
double *instances_row(struct instances *in);
/* The row is complete: its entries are put in order. SIZE_MAX, or the feature that came twice. */
size_t instances_row_end(struct instances *in);
void instances_row_drop(struct instances *in); /* the last row, ended or not, is none */

/* Input i, which may be the target, is of svmlight features. */
static inline bool instances_is_sparse(const struct instances *in, size_t i) {
    return i < in->n_inputs && in->schema->type[i] == DN_SPARSE;
}
/* Where the value of that name belongs. `expected`: the input that most likely has it. */
struct slot instances_find(struct instances *in, const char *name, size_t n, size_t expected);
/* Where value number `cell` of a row that names nothing belongs (n_cells: the target). */
struct slot instances_cell(const struct instances *in, size_t cell);
const char *instances_name(const struct instances *in, size_t i); /* of input i, or the target */
/* The column's name as the sender knows it, in quotes: of a sparse input its place's. */
#define SLOT_SHOWN 320
const char *instances_show(const struct instances *in, struct slot slot, char out[SLOT_SHOWN]);

/* Puts a value of the last row where it belongs. NULL: it was put. Otherwise the value does not fit:
 * the text says what is wanted and what came; it is valid until the next call. */
const char *instances_put(struct instances *in, struct slot slot, const struct value *value);
/* The text of in->why, which is "" if there was no memory for it. */
const char *instances_why(struct instances *in);
/* Finds the column of a name in a header, which may name each column once; a feature of a sparse
 * input may be named again. NULL: *slot is its slot. Otherwise the text says what is wrong, and
 * *slot is that of the column named before, or has input SIZE_MAX. */
const char *instances_claim(struct instances *in, struct text name, size_t expected,
                            struct slot *slot);
/* Puts a finite number in place `place` of sparse input i. */
void instances_put_entry(struct instances *in, size_t i, size_t place, double number);
void instances_put_feature(struct instances *in, size_t feature,
                           double value); /* an entry of the row at hand */
/* A fault; pointer may be NULL, line 0. Stops after too many. */
void instances_fault(struct instances *in, const char *pointer, int64_t line, int64_t column,
                     const char *format, ...) __attribute__((format(printf, 5, 6)));
/* The value of a cell of text does not fit its column. */
void instances_fault_cell(struct instances *in, struct slot slot, int64_t line, int64_t column,
                          const char *why);
void instances_no_memory(struct instances *in);
/* Reads a body line by line; LF, CRLF or CR ends a line. `line` is called with `arg` for each line
 * and returns whether to go on. */
void instances_read_lines(struct instances *in, const char *body, size_t size,
                          bool (*line)(void *arg, const char *bytes, size_t n, int64_t line),
                          void *arg);
/* The rules that need all rows: there is one, and each column but the places of a sparse one is
 * named by one. pointer: of the array of instances, or NULL. Then gives the rows to *out, or the
 * last block away. */
bool instances_finish(struct instances *in, const char *pointer, struct instance_rows *out);

#endif
