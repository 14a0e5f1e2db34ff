/* Columns that an answer repeats. */
#include "formats/instances/keep.h"
#include "base/json/json_write.h"
#include "base/memory/array.h"
#include "formats/formats.h"

#include <stdlib.h>
#include <string.h>

/* ---- names ---- */
/* Adds the next name, which is at `at` in keep->bytes. */
static bool add_name(struct keep *keep, const char *at, size_t n, struct problem *problem) {
    char shown[TEXT_SHOWN];
    if (n == 0 || n > TABLE_MAX_NAME) {
        return problem_set(problem, PROBLEM_BAD_REQUEST,
                           "query parameter \"keep\" must have names of 1 to %d bytes (got %zu)",
                           TABLE_MAX_NAME, n);
    }
    if (names_find(&keep->names, at, n) >= 0) {
        return problem_set(problem, PROBLEM_BAD_REQUEST, "query parameter \"keep\" names %s twice",
                           text_show(at, n, shown));
    }
    if (keep->names.n == KEEP_MAX) {
        return problem_set(problem, PROBLEM_BAD_REQUEST,
                           "query parameter \"keep\" must name at most %d columns", KEEP_MAX);
    }
    return names_add(&keep->names, at, n) || problem_no_memory(problem);
}

bool keep_parse(const char *list, struct keep *out, struct problem *problem) {
    const size_t room = strlen(list) + 1;
    *out = (struct keep){.bytes = malloc(room)};
    if (out->bytes == NULL) {
        return problem_no_memory(problem);
    }
    for (char *at = out->bytes;; list++) {
        size_t n = 0;
        struct text behind;
        list = list_item(list, at, room - (size_t)(at - out->bytes), &n, &behind);
        if (list == NULL || behind.n > 0) {
            return problem_set(problem, PROBLEM_BAD_REQUEST,
                               "query parameter \"keep\": a name in quotes must end with a quote, "
                               "then a comma or the end");
        }
        if (!add_name(out, at, n, problem)) {
            return false;
        }
        if (*list == '\0') {
            return true;
        }
        at += n;
    }
}

bool keep_one(const char *name, struct keep *out) {
    *out = (struct keep){.bytes = strdup(name)};
    return out->bytes != NULL && names_add(&out->names, out->bytes, strlen(name));
}

void keep_done(struct keep *keep) {
    names_done(&keep->names);
    free(keep->bytes);
    *keep = (struct keep){0};
}

/* ---- values ---- */
bool kept_rows_resize(struct kept_rows *rows, size_t n_rows) {
    return array_resize(&rows->value, n_rows * rows->keep->names.n, sizeof *rows->value);
}

void kept_rows_begin(struct kept_rows *rows, size_t row) {
    const size_t n = rows->keep->names.n;
    memset(rows->value + row * n, 0, n * sizeof *rows->value);
}

bool kept_rows_put(struct kept_rows *rows, size_t row, size_t k, enum kept_kind kind,
                   const char *text, size_t n) {
    rows->value[row * rows->keep->names.n + k] = (struct kept_value){rows->text.size, n, kind};
    buf_append(&rows->text, text, n);
    return !rows->text.failed;
}

void kept_rows_clear(struct kept_rows *rows) {
    if (rows->text.capacity > 4 * KEPT_BLOCK_BYTES) {
        buf_done(&rows->text);
    }
    buf_clear(&rows->text);
}

size_t kept_rows_memory(const struct kept_rows *rows, size_t n_rows) {
    return rows->keep == NULL
               ? 0
               : rows->text.capacity + n_rows * rows->keep->names.n * sizeof *rows->value;
}

void kept_rows_done(struct kept_rows *rows) {
    free(rows->value);
    buf_done(&rows->text);
    *rows = (struct kept_rows){0};
}

/* ---- answers ---- */
static const char *text_of(const struct kept_rows *rows, const struct kept_value *value) {
    return value->length > 0 ? rows->text.data + value->start : "";
}

bool kept_number(const struct kept_rows *rows, size_t row, size_t k, double *out) {
    const struct kept_value *value = &rows->value[row * rows->keep->names.n + k];
    const struct text t = text_trim(text_of(rows, value), value->length);
    return value->kind != KEPT_NULL && dn_number_parse(t.bytes, t.n, out);
}

void kept_write_json(const struct kept_rows *rows, size_t row, struct buf *out) {
    const struct names *names = &rows->keep->names;
    buf_puts(out, "\"keep\":{");
    for (size_t k = 0; k < names->n; k++) {
        const struct kept_value *value = &rows->value[row * names->n + k];
        if (k > 0) {
            buf_putc(out, ',');
        }
        json_escape(out, names->text[k].bytes, names->text[k].n);
        buf_putc(out, ':');
        if (value->kind == KEPT_NULL) {
            buf_puts(out, "null");
        } else if (value->kind == KEPT_LITERAL) {
            buf_append(out, text_of(rows, value), value->length);
        } else {
            json_escape(out, text_of(rows, value), value->length);
        }
    }
    buf_putc(out, '}');
}

void kept_write_cells(const struct kept_rows *rows, size_t row, char delimiter, struct buf *out) {
    const size_t n = rows->keep->names.n;
    for (size_t k = 0; k < n; k++) {
        const struct kept_value *value = &rows->value[row * n + k];
        buf_putc(out, delimiter);
        if (value->kind != KEPT_NULL) {
            csv_text_write(text_of(rows, value), value->length, delimiter, out);
        }
    }
}
