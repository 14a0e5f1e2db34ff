/* A line of an svmlight body: "label index:value index:value … # comment". Private to the readers
 * of tables and instances.
 *
 * Parts stand between spaces and tabs; what follows # is a comment. Indexes are integers that
 * ascend strictly, values finite decimal numbers. "qid:N" behind the label is passed over. */
#ifndef FORMATS_SVMLIGHT_H
#define FORMATS_SVMLIGHT_H

#include "formats/text/cell.h"
#include "formats/text/scan.h"

/* The largest index: a width still fits 31 bits. */
#define SVMLIGHT_MAX_INDEX 2147483646
/* Bytes behind a line that may be read (not: that count). */
#define SVMLIGHT_SLACK SCAN_NUMBER_READS

struct svmlight_row {
    struct text label; /* in the line; n 0: there is none */
    uint32_t *place; /* [n] the index, less 1 unless indexes count from 0; malloc'ed, kept from line
                        to line */
    double *value;   /* [n] likewise. Entries written as 0 are left out: they say what their absence
                        says. -0 is not */
    size_t n, capacity;
    uint32_t width;      /* the greatest place named, and 1; 0: none is. Entries of 0 count */
    bool qid;            /* there was a "qid:N" */
    struct text inexact; /* the first value that is an integer which no double holds exactly; n 0:
                            there is none */
};
void svmlight_row_done(struct svmlight_row *row);

struct svmlight_options {
    bool zero_based;    /* indexes count from 0 */
    bool without_label; /* a line may begin with an index:value */
};

/* What is wrong with a line: the first thing. */
struct svmlight_fault {
    size_t at; /* offset in the line */
    char text[256];
};

enum svmlight_line { SVMLIGHT_BLANK, SVMLIGHT_ROW, SVMLIGHT_FAULT, SVMLIGHT_NO_MEMORY };
/* Reads line[0 … n-1], without its line end; SVMLIGHT_SLACK bytes behind it are readable, and
 * line[n] is a line end or NUL. BLANK: nothing in it but spaces or a comment. ROW: *row; FAULT:
 * *fault says why it is none. */
enum svmlight_line svmlight_read(const char *line, size_t n, const struct svmlight_options *options,
                                 struct svmlight_row *row, struct svmlight_fault *fault);

/* Do the first lines of a body look like svmlight: the first one that is neither blank nor a
 * comment is "number index:value …"? whole: these bytes are all of the body. */
bool svmlight_looks_like(const char *bytes, size_t n, bool whole);

#endif
