/* The table reader: shared by table.c, table_faults.c, table_columns.c and the readers of each
 * format. Private to formats.
 *
 * The reader of a format reports each fault of a row by table_row_fault, adds no cell of that row
 * to the builder (table_row_is_well) and continues with the next row. With on_error=reject the
 * table is refused at the end; with skip the row is counted, and the first faults are kept. Faults
 * that are not of a single row are reported by table_fault and table_fatal. */
#ifndef FORMATS_TABLE_H
#define FORMATS_TABLE_H

#include "formats/csv/csv.h"
#include "formats/format.h"
#include "formats/table/table_append.h"
#include "formats/table/table_builder.h"
#include "formats/text/encoding.h"

#define TABLE_MAX_FAULTS 1000 /* reading stops there */

/* The first bytes of a body, for deciding how to read it. */
struct table_sample {
    const char *bytes;
    size_t n;
    bool whole; /* they are all of the body */
};

enum table_sniff {
    TABLE_SNIFF_NO,
    TABLE_SNIFF_YES,
    TABLE_SNIFF_MORE, /* a longer sample would decide; YES if there is none */
    TABLE_SNIFF_NO_MEMORY
};

enum table_begin {
    TABLE_BEGUN,
    TABLE_BEGIN_MORE,   /* a longer sample is needed; nothing was set up */
    TABLE_BEGIN_REFUSED /* the fault is reported */
};

/* Options that only some formats use. */
enum table_option {
    TABLE_OPTION_HEADER = 1,
    TABLE_OPTION_DELIMITER = 2,
    TABLE_OPTION_COMMENT = 4,
    TABLE_OPTION_LABEL = 8,
    TABLE_OPTION_ZERO_BASED = 16
};

/* How a format is read as a table. A reader keeps its state in t->state, which `begin` allocates
 * and `done` frees. */
struct table_reader {
    const char *name;  /* in the notes */
    const char *title; /* in messages */
    unsigned options;  /* TABLE_OPTION_… that the format uses */
    bool sparse;       /* its tables are a label and one sparse column */
    bool keyed;        /* rows name their columns, so that any row may add one */
    enum table_sniff (*sniff)(const struct table *t, const struct table_sample *sample);
    /* may_look: a longer sample may be asked for. */
    enum table_begin (*begin)(struct table *t, const struct table_sample *sample, bool may_look);
    bool (*feed)(struct table *t, const char *bytes, size_t n);        /* false: reading stops */
    bool (*end)(struct table *t);                                      /* false: refused */
    bool (*has_names)(const struct table *t);                          /* the columns are known */
    void (*write_notes)(const struct table *t, struct json_writer *w); /* NULL: none */
    void (*done)(struct table *t);
};

/* Rows that were left out because of a fault (on_error=skip). */
struct table_skipped {
    int64_t rows;
    struct problem first; /* a fault of each of the first TABLE_FAULTS_LISTED rows */
};

struct table {
    struct table_options options;
    struct table_builder builder;
    int64_t bytes; /* bytes of the body so far */
    struct encoding encoding;
    struct buf ahead; /* the first bytes, until format, delimiter and header are known */
    size_t look;      /* size of the sample */
    bool decided;     /* the reader has begun */
    const struct table_reader *reader; /* once decided */
    void *state;                       /* the reader's; NULL: none */
    unsigned used;                     /* TABLE_OPTION_… beyond reader->options */
    size_t n_faults;
    bool row_faulty;              /* a fault of the present row was reported */
    struct table_skipped skipped; /* on_error=skip */
    bool full; /* there are more than options.rows rows. `refused` is set too, without a problem */
    bool cut;  /* the rest of the body will not be fed */
    bool refused;           /* further bytes are ignored */
    struct problem problem; /* faults so far */
    struct buf warnings;    /* JSON strings, comma-separated */
    size_t n_warnings;
    struct buf columns, notes; /* of the summary */
    struct table_blob *saved;  /* [n_saved] likewise */
    size_t n_saved;
    struct buf declared;        /* [n_saved] of the summary */
    struct table_append append; /* the stored table that rows are appended to */
};

/* Reports a fault of the table at a place of the body. line 0: the whole body, pointer "". false:
 * too many faults, reading stops. */
bool table_fault(struct table *t, int64_t line, int64_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Reports a fault of the present row; other rows can be read. on_error=reject: as table_fault.
 * skip: the row is counted, and its first fault may be kept. false: reading stops. */
bool table_row_fault(struct table *t, int64_t line, int64_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Before a row: whether it is to be read. false: there are options.rows rows already, and reading
 * stops. */
static inline bool table_row_wanted(struct table *t) {
    if (SCAN_UNLIKELY(t->options.rows > 0 && t->builder.n_rows >= t->options.rows)) {
        t->full = t->refused = true;
    }
    return !t->full;
}
/* Begins a row. */
static inline void table_row_begin(struct table *t, int64_t line) {
    t->builder.line = line;
    t->row_faulty = false;
}
/* Whether the present row has no fault so far: its cells may be added to the builder. */
static inline bool table_row_is_well(const struct table *t) {
    return !t->row_faulty;
}
/* Reports a fault after which nothing can be read. Returns false. */
bool table_fatal(struct table *t, int64_t line, int64_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Refuses the table with the builder's problem (no memory, the sink). Returns false. */
bool table_stop(struct table *t);
void table_warn(struct table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Where in the body the name of a column is. */
struct table_where {
    /* position: of the column, from 1. Sets the line and the column of the text. */
    void (*place)(const void *arg, size_t position, int64_t *line, int64_t *column);
    const void *arg;
};
/* Adds a column after checking its name: trimmed; c<position>, or c<position>_2, … if that is taken,
 * when it is empty. A name that is too long, is used twice or has control characters is a fault.
 *
 *   position  from 1
 *   header    the names of all columns of the body; NULL: unknown
 *   where     NULL: the name is not in the body
 *
 * false: reading stops. */
bool table_add_column(struct table *t, const char *name, size_t n, size_t position,
                      const struct names *header, const struct table_where *where);

/* Adds n columns without names of their own: c1, c2, …; the last one has the name of the option
 * `label`, if it is given. false: reading stops. */
bool table_add_numbered(struct table *t, size_t n, const struct table_where *where);
/* The body declares the type of column i, which the option `types` may override. */
void table_declare_type(struct table *t, size_t i, dn_column_type type);

/* Checks a key of an object row that is to become a column: one that is no name is a fault of the
 * row. false: reading stops. */
bool table_key_check(struct table *t, struct text name, const struct table_where *where);

/* Copies the problem for a caller that asks again. Returns false. */
bool table_problem_again(struct problem *to, const struct problem *from);
/* Writes the member "skipped" into the open object of the notes, if rows were left out. */
void table_write_skipped(const struct table *t, struct json_writer *w);
/* At the end of the body: warns of rows that were left out, or reports the fault that all were. */
void table_judge_skipped(struct table *t);
void table_faults_done(struct table *t);

/* Whether rows are appended to a table of a label and a sparse column. */
bool table_is_sparse(const struct table *t);
/* Reports that memory is exhausted. Returns false. */
bool table_no_memory(struct table *t);

#endif
