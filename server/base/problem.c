/* Problems: the table of types, the collection of faults, and the document for the client. */
#include "base/problem.h"
#include "base/json/json_write.h"
#include "base/utf8.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limits in bytes. A text may contain text of a client, so longer texts are truncated and end with
 * an ellipsis. */
enum { DETAIL_MAX = 4000, FAULT_MAX = 1000, POINTER_MAX = 1000 };
#define ELLIPSIS "\xE2\x80\xA6"

struct row {
    const char *name;    /* name in the type URI */
    int status;          /* HTTP status */
    const char *title;   /* one line, the same for all problems of the type */
    const char *meaning; /* meaning of the type, and what the client can do */
};

static const struct row rows[PROBLEM_COUNT] = {[PROBLEM_NONE] = {"none", 200, "No problem",
                                                                 "Nothing is wrong."},
#define X(code, name, status, title, meaning) [code] = {name, status, title, meaning},
                                               PROBLEM_LIST(X)
#undef X
};

static const struct row *row_of(enum problem_type type) {
    assert(type >= PROBLEM_NONE && type < PROBLEM_COUNT);
    return &rows[type];
}

const char *problem_name(enum problem_type type) {
    return row_of(type)->name;
}

int problem_status(enum problem_type type) {
    return row_of(type)->status;
}

const char *problem_title(enum problem_type type) {
    return row_of(type)->title;
}

const char *problem_meaning(enum problem_type type) {
    return row_of(type)->meaning;
}

bool problem_find(const char *name, enum problem_type *out) {
    for (int type = PROBLEM_NONE + 1; type < PROBLEM_COUNT; type++) {
        if (strcmp(rows[type].name, name) == 0) {
            *out = (enum problem_type)type;
            return true;
        }
    }
    return false;
}

/* Returns a malloc'ed copy of the first `limit` bytes, cut between characters. If bytes were cut
 * off, an ellipsis is appended. Each invalid byte becomes U+FFFD, which has 3 bytes. NULL: out of
 * memory. */
static char *text_clean(const char *text, size_t n, size_t limit) {
    struct buf clean = {0};
    const size_t cut = utf8_cut(text, n, limit);
    utf8_append(&clean, text, cut);
    if (cut < n) {
        buf_puts(&clean, ELLIPSIS);
    }
    char *out = buf_take(&clean, NULL);
    buf_done(&clean);
    return out;
}

/* Appends the text with control characters escaped as in JSON, so that a message stays on one
 * line. */
static void text_show(struct buf *out, const char *text, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c < 0x20 || c == 0x7f) {
            buf_printf(out, "\\u%04x", c);
        } else {
            buf_putc(out, text[i]);
        }
    }
}

static char *text_format(size_t limit, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
static char *text_format(size_t limit, const char *format, va_list args) {
    struct buf raw = {0}, shown = {0};
    buf_vprintf(&raw, format, args);
    const char *text = buf_cstr(&raw);
    char *out = NULL;
    if (text != NULL) {
        /* A few bytes more than the limit, so that text_clean still detects that the text is too
         * long. */
        text_show(&shown, text, utf8_cut(text, raw.size, limit + 4));
        text = buf_cstr(&shown);
        out = text != NULL ? text_clean(text, shown.size, limit) : NULL;
    }
    buf_done(&raw);
    buf_done(&shown);
    return out;
}

static void problem_set_text(struct problem *p, enum problem_type type, bool permanent,
                             const char *format, va_list args)
    __attribute__((format(printf, 4, 0)));
static void problem_set_text(struct problem *p, enum problem_type type, bool permanent,
                             const char *format, va_list args) {
    assert(type > PROBLEM_NONE && type < PROBLEM_COUNT);
    if (p->type == PROBLEM_NONE) {
        p->type = type;
        p->permanent = permanent;
        p->detail = text_format(DETAIL_MAX, format, args);
    }
}

bool problem_set(struct problem *p, enum problem_type type, const char *format, ...) {
    va_list args;
    va_start(args, format);
    problem_set_text(p, type, false, format, args);
    va_end(args);
    return false;
}

bool problem_set_permanent(struct problem *p, enum problem_type type, const char *format, ...) {
    va_list args;
    va_start(args, format);
    problem_set_text(p, type, true, format, args);
    va_end(args);
    return false;
}

bool problem_set_lost(struct problem *p, const char *format, ...) {
    const bool first = p->type == PROBLEM_NONE;
    va_list args;
    va_start(args, format);
    problem_set_text(p, PROBLEM_UNAVAILABLE, false, format, args);
    va_end(args);
    p->lost = p->lost || first;
    return false;
}

bool problem_no_memory(struct problem *p) {
    return problem_set(p, PROBLEM_UNAVAILABLE, "out of memory");
}

/* Returns the detail for a problem whose first fault is e: the place and the text of the fault, for
 * clients that do not read the list of faults. */
static char *detail_of(const struct problem_error *e) {
    struct buf text = {0};
    if (e->pointer != NULL && e->pointer[0] != '\0') {
        text_show(&text, e->pointer, strlen(e->pointer));
        buf_puts(&text, ": ");
    } else if (e->line > 0 && e->column > 0) {
        buf_printf(&text, "line %" PRId64 ", column %" PRId64 ": ", e->line, e->column);
    } else if (e->line > 0) {
        buf_printf(&text, "line %" PRId64 ": ", e->line);
    }
    buf_puts(&text, e->detail != NULL ? e->detail : "");
    char *out = buf_take(&text, NULL);
    buf_done(&text);
    return out;
}

/* Adds a fault and takes ownership of its texts. The array is allocated with its full size at the
 * first fault: it is small, so a long list costs one allocation. */
static void error_take(struct problem *p, enum problem_type type, struct problem_error *e) {
    assert(type > PROBLEM_NONE && type < PROBLEM_COUNT);
    if (p->type == PROBLEM_NONE) {
        p->type = type;
        p->detail = detail_of(e);
    }
    if (p->errors == NULL) {
        p->errors = calloc(PROBLEM_MAX_ERRORS, sizeof *p->errors);
    }
    if (p->errors != NULL && p->n_errors < PROBLEM_MAX_ERRORS && e->detail != NULL) {
        p->errors[p->n_errors++] = *e;
    } else {
        p->n_dropped++;
        free(e->pointer);
        free(e->detail);
    }
}

/* Whether a fault of this type may be added: faults of another type than the first are ignored. */
static bool takes(const struct problem *p, enum problem_type type) {
    return p->type == PROBLEM_NONE || p->type == type;
}

bool problem_add(struct problem *p, enum problem_type type, const char *pointer, const char *format,
                 ...) {
    if (takes(p, type)) {
        /* A fault that will be dropped is not formatted, because a client can cause millions of
         * them. */
        if (p->n_errors == PROBLEM_MAX_ERRORS) {
            p->n_dropped++;
            return false;
        }
        va_list args;
        va_start(args, format);
        struct problem_error e = {.detail = text_format(FAULT_MAX, format, args)};
        va_end(args);
        e.pointer = pointer != NULL ? text_clean(pointer, strlen(pointer), POINTER_MAX) : NULL;
        error_take(p, type, &e);
    }
    return false;
}

bool problem_add_line(struct problem *p, enum problem_type type, int64_t line, int64_t column,
                      const char *format, ...) {
    if (takes(p, type)) {
        if (p->n_errors == PROBLEM_MAX_ERRORS) {
            p->n_dropped++;
            return false;
        }
        va_list args;
        va_start(args, format);
        struct problem_error e = {.line = line,
                                  .column = column,
                                  .detail = text_format(FAULT_MAX, format, args)};
        va_end(args);
        error_take(p, type, &e);
    }
    return false;
}

void problem_done(struct problem *p) {
    for (size_t i = 0; i < p->n_errors; i++) {
        free(p->errors[i].pointer);
        free(p->errors[i].detail);
    }
    free(p->errors);
    free(p->detail);
    *p = (struct problem){0};
}

void problem_copy(struct problem *to, const struct problem *from) {
    const char *detail = from->detail ? from->detail : problem_title(from->type);
    if (from->permanent) {
        problem_set_permanent(to, from->type, "%s", detail);
    } else if (from->lost) {
        problem_set_lost(to, "%s", detail);
    } else {
        problem_set(to, from->type, "%s", detail);
    }
}

void problem_move(struct problem *to, struct problem *from) {
    assert(to->type == PROBLEM_NONE);
    *to = *from;
    *from = (struct problem){0};
}

static void error_write(struct json_writer *w, const struct problem_error *e) {
    json_begin_object(w);
    if (e->pointer != NULL) {
        json_kv_string(w, "pointer", e->pointer);
    }
    if (e->line > 0) {
        json_kv_int(w, "line", e->line);
    }
    if (e->column > 0) {
        json_kv_int(w, "column", e->column);
    }
    json_kv_string(w, "detail", e->detail);
    json_end_object(w);
}

static void errors_write(struct json_writer *w, const struct problem *p) {
    json_kv_begin_array(w, "errors");
    for (size_t i = 0; i < p->n_errors; i++) {
        error_write(w, &p->errors[i]);
    }
    if (p->n_dropped > 0) {
        char more[64];
        (void)snprintf(more, sizeof more, "and %zu more fault%s", p->n_dropped,
                       p->n_dropped == 1 ? "" : "s");
        error_write(w, &(struct problem_error){.detail = more});
    }
    json_end_array(w);
}

void problem_put_type(struct json_writer *w, const char *base_path, enum problem_type type) {
    struct buf link = {0};
    buf_printf(&link, "%s/problems/%s", base_path, problem_name(type));
    json_kv_string(w, "type", buf_cstr(&link));
    w->out->failed = w->out->failed || link.failed;
    buf_done(&link);
}

void problem_put_stored(struct json_writer *w, const char *base_path, const char *document) {
    static const char begin[] = "{\"type\":\"";
    const size_t n = sizeof begin - 1;
    if (document == NULL || base_path[0] == '\0' || strncmp(document, begin, n) != 0 ||
        document[n] != '/') {
        json_kv_raw(w, "error", document);
        return;
    }
    struct buf whole = {0};
    buf_puts(&whole, begin);
    buf_puts(&whole, base_path); /* it has no characters that must be escaped */
    buf_puts(&whole, document + n);
    json_kv_raw(w, "error", buf_cstr(&whole));
    w->out->failed = w->out->failed || whole.failed;
    buf_done(&whole);
}

void problem_write(const struct problem *p, const char *base_path, const char *request_id,
                   struct buf *out) {
    const struct row *row = row_of(p->type);
    struct json_writer w = json_writer_of(out);
    json_begin_object(&w);
    problem_put_type(&w, base_path, p->type);
    json_kv_string(&w, "title", row->title);
    json_kv_int(&w, "status", row->status);
    if (p->detail != NULL) {
        json_kv_string(&w, "detail", p->detail);
    }
    if (request_id != NULL) {
        json_kv_string(&w, "request_id", request_id);
    }
    if (p->n_errors > 0 || p->n_dropped > 0) {
        errors_write(&w, p);
    }
    json_end_object(&w);
}
