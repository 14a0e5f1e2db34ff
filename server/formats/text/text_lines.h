/* Divides a body into lines. It is fed the body in pieces; the lines do not depend on how the body
 * is divided into pieces. Lines end in LF, CRLF or CR. A byte order mark is skipped.
 *
 * Faults end the reading: NUL, invalid UTF-8 (unless the handler accepts such lines), a too long
 * line. Private to formats that are read line by line. */
#ifndef FORMATS_TEXT_LINES_H
#define FORMATS_TEXT_LINES_H

#include "formats/text/text_input.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text_lines_handler {
    /* Takes a line without its end. The byte after it is its line end, or NUL at the end of the
     * body. line: from 1. The bytes are valid during the call. Empty lines are delivered too.
     * false: reading stops. */
    bool (*line)(void *arg, const char *bytes, size_t n, int64_t line);
    /* Takes a line that is not valid text, with the column of its first wrong byte and a
     * description. NULL: such a fault ends the reading. */
    bool (*wrong)(void *arg, const char *bytes, size_t n, int64_t line, int64_t column,
                  const char *text);
    /* Reports the fault that ends the reading; column: in bytes, from 1. The text is valid during
     * the call. */
    void (*fault)(void *arg, int64_t line, int64_t column, const char *text);
    void *arg; /* of both */
};

/* All members are private. Offsets count from the start of in.data. */
struct text_lines {
    struct text_lines_handler handler;
    size_t max;           /* limit of the bytes of a line */
    struct text_input in; /* the present line and the bytes after it */
    /* column of the first wrong byte of the present line; 0: none was found */
    int64_t wrong_column;
    const char *wrong; /* what that is */
    size_t start;      /* of the line */
    size_t scan;       /* the search for its end continues here */
    bool behind_cr;    /* the line before ended in CR: a LF that follows belongs to it */
    int64_t line;      /* number of the present line */
    bool stopped;      /* by a fault, or because the handler returned false */
    bool no_memory;    /* stopped because memory is exhausted */
};

void text_lines_init(struct text_lines *l, size_t max, const struct text_lines_handler *handler);
void text_lines_done(struct text_lines *l);
/* false: stopped. */
bool text_lines_feed(struct text_lines *l, const char *bytes, size_t n);
/* Ends the body. The last line needs no line end. */
bool text_lines_end(struct text_lines *l);

#endif
