/* Converts text of other encodings to UTF-8 as a stream, with the iconv of the C library.
 *
 * The names are those of the WHATWG Encoding Standard, section 4.2, case-insensitive. As in that
 * standard, latin1 and iso-8859-1 mean windows-1252, a superset of their printable characters. If
 * no encoding is given, a body is UTF-8, or UTF-16 or UTF-32 if it begins with their byte order
 * mark. */
#ifndef FORMATS_ENCODING_H
#define FORMATS_ENCODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the iconv name of an encoding; "" for UTF-8 and ASCII, which need no conversion; NULL if
 * the encoding is unknown. */
const char *encoding_find(const char *name, size_t n);

#define ENCODING_RULE                                                                              \
    "the name of an encoding, such as utf-8, utf-16, windows-1252, iso-8859-15 or shift_jis"

enum encoding_end {
    ENCODING_WELL,
    ENCODING_STOPPED,  /* `take` returned false */
    ENCODING_INVALID,  /* see encoding_fault */
    ENCODING_NO_MEMORY /* out of memory, or the C library has no such converter */
};

/* Finds out whether text that is converted from another encoding is UTF-8 already. {0}: there are
 * no bytes yet. */
#define UTF8_WATCH_CELL 48
struct utf8_watch {
    bool refuted;               /* some bytes are not UTF-8 */
    unsigned char need;         /* bytes that the present character still needs */
    unsigned char least, most;  /* of the next of these bytes */
    int64_t characters;         /* number of characters that have several bytes */
    int64_t line;               /* of the first of them; before it: of the present byte, less 1 */
    char cell[UTF8_WATCH_CELL]; /* the cell with the first of them, from a separator to the next */
    size_t n_cell;
    bool whole; /* the cell is complete, or cut at the end of `cell` */
};

/* All members are private. {0}: not started. */
struct encoding {
    const char *name; /* iconv name; NULL: chosen by the first bytes; "": no conversion */
    void *converter;  /* iconv_t; NULL: no conversion */
    bool started;
    /* bytes that are not converted yet: the first bytes of the text, or an incomplete character */
    char held[16];
    size_t n_held;
    int64_t line, column;    /* position of the next byte of converted text, both from 1 */
    unsigned char wrong;     /* the byte that is not valid */
    struct utf8_watch watch; /* of the bytes before their conversion, if `watched` */
    bool watched;
};

/* Whether the bytes begin with the byte order mark of UTF-16 or UTF-32. */
bool encoding_has_mark(const char *bytes, size_t n);

/* name: from encoding_find; NULL or "": UTF-8, or UTF-16 or UTF-32 by its byte order mark. */
void encoding_init(struct encoding *e, const char *name);
void encoding_done(struct encoding *e);
/* Converts n more bytes and passes the text to `take` in pieces. final: the text ends with these
 * bytes. If the result is not ENCODING_WELL, the object must not be fed again. Text that needs no
 * conversion is passed without a copy. */
enum encoding_end encoding_feed(struct encoding *e, const char *bytes, size_t n, bool final,
                                bool (*take)(void *arg, const char *bytes, size_t n), void *arg);
/* After the last byte: whether all bytes are UTF-8 and some characters have several bytes, although
 * another encoding was named. Writes a warning that names the first line and cell. */
#define ENCODING_DOUBT 320
bool encoding_doubt(const struct encoding *e, char out[ENCODING_DOUBT]);
/* Writes a message about the byte that could not be converted, and sets its line and column in the
 * converted text. */
#define ENCODING_FAULT 160
void encoding_fault(const struct encoding *e, char out[ENCODING_FAULT], int64_t *line,
                    int64_t *column);

#endif
