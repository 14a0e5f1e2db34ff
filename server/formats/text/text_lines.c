/* Divides a body into lines. Bytes are collected in l->in, so that a line is always contiguous. The
 * bytes are processed in slices: each slice is checked to be UTF-8 and then divided into lines. */
#include "formats/text/text_lines.h"
#include "formats/csv/csv_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_lines_init(struct text_lines *l, size_t max, const struct text_lines_handler *handler) {
    *l = (struct text_lines){.handler = *handler, .max = max, .line = 1};
}

void text_lines_done(struct text_lines *l) {
    text_input_done(&l->in);
    *l = (struct text_lines){0};
}

static void fault(struct text_lines *l, size_t at, const char *text) {
    l->stopped = true;
    l->handler.fault(l->handler.arg, l->line, (int64_t)(at - l->start) + 1, text);
}

static void too_long(struct text_lines *l) {
    char text[64];
    snprintf(text, sizeof text, "line is longer than %zu bytes", l->max);
    fault(l, l->start, text);
}

static void line_end(struct text_lines *l, size_t end, size_t next) {
    if (end - l->start > l->max) {
        too_long(l);
    } else if (l->wrong_column > 0) {
        l->stopped = !l->handler.wrong(l->handler.arg, l->in.data + l->start, end - l->start,
                                       l->line, l->wrong_column, l->wrong);
    } else if (!l->handler.line(l->handler.arg, l->in.data + l->start, end - l->start, l->line)) {
        l->stopped = true;
    }
    l->wrong_column = 0;
    l->line++;
    l->start = l->scan = next;
}

/* Returns the offset of the first byte c in data[from … to - 1]; `to` if there is none. */
static size_t find(const struct text_lines *l, char c, size_t from, size_t to) {
    const char *at = from < to ? memchr(l->in.data + from, c, to - from) : NULL;
    return at != NULL ? (size_t)(at - l->in.data) : to;
}

/* Delivers the lines that end before `limit`. The positions of the next LF and of the next CR are
 * both kept, because most bodies have only one of the two, which would be searched for again at
 * each line. */
static void cut(struct text_lines *l, size_t limit) {
    if (l->behind_cr && l->start < limit) {
        l->behind_cr = false;
        if (l->in.data[l->start] == '\n') {
            l->start++;
            l->scan = l->start;
        }
    }
    size_t lf = find(l, '\n', l->scan, limit), cr = find(l, '\r', l->scan, limit);
    while (!l->stopped && (lf < limit || cr < limit)) {
        if (lf < cr) {
            line_end(l, lf, lf + 1);
        } else {
            const bool pair = cr + 1 < limit && l->in.data[cr + 1] == '\n';
            l->behind_cr = cr + 1 == limit;
            line_end(l, cr, cr + 1 + pair);
        }
        lf = lf < l->scan ? find(l, '\n', l->scan, limit) : lf;
        cr = cr < l->scan ? find(l, '\r', l->scan, limit) : cr;
    }
    l->scan = limit > l->scan ? limit : l->scan;
}

/* ---- input ---- */
/* Handles the byte at l->in.checked, which is not valid text: a fault of its line if the handler
 * accepts such lines, otherwise a fault of the body. A body with a NUL byte is refused. */
static void wrong_byte(struct text_lines *l, const char *wrong) {
    if (l->handler.wrong == NULL || l->in.data[l->in.checked] == '\0') {
        fault(l, l->in.checked, wrong);
    } else if (l->wrong_column == 0) {
        l->wrong_column = (int64_t)(l->in.checked - l->start) + 1;
        l->wrong = wrong;
    }
    l->in.checked++;
}

/* Checks the new bytes, divides them into lines, and moves the bytes of the incomplete last line to
 * the start of the buffer. */
static void digest(struct text_lines *l, bool final) {
    const char *wrong = NULL;
    if (!l->in.started) {
        if (!text_input_start(&l->in, final)) {
            return;
        }
        l->start = l->scan = l->in.checked;
    }
    do {
        wrong = text_input_check(&l->in, final);
        cut(l, l->in.checked);
        /* Checked before a wrong byte after the limit is reported, so that the fault does not
         * depend on how the body is divided into pieces. */
        if (!l->stopped && l->in.checked - l->start > l->max) {
            too_long(l);
        }
        if (!l->stopped && wrong != NULL) {
            wrong_byte(l, wrong);
        }
    } while (!l->stopped && wrong != NULL);
    if (l->start > 0 && !l->stopped) {
        text_input_drop(&l->in, l->start);
        l->scan -= l->start;
        l->start = 0;
    }
}

/* Appends bytes and reads the complete lines. */
static void take(struct text_lines *l, const char *bytes, size_t n, bool final) {
    if (text_input_append(&l->in, bytes, n)) {
        digest(l, final);
    } else {
        l->stopped = l->no_memory = true;
    }
}

bool text_lines_feed(struct text_lines *l, const char *bytes, size_t n) {
    while (n > 0 && !l->stopped) {
        const size_t size = n < TEXT_INPUT_SLICE ? n : TEXT_INPUT_SLICE;
        take(l, bytes, size, false);
        bytes += size;
        n -= size;
    }
    return !l->stopped;
}

bool text_lines_end(struct text_lines *l) {
    if (!l->stopped) {
        take(l, "", 0, true);
    }
    if (!l->stopped && l->start < l->in.size) {
        line_end(l, l->in.size, l->in.size);
    }
    return !l->stopped;
}
