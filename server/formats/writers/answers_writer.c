/* Items of answers with many rows, and answers with coordinates. */
#include "base/json/json_write.h"
#include "formats/formats.h"
#include "formats/text/view_cell.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- items ---- */
void answer_end(const struct format *format, const dn_encoder *encoder,
                const struct row_notes *notes, struct buf *out) {
    if (!format->answers->document) {
        return;
    }
    struct json_writer w = json_writer_inside(out);
    buf_putc(out, ']');
    row_notes_write(notes, encoder, &w);
    buf_putc(out, '}');
}

void answer_item_begin(const struct format *format, bool *begun, struct buf *out) {
    if (*begun && format->answers->document) {
        buf_putc(out, ',');
    }
    *begun = true;
}

void answer_item_end(const struct format *format, struct buf *out) {
    if (!format->answers->document) {
        buf_putc(out, '\n');
    }
}

static void put_fault(struct json_writer *w, const struct problem_error *e) {
    if (e->column > 0) {
        json_kv_int(w, "column", e->column);
    }
    json_kv_string(w, "detail", e->detail);
}

static void put_refusal(const char *base_path, int64_t line, const struct problem *problem,
                        struct buf *out) {
    static const struct problem_error none = {0};
    const struct problem_error whole = {.detail = problem->detail},
                               *first = problem->n_errors > 0 ? &problem->errors[0] : &whole;
    struct json_writer w = json_writer_of(out);
    json_begin_object(&w);
    json_kv_begin_object(&w, "error");
    problem_put_type(&w, base_path, problem->type);
    json_kv_int(&w, "line", line);
    put_fault(&w, first->detail != NULL ? first : &none);
    if (problem->n_errors > 1) {
        json_kv_begin_array(&w, "errors");
        for (size_t i = 0; i < problem->n_errors && i < TABLE_FAULTS_LISTED; i++) {
            json_begin_object(&w);
            put_fault(&w, &problem->errors[i]);
            json_end_object(&w);
        }
        json_end_array(&w);
    }
    json_end_object(&w);
    json_end_object(&w);
}

void answer_item_refusal(const struct format *format, size_t n_columns, const char *base_path,
                         int64_t line, const struct problem *problem, struct buf *out) {
    const char delimiter = format->answers->delimiter;
    if (delimiter == '\0') {
        put_refusal(base_path, line, problem, out);
        return;
    }
    struct buf text = {0};
    buf_printf(&text, "line %" PRId64, line);
    if (problem->n_errors > 0) {
        const struct problem_error *e = &problem->errors[0];
        if (e->column > 0) {
            buf_printf(&text, ", column %" PRId64, e->column);
        }
        buf_printf(&text, ": %s", e->detail);
    } else {
        buf_printf(&text, ": %s",
                   problem->detail != NULL ? problem->detail : problem_title(problem->type));
    }
    for (size_t i = 1; i < n_columns; i++) {
        buf_putc(out, delimiter);
    }
    csv_text_write(text.data, text.failed ? 0 : text.size, delimiter, out);
    out->failed |= text.failed;
    buf_done(&text);
}

void answer_cells_end(size_t begin, struct buf *out) {
    if (out->size > begin && !out->failed) {
        memmove(out->data + begin, out->data + begin + 1, out->size - begin - 1);
        out->size--;
    }
}

/* ---- coordinates ---- */
/* Writes the header of CSV and TSV. */
static void begin_cells(struct coordinates_writer *c) {
    const size_t n_kept = c->keep != NULL ? c->keep->names.n : 0;
    for (size_t k = 0; k < n_kept + c->n; k++) {
        if (k > 0) {
            buf_putc(c->out, c->delimiter);
        }
        if (k < n_kept) {
            const struct text name = c->keep->names.text[k];
            csv_text_write(name.bytes, name.n, c->delimiter, c->out);
        } else {
            buf_printf(c->out, "z%zu", k - n_kept + 1);
        }
    }
    if (c->refusal_base != NULL) {
        buf_printf(c->out, "%cerror", c->delimiter);
    }
    c->n_columns = n_kept + c->n + (c->refusal_base != NULL);
    buf_putc(c->out, '\n');
}

void coordinates_writer_begin(struct coordinates_writer *c, const struct answer_head *head,
                              size_t n_components, struct buf *out) {
    *c = (struct coordinates_writer){.format = head->format,
                                     .delimiter = head->format->answers->delimiter,
                                     .refusal_base = head->refusal_base,
                                     .keep = head->keep,
                                     .n = n_components,
                                     .out = out};
    if (c->format->answers->document) {
        buf_puts(out, "{\"model\":");
        json_escape(out, head->name, strlen(head->name));
        buf_printf(out, ",\"version\":%" PRId64 ",\"components\":%zu,\"rows\":[", head->version,
                   n_components);
    } else if (c->delimiter != '\0') {
        begin_cells(c);
    }
}

static void put_cells(struct coordinates_writer *c, size_t i, const double *z) {
    const size_t begin = c->out->size;
    if (c->keep != NULL) {
        kept_write_cells(c->kept, c->first_kept + i, c->delimiter, c->out);
    }
    for (size_t k = 0; k < c->n; k++) {
        buf_putc(c->out, c->delimiter);
        number_write(z[k], c->out);
    }
    answer_cells_end(begin, c->out);
    if (c->refusal_base != NULL) {
        buf_putc(c->out, c->delimiter);
    }
}

size_t coordinates_writer_part(struct coordinates_writer *c, size_t first, size_t n,
                               const double *z, size_t most) {
    size_t i = first;
    for (; i < n && (i == first || c->out->size < most) && !c->out->failed; i++) {
        answer_item_begin(c->format, &c->begun, c->out);
        if (c->delimiter != '\0') {
            put_cells(c, i, z + i * c->n);
        } else if (c->keep != NULL) {
            buf_putc(c->out, '{');
            kept_write_json(c->kept, c->first_kept + i, c->out);
            buf_puts(c->out, ",\"z\":");
            answer_numbers_write(z + i * c->n, c->n, c->out);
            buf_putc(c->out, '}');
        } else {
            answer_numbers_write(z + i * c->n, c->n, c->out);
        }
        answer_item_end(c->format, c->out);
    }
    return (c->out->failed ? n : i) - first;
}

void coordinates_writer_rows(struct coordinates_writer *c, size_t n_rows, const double *z) {
    (void)coordinates_writer_part(c, 0, n_rows, z, SIZE_MAX);
}

void coordinates_writer_refusal(struct coordinates_writer *c, int64_t line,
                                const struct problem *problem) {
    answer_item_begin(c->format, &c->begun, c->out);
    answer_item_refusal(c->format, c->n_columns, c->refusal_base, line, problem, c->out);
    answer_item_end(c->format, c->out);
}

void coordinates_writer_end(struct coordinates_writer *c, const dn_encoder *encoder,
                            const struct row_notes *notes) {
    answer_end(c->format, encoder, notes, c->out);
}
