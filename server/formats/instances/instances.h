/* Shared by the readers of instances: the inputs of the model, the matrix, the rules for values.
 * Private to formats.
 *
 * The type of an input determines its values:
 *   numeric      a finite JSON number; a text that is one (CSV, query)
 *   boolean      true, false, 0, 1; in JSON also as strings
 *   categorical  any text; JSON numbers and booleans as they are written. A category that training
 *                did not see is DN_UNSEEN, or is refused if the encoder is set so
 *   text         as categorical. It becomes the entries of its words, of its paths if it is a
 *                graph, or of its characters
 *   sparse       as numeric, for one place of the input; it becomes an entry
 *
 * Missing values are null, an absent key, and in text and strings the tokens empty, NA, null and ?.
 * NaN is one too where no number is expected. Numeric and sparse inputs accept no strings. A
 * missing text has no words; a missing place of a sparse input is 0. */
#ifndef FORMATS_INSTANCES_H
#define FORMATS_INSTANCES_H

#include "formats/formats.h"
#include "formats/instances/instance_schema.h"
#include "formats/text/cell.h"
#include "formats/text/names.h"

/* Limit of the matrix and the entries, since the row of a short object like {} may be large. */
#define INSTANCES_MAX_BYTES (512 * 1024 * 1024)
#define INSTANCES_MAX_FAULTS 1000 /* reading stops at so many faults */
/* Limit of the numbers in the matrix of a block, and of its entries. */
#define INSTANCES_BLOCK_NUMBERS (32 * 1024)

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
    double number;    /* if the kind is VALUE_NUMBER */
    struct text text; /* as written; of VALUE_STRING: decoded */
};

/* The input, and the place in it, of a value. */
struct slot {
    size_t input; /* n_inputs: the target; SIZE_MAX: the value is ignored */
    size_t place; /* in a sparse input; at least its width: training had no such place */
};

struct instances {
    const dn_model *model;
    const dn_encoder *encoder;
    const dn_classes *classes;
    size_t n_inputs;
    const struct instance_schema *schema;
    struct instance_schema *own_schema; /* NULL: the schema is the caller's */
    bool labelled;                      /* the target column is read */
    const char *target; /* name of the target column; NULL: the model has none, and none is read */
    struct instance_rows rows;
    size_t n_entries;                        /* entries of all rows, with the present one */
    size_t max_bytes;                        /* limit of the bytes of the matrix and the entries */
    const struct instances_options *options; /* how the body is read; NULL: no body */
    struct problem *problem;                 /* the caller's */
    /* [n_inputs + 1] number of the last row, from 1, that names the input; the last element is of
     * the target */
    int64_t *named;
    int64_t n_begun;     /* rows so far, with those that were removed */
    bool all_named;      /* a row without names was read: it has all columns */
    struct names names;  /* the names of the inputs and of the target; made when first needed */
    dn_text_work *words; /* made when first needed */
    struct buf why;      /* why a value or a name was refused */
    bool stopped;        /* after too many faults, or without memory */
};

/* schema: of the model; NULL: one is made. */
bool instances_init(struct instances *in, const dn_model *model,
                    const struct instance_schema *schema, bool labelled, struct problem *problem);
void instances_done(struct instances *in);
/* Begins another row, with all values missing. A full block is passed on before. NULL: stopped. */
double *instances_row(struct instances *in);
/* Ends the row: sorts its entries. Returns a feature that was given twice; SIZE_MAX: there is none.
 */
size_t instances_row_end(struct instances *in);
/* removes the last row, whether it was ended or not */
void instances_row_drop(struct instances *in);

/* Whether input i (n_inputs: the target) is sparse. */
static inline bool instances_is_sparse(const struct instances *in, size_t i) {
    return i < in->n_inputs && in->schema->type[i] == DN_SPARSE;
}
/* Finds the slot of a name. expected: the input that most likely has it. */
struct slot instances_find(struct instances *in, const char *name, size_t n, size_t expected);
/* The slot of value number `cell` of a row without names; n_cells: the target. */
struct slot instances_cell(const struct instances *in, size_t cell);
/* name of input i; n_inputs: of the target */
const char *instances_name(const struct instances *in, size_t i);
/* Writes the name of the column in quotes; of a sparse input the name of its feature. */
#define SLOT_SHOWN 320
const char *instances_show(const struct instances *in, struct slot slot, char out[SLOT_SHOWN]);

/* Puts a value of the last row where it belongs. NULL: it was put. Otherwise the value does not
 * fit: the text says what is wanted and what came; it is valid until the next call. */
const char *instances_put(struct instances *in, struct slot slot, const struct value *value);
/* The text of in->why; "" without memory. */
const char *instances_why(struct instances *in);
/* Finds the column of a name in a header, which may name each column once; a feature of a sparse
 * input may be named again. NULL: *slot is its slot. Otherwise the text says what is wrong, and
 * *slot is that of the column named before, or has input SIZE_MAX. */
const char *instances_claim(struct instances *in, struct text name, size_t expected,
                            struct slot *slot);
/* Puts a finite number in place `place` of sparse input i. */
void instances_put_entry(struct instances *in, size_t i, size_t place, double number);
void instances_put_feature(struct instances *in, size_t feature,
                           double value); /* adds an entry to the present row */
/* Reports a fault. pointer may be NULL and line 0. Stops after too many faults. */
void instances_fault(struct instances *in, const char *pointer, int64_t line, int64_t column,
                     const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Reports that the value of a cell does not fit its column. */
void instances_fault_cell(struct instances *in, struct slot slot, int64_t line, int64_t column,
                          const char *why);
void instances_no_memory(struct instances *in);
/* Reads a body line by line; LF, CRLF or CR ends a line. `line` is called with `arg` for each line
 * and returns whether to go on. */
void instances_read_lines(struct instances *in, const char *body, size_t size,
                          bool (*line)(void *arg, const char *bytes, size_t n, int64_t line),
                          void *arg);
/* Checks the rules that need all rows: there is at least one row, and each column that is not
 * sparse is named in at least one of them. pointer: of the array of instances, or NULL. Then moves
 * the rows to *out, or passes on the last block. false: a fault. */
bool instances_finish(struct instances *in, const char *pointer, struct instance_rows *out);

#endif
