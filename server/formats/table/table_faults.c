/* Faults that refuse a table, faults because of which a row is left out, and warnings. */
#include "base/json/json_write.h"
#include "formats/formats.h"
#include "formats/table/table.h"
#include "formats/text/cell_hint.h"

#include <inttypes.h>
#include <stdarg.h>

/* ---- reporting ---- */
static bool fault_take(struct table *t, int64_t line, int64_t column, struct buf *text) {
    const char *detail = buf_cstr(text);
    t->builder.broken = true;
    if (t->n_faults++ >= TABLE_FAULTS_LISTED) {
        t->problem.n_dropped++;
    } else if (line > 0) {
        problem_add_line(&t->problem, PROBLEM_INVALID_DATASET, line, column, "%s",
                         detail != NULL ? detail : "");
    } else {
        problem_add(&t->problem, PROBLEM_INVALID_DATASET, "", "%s", detail != NULL ? detail : "");
    }
    buf_done(text);
    t->refused |= t->n_faults >= TABLE_MAX_FAULTS;
    return !t->refused;
}

bool table_fault(struct table *t, int64_t line, int64_t column, const char *format, ...) {
    struct buf text = {0};
    va_list args;
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    return fault_take(t, line, column, &text);
}

/* Counts a row that is left out, and keeps its fault if it is among the first
 * TABLE_FAULTS_LISTED. */
static void skip_row(struct table *t, int64_t line, int64_t column, struct buf *text) {
    const char *detail = buf_cstr(text);
    if (t->skipped.rows++ < TABLE_FAULTS_LISTED) {
        problem_add_line(&t->skipped.first, PROBLEM_INVALID_DATASET, line, column, "%s",
                         detail != NULL ? detail : "");
    }
    buf_done(text);
}

bool table_row_fault(struct table *t, int64_t line, int64_t column, const char *format, ...) {
    const bool again = t->row_faulty, skip = t->options.on_error == TABLE_SKIP;
    struct buf text = {0};
    va_list args;
    t->row_faulty = true;
    t->n_faulty += !again;
    if (again && skip) {
        return true;
    }
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    if (!skip) {
        return fault_take(t, line, column, &text);
    }
    skip_row(t, line, column, &text);
    return true;
}

bool table_fatal(struct table *t, int64_t line, int64_t column, const char *format, ...) {
    struct buf text = {0};
    va_list args;
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    fault_take(t, line, column, &text);
    t->refused = true;
    return false;
}

bool table_stop(struct table *t) {
    problem_done(&t->problem);
    problem_move(&t->problem, &t->builder.problem);
    t->refused = true;
    return false;
}

bool table_no_memory(struct table *t) {
    problem_no_memory(&t->builder.problem);
    return table_stop(t);
}

void table_warn(struct table *t, const char *format, ...) {
    struct buf text = {0};
    va_list args;
    if (++t->n_warnings > BUILDER_MAX_WARNINGS) {
        return;
    }
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    if (!text.failed) {
        if (t->warnings.size > 0) {
            buf_putc(&t->warnings, ',');
        }
        json_escape(&t->warnings, text.data, text.size);
    }
    buf_done(&text);
}

const char *table_cell_hint(const struct table *t, size_t i, const char *text, size_t n) {
    const struct text trimmed = text_trim(text, n);
    const bool dates =
        i < t->builder.n_columns && builder_given_type(&t->builder, i) == DN_DATETIME;
    return dates                  ? dn_datetime_fault(trimmed.bytes, trimmed.n)
           : t->builder.separated ? cell_hint(text, n)
                                  : cell_hint_json(text, n);
}

const char *table_type_hint(const struct table *t, size_t i) {
    return i < t->builder.n_columns && t->builder.column[i].kept
               ? "; to change the type of the column, set allow_type_change=true"
               : "";
}

bool table_problem_again(struct problem *to, const struct problem *from) {
    problem_set(to, from->type, "%s", from->detail != NULL ? from->detail : "");
    for (size_t i = 0; i < from->n_errors; i++) {
        const struct problem_error *e = &from->errors[i];
        if (e->line > 0) {
            problem_add_line(to, from->type, e->line, e->column, "%s",
                             e->detail != NULL ? e->detail : "");
        } else {
            problem_add(to, from->type, e->pointer, "%s", e->detail != NULL ? e->detail : "");
        }
    }
    to->n_dropped += from->n_dropped;
    return false;
}

/* ---- rows that were left out ---- */
void table_judge_skipped(struct table *t) {
    struct problem *first = &t->skipped.first;
    if (t->skipped.rows == 0 || t->n_faults > 0 || first->n_errors == 0) {
        return;
    }
    if (t->builder.n_rows == 0) {
        problem_set(&t->problem, PROBLEM_INVALID_DATASET,
                    "every row has a fault and was left out (%" PRId64 " rows)", t->skipped.rows);
        t->n_faults = (size_t)t->skipped.rows;
        table_problem_again(&t->problem, first);
        t->problem.n_dropped += (size_t)t->skipped.rows - first->n_errors;
        return;
    }
    const struct problem_error *e = &first->errors[0];
    table_warn(t, "%" PRId64 " row%s left out because of faults, the first at line %" PRId64 ": %s",
               t->skipped.rows, t->skipped.rows == 1 ? " was" : "s were", e->line,
               e->detail != NULL ? e->detail : "");
}

void table_write_places(const struct problem *problem, struct json_writer *w) {
    json_kv_begin_array(w, "first");
    for (size_t i = 0; i < problem->n_errors; i++) {
        const struct problem_error *e = &problem->errors[i];
        json_begin_object(w);
        json_kv_int(w, "line", e->line);
        json_kv_int(w, "column", e->column);
        json_kv_string(w, "detail", e->detail != NULL ? e->detail : "");
        json_end_object(w);
    }
    json_end_array(w);
}

void table_write_skipped(const struct table *t, struct json_writer *w) {
    if (t->skipped.rows == 0) {
        return;
    }
    json_kv_begin_object(w, "skipped");
    json_kv_int(w, "rows", t->skipped.rows);
    table_write_places(&t->skipped.first, w);
    json_end_object(w);
}

void table_faults_done(struct table *t) {
    problem_done(&t->problem);
    problem_done(&t->skipped.first);
    table_repairs_done(t);
    buf_done(&t->warnings);
}
