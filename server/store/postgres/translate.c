#include "store/postgres/translate.h"
#include <string.h>

#define BEGIN_TEXT "/*{"
#define END_TEXT "*/"
#define END_PLACE "/*}*/"
enum { BEGIN_SIZE = sizeof BEGIN_TEXT - 1, END_SIZE = sizeof END_TEXT - 1 };

static bool begins(const char *s, const char *with) {
    return strncmp(s, with, strlen(with)) == 0;
}

/* Returns the end of the quoted text that begins at s. A doubled quote is the end of one text and
 * the start of the next. */
static const char *skip_quoted(const char *s) {
    const char *end = strchr(s + 1, *s);
    return end != NULL ? end + 1 : s + strlen(s);
}

/* Returns the end of the place whose text for SQLite begins at s. Places may be in it. */
static const char *skip_place(const char *s) {
    for (int depth = 1; *s != '\0' && depth > 0;) {
        if (*s == '\'' || *s == '"') {
            s = skip_quoted(s);
        } else if (begins(s, END_PLACE)) {
            depth--;
            s += sizeof END_PLACE - 1;
        } else {
            depth += begins(s, BEGIN_TEXT);
            s++;
        }
    }
    return s;
}

/* Appends $N for the parameter at s and returns its end. */
static const char *put_parameter(const char *s, int *last, struct buf *out) {
    const size_t n_digits = strspn(s + 1, "0123456789");
    if (n_digits > 0) {
        buf_putc(out, '$');
        buf_append(out, s + 1, n_digits);
    } else {
        buf_printf(out, "$%d", ++*last);
    }
    return s + 1 + n_digits;
}

static void translate(const char *sql, size_t size, int *last, struct buf *out) {
    const char *const end = sql + size;
    for (const char *s = sql; s < end;) {
        if (*s == '\'' || *s == '"') {
            const char *after = skip_quoted(s);
            buf_append(out, s, (size_t)(after - s));
            s = after;
        } else if (*s == '?') {
            s = put_parameter(s, last, out);
        } else if (begins(s, BEGIN_TEXT)) {
            const char *text = s + BEGIN_SIZE, *close = strstr(text, END_TEXT);
            if (close == NULL) {
                return;
            }
            translate(text, (size_t)(close - text), last, out);
            s = skip_place(close + END_SIZE);
        } else {
            buf_putc(out, *s++);
        }
    }
}

void store_translate(const char *sql, struct buf *out) {
    int last = 0;
    translate(sql, strlen(sql), &last, out);
}
