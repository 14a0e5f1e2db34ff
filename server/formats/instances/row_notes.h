/* What a reader of instances notes about rows that it accepts: categories that training did not
 * see, and columns that the model does not have. */
#ifndef FORMATS_ROW_NOTES_H
#define FORMATS_ROW_NOTES_H

#include "base/hash.h"
#include "base/memory/arena.h"
#include "formats/formats.h"
#include "formats/text/names.h"

#define UNSEEN_BYTES 100 /* limit of the bytes of a category that are kept */

struct unseen_value {
    size_t input;
    uint64_t hash;           /* of all bytes of the category */
    size_t kept;             /* bytes of `text`: the first ones of the category */
    char text[UNSEEN_BYTES]; /* UTF-8, without a NUL */
    int64_t rows;            /* number of rows that have it */
    bool pending;            /* the current row has it and is not counted yet */
};

/* Limit of the warnings. */
enum { ROW_NOTES_WARNINGS = 4 };

struct row_notes {
    size_t n_inputs;
    /* unseen categories */
    int64_t n_unseen; /* number of values in all rows, also of categories that are not listed */
    size_t n_values;
    struct unseen_value values[UNSEEN_LISTED]; /* [n_values] */
    struct hash_key key;                       /* of their hashes */
    bool pending;     /* the current row has values that are not counted yet */
    int64_t *rows;    /* [n_inputs] number of rows with an unseen category */
    bool *pending_of; /* [n_inputs] the current row has one and is not counted yet */
    /* ignored columns */
    struct names ignored;
    struct arena names; /* the texts of `ignored` */
    size_t *meant;      /* [ignored.n] the input with the nearest name; SIZE_MAX: none is near */
    size_t meant_capacity;
    size_t n_compared; /* names of inputs that ignored names were compared with */
    /* how the rows were read, in `names` */
    const char *warnings[ROW_NOTES_WARNINGS];
    size_t n_warnings;
};

/* Allocates *notes if it is NULL. Returns false if out of memory. */
bool row_notes_need(struct row_notes **notes, size_t n_inputs);
/* Records an unseen category of the current row. Returns false if out of memory. */
bool row_notes_unseen_add(struct row_notes **notes, size_t n_inputs, size_t input, const char *text,
                          size_t n);
/* Counts the unseen categories of the current row. */
void row_notes_row_end(struct row_notes *notes);
/* Forgets the unseen categories of the current row. */
void row_notes_row_drop(struct row_notes *notes);

/* Adds a warning. Returns false if out of memory. */
bool row_notes_warn(struct row_notes *notes, const char *text);

#define IGNORED_MAX 1000 /* limit of the distinct names of ignored columns */
#define IGNORED_FULL (-1)
#define IGNORED_NO_MEMORY (-2)
/* Records an ignored column, which may be recorded already. Returns its number, below 0 an
 * error. */
ptrdiff_t row_notes_ignore(struct row_notes *notes, const char *name, size_t n,
                           const dn_encoder *encoder);

#endif
