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
#include "formats/json/json.h"
#include "formats/svmlight/table_svmlight.h"
#include "formats/table/table_append.h"
#include "formats/table/table_builder.h"

#define TABLE_MAX_FAULTS 1000 /* reading stops there */

/* A cell of a JSON row that is being read: it goes into the builder when the row is whole and well.
 */
struct json_cell {
    size_t column; /* a key that is new: the columns that are there, and its place among the row's
                      new ones */
    enum wire_json_kind kind; /* STRING, NUMBER, TRUE, FALSE or NULL */
    bool finite;              /* NUMBER: `number` is it */
    double number;
    const char
        *text; /* [length] in the piece that is being read; NULL: in `bytes`, from `start` on */
    size_t start, length;
};

/* Where the JSON reader's consumer stands: see table_json.c; its rows: see table_json_rows.c. */
struct table_json {
    unsigned state;      /* enum json_state of table_json.h */
    unsigned after_skip; /* the state that follows a skipped value */
    unsigned skip_depth; /* open containers of the value being skipped */
    bool columns_seen;   /* "columns" was read */
    bool rows_seen;      /* "rows" was read */
    bool has_type;       /* the column object at hand has a type */
    dn_column_type type; /* that type */
    struct buf name;     /* the column object's name */
    bool has_name;
    /* the row at hand */
    int64_t row; /* rows begun, this one included */
    int64_t row_line, row_column;
    size_t column;   /* of the value at hand; SIZE_MAX: it is not wanted (a fault was told) */
    size_t expected; /* object rows: the column after the last one, where the next key most likely
                        belongs */
    size_t n_values; /* array rows: values so far */
    struct json_cell *cells; /* [n_cells] of the row so far */
    size_t n_cells, cells_capacity;
    size_t size;            /* of their texts */
    struct buf bytes;       /* those of them that do not stay where they were read */
    struct names new_names; /* keys of the row that are no columns yet; their texts are in `keys` */
    char **keys;            /* [n_keys] malloc'ed */
    size_t n_keys, keys_capacity;
    bool arrays; /* NDJSON: rows are arrays, not objects; known with the first one (row_kind_known)
                  */
    bool row_kind_known;
    bool declared; /* columns that only the option `types` names were added, as the first chunk is
                      about to be closed */
};

/* Rows that were left out because of a fault (on_error=skip). */
struct table_skipped {
    int64_t rows;
    struct problem first; /* a fault each of the first WIRE_MAX_FAULTS of them */
};

struct wire_table {
    struct wire_table_options options;
    struct table_builder builder;
    int64_t bytes;           /* fed */
    struct buf ahead;        /* the first bytes, until format, delimiter and header are known */
    size_t look;             /* how many of them to look at */
    bool decided;            /* they are known */
    enum wire_format format; /* WIRE_CSV, WIRE_JSON or WIRE_NDJSON once decided */
    char head[4];            /* the first bytes, to tell what a body is that is none of these */
    char delimiter;          /* CSV */
    bool header;             /* CSV: the first row is one */
    bool named;              /* CSV: the columns are there */
    size_t first_cells; /* CSV: cells of the first row that does not begin with #, as far as was
                           looked; 0: none was seen */
    int64_t comments;   /* CSV: lines told as comments by their # and their number of cells (struct
                           csv counts the others) */
    int64_t comment_line; /* CSV: the first of them */
    int64_t stray_line; /* CSV: where the row to come has text after a closing quote, or what else a
                           lenient reader goes on after; 0: nowhere */
    int64_t stray_column;
    char stray_text[160]; /* that fault */
    size_t *checked; /* CSV: columns of a given type that not every cell can have; [n_checked] */
    size_t n_checked;
    struct csv csv;
    struct wire_json json;
    struct table_json at; /* JSON, NDJSON */
    struct table_svmlight svmlight;
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
/* Adds a column after checking its name: trimmed, c<position> when empty (or c<position>_2, … when
 * another column has that name); too long, repeated, control characters: faults. position counts
 * from 1. header: the names that stand in it, taken and to come, NULL: not known. row: the header
 * it stands in, for the place of a fault; NULL: the JSON reader's. false: reading stops. */
bool table_add_column(struct wire_table *t, const char *name, size_t n, size_t position,
                      const struct names *header, const struct csv_row *row);

/* A key of an object row that is to become a column: a fault of the row when it is no name. false:
 * reading stops. */
bool table_key_check(struct wire_table *t, struct text name);

/* The same problem again, for a caller that asks twice. Returns false. */
bool table_problem_again(struct problem *to, const struct problem *from);
/* The member "skipped", if rows were left out, into the open object of the notes. */
void table_write_skipped(const struct wire_table *t, struct json_writer *w);
/* The table is read: a warning of the rows that were left out, or the fault that all of them were.
 */
void table_judge_skipped(struct wire_table *t);
void table_faults_done(struct wire_table *t);

bool table_csv_feed(struct wire_table *t, const char *bytes, size_t n);
bool table_csv_end(struct wire_table *t);
void table_csv_begin(struct wire_table *t);
void table_csv_done(struct wire_table *t);
int64_t table_csv_comments(const struct wire_table *t); /* lines skipped as comments */
void table_json_begin(struct wire_table *t);            /* NDJSON too: t->format says which */
void table_json_done(struct wire_table *t);
bool table_json_feed(struct wire_table *t, const char *bytes, size_t n);
bool table_json_end(struct wire_table *t);

#endif
