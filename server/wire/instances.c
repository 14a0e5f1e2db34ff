/* Instances: inputs, matrix, values. The formats are in instances_json.c, instances_csv.c and instances_pairs.c. */
#include "wire/instances.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void wire_instances_done(struct wire_instances *in) {
    free(in->raw);
    free(in->label);
    *in = (struct wire_instances){0};
}

/* ---- the model's inputs --------------------------------------------------------------------------------------------------------------- */
bool instances_init(struct instances *in, const dn_model *model, bool labelled, struct problem *problem) {
    *in = (struct instances){
        .model = model, .encoder = dn_model_encoder(model), .classes = dn_model_classes(model), .labelled = labelled, .problem = problem};
    in->n_inputs = dn_encoder_n_inputs(in->encoder);
    in->rows.n_inputs = in->n_inputs;
    in->type = malloc(in->n_inputs + 1);
    in->run = calloc(in->n_inputs + 1, sizeof *in->run);
    in->named = calloc(in->n_inputs + 1, sizeof *in->named);
    if (in->type == NULL || in->run == NULL || in->named == NULL) {
        return problem_set(problem, PROBLEM_UNAVAILABLE, "no memory left");
    }
    for (size_t i = in->n_inputs; i-- > 0;) {
        const dn_column_type type = dn_encoder_input(in->encoder, i)->type;
        in->type[i] = (uint8_t)type;
        in->run[i] = type == DN_NUMERIC ? in->run[i + 1] + 1 : 0;
    }
    return missing_init(&in->missing, NULL, problem);
}

void instances_done(struct instances *in) {
    wire_instances_done(&in->rows);
    free(in->type);
    free(in->run);
    free(in->named);
    names_done(&in->names);
}

const char *instances_name(const struct instances *in, size_t i) {
    return i < in->n_inputs ? dn_encoder_input(in->encoder, i)->name : dn_model_target(in->model);
}

static bool is_named(const struct instances *in, size_t i, const char *name, size_t n) {
    const char *own = instances_name(in, i);
    return strncmp(own, name, n) == 0 && own[n] == '\0';
}

size_t instances_find(struct instances *in, const char *name, size_t n, size_t expected) {
    if (memchr(name, '\0', n) != NULL) {
        return SIZE_MAX;
    }
    if (expected <= in->n_inputs && is_named(in, expected, name, n)) {
        return expected;
    }
    for (size_t i = in->names.n; i <= in->n_inputs; i++) {
        const char *own = instances_name(in, i);
        if (!names_add(&in->names, own, strlen(own))) {
            instances_no_memory(in);
            return SIZE_MAX;
        }
    }
    const ptrdiff_t found = names_find(&in->names, name, n);
    return found >= 0 ? (size_t)found : SIZE_MAX;
}

/* ---- faults ------------------------------------------------------------------------------------------------------------------------- */
void instances_no_memory(struct instances *in) {
    problem_done(in->problem);
    problem_set(in->problem, PROBLEM_UNAVAILABLE, "no memory left");
    in->stopped = true;
}

void instances_fault(struct instances *in, const char *pointer, int64_t line, int64_t column, const char *format, ...) {
    struct buf text = {0};
    va_list args;
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    const char *detail = buf_cstr(&text);
    if (line > 0) {
        problem_add_line(in->problem, PROBLEM_INVALID_INSTANCES, line, column, "%s", detail != NULL ? detail : "");
    } else {
        problem_add(in->problem, PROBLEM_INVALID_INSTANCES, pointer, "%s", detail != NULL ? detail : "");
    }
    buf_done(&text);
    in->stopped |= in->problem->n_errors + in->problem->n_dropped >= INSTANCES_MAX_FAULTS;
}

/* ---- the matrix --------------------------------------------------------------------------------------------------------------------- */
static bool rows_grow(struct instances *in) {
    struct wire_instances *rows = &in->rows;
    const size_t width = in->n_inputs > 0 ? in->n_inputs : 1, most = INSTANCES_MAX_BYTES / sizeof(double) / width;
    if (rows->capacity >= most) {
        instances_fault(in, NULL, 0, 0, "the instances need more than %d MiB of memory: send fewer at a time", INSTANCES_MAX_BYTES >> 20);
        in->stopped = true;
        return false;
    }
    size_t capacity = rows->capacity > 0 ? 2 * rows->capacity : 1;
    capacity = capacity > most ? most : capacity;
    double *raw = realloc(rows->raw, capacity * width * sizeof *raw);
    if (raw != NULL) {
        rows->raw = raw;
    }
    size_t *label = in->labelled ? realloc(rows->label, capacity * sizeof *label) : NULL;
    if (label != NULL) {
        rows->label = label;
    }
    if (raw == NULL || (in->labelled && label == NULL)) {
        instances_no_memory(in);
        return false;
    }
    rows->capacity = capacity;
    return true;
}

double *instances_row(struct instances *in) {
    struct wire_instances *rows = &in->rows;
    if (in->stopped || (rows->n == rows->capacity && !rows_grow(in))) {
        return NULL;
    }
    double *row = rows->raw + rows->n * in->n_inputs;
    for (size_t i = 0; i < in->n_inputs; i++) {
        row[i] = (double)NAN;
    }
    if (in->labelled) {
        rows->label[rows->n] = SIZE_MAX;
    }
    rows->n++;
    return row;
}

/* ---- values ------------------------------------------------------------------------------------------------------------------------- */
/* What came, for a message. */
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

/* Null, or a token for missing; NaN is one only where no number is expected. */
static bool is_missing(const struct instances *in, const struct value *value, bool numeric) {
    if (value->kind == VALUE_MISSING) {
        return true;
    }
    const struct text t = text_trim(value->text.bytes, value->text.n);
    return is_text(value) && missing_has(&in->missing, t) && !(numeric && (value->kind == VALUE_STRING || text_is(t, "NaN")));
}

static bool as_number(const struct value *value, double *out, struct buf *why) {
    if (value->kind == VALUE_NUMBER) {
        *out = value->number;
        return true;
    }
    const struct text t = text_trim(value->text.bytes, value->text.n);
    if (value->kind == VALUE_TEXT && dn_number_parse(t.bytes, t.n, out)) {
        return true;
    }
    return refuse(value, "must be a finite number", why);
}

static bool as_boolean(const struct value *value, double *out, struct buf *why) {
    const struct text t = text_trim(value->text.bytes, value->text.n);
    bool truth = value->kind == VALUE_TRUE;
    if (value->kind == VALUE_NUMBER && (value->number == 0 || value->number == 1)) {
        truth = value->number == 1;
    } else if (is_text(value) && (text_is(t, "0") || text_is(t, "1"))) {
        truth = text_is(t, "1");
    } else if (value->kind != VALUE_TRUE && value->kind != VALUE_FALSE && !(is_text(value) && text_boolean(t, &truth))) {
        return refuse(value, "must be true or false", why);
    }
    *out = truth ? 1 : 0;
    return true;
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
        if (!(type == DN_NUMERIC ? as_number(value, &number, why) : as_boolean(value, &number, why))) {
            return false;
        }
        k = dn_model_class_of_number(in->model, number);
    } else if (value->kind != VALUE_NESTED && value->kind != VALUE_NOT_FINITE) {
        k = dn_model_class_of_text(in->model, value->text.bytes, value->text.n);
    }
    if (k == SIZE_MAX) {
        return refuse(value, "must be one of the model's classes", why);
    }
    *label = k;
    return true;
}

bool instances_put(struct instances *in, size_t i, const struct value *value, struct buf *why) {
    if (i == in->n_inputs) {
        return !in->labelled || put_label(in, value, why);
    }
    double *out = &in->rows.raw[(in->rows.n - 1) * in->n_inputs + i];
    const dn_column_type type = (dn_column_type)in->type[i];
    if (is_missing(in, value, type == DN_NUMERIC)) {
        return true;
    }
    if (type == DN_NUMERIC) {
        return as_number(value, out, why);
    }
    if (type == DN_BOOLEAN) {
        return as_boolean(value, out, why);
    }
    if (value->kind == VALUE_NESTED || value->kind == VALUE_NOT_FINITE) {
        return refuse(value, "must be a string", why);
    }
    *out = dn_encoder_level(in->encoder, i, value->text.bytes, value->text.n);
    if (*out == DN_UNSEEN && dn_encoder_refuses_unseen(in->encoder)) {
        return refuse(value, "must be a category that training saw", why);
    }
    return true;
}

/* ---- the end ------------------------------------------------------------------------------------------------------------------------ */
bool instances_finish(struct instances *in, const char *pointer, struct wire_instances *out) {
    if (in->rows.n == 0 && in->problem->type == PROBLEM_NONE) {
        instances_fault(in, pointer, 0, 0, "there are no instances: at least one is needed");
    }
    for (size_t i = 0; in->rows.n > 0 && !in->all_named && !in->stopped && i < in->n_inputs + in->labelled; i++) {
        if (in->named[i] == 0) {
            instances_fault(in, pointer, 0, 0, "no instance names the column \"%s\"", instances_name(in, i));
        }
    }
    if (in->problem->type != PROBLEM_NONE) {
        return false;
    }
    *out = in->rows;
    in->rows = (struct wire_instances){0};
    return true;
}

/* ---- the face ----------------------------------------------------------------------------------------------------------------------- */
bool wire_instances_format(const char *media_type, enum wire_instances_format *out) {
    if (media_type[0] == '\0') {
        *out = WIRE_INSTANCES_SNIFF;
    } else if (strcmp(media_type, "application/json") == 0) {
        *out = WIRE_INSTANCES_JSON;
    } else if (strcmp(media_type, "text/csv") == 0) {
        *out = WIRE_INSTANCES_CSV;
    } else {
        return false;
    }
    return true;
}

static enum wire_instances_format sniff(const char *body, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (body[i] == '{' || body[i] == '[') {
            return WIRE_INSTANCES_JSON;
        }
        if (body[i] != ' ' && body[i] != '\t' && body[i] != '\r' && body[i] != '\n') {
            break;
        }
    }
    return WIRE_INSTANCES_CSV;
}

bool wire_instances_read(const char *body, size_t size, enum wire_instances_format format, const dn_model *model, bool labelled,
                         struct wire_instances *out, struct problem *problem) {
    struct instances in;
    bool well = instances_init(&in, model, labelled, problem);
    if (size >= 3 && memcmp(body, "\xEF\xBB\xBF", 3) == 0) { /* a byte order mark */
        body += 3;
        size -= 3;
    }
    if (format == WIRE_INSTANCES_SNIFF) {
        format = sniff(body, size);
    }
    if (well) {
        well = format == WIRE_INSTANCES_JSON ? instances_read_json(&in, body, size, out) : instances_read_csv(&in, body, size, out);
    }
    instances_done(&in);
    return well;
}
