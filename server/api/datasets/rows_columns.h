/* What of a stored table an answer of rows has: columns, among them features of a sparse column, by
 * ?columns= and for svmlight ?label=. */
#ifndef API_ROWS_COLUMNS_H
#define API_ROWS_COLUMNS_H

#include "base/problem.h"
#include "formats/formats.h"
#include "store/store.h"

/* A column as it is written. */
struct rows_column {
    const char *name; /* of the schema, or a feature's */
    size_t read;      /* which of the columns that are read it is, or is in */
    bool is_feature;  /* of the sparse column */
    uint32_t place;   /* a feature's */
    size_t nth_place; /* a feature's rank among the places wanted */
};

struct rows_columns {
    struct schema schema;
    size_t n_read;
    size_t *read; /* [n_read] indexes of the stored columns that must be read, each once */
    size_t *rank; /* [columns of the table] 1 + which of those it is; 0: it is not read */
    size_t n;
    struct rows_column *column; /* [n] in the order wanted; svmlight: the label is none of them */
    size_t sparse;              /* which of the columns read is the sparse one; SIZE_MAX: none */
    bool all_places;            /* svmlight: every entry of it is wanted, and `column` names none */
    uint32_t *places;           /* [n_places] of the features wanted, ascending */
    size_t n_places;
    size_t label; /* svmlight: which of the columns read is the label */
    char *names;  /* of the features, one after the other */
};

/* list: ?columns=, NULL: all. label: ?label=, NULL: not given. false: problem; nothing to free. */
bool rows_columns_choose(const char *columns_json, const struct format *format, const char *list,
                         const char *label, struct rows_columns *out, struct problem *problem);
void rows_columns_done(struct rows_columns *c);

/* A chunk's columns as they were read; [n_read] each. */
struct rows_chunk {
    dn_column_chunk **decoders;
    dn_column_view *views;
    struct buf blob; /* one encoded column */
};
bool rows_chunk_new(const struct rows_columns *c, struct rows_chunk *out, struct problem *problem);
void rows_chunk_done(const struct rows_columns *c, struct rows_chunk *chunk);
/* Reads column `read` of c of a stored chunk into its view. */
bool rows_chunk_read(const struct rows_columns *c, struct store *store,
                     const struct store_chunk *stored, size_t read, struct rows_chunk *chunk,
                     struct problem *problem);

/* svmlight: can rows [offset, end) be written so? A missing value of a feature and a text that is
 * no label cannot; the problem names the row. Looks only through columns that may have such. */
bool rows_columns_check_svmlight(const struct rows_columns *c, struct store *store,
                                 const struct store_chunk *chunks, size_t n_chunks, int64_t offset,
                                 int64_t end, struct problem *problem);

#endif
