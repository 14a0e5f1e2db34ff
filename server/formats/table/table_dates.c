/* Columns of dates and times: their form is decided by all cells of the column. Cells that fit more
 * than one order of day and month are described, never guessed. */
#include "formats/table/table_builder.h"

#include <stdio.h>
#include <string.h>

/* Records that the order of the dates is open, with the option that says it. */
static void note_ambiguous(struct table_builder *b, struct column *c, const char *text, size_t n) {
    struct buf hint = {0};
    buf_printf(&hint,
               "its dates may be day first or month first: types=%s:datetime(dmy) or "
               "types=%s:datetime(mdy) says which",
               c->name, c->name);
    builder_note_reason(b, c, text, n, buf_cstr(&hint));
    buf_done(&hint);
}

bool builder_take_date(struct table_builder *b, struct column *c, const char *text, size_t n) {
    const struct text trimmed = text_trim(text, n);
    const bool decided = dn_datetime_is_form(&c->form) && dn_datetime_is_decided(&c->form);
    if (!dn_datetime_add(trimmed.bytes, trimmed.n, c->orders, &c->form)) {
        return false;
    }
    if (!decided && !dn_datetime_is_decided(&c->form) && c->reason.line == 0) {
        note_ambiguous(b, c, text, n);
    } else if (!decided && dn_datetime_is_decided(&c->form)) {
        type_reason_done(&c->reason);
    }
    c->state = COLUMN_DATES;
    return true;
}

bool builder_date_fits(const struct column *c, unsigned orders, struct text trimmed) {
    dn_datetime_form form = c != NULL ? c->form : (dn_datetime_form){0};
    return dn_datetime_add(trimmed.bytes, trimmed.n, c != NULL ? c->orders : orders, &form);
}

const char *builder_date_hint(const struct column *c, struct text text,
                              char room[BUILDER_RULE_SIZE]) {
    const bool dates = c->state == COLUMN_DATES && dn_datetime_is_form(&c->form);
    const bool year_first = text.n > 4 && memchr("-/.", text.bytes[4], 3) != NULL;
    const char *fault = dates || year_first ? dn_datetime_fault(text.bytes, text.n) : NULL;
    char form[DN_DATETIME_FORM_SIZE];
    if (fault != NULL || !dates) {
        return fault;
    }
    if (!dn_datetime_is_decided(&c->form)) {
        return "the cells before it have another form";
    }
    (void)dn_datetime_form_write(&c->form, form);
    (void)snprintf(room, BUILDER_RULE_SIZE, "the cells before it have the form %s", form);
    return room;
}

bool builder_has_date_mark(const struct column *c) {
    return c->state == COLUMN_DATES && !dn_datetime_is_decided(&c->form);
}

void builder_settle_dates(struct table_builder *b) {
    for (size_t i = 0; i < b->n_columns; i++) {
        struct column *c = &b->column[i];
        if (builder_has_date_mark(c) && !column_is_fixed(c)) {
            builder_fall(b, c);
        }
    }
}

const char *builder_rule(const struct table_builder *b, size_t i, dn_column_type given,
                         char room[BUILDER_RULE_SIZE]) {
    const struct column *c = i < b->n_columns ? &b->column[i] : NULL;
    char form[DN_DATETIME_FORM_SIZE];
    if (given != DN_DATETIME) {
        return given == DN_BOOLEAN ? "a boolean" : "a number";
    }
    if (c == NULL || !dn_datetime_is_form(&c->form)) {
        return "a date or time";
    }
    if (!dn_datetime_is_decided(&c->form)) {
        return "a date or time of the form of the cells before it";
    }
    (void)dn_datetime_form_write(&c->form, form);
    (void)snprintf(room, BUILDER_RULE_SIZE, "a date or time of the form %s", form);
    return room;
}

dn_status builder_decode(struct table_builder *b, const struct column *c, const void *bytes,
                         size_t size, dn_column_type type, dn_column_view *out, dn_error *err) {
    const bool dates = type == DN_DATETIME;
    if (dates && dn_datetime_is_form(&c->form)) {
        return dn_column_chunk_decode_datetime(b->chunk, bytes, size, &c->form, out, err);
    }
    /* without a form all cells are missing */
    const dn_status status =
        dn_column_chunk_decode(b->chunk, bytes, size, dates ? DN_NUMERIC : type, out, err);
    if (status == DN_OK) {
        out->type = type;
    }
    return status;
}
