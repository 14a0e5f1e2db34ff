/* Divides a body into lines. The caller passes the body in pieces; the lines do not depend on how
 * the body is divided into pieces. Lines end in LF, CRLF or CR. A byte order mark is skipped.
 *
 * Reading stops after a fault: NUL, invalid UTF-8 (unless the handler accepts such lines), a too
 * long line. Private to formats that are read line by line. */
#ifndef FORMATS_TEXT_LINES_H
#define FORMATS_TEXT_LINES_H

#include "formats/text/text_input.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text_lines_handler {
    /* Takes a line without its line end. The byte after the line is its line end, or NUL at the end
     * of the body. line: number from 1. The bytes are valid during the call. Empty lines are
     * delivered too. Returns false to stop reading. */
    bool (*line)(void *arg, const char *bytes, size_t n, int64_t line);
    /* Takes a line that is not valid text, with the column of its first wrong byte and a
     * description of the fault. NULL: reading stops after such a fault. */
    bool (*wrong)(void *arg, const char *bytes, size_t n, int64_t line, int64_t column,
                  const char *text);
    /* Reports the fault after which reading stops; column: in bytes, from 1. The text is valid
     * during the call. */
    void (*fault)(void *arg, int64_t line, int64_t column, const char *text);
    void *arg; /* argument of the functions */
};

/* All members are private. Offsets count from the start of in.data. */
struct text_lines {
    struct text_lines_handler handler;
    size_t max;           /* limit of the length of a line in bytes */
    struct text_input in; /* the current line and the bytes after it */
    /* column of the first wrong byte of the current line; 0: none was found */
    int64_t wrong_column;
    const char *wrong; /* description of that fault */
    size_t start;      /* start of the current line */
    size_t scan;       /* the search for the end of the line continues here */
    /* the previous line ended in CR: a LF that follows belongs to its line end */
    bool behind_cr;
    int64_t line;   /* number of the current line */
    bool stopped;   /* reading stopped after a fault, or because the handler returned false */
    bool no_memory; /* stopped because memory is exhausted */
};

void text_lines_init(struct text_lines *l, size_t max, const struct text_lines_handler *handler);
void text_lines_done(struct text_lines *l);
/* Returns false if reading has stopped. */
bool text_lines_feed(struct text_lines *l, const char *bytes, size_t n);
/* Ends the body. The last line may lack a line end. */
bool text_lines_end(struct text_lines *l);

#endif
