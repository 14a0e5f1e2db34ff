/* dn_error, and the names of status codes and of stop reasons. */
#include <discern/status.h>
#include <discern/stop_reason.h>

#undef dn_error_set /* the macro for static analysis, see status.h */

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Removes an incomplete UTF-8 character at the end of a truncated text. */
static void trim_utf8(char *text, size_t length) {
    size_t start = length;
    while (start > 0 && length - start < 3 && ((unsigned char)text[start - 1] & 0xc0) == 0x80) {
        start--;
    }
    if (start == 0) {
        return;
    }
    unsigned char lead = (unsigned char)text[start - 1];
    size_t have = length - start + 1;
    size_t want = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    if (have < want) {
        text[start - 1] = '\0';
    }
}

void dn_error_clear(dn_error *err) {
    if (err == NULL) {
        return;
    }
    err->code = DN_OK;
    err->message[0] = '\0';
    err->row = -1;
    err->field[0] = '\0';
}

dn_status dn_error_set(dn_error *err, dn_status code, const char *format, ...) {
    if (err == NULL || err->code != DN_OK) {
        return code;
    }
    dn_error_clear(err);
    va_list args;
    va_start(args, format);
    int length = vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    if (length < 0) {
        err->message[0] = '\0';
    } else if ((size_t)length >= sizeof err->message) {
        trim_utf8(err->message, sizeof err->message - 1);
    }
    err->code = code;
    return code;
}

void dn_error_set_field(dn_error *err, const char *field) {
    if (err == NULL || err->code == DN_OK) {
        return;
    }
    size_t length = strlen(field);
    bool cut = length >= sizeof err->field;
    if (cut) {
        length = sizeof err->field - 1;
    }
    memcpy(err->field, field, length);
    err->field[length] = '\0';
    if (cut) {
        trim_utf8(err->field, length);
    }
}

void dn_error_set_row(dn_error *err, int64_t row) {
    if (err != NULL && err->code != DN_OK) {
        err->row = row;
    }
}

const char *dn_status_name(dn_status code) {
    switch (code) {
#define X(status, name, meaning)                                                                   \
    case status:                                                                                   \
        return name;
        DN_STATUS_LIST(X)
#undef X
    }
    return "unknown";
}

const char *dn_status_meaning(dn_status code) {
    switch (code) {
#define X(status, name, meaning)                                                                   \
    case status:                                                                                   \
        return meaning;
        DN_STATUS_LIST(X)
#undef X
    }
    return "no such status";
}

const char *dn_stop_reason_name(dn_stop_reason reason) {
    static const char *const names[] = {
#define NAME(code, name) name,
        DN_STOP_REASONS(NAME)
#undef NAME
    };
    const size_t i = (size_t)reason;
    return names[i < sizeof names / sizeof names[0] ? i : DN_STOP_NONE];
}
