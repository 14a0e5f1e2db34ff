/* What the readers of instances share: the model's inputs, the growing matrix, the rules for a value. Private to wire.
 *
 * A value is judged by its input's type.
 *   numeric      a JSON number, or text (CSV, query) that is a number; finite
 *   boolean      true, false, 0, 1, in JSON also as strings
 *   categorical  any text; JSON numbers and booleans as they are written; one that training never saw is DN_UNSEEN, or refused if the encoder says so
 * Missing: null, an absent key, and for text and strings (a numeric input takes no strings) the tokens empty, NA, null, ?; NaN too where no number is expected. */
#ifndef WIRE_INSTANCES_H
#define WIRE_INSTANCES_H

#include "wire/cell.h"
#include "wire/names.h"
#include "wire/wire.h"

#define INSTANCES_MAX_BYTES (512 * 1024 * 1024) /* of the matrix: an empty object is short, its row may not be */
#define INSTANCES_MAX_FAULTS 1000               /* reading stops there */

enum value_kind { VALUE_MISSING, VALUE_NUMBER, VALUE_NOT_FINITE, VALUE_TRUE, VALUE_FALSE, VALUE_STRING, VALUE_TEXT, VALUE_NESTED };
struct value {
    enum value_kind kind;
    double number;    /* VALUE_NUMBER */
    struct text text; /* as written, or the string's; VALUE_TEXT: CSV and query */
};

struct instances {
    const dn_model *model;
    const dn_encoder *encoder;
    const dn_classes *classes;
    size_t n_inputs;
    bool labelled; /* the target column is wanted */
    struct wire_instances rows;
    struct problem *problem; /* the caller's */
    struct missing missing;
    uint8_t *type;      /* [n_inputs] dn_column_type */
    size_t *run;        /* [n_inputs + 1] how many inputs from here on are numeric */
    int64_t *named;     /* [n_inputs + 1] the last row (from 1) that names the input; the last element is the target's */
    bool all_named;     /* a row came in input order: it names all */
    struct names names; /* of the inputs, then the target; made when first needed */
    bool stopped;       /* too many faults, or no memory */
};

bool instances_init(struct instances *in, const dn_model *model, bool labelled, struct problem *problem);
void instances_done(struct instances *in);
/* A further row, all missing. NULL: stopped. */
double *instances_row(struct instances *in);
/* Index of the input of that name, n_inputs for the target, SIZE_MAX: none. `expected`: the index that most likely belongs to it. */
size_t instances_find(struct instances *in, const char *name, size_t n, size_t expected);
const char *instances_name(const struct instances *in, size_t i); /* of input i, or the target */

/* Puts a value of the last row where it belongs (i == n_inputs: the label). false: it does not fit; `why` (for a message) says what is wanted and what came. */
bool instances_put(struct instances *in, size_t i, const struct value *value, struct buf *why);
/* A fault; pointer may be NULL, line 0. Stops after too many. */
void instances_fault(struct instances *in, const char *pointer, int64_t line, int64_t column, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void instances_no_memory(struct instances *in);
/* The rules that need all rows: there is one, and each column is named by one. pointer: of the array of instances, or NULL. Then gives the rows to *out. */
bool instances_finish(struct instances *in, const char *pointer, struct wire_instances *out);

bool instances_read_json(struct instances *in, const char *body, size_t size, struct wire_instances *out);
bool instances_read_csv(struct instances *in, const char *body, size_t size, struct wire_instances *out);

#endif
