/* Checks values by the types of their inputs, and stores them. */
#include "formats/instances/instances.h"
#include "formats/instances/row_notes.h"
#include "formats/text/cell_hint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- values ---- */
/* Writes the value that was refused, for a message. */
static void put_shown(const struct value *value, struct buf *why) {
    char shown[TEXT_SHOWN];
    text_show(value->text.bytes, value->text.n, shown);
    switch (value->kind) {
    case VALUE_STRING:
    case VALUE_TEXT:
        buf_puts(why, shown);
        return;
    case VALUE_NESTED:
        buf_puts(why, "an array or an object");
        return;
    case VALUE_MISSING:
    case VALUE_NUMBER:
    case VALUE_NOT_FINITE:
    case VALUE_TRUE:
    case VALUE_FALSE:
        buf_printf(why, "%.*s", (int)(value->text.n < 40 ? value->text.n : 40), value->text.bytes);
        return;
    }
}

static bool refuse(const struct value *value, const char *rule, struct buf *why) {
    buf_puts(why, rule);
    buf_puts(why, " (got ");
    put_shown(value, why);
    buf_putc(why, ')');
    return false;
}

static bool is_text(const struct value *value) {
    return value->kind == VALUE_STRING || value->kind == VALUE_TEXT;
}

/* Whether the value is null or a token for missing values. Of the standard tokens, NaN and JSON
 * strings are tokens only where no number is expected. */
static bool is_missing(const struct instances *in, const struct value *value, bool numeric) {
    if (value->kind == VALUE_MISSING) {
        return true;
    }
    const struct text t = text_trim(value->text.bytes, value->text.n);
    const bool number = value->kind == VALUE_NUMBER && in->missing->numbers;
    return (is_text(value) || number) && missing_has(in->missing, t) &&
           (!numeric || !(value->kind == VALUE_STRING || text_is(t, "NaN")) ||
            missing_is_further(in->missing, t));
}

static bool has_comma(const struct instances *in, size_t i) {
    return in->marked && ((in->comma != NULL && in->comma[i]) || in->marks.decimal == ',');
}

/* Whether the point of a number of input i may separate thousands. */
static bool is_doubtful(const struct instances *in, size_t i, struct text t) {
    double number = 0;
    return (in->doubts_all || (in->doubts != NULL && in->doubts[i])) &&
           marks_form(&in->marks, t, &number) == MARKS_GROUPED;
}

/* Says that JSON has no such value, for a value that is not finite. Returns NULL for others. */
static const char *why_not_finite(const struct value *value) {
    if (value->kind != VALUE_NOT_FINITE) {
        return NULL;
    }
    return text_is(value->text, "NaN") || text_is(value->text, "Infinity") ||
                   text_is(value->text, "-Infinity")
               ? "JSON has no NaN or Infinity: send null for a missing value"
               : "the number is beyond the range of double precision";
}

/* Refuses a value that is not of the type of its column. */
static bool refuse_type(const struct value *value, const char *rule, struct buf *why) {
    const char *hint = why_not_finite(value);
    (void)refuse(value, rule, why);
    if (hint != NULL) {
        buf_puts(why, ": ");
        buf_puts(why, hint);
    }
    return false;
}

/* Whether a string of JSON is a usual spelling of a missing value. */
static bool is_missing_word(const struct instances *in, const struct value *value, struct text t) {
    return text_is(t, "NaN") || cell_hint_missing(t.bytes, t.n) ||
           (value->kind == VALUE_STRING && missing_has(in->missing, t));
}

/* Appends a hint at what the client may have meant by a value of input i. */
static void put_hint(const struct instances *in, size_t i, const struct value *value,
                     struct buf *why) {
    const struct text t = text_trim(value->text.bytes, value->text.n);
    const char *hint = NULL;
    double number = 0;
    if (is_text(value) && is_doubtful(in, i, t)) {
        hint = MARKS_DOUBT;
    } else if (has_comma(in, i) && dn_number_parse(t.bytes, t.n, &number)) {
        hint = in->options == NULL ? "the numbers of this column have decimal commas"
                                   : "the numbers of this column have decimal commas; decimal=. is "
                                     "for decimal points";
    } else if (value->kind == VALUE_NOT_FINITE) {
        hint = why_not_finite(value);
    } else if (is_text(value)) {
        hint = is_missing_word(in, value, t)
                   ? "a missing value is null, or empty in text, or named in missing="
               : value->kind == VALUE_STRING ? cell_hint_json(t.bytes, t.n)
                                             : cell_hint(t.bytes, t.n);
    }
    if (hint != NULL) {
        buf_puts(why, ": ");
        buf_puts(why, hint);
    }
}

bool instances_number(const struct instances *in, bool comma, struct text t, double *out) {
    if (in->marked && comma) {
        const enum marks_form form = marks_form(&in->marks, t, out);
        return form == MARKS_PLAIN || form == MARKS_COMMA || form == MARKS_EITHER;
    }
    return in->marked ? marks_number(&in->marks, t, out) : dn_number_parse(t.bytes, t.n, out);
}

/* Reads a trimmed text as a number of input i; n_inputs: of the target. */
static bool text_number(const struct instances *in, size_t i, struct text t, double *out) {
    return !is_doubtful(in, i, t) &&
           instances_number(in, in->comma != NULL && in->comma[i], t, out);
}

static bool as_number(const struct instances *in, size_t i, const struct value *value, double *out,
                      struct buf *why) {
    if (value->kind == VALUE_NUMBER) {
        *out = value->number;
        return true;
    }
    const struct text t = text_trim(value->text.bytes, value->text.n);
    if (value->kind == VALUE_TEXT && text_number(in, i, t, out)) {
        return true;
    }
    (void)refuse(value, "must be a finite number", why);
    put_hint(in, i, value, why);
    return false;
}

static bool as_boolean(const struct value *value, double *out, struct buf *why) {
    const struct text t = text_trim(value->text.bytes, value->text.n);
    bool truth = value->kind == VALUE_TRUE;
    if (value->kind == VALUE_NUMBER && (value->number == 0 || value->number == 1)) {
        truth = value->number == 1;
    } else if (is_text(value) && (text_is(t, "0") || text_is(t, "1"))) {
        truth = text_is(t, "1");
    } else if (value->kind != VALUE_TRUE && value->kind != VALUE_FALSE &&
               !(is_text(value) && text_boolean(t, &truth))) {
        return refuse_type(value, "must be true or false", why);
    }
    *out = truth ? 1 : 0;
    return true;
}

/* Notes or refuses the parts of a date that training did not see: raw[n] from input i on. */
static bool check_parts(struct instances *in, size_t i, double seconds, const double *raw, size_t n,
                        struct buf *why) {
    char text[DN_DATE_PART_SIZE];
    for (size_t k = 0; k < n; k++) {
        const dn_input *input = dn_encoder_input(in->encoder, i + k);
        if (input->part == DN_PART_NONE || raw[k] != DN_UNSEEN) {
            continue;
        }
        const size_t size = dn_date_part_format(seconds, &input->form, input->part, text);
        if (dn_encoder_refuses_unseen(in->encoder)) {
            buf_printf(why, "must have a %s of the training data (got %s)",
                       dn_date_part_name(input->part), text);
            return false;
        }
        if (!row_notes_unseen_add(&in->rows.notes, in->n_inputs, i + k, text, size)) {
            instances_no_memory(in);
        }
    }
    return true;
}

/* Whether the value may be a date: a text, or a number of a column of dates YYYYMMDD. */
static bool may_be_date(const struct value *value, const dn_datetime_form *form) {
    return is_text(value) ||
           (value->kind == VALUE_NUMBER && form->orders != 0 && form->separator == '\0');
}

/* Reads a date or time of input i, and of the inputs that follow it. */
static bool as_date(struct instances *in, size_t i, const struct value *value, double *out,
                    struct buf *why) {
    const dn_datetime_form *form =
        in->form != NULL ? in->form : &dn_encoder_input(in->encoder, i)->form;
    const struct text t = text_trim(value->text.bytes, value->text.n);
    char shape[DN_DATETIME_FORM_SIZE], rule[DN_DATETIME_FORM_SIZE + 64];
    double seconds = 0;
    if (may_be_date(value, form) && dn_datetime_parse(t.bytes, t.n, form, &seconds)) {
        const size_t n = dn_encoder_date(in->encoder, i, seconds, out);
        return !in->schema->parts || check_parts(in, i, seconds, out, n, why);
    }
    (void)dn_datetime_form_write(form, shape);
    (void)snprintf(rule, sizeof rule, "must be a date or time of the form %s", shape);
    (void)refuse_type(value, rule, why);
    const char *fault = may_be_date(value, form) ? dn_datetime_fault(t.bytes, t.n) : NULL;
    if (fault != NULL) {
        buf_puts(why, ": ");
        buf_puts(why, fault);
    }
    return false;
}

bool instances_note_date(struct instances *in, size_t i, const struct value *value, double *raw,
                         struct row_notes **notes) {
    const dn_datetime_form *form =
        in->form != NULL ? in->form : &dn_encoder_input(in->encoder, i)->form;
    const struct text t = text_trim(value->text.bytes, value->text.n);
    double seconds = 0;
    char text[DN_DATE_PART_SIZE];
    bool well = true;
    if (!may_be_date(value, form) || is_missing(in, value, false) ||
        !dn_datetime_parse(t.bytes, t.n, form, &seconds)) {
        return true;
    }
    const size_t n = dn_encoder_date(in->encoder, i, seconds, raw);
    for (size_t k = 0; k < n && well; k++) {
        const dn_input *input = dn_encoder_input(in->encoder, i + k);
        if (input->part != DN_PART_NONE && raw[k] == DN_UNSEEN) {
            const size_t size = dn_date_part_format(seconds, &input->form, input->part, text);
            well = row_notes_unseen_add(notes, in->n_inputs, i + k, text, size);
        }
    }
    if (well && *notes != NULL) {
        row_notes_row_end(*notes);
    }
    return well;
}

/* Stores the texts as which a category may be read, in the order in which they are compared, and
 * returns their number. A cell without quotes is read without the blanks around it. Unless the
 * training table is known to be read so, it is compared as it is written first. */
static size_t readings(const struct instances *in, const struct value *value, struct text out[2]) {
    const struct text trimmed = text_trim(value->text.bytes, value->text.n);
    const bool trims = value->bare && trimmed.n < value->text.n;
    size_t n = 0;
    if (!trims || !in->trims) {
        out[n++] = value->text;
    }
    if (trims) {
        out[n++] = trimmed;
    }
    return n;
}

static bool put_label(struct instances *in, const struct value *value, struct buf *why) {
    size_t *label = &in->rows.label[in->rows.n - 1];
    const dn_column_type type = in->classes->type;
    double number = 0;
    size_t k = SIZE_MAX;
    if (is_missing(in, value, false)) {
        return true;
    }
    if (type == DN_NUMERIC || type == DN_BOOLEAN) {
        if (!(type == DN_NUMERIC ? as_number(in, in->n_inputs, value, &number, why)
                                 : as_boolean(value, &number, why))) {
            return false;
        }
        k = dn_model_class_of_number(in->model, number);
    } else if (value->kind != VALUE_NESTED && value->kind != VALUE_NOT_FINITE) {
        struct text read[2];
        for (size_t r = 0, n = readings(in, value, read); r < n && k == SIZE_MAX; r++) {
            k = dn_model_class_of_text(in->model, read[r].bytes, read[r].n);
        }
    }
    if (k == SIZE_MAX) {
        return refuse(value, "must be one of the model's classes", why);
    }
    *label = k;
    return true;
}

/* Adds the entries of a text. */
static bool put_words(struct instances *in, size_t i, struct text text, struct buf *why) {
    const uint32_t *feature = NULL;
    const double *entry = NULL;
    size_t n = 0;
    dn_error err;
    dn_error_clear(&err);
    dn_status status = in->words == NULL ? dn_text_work_new(&in->words, &err) : DN_OK;
    if (status == DN_OK) {
        status = dn_encoder_text(in->encoder, i, text.bytes, text.n, in->words, &feature, &entry,
                                 &n, &err);
    }
    if (status == DN_ERR_DATA) {
        buf_puts(why, err.message);
        return false;
    }
    if (status != DN_OK) {
        instances_no_memory(in);
        return true;
    }
    for (size_t k = 0; k < n; k++) {
        instances_put_feature(in, feature[k], entry[k]);
    }
    return true;
}

static bool put_place(struct instances *in, struct slot slot, const struct value *value,
                      struct buf *why) {
    double number = 0;
    if (!as_number(in, slot.input, value, &number, why)) {
        return false;
    }
    instances_put_entry(in, slot.input, slot.place, number);
    return instances_beyond(in, slot, why);
}

/* Stores the level of a category. */
static bool put_level(struct instances *in, size_t i, const struct value *value, double *out,
                      struct buf *why) {
    struct text read[2];
    const size_t n = readings(in, value, read);
    *out = DN_UNSEEN;
    for (size_t r = 0; r < n && *out == DN_UNSEEN; r++) {
        *out = dn_encoder_level(in->encoder, i, read[r].bytes, read[r].n);
    }
    if (*out != DN_UNSEEN) {
        return true;
    }
    if (dn_encoder_refuses_unseen(in->encoder)) {
        return refuse(value, "must be a category of the training data", why);
    }
    const struct text shown = read[n - 1];
    if (!row_notes_unseen_add(&in->rows.notes, in->n_inputs, i, shown.bytes, shown.n)) {
        instances_no_memory(in);
    }
    return true;
}

static bool put(struct instances *in, struct slot slot, const struct value *value, struct buf *why);

/* Stores the value of the target or of a kept column. */
static bool put_other(struct instances *in, struct slot slot, const struct value *value,
                      struct buf *why) {
    if (!instances_is_kept(in, slot)) {
        return !in->labelled || put_label(in, value, why);
    }
    const struct slot used = instances_used(in, slot);
    return (instances_keep_put(in, slot.input - in->n_inputs - 1, value) ||
            refuse(value, "must be a string, a finite number, true, false or null to be kept",
                   why)) &&
           (used.input == SIZE_MAX || put(in, used, value, why));
}

/* Returns false if the value does not fit; `why` gets the rule and the value. */
static bool put(struct instances *in, struct slot slot, const struct value *value,
                struct buf *why) {
    const size_t i = slot.input;
    if (i >= in->n_inputs) {
        return put_other(in, slot, value, why);
    }
    double *out = &in->rows.raw[(in->rows.n - 1) * in->n_inputs + i];
    const dn_column_type type = (dn_column_type)in->schema->type[i];
    if (type == DN_NUMERIC && value->kind == VALUE_NUMBER && !in->missing->numbers) {
        *out = value->number; /* the usual value of JSON */
        return true;
    }
    if (is_missing(in, value, type == DN_NUMERIC || type == DN_SPARSE)) {
        return true;
    }
    if (type == DN_SPARSE) {
        return put_place(in, slot, value, why);
    }
    if (type == DN_NUMERIC) {
        return as_number(in, i, value, out, why);
    }
    if (type == DN_BOOLEAN) {
        return as_boolean(value, out, why);
    }
    if (type == DN_DATETIME) {
        return as_date(in, i, value, out, why);
    }
    if (value->kind == VALUE_NESTED || value->kind == VALUE_NOT_FINITE) {
        return refuse_type(value, "must be a string", why);
    }
    if (type == DN_TEXT) {
        return put_words(in, i, value->text, why);
    }
    return put_level(in, i, value, out, why);
}

const char *instances_put(struct instances *in, struct slot slot, const struct value *value) {
    buf_clear(&in->why);
    return put(in, slot, value, &in->why) ? NULL : instances_why(in);
}
