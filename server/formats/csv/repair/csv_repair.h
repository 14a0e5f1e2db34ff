/* The reader of separated text that may be broken (on_error=repair). It divides the body into rows
 * by a plan that was made from the first bytes (csv_plan.h), gives each row as many cells as the
 * table has columns (csv_align.h), and delivers it as struct csv would. Each repair is reported.
 * Private to formats.
 *
 * A row is in doubt if it has another number of cells than the table has columns, and few of them
 * are not empty or one misfits its column; if it follows a blank line and misfits; or if it looks
 * like a heading. In a table without faults, a row that has only one cell is in doubt only if that
 * is a text of several words, and a second table of as many columns begins with a heading.
 *
 * Rows in doubt are held back. If a row of the table follows, they are rows of the table. If they
 * begin with a heading or follow a blank line, and have rows of one other number of cells, they and
 * all that follows are a second table. Rows with few cells at the end of the body are a footer.
 *
 * Bounded: the plan is made from the sample (table.c); a quoted cell is searched for its end in the
 * next 1 MiB; the rows held back take at most CSV_REPAIR_BYTES of memory. */
#ifndef FORMATS_CSV_REPAIR_H
#define FORMATS_CSV_REPAIR_H

#include "formats/csv/repair/csv_plan.h"
#include "formats/csv/repair/csv_repair_kind.h"

#define CSV_REPAIR_BYTES (1024 * 1024)

struct csv_repair_handler {
    struct csv_handler rows; /* all faults are fatal */
    /* Reports a repair. last: the last of the lines that were left out; 0: the repair is that of
     * one cell or row. NULL: repairs are not reported. */
    void (*repaired)(void *arg, enum csv_repair_kind kind, int64_t line, int64_t last,
                     int64_t column, const char *text);
};

struct csv_repair_held {
    size_t offset; /* of the row in `held_bytes`; TEXT_INPUT_SLACK bytes follow it */
    size_t size, n, filled, values;
    struct csv_dialect dialect;
    bool joined; /* divided by csv_split_joined */
    int64_t line, last;
    bool blank, doubt; /* doubt: the row cannot be a row of the table */
    bool heading;      /* words only, and no empty cell */
    bool names;        /* a row of the table's width that begins another table if rows follow */
    bool fits;         /* begins as a row of the table that misses its last cells */
};
/* The last rows held back that have the same number of cells. The members are numbers of rows;
 * SIZE_MAX: there is none. */
struct csv_repair_run {
    size_t start;
    size_t blank, heading; /* the first such row */
    size_t doubt;          /* the last such row */
};

/* All members are private. */
struct csv_repair {
    const struct csv_plan *plan;
    struct csv_repair_handler handler;
    struct csv_raw raw;
    struct csv_split split, spare; /* of a row that was held back */
    struct csv_cell *cells;        /* [plan->width] */
    size_t capacity;
    size_t *sums;                   /* [2 × (plan->width + 1)] */
    struct buf aside, heading;      /* heading: the first row as written, if it has no number */
    size_t taken;                   /* number of rows of the table */
    int64_t preamble, preamble_end; /* the first and the last line before the table; 0: none */
    int64_t second, second_end;     /* likewise for the second table */
    struct csv_repair_held *held;   /* [n_held] */
    size_t n_held, held_capacity;
    struct csv_repair_run run;
    struct buf held_bytes;
    bool no_memory, stopped;
};
/* The plan must stay valid. Returns false if out of memory. */
bool csv_repair_init(struct csv_repair *r, const struct csv_plan *plan,
                     const struct csv_repair_handler *handler);
void csv_repair_done(struct csv_repair *r);
/* Return false if reading stopped: because of a fault, the handler, or a lack of memory. */
bool csv_repair_feed(struct csv_repair *r, const char *bytes, size_t n);
bool csv_repair_end(struct csv_repair *r);
/* A csv_sample.rows: reads the rows of the sample by the plan `arg`. */
bool csv_repair_sample(const struct csv_sample *sample, const void *arg,
                       const struct csv_handler *handler, size_t *unfinished);

#endif
