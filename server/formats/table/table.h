/* A table reader's inside: what table.c (the first bytes, the face), table_faults.c,
 * table_columns.c and the readers of each format share. Private to formats.
 *
 * A row that is wrong: its reader tells each fault by table_row_fault as soon as it is found, puts
 * nothing of the row into the builder (table_row_is_well), and goes on with the next row. With
 * on_error=reject the table is refused at the end; with skip the row is counted and sampled. What
 * no row can be told from is table_fault or table_fatal. */
#ifndef WIRE_TABLE_H
#define WIRE_TABLE_H

#include "formats/csv/csv.h"
#include "formats/format.h"
#include "formats/table/table_append.h"
#include "formats/table/table_builder.h"

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

/* How a format is read as a table. A reader keeps its state in t->state, which `begin` allocates and
 * `done` frees. */
struct table_reader {
    const char *name;  /* in the notes */
    const char *title; /* in messages */
    unsigned options;  /* TABLE_OPTION_… that the format uses */
    bool sparse;       /* its tables are a label and one sparse column */
    bool keyed;        /* rows name their columns, so that any row may add one */
    enum table_sniff (*sniff)(const struct wire_table *t, const struct table_sample *sample);
    /* may_look: a longer sample may be asked for. */
    enum table_begin (*begin)(struct wire_table *t, const struct table_sample *sample,
                              bool may_look);
    bool (*feed)(struct wire_table *t, const char *bytes, size_t n); /* false: reading stops */
    bool (*end)(struct wire_table *t);                               /* false: refused */
    bool (*has_names)(const struct wire_table *t);                   /* the columns are known */
    void (*write_notes)(const struct wire_table *t, struct json_writer *w); /* NULL: none */
    void (*done)(struct wire_table *t);
};

/* Rows that were left out because of a fault (on_error=skip). */
struct table_skipped {
    int64_t rows;
    struct problem first; /* a fault each of the first WIRE_MAX_FAULTS of them */
};

struct wire_table {
    struct wire_table_options options;
    struct table_builder builder;
    int64_t bytes;    /* fed */
    struct buf ahead; /* the first bytes, until format, delimiter and header are known */
    size_t look;      /* how many of them to look at */
    bool decided;     /* the reader has begun */
    const struct table_reader *reader; /* once decided */
    void *state;                       /* the reader's; NULL: none */
    unsigned used;                     /* TABLE_OPTION_… beyond reader->options */
    char head[4];                      /* the first bytes, to name foreign formats (a zip file) */
    size_t n_faults;
    bool row_faulty;              /* a fault of the row at hand was told */
    struct table_skipped skipped; /* on_error=skip */
    bool full; /* there is a row beyond those that options.rows wants; refused then, but without a
                  problem */
    bool cut;  /* the body goes on, but no more of it will be fed */
    bool refused;           /* no further byte matters */
    struct problem problem; /* faults so far */
    struct buf warnings;    /* JSON strings, comma-separated */
    size_t n_warnings;
    struct buf columns, notes; /* of the summary */
    struct wire_blob *saved;   /* [n_saved] likewise */
    size_t n_saved;
    struct buf declared;        /* likewise */
    struct table_append append; /* rows for a table that is stored */
};

/* Tells a fault of the table at a place of the body (line 0: of the body as a whole, which the
 * pointer "" names). false: there are so many that reading stops. */
bool table_fault(struct wire_table *t, int64_t line, int64_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* A fault of the row at hand: the others can be read. on_error=reject: as table_fault; skip: the
 * first of a row is counted and sampled. false: reading stops. */
bool table_row_fault(struct wire_table *t, int64_t line, int64_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Before a row begins: false when there are as many as options.rows wants: reading stops, the row
 * at hand is not looked at. */
static inline bool table_row_wanted(struct wire_table *t) {
    if (SCAN_UNLIKELY(t->options.rows > 0 && t->builder.n_rows >= t->options.rows)) {
        t->full = t->refused = true;
    }
    return !t->full;
}
/* A row begins. */
static inline void table_row_begin(struct wire_table *t, int64_t line) {
    t->builder.line = line;
    t->row_faulty = false;
}
/* Nothing wrong was told of the row at hand: it may go into the builder. */
static inline bool table_row_is_well(const struct wire_table *t) {
    return !t->row_faulty;
}
/* A fault after which nothing can be read; returns false. */
bool table_fatal(struct wire_table *t, int64_t line, int64_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Refuses the table with the builder's problem (no memory, the sink). Returns false. */
bool table_stop(struct wire_table *t);
void table_warn(struct wire_table *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
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
bool table_add_column(struct wire_table *t, const char *name, size_t n, size_t position,
                      const struct names *header, const struct table_where *where);

/* Checks a key of an object row that is to become a column: one that is no name is a fault of the
 * row. false: reading stops. */
bool table_key_check(struct wire_table *t, struct text name, const struct table_where *where);

/* The same problem again, for a caller that asks twice. Returns false. */
bool table_problem_again(struct problem *to, const struct problem *from);
/* The member "skipped", if rows were left out, into the open object of the notes. */
void table_write_skipped(const struct wire_table *t, struct json_writer *w);
/* The table is read: a warning of the rows that were left out, or the fault that all of them were.
 */
void table_judge_skipped(struct wire_table *t);
void table_faults_done(struct wire_table *t);

/* Rows are appended to a table of a label and a sparse column. */
bool table_is_sparse(const struct wire_table *t);
/* Reports that memory is exhausted. Returns false. */
bool table_no_memory(struct wire_table *t);

#endif
