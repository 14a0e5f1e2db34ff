/* The columns of a reply with rows: columns of a stored table, and features of its sparse column.
 * Query parameters ?columns= and, for svmlight, ?label= choose them. */
#ifndef API_ROWS_COLUMNS_H
#define API_ROWS_COLUMNS_H

#include "base/problem.h"
#include "formats/formats.h"
#include "store/store.h"

/* A column of the reply. */
struct rows_column {
    const char *name; /* name of the column or of the feature */
    size_t read;      /* index in rows_columns.read of the column that has its values */
    bool is_feature;  /* it is a feature of the sparse column */
    uint32_t place;   /* index of the feature */
    size_t nth_place; /* index of the feature in `places` */
};

struct rows_columns {
    struct schema schema;
    size_t n_read;
    size_t *read; /* [n_read] indices of the stored columns that must be read, each once */
    size_t *rank; /* [columns of the table] 1 + index in `read`; 0: the column is not read */
    size_t n;
    struct rows_column *column; /* [n] in the order of the reply; svmlight: without the label */
    size_t sparse;              /* index in `read` of the sparse column; SIZE_MAX: none */
    bool all_places;  /* svmlight: all entries of the sparse column; `column` does not list them */
    uint32_t *places; /* [n_places] indices of the features of the reply, ascending */
    size_t n_places;
    size_t label; /* svmlight: index in `read` of the label */
    char *names;  /* memory of the names of features */
};

/* Chooses the columns. list: ?columns=, NULL: all. label: ?label=, NULL: not given. Returns false
 * after setting the problem; then there is nothing to free. */
bool rows_columns_choose(const char *columns_json, const struct format *format, const char *list,
                         const char *label, struct rows_columns *out, struct problem *problem);
void rows_columns_done(struct rows_columns *c);

/* The columns of one chunk; [n_read] each. */
struct rows_chunk {
    dn_column_chunk **decoders;
    dn_column_view *views;
    struct buf blob; /* one encoded column */
};
bool rows_chunk_new(const struct rows_columns *c, struct rows_chunk *out, struct problem *problem);
void rows_chunk_done(const struct rows_columns *c, struct rows_chunk *chunk);
/* Reads column `read` (an index in c->read) of a stored chunk into chunk->views[read]. */
bool rows_chunk_read(const struct rows_columns *c, struct store *store,
                     const struct store_chunk *stored, size_t read, struct rows_chunk *chunk,
                     struct problem *problem);

/* Checks that rows [offset, end) can be written as svmlight: no feature has a missing value, and
 * each label is a number. The problem names the row. Reads only columns that may have other
 * values. */
bool rows_columns_check_svmlight(const struct rows_columns *c, struct store *store,
                                 const struct store_chunk *chunks, size_t n_chunks, int64_t offset,
                                 int64_t end, struct problem *problem);

#endif
