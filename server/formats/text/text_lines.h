/* Lines of a body that is text: fed bytes in any cuts, gives lines, and they depend on the bytes
 * only. Lines end in LF, CRLF or CR. A byte order mark is skipped. Faults, after each of which
 * nothing more can be read: NUL, invalid UTF-8 (unless the handler takes such lines; what else a
 * body may be is told by its first bytes), too long lines. Private to the readers of line by line
 * formats. */
#ifndef FORMATS_TEXT_LINES_H
#define FORMATS_TEXT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEXT_LINES_SLACK 64 /* bytes behind a line that may be read */

struct text_lines_handler {
    /* A line without its end, which follows it (or NUL, at the end of the body); `line` counts
     * from 1. Valid during the call. Empty lines come too. false: stop reading. */
    bool (*line)(void *arg, const char *bytes, size_t n, int64_t line);
    /* A line that is no text; its first wrong byte and why. Likewise. NULL: such a fault ends
     * reading. */
    bool (*wrong)(void *arg, const char *bytes, size_t n, int64_t line, int64_t column,
                  const char *text);
    /* The fault that ends reading; column in bytes, from 1; text lives as long as the call. */
    void (*fault)(void *arg, int64_t line, int64_t column, const char *text);
    void *arg; /* of both */
};

/* Fields are the reader's own. Offsets count from the start of `data`. */
struct text_lines {
    struct text_lines_handler handler;
    size_t max; /* bytes of one line */
    char *data; /* the line being read and what came after it; TEXT_LINES_SLACK readable bytes
                   behind `size` */
    size_t size, capacity; /* of data */
    size_t checked;        /* bytes of data known to be text, or noted as wrong */
    int64_t wrong_column;  /* of the line at hand: its first wrong byte; 0: none was found */
    const char *wrong;     /* what that is */
    size_t start;          /* of the line */
    size_t scan;           /* where looking for its end goes on */
    bool behind_cr;        /* a CR ended the line before: a LF that follows belongs to it */
    bool started;          /* the byte order mark is behind us, or there is none */
    char head[4];          /* the first bytes of the body */
    int64_t line;          /* number of the line being read */
    bool stopped;          /* a fault, or the handler said stop */
    bool no_memory;        /* why it stopped */
};

void text_lines_init(struct text_lines *l, size_t max, const struct text_lines_handler *handler);
void text_lines_done(struct text_lines *l);
/* false: stopped. */
bool text_lines_feed(struct text_lines *l, const char *bytes, size_t n);
/* The body is complete: the last line, which needs no end. */
bool text_lines_end(struct text_lines *l);

#endif
