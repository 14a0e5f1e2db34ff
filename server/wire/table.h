/* A table reader's inside: what table.c, table_csv.c and table_json.c share. Private to wire. */
#ifndef WIRE_TABLE_H
#define WIRE_TABLE_H

#include "base/hash.h"
#include "wire/csv.h"
#include "wire/json.h"
#include "wire/table_builder.h"

#define TABLE_MAX_FAULTS 1000 /* reading stops there */

/* Where the JSON reader's consumer stands: see table_json.c. */
struct table_json {
    unsigned state;      /* enum state */
    unsigned after_skip; /* the state that follows a skipped value */
    unsigned skip_depth; /* open containers of the value being skipped */
    size_t column;       /* of the value at hand; SIZE_MAX: of none (a fault was told) */
    size_t expected;     /* object rows: the column after the last one, where the next key most likely belongs */
    size_t n_cells;      /* array rows: values so far */
    size_t row_bytes;    /* of the values of the row so far */
    int64_t row;         /* rows begun */
    int64_t row_line;    /* place of the row at hand */
    int64_t row_column;
    bool columns_seen;   /* "columns" was read */
    bool rows_seen;      /* "rows" was read */
    bool has_type;       /* the column object at hand has a type */
    dn_column_type type; /* that type */
    struct buf name;     /* the column object's name */
    bool has_name;
};

struct wire_table {
    struct wire_table_options options;
    struct table_builder builder;
    struct hash_sha256 *sha256;
    int64_t bytes;               /* fed */
    struct buf ahead;            /* the first bytes, until format, delimiter and header are known */
    size_t look;                 /* how many of them to look at */
    bool decided;                /* they are known */
    enum wire_format format;     /* WIRE_CSV or WIRE_JSON once decided */
    char delimiter;              /* CSV */
    bool header;                 /* CSV: the first row is one */
    bool named;                  /* CSV: the columns are there */
    size_t comma_column;         /* CSV: counted from 1, one of whose first cells is a number with a decimal comma; 0: none */
    char comma_text[TEXT_SHOWN]; /* that cell, shown */
    struct csv csv;
    struct wire_json json;
    struct table_json at; /* JSON */
    size_t n_faults;
    bool refused;           /* no further byte matters */
    struct problem problem; /* faults so far */
    struct buf warnings;    /* JSON strings, comma-separated */
    size_t n_warnings;
    struct buf columns, notes; /* of the summary */
};

/* Tells a fault of the table at a place of the body (line 0: of the body as a whole, which the pointer "" names). false: there are so many that reading stops. */
bool table_fault(struct wire_table *t, int64_t line, int64_t column, const char *format, ...) __attribute__((format(printf, 4, 5)));
/* A fault after which nothing can be read; returns false. */
bool table_fatal(struct wire_table *t, int64_t line, int64_t column, const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Refuses the table with the builder's problem (no memory, the sink). Returns false. */
bool table_stop(struct wire_table *t);
void table_warn(struct wire_table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds a column after checking its name: trimmed, c<position> when empty (or c<position>_2, … when another column has that name); too long, repeated, control characters: faults.
 * position counts from 1. header: the names that stand in it, taken and to come, NULL: not known. row: the header it stands in, for the place of a fault; NULL: the JSON reader's.
 * false: reading stops. */
bool table_add_column(struct wire_table *t, const char *name, size_t n, size_t position, const struct names *header,
                      const struct csv_row *row);

bool table_csv_feed(struct wire_table *t, const char *bytes, size_t n);
bool table_csv_end(struct wire_table *t);
void table_csv_begin(struct wire_table *t);
bool table_json_feed(struct wire_table *t, const char *bytes, size_t n);
bool table_json_end(struct wire_table *t);

#endif
