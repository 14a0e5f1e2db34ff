/* How the numbers of a table are written: decimal commas are detected column by column, cells with
 * more than one reading are described, never guessed. */
#include "base/json/json_write.h"
#include "formats/table/table_builder.h"

#include <stdlib.h>
#include <string.h>

#define EITHER_HINT                                                                                \
    "the commas of its numbers may be decimal marks or separate thousands: set decimal=, or "      \
    "thousands=,"
#define OTHER_COMMAS "other cells have commas: if these separate thousands, set thousands=,"
#define GROUPED_HINT                                                                               \
    "the points of its numbers were read as decimal marks; if they separate thousands, set "       \
    "thousands=."

void builder_set_delimiter(struct table_builder *b, char delimiter) {
    b->separated = true;
    b->detects = marks_detect(&b->marks, delimiter);
    b->plain_numbers = !b->detects && !b->doubts && !marks_any(&b->marks);
    for (size_t i = 0; i < b->n_columns; i++) {
        struct column *c = &b->column[i];
        if (c->stored_state == COLUMN_NUMBERS) {
            c->mark = c->comma && b->detects                     ? MARK_COMMA
                      : b->doubts && (c->comma || b->doubts_all) ? MARK_DOUBT
                                                                 : MARK_POINT;
        }
    }
}

bool builder_read_marked(const struct table_builder *b, const struct column *c, struct text t,
                         double *out, enum column_mark *mark) {
    const enum column_mark now = c != NULL ? c->mark : MARK_NONE;
    const bool has_point = now == MARK_GROUPED || now == MARK_POINT,
               has_comma = now == MARK_COMMA || now == MARK_EITHER;
    *mark = now;
    if (!b->detects) {
        return marks_number(&b->marks, t, out) &&
               !(now == MARK_DOUBT && marks_form(&b->marks, t, out) == MARKS_GROUPED);
    }
    switch (marks_form(&b->marks, t, out)) {
    case MARKS_PLAIN:
        return true;
    case MARKS_POINT:
        *mark = MARK_POINT;
        return !has_comma;
    case MARKS_GROUPED:
        *mark = now == MARK_POINT ? MARK_POINT : MARK_GROUPED;
        return !has_comma;
    case MARKS_COMMA:
        *mark = MARK_COMMA;
        return !has_point;
    case MARKS_EITHER:
        *mark = now == MARK_COMMA ? MARK_COMMA : MARK_EITHER;
        return !has_point;
    case MARKS_NO_NUMBER:
        break;
    }
    return false;
}

void builder_set_mark(struct table_builder *b, struct column *c, enum column_mark mark,
                      const char *text, size_t n) {
    if (mark == MARK_EITHER || mark == MARK_GROUPED) {
        builder_note_reason(b, c, text, n, mark == MARK_EITHER ? EITHER_HINT : GROUPED_HINT);
    } else if (c->mark == MARK_EITHER || c->mark == MARK_GROUPED) {
        type_reason_done(&c->reason);
    }
    c->mark = mark;
}

const char *builder_mark_hint(const struct table_builder *b, const struct column *c,
                              struct text text) {
    double number = 0;
    if (b->marks.decimal == ',' && dn_number_parse(text.bytes, text.n, &number)) {
        return marks_form(&(struct marks){0}, text, &number) == MARKS_GROUPED
                   ? "with decimal=, a point is no decimal mark; thousands=. reads points that "
                     "separate thousands"
               : b->onto ? "with decimal=, of the upload a point is no decimal mark; decimal=. "
                           "reads points as decimal marks"
                         : "with decimal=, a point is no decimal mark";
    }
    if (c->mark == MARK_DOUBT && marks_form(&b->marks, text, &number) == MARKS_GROUPED) {
        return MARKS_DOUBT;
    }
    if (!b->detects || c->state != COLUMN_NUMBERS || c->mark == MARK_NONE) {
        return NULL;
    }
    switch (marks_form(&b->marks, text, &number)) {
    case MARKS_POINT:
        if (c->mark != MARK_EITHER) {
            return c->comma ? "the stored numbers have decimal commas; decimal=. reads points as "
                              "decimal marks"
                            : "other cells have decimal commas";
        }
        return OTHER_COMMAS;
    case MARKS_GROUPED:
        return c->mark == MARK_EITHER
                   ? OTHER_COMMAS
                   : "other cells have decimal commas: if the point separates thousands, set "
                     "decimal=, and thousands=.";
    case MARKS_COMMA:
        return c->mark == MARK_GROUPED
                   ? "other cells have points: if these separate thousands, set decimal=, and "
                     "thousands=."
                   : "other cells have decimal points";
    case MARKS_EITHER:
        return c->mark == MARK_POINT
                   ? "other cells have decimal points: if the comma separates thousands, set "
                     "thousands=,"
                   : EITHER_HINT;
    case MARKS_PLAIN:
    case MARKS_NO_NUMBER:
        break;
    }
    return NULL;
}

/* Starts the next part of a description. */
static void next_part(struct buf *text) {
    buf_puts(text, text->size > 0 ? "; " : "");
}

/* Describes what is around the numbers of a column. Returns false if out of memory. */
static bool describe_signs(const struct table_builder *b, struct column *c) {
    const struct marks_signs *s = &c->signs;
    const bool percent = strchr(s->text, '%') != NULL;
    const char *some = s->plain ? "some of" : "all";
    struct buf text = {0};
    size_t size = 0;
    if (s->text[0] != '\0') {
        buf_printf(&text, "%s its numbers have %s around them: strip=%s%s%s reads them%s", some,
                   s->text, s->text, s->groups ? "&thousands=," : "",
                   s->commas && !b->detects ? "&decimal=," : "",
                   percent ? " (a URL has %25 for %)" : "");
    }
    if (s->unit[1][0] != '\0') {
        next_part(&text);
        buf_printf(
            &text,
            "its numbers are written with %s and %s: if these are units, convert the numbers to "
            "one unit and leave the unit out",
            s->unit[0], s->unit[1]);
    } else if (s->unit[0][0] != '\0') {
        next_part(&text);
        buf_printf(&text, "%s its numbers are written with %s: if this is a unit, leave it out",
                   some, s->unit[0]);
    }
    if (s->parentheses) {
        next_part(&text);
        buf_puts(&text, "numbers in parentheses are probably negative: write (5) as -5");
    }
    if (s->behind) {
        next_part(&text);
        buf_puts(&text, "the sign of negative numbers stands behind them: write 5- as -5");
    }
    free(c->reason.hint);
    c->reason.hint = buf_take(&text, &size);
    return c->reason.hint != NULL;
}

bool builder_settle_marks(struct table_builder *b, struct problem *problem) {
    bool well = true;
    for (size_t i = 0; i < b->n_columns && well; i++) {
        struct column *c = &b->column[i];
        if (c->mark == MARK_EITHER && c->state == COLUMN_NUMBERS && column_is_fixed(c)) {
            problem_add_line(problem, PROBLEM_INVALID_DATASET, c->reason.line, 0,
                             "column \"%s\": %s", c->name, EITHER_HINT);
            well = false;
        } else if (c->mark == MARK_EITHER && c->state == COLUMN_NUMBERS) {
            builder_fall(b, c);
        }
        if (marks_signs_any(&c->signs) && c->state == COLUMN_STRINGS && c->reason.line > 0) {
            well = describe_signs(b, c) || problem_no_memory(problem);
        }
    }
    return well;
}

void builder_write_marks(const struct table_builder *b, bool stored, struct json_writer *w) {
    bool any = false;
    if (!stored && b->marks.decimal != '\0') {
        json_put_key(w, "decimal");
        json_put_stringn(w, &b->marks.decimal, 1);
    }
    if (!stored && b->marks.thousands != '\0') {
        json_put_key(w, "thousands");
        json_put_stringn(w, &b->marks.thousands, 1);
    }
    if (!stored && b->marks.strip[0] != '\0') {
        json_kv_string(w, "strip", b->marks.strip);
    }
    for (size_t i = 0; i < b->n_columns; i++) {
        const struct column *c = &b->column[i];
        if (c->state == COLUMN_NUMBERS && (c->mark == MARK_COMMA || (stored && c->comma))) {
            if (!any) {
                json_kv_begin_array(w, "decimal_comma");
                any = true;
            }
            json_put_string(w, c->name);
        }
    }
    if (any) {
        json_end_array(w);
    }
}
