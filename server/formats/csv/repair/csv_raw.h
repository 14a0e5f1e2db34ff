/* Reads separated text as rows of pieces (csv_split.h), without a check of their number, for
 * on_error=repair. The rows do not depend on how the body is divided into pieces. Private to
 * formats.
 *
 * In memory is the row that is being read, at most TABLE_MAX_ROW bytes and what was fed after
 * it. */
#ifndef FORMATS_CSV_RAW_H
#define FORMATS_CSV_RAW_H

#include "formats/csv/csv_sniff.h"
#include "formats/csv/repair/csv_align.h"

struct csv_raw_row {
    const char *bytes; /* TEXT_INPUT_SLACK bytes after the row may be read */
    const struct csv_split *split;
    /* how the row was divided: the dialect of the body; or, if that does not give the expected
     * number of cells, one with another delimiter or quote character that does */
    const struct csv_dialect *dialect;
    bool joined;        /* divided by csv_split_joined */
    int64_t line, last; /* the first and the last line of the row */
    bool blank;         /* a blank line precedes the row */
};

struct csv_raw_handler {
    /* Returns false to stop reading. */
    bool (*row)(void *arg, const struct csv_raw_row *row);
    /* Reports a fault after which nothing is read; NULL: faults are not reported. */
    void (*fault)(void *arg, int64_t line, int64_t column, const char *text);
    void *arg;
};

/* All members but `comments`, `stopped` and `no_memory` are private. */
struct csv_raw {
    struct csv_raw_handler handler;
    const struct csv_dialect *dialect;
    size_t width; /* expected number of cells; 0: unknown */
    /* [width] the columns; NULL: unknown. Rows divided by blanks, and rows with another quote
     * character that have the expected number of cells, are recognised by them */
    const struct csv_trait *trait;
    int64_t head_line; /* the line of a header that has another delimiter; 0: there is none */
    char head_delimiter;
    char comment;     /* lines that begin with it are skipped; '\0': none */
    int64_t skip;     /* number of lines that are still to be skipped */
    int64_t comments; /* number of comments */
    struct text_input in;
    size_t row;   /* start of the current row */
    size_t work;  /* see csv_split_row */
    size_t tried; /* the current row did not end in so many bytes */
    int64_t line; /* line of the current row */
    bool within;  /* the bytes up to the next line end are skipped */
    bool blank;   /* a blank line precedes the current row */
    bool stopped, no_memory;
    struct csv_split split, spare, other;
    struct csv_dialect row_dialect; /* of the current row, if it is another one */
};
/* The dialect must stay valid. */
void csv_raw_init(struct csv_raw *r, const struct csv_dialect *dialect, size_t width, char comment,
                  int64_t skip, const struct csv_raw_handler *handler);
void csv_raw_done(struct csv_raw *r);
/* Return false if reading stopped. */
bool csv_raw_feed(struct csv_raw *r, const char *bytes, size_t n);
bool csv_raw_end(struct csv_raw *r);
/* Reads the rows of a sample. width: as in csv_raw_init. Returns false if out of memory. */
bool csv_raw_sample(const struct csv_sample *sample, const struct csv_dialect *dialect,
                    size_t width, const struct csv_raw_handler *handler);
/* The number of cells that are not empty, and of those that are numbers. */
void csv_raw_count(const struct csv_raw_row *row, size_t *filled, size_t *values);

#endif
