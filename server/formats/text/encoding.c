#include "formats/text/encoding.h"

#include "base/utf8.h"

#include <errno.h>
#include <iconv.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { PIECE = 8 * 1024 }; /* bytes that are converted at a time */
enum { MARK_MAX = 4 };     /* length of the longest byte order mark */

/* Names of the WHATWG standard, in lower case, and usual ones of other programs, and the names of
 * the iconv converters. */
static const struct {
    const char *name, *converter;
} encodings[] = {
    {"utf-8", ""},
    {"utf-8-sig", ""},
    {"us-ascii", ""},
    {"ascii", ""},
    {"windows-1252", "CP1252"},
    {"cp1252", "CP1252"},
    {"latin1", "CP1252"},
    {"iso-8859-1", "CP1252"},
    {"windows-1250", "CP1250"},
    {"cp1250", "CP1250"},
    {"windows-1251", "CP1251"},
    {"cp1251", "CP1251"},
    {"windows-1253", "CP1253"},
    {"cp1253", "CP1253"},
    {"windows-1254", "CP1254"},
    {"cp1254", "CP1254"},
    {"windows-1255", "CP1255"},
    {"cp1255", "CP1255"},
    {"windows-1256", "CP1256"},
    {"cp1256", "CP1256"},
    {"windows-1257", "CP1257"},
    {"cp1257", "CP1257"},
    {"windows-1258", "CP1258"},
    {"cp1258", "CP1258"},
    {"windows-874", "CP874"},
    {"iso-8859-2", "ISO-8859-2"},
    {"latin2", "ISO-8859-2"},
    {"iso-8859-3", "ISO-8859-3"},
    {"iso-8859-4", "ISO-8859-4"},
    {"iso-8859-5", "ISO-8859-5"},
    {"iso-8859-6", "ISO-8859-6"},
    {"iso-8859-7", "ISO-8859-7"},
    {"iso-8859-8", "ISO-8859-8"},
    {"iso-8859-9", "CP1254"},
    {"iso-8859-10", "ISO-8859-10"},
    {"iso-8859-13", "ISO-8859-13"},
    {"iso-8859-14", "ISO-8859-14"},
    {"iso-8859-15", "ISO-8859-15"},
    {"latin9", "ISO-8859-15"},
    {"iso-8859-16", "ISO-8859-16"},
    {"koi8-r", "KOI8-R"},
    {"koi8-u", "KOI8-U"},
    {"macintosh", "MACINTOSH"},
    {"ibm437", "IBM437"},
    {"cp437", "IBM437"},
    {"ibm850", "IBM850"},
    {"cp850", "IBM850"},
    {"ibm852", "IBM852"},
    {"cp852", "IBM852"},
    {"ibm866", "IBM866"},
    {"cp866", "IBM866"},
    {"utf-16", "UTF-16"},
    {"utf-16le", "UTF-16LE"},
    {"utf-16be", "UTF-16BE"},
    {"utf-32", "UTF-32"},
    {"utf-32le", "UTF-32LE"},
    {"utf-32be", "UTF-32BE"},
    {"shift_jis", "CP932"},
    {"sjis", "CP932"},
    {"euc-jp", "EUC-JP"},
    {"euc-kr", "CP949"},
    {"gbk", "GBK"},
    {"gb2312", "GBK"},
    {"gb18030", "GB18030"},
    {"big5", "BIG5-HKSCS"},
};

static bool is_between(char c) {
    return c == '-' || c == '_';
}

/* Whether the names are equal but for case and the characters between their parts: latin-1 is
 * latin1. */
static bool is_same(const char *name, const char *text, size_t n) {
    size_t i = 0;
    for (;; name++, i++) {
        while (is_between(*name)) {
            name++;
        }
        while (i < n && is_between(text[i])) {
            i++;
        }
        if (*name == '\0' || i == n) {
            return *name == '\0' && i == n;
        }
        if (strncasecmp(name, text + i, 1) != 0) {
            return false;
        }
    }
}

const char *encoding_find(const char *name, size_t n) {
    for (size_t i = 0; i < sizeof encodings / sizeof encodings[0]; i++) {
        if (is_same(encodings[i].name, name, n)) {
            return encodings[i].converter;
        }
    }
    return NULL;
}

/* ---- text that is UTF-8 already ---- */
/* Whether the text of the encoding may look like UTF-8 by mistake: it is made of bytes. */
static bool is_watched(const char *name) {
    return name != NULL && name[0] != '\0' && strncmp(name, "UTF-", 4) != 0;
}

/* Takes a byte of the cell with the first character of several bytes. */
static void watch_cell(struct utf8_watch *w, unsigned char c) {
    if (w->whole) {
        return;
    }
    if (strchr(",;|\t\n\r\"", c) != NULL && c != '\0') {
        w->whole = w->characters > 0;
        w->n_cell = w->whole ? w->n_cell : 0;
        return;
    }
    if (w->n_cell == sizeof w->cell && w->characters == 0 && w->need == 0) {
        w->n_cell /= 2; /* these bytes are ASCII */
        memmove(w->cell, w->cell + w->n_cell, w->n_cell);
    }
    if (w->n_cell < sizeof w->cell) {
        w->cell[w->n_cell++] = (char)c;
    }
    w->whole = w->n_cell == sizeof w->cell && w->characters > 0;
}

static void watch(struct utf8_watch *w, const char *bytes, size_t n) {
    for (size_t i = 0; i < n && !w->refuted; i++) {
        const unsigned char c = (unsigned char)bytes[i];
        if (w->need > 0) {
            w->refuted = c < w->least || c > w->most;
            w->least = 0x80;
            w->most = 0xBF;
            w->characters += --w->need == 0;
        } else if (c >= 0x80) {
            w->need = c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3;
            w->least = c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80;
            w->most = c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF;
            w->refuted = c < 0xC2 || c > 0xF4;
        } else if (w->characters == 0) {
            w->line += c == '\n';
        }
        watch_cell(w, c);
    }
}

bool encoding_doubt(const struct encoding *e, char out[ENCODING_DOUBT]) {
    const struct utf8_watch *w = &e->watch;
    if (!e->watched || w->refuted || w->need > 0 || w->characters == 0) {
        return false;
    }
    char others[48] = "";
    if (w->characters > 1) {
        snprintf(others, sizeof others, " and %" PRId64 " more character%s", w->characters - 1,
                 w->characters > 2 ? "s" : "");
    }
    snprintf(out, ENCODING_DOUBT,
             "the body is UTF-8, but was converted from %s, as encoding= or the charset says: that "
             "changed line %" PRId64 " (%.*s)%s; leave out encoding= and the charset",
             e->name, w->line + 1, (int)utf8_cut(w->cell, w->n_cell, UTF8_WATCH_CELL - 4), w->cell,
             others);
    return true;
}

/* ---- conversion ---- */
void encoding_init(struct encoding *e, const char *name) {
    *e = (struct encoding){.name = name != NULL && name[0] != '\0' ? name : NULL,
                           .watched = is_watched(name),
                           .line = 1,
                           .column = 1};
}

void encoding_done(struct encoding *e) {
    if (e->converter != NULL) {
        (void)iconv_close(e->converter);
    }
    *e = (struct encoding){0};
}

/* Byte order marks and their encodings. That of UTF-32LE begins with that of UTF-16LE. */
static const struct mark {
    const char *bytes;
    size_t n;
    const char *name;
} marks[] = {
    {"\xFF\xFE\0\0", 4, "UTF-32LE"},
    {"\0\0\xFE\xFF", 4, "UTF-32BE"},
    {"\xFF\xFE", 2, "UTF-16LE"},
    {"\xFE\xFF", 2, "UTF-16BE"},
};

enum { WIDE = 6 }; /* length of "UTF-16" and "UTF-32" */

/* Returns the mark at the start of the bytes which the named encoding may have (name NULL: any);
 * NULL if there is none. */
static const struct mark *mark_of(const char *name, const char *bytes, size_t n) {
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (n >= marks[i].n && memcmp(bytes, marks[i].bytes, marks[i].n) == 0 &&
            (name == NULL || strncmp(name, marks[i].name, WIDE) == 0)) {
            return &marks[i];
        }
    }
    return NULL;
}

bool encoding_has_mark(const char *bytes, size_t n) {
    return mark_of(NULL, bytes, n) != NULL;
}

/* Chooses the converter from the name and the first MARK_MAX bytes. *skip: length of the byte order
 * mark. */
static bool start(struct encoding *e, const char *bytes, size_t n, size_t *skip) {
    const struct mark *mark = mark_of(e->name, bytes, n);
    const char *name = mark != NULL                                        ? mark->name
                       : e->name != NULL && strcmp(e->name, "UTF-16") == 0 ? "UTF-16LE"
                       : e->name != NULL && strcmp(e->name, "UTF-32") == 0 ? "UTF-32LE"
                                                                           : e->name;
    e->started = true;
    *skip = mark != NULL ? mark->n : 0;
    if (name == NULL) {
        return true;
    }
    const iconv_t converter = iconv_open("UTF-8", name);
    if (converter == (iconv_t)-1) { // NOLINT(performance-no-int-to-ptr)
        return false;
    }
    e->converter = converter;
    return true;
}

/* Advances the line and the column over converted text. */
static void count(struct encoding *e, const char *text, size_t n) {
    const char *end = text + n, *lf;
    while ((lf = memchr(text, '\n', (size_t)(end - text))) != NULL) {
        e->line++;
        e->column = 1;
        text = lf + 1;
    }
    e->column += end - text;
}

/* Converts as many of the *n bytes at *bytes as possible, and advances both. */
static enum encoding_end convert(struct encoding *e, const char **bytes, size_t *n,
                                 bool (*take)(void *arg, const char *bytes, size_t n), void *arg) {
    char piece[PIECE];
    for (;;) {
        char *in = (char *)*bytes, *out = piece; /* iconv does not write to its input */
        size_t left = *n, room = sizeof piece;
        const size_t done = iconv(e->converter, &in, &left, &out, &room);
        const int why = done == (size_t)-1 ? errno : 0;
        const size_t written = sizeof piece - room;
        *bytes = in;
        *n = left;
        if (written > 0 && !take(arg, piece, written)) {
            return ENCODING_STOPPED;
        }
        count(e, piece, written);
        if (why == EILSEQ) {
            e->wrong = (unsigned char)*in;
            return ENCODING_INVALID;
        }
        if (why != E2BIG) {
            /* All bytes were converted, or all but an incomplete character at the end. */
            return ENCODING_WELL;
        }
    }
}

/* Writes the letter that the converter has kept. In encodings with combining marks it writes a
 * letter only when it has read the next character. */
static enum encoding_end flush(struct encoding *e,
                               bool (*take)(void *arg, const char *bytes, size_t n), void *arg) {
    char piece[64], *out = piece;
    size_t room = sizeof piece;
    (void)iconv(e->converter, NULL, NULL, &out, &room);
    const size_t written = sizeof piece - room;
    if (written > 0 && !take(arg, piece, written)) {
        return ENCODING_STOPPED;
    }
    count(e, piece, written);
    return ENCODING_WELL;
}

/* Converts the held bytes; an incomplete character stays held. */
static enum encoding_end
convert_held(struct encoding *e, bool (*take)(void *arg, const char *bytes, size_t n), void *arg) {
    const char *at = e->held;
    size_t left = e->n_held;
    const enum encoding_end end = convert(e, &at, &left, take, arg);
    memmove(e->held, at, left);
    e->n_held = left;
    return end;
}

/* Moves new bytes to the end of the held bytes, until `most` bytes are held. */
static void hold(struct encoding *e, size_t most, const char **bytes, size_t *n) {
    while (e->n_held<most && * n> 0) {
        e->held[e->n_held++] = *(*bytes)++;
        --*n;
    }
}

/* Starts the conversion with the held bytes. */
static enum encoding_end begin(struct encoding *e,
                               bool (*take)(void *arg, const char *bytes, size_t n), void *arg) {
    size_t mark;
    if (!start(e, e->held, e->n_held, &mark)) {
        return ENCODING_NO_MEMORY;
    }
    e->n_held -= mark;
    memmove(e->held, e->held + mark, e->n_held);
    if (e->converter != NULL) {
        return convert_held(e, take, arg);
    }
    const size_t n = e->n_held;
    e->n_held = 0;
    return n == 0 || take(arg, e->held, n) ? ENCODING_WELL : ENCODING_STOPPED;
}

enum encoding_end encoding_feed(struct encoding *e, const char *bytes, size_t n, bool final,
                                bool (*take)(void *arg, const char *bytes, size_t n), void *arg) {
    enum encoding_end end = ENCODING_WELL;
    if (e->watched) {
        watch(&e->watch, bytes, n);
    }
    if (!e->started) {
        hold(e, MARK_MAX, &bytes, &n);
        if (e->n_held < MARK_MAX && !final) {
            return ENCODING_WELL;
        }
        end = begin(e, take, arg);
    }
    if (end == ENCODING_WELL && e->converter == NULL) {
        return n == 0 || take(arg, bytes, n) ? ENCODING_WELL : ENCODING_STOPPED;
    }
    while (end == ENCODING_WELL && e->n_held > 0 && n > 0) {
        hold(e, e->n_held + 1, &bytes, &n);
        end = convert_held(e, take, arg);
    }
    if (end == ENCODING_WELL && n > 0) {
        end = convert(e, &bytes, &n, take, arg);
        if (end == ENCODING_WELL) {
            hold(e, sizeof e->held, &bytes, &n); /* an incomplete character of less than 4 bytes */
        }
    }
    if (end == ENCODING_WELL && final && e->n_held > 0) {
        e->wrong = (unsigned char)e->held[0];
        return ENCODING_INVALID;
    }
    return end == ENCODING_WELL && final ? flush(e, take, arg) : end;
}

void encoding_fault(const struct encoding *e, char out[ENCODING_FAULT], int64_t *line,
                    int64_t *column) {
    snprintf(out, ENCODING_FAULT, "byte 0x%02X is not a character of the body's encoding%s",
             e->wrong,
             e->watched && !e->watch.refuted && e->watch.characters > 0
                 ? "; the bytes are UTF-8: leave out encoding= and the charset"
                 : "");
    *line = e->line;
    *column = e->column;
}
