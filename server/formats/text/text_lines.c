/* Divides a body into lines. Bytes are gathered in `data`, so that a line is always contiguous. A
 * slice at a time is checked to be UTF-8 and then divided into lines. */
#include "formats/text/text_lines.h"
#include "base/array.h"
#include "formats/csv/csv_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLICE = 64 * 1024, FIRST_BYTES = 4096 };

void text_lines_init(struct text_lines *l, size_t max, const struct text_lines_handler *handler) {
    *l = (struct text_lines){.handler = *handler, .max = max, .line = 1};
}

void text_lines_done(struct text_lines *l) {
    free(l->data);
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
        l->stopped = !l->handler.wrong(l->handler.arg, l->data + l->start, end - l->start, l->line,
                                       l->wrong_column, l->wrong);
    } else if (!l->handler.line(l->handler.arg, l->data + l->start, end - l->start, l->line)) {
        l->stopped = true;
    }
    l->wrong_column = 0;
    l->line++;
    l->start = l->scan = next;
}

/* The offset of the first byte c in data[from … to-1], or `to`. */
static size_t find(const struct text_lines *l, char c, size_t from, size_t to) {
    const char *at = from < to ? memchr(l->data + from, c, to - from) : NULL;
    return at != NULL ? (size_t)(at - l->data) : to;
}

/* Delivers the lines that end before `limit`. The positions of the next LF and CR are kept, since
 * most bodies have only one of them. */
static void cut(struct text_lines *l, size_t limit) {
    if (l->behind_cr && l->start < limit) {
        l->behind_cr = false;
        if (l->data[l->start] == '\n') {
            l->start++;
            l->scan = l->start;
        }
    }
    size_t lf = find(l, '\n', l->scan, limit), cr = find(l, '\r', l->scan, limit);
    while (!l->stopped && (lf < limit || cr < limit)) {
        if (lf < cr) {
            line_end(l, lf, lf + 1);
        } else {
            const bool pair = cr + 1 < limit && l->data[cr + 1] == '\n';
            l->behind_cr = cr + 1 == limit;
            line_end(l, cr, cr + 1 + pair);
        }
        lf = lf < l->scan ? find(l, '\n', l->scan, limit) : lf;
        cr = cr < l->scan ? find(l, '\r', l->scan, limit) : cr;
    }
    l->scan = limit > l->scan ? limit : l->scan;
}

/* ---- bytes in ---- */
static bool append(struct text_lines *l, const char *bytes, size_t n) {
    while (l->size + n + TEXT_LINES_SLACK > l->capacity) {
        if (!array_grow(&l->data, &l->capacity, FIRST_BYTES, 1)) {
            l->stopped = l->no_memory = true;
            return false;
        }
    }
    memcpy(l->data + l->size, bytes, n);
    l->size += n;
    memset(l->data + l->size, 0, TEXT_LINES_SLACK);
    return true;
}

/* Stores the first bytes and skips a byte order mark. false: more bytes are needed to recognise it.
 */
static bool start(struct text_lines *l, bool final) {
    static const char mark[3] = "\xEF\xBB\xBF";
    const size_t n = l->size < sizeof l->head ? l->size : sizeof l->head;
    memcpy(l->head, l->data, n);
    if (!final && l->size < sizeof l->head) {
        return false;
    }
    if (l->size >= sizeof mark && memcmp(l->data, mark, sizeof mark) == 0) {
        l->start = l->scan = l->checked = sizeof mark;
    }
    l->started = true;
    return true;
}

/* The byte after the checked ones is not valid text. It is a fault of its line if the handler
 * accepts such lines. A body with a NUL byte is refused as a whole. */
static void wrong_byte(struct text_lines *l, const char *wrong) {
    const char *foreign = csv_text_foreign(l->head);
    if (foreign != NULL || l->handler.wrong == NULL || l->data[l->checked] == '\0') {
        fault(l, l->checked, foreign != NULL ? foreign : wrong);
    } else if (l->wrong_column == 0) {
        l->wrong_column = (int64_t)(l->checked - l->start) + 1;
        l->wrong = wrong;
    }
    l->checked++;
}

/* Checks the new bytes, divides them into lines, and moves the rest of the last line to the front.
 */
static void digest(struct text_lines *l, bool final) {
    if (!l->started && !start(l, final)) {
        return;
    }
    const char *wrong = NULL;
    do {
        wrong = NULL;
        l->checked += csv_text_check(l->data + l->checked, l->size - l->checked, final, &wrong);
        cut(l, l->checked);
        if (!l->stopped &&
            l->checked - l->start >
                /* checked before a wrong byte after it is reported, so that the fault does not
                 * depend on the pieces */
                l->max) {
            too_long(l);
        }
        if (!l->stopped && wrong != NULL) {
            wrong_byte(l, wrong);
        }
    } while (!l->stopped && wrong != NULL);
    if (l->start > 0 && !l->stopped) {
        const size_t used = l->start;
        memmove(l->data, l->data + used, l->size - used + TEXT_LINES_SLACK);
        l->size -= used;
        l->checked -= used;
        l->scan -= used;
        l->start = 0;
    }
}

bool text_lines_feed(struct text_lines *l, const char *bytes, size_t n) {
    while (n > 0 && !l->stopped) {
        const size_t take = n < SLICE ? n : SLICE;
        if (append(l, bytes, take)) {
            digest(l, false);
        }
        bytes += take;
        n -= take;
    }
    return !l->stopped;
}

bool text_lines_end(struct text_lines *l) {
    if (!l->stopped && append(l, "", 0)) {
        digest(l, true);
    }
    if (!l->stopped && l->start < l->size) {
        line_end(l, l->size, l->size);
    }
    return !l->stopped;
}
