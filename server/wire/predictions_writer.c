/* Classes as JSON, and the answer of a prediction call. Numbers go straight into the buffer; the text of a class is made once, not for each row. */
#include "base/json_write.h"
#include "wire/wire.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- classes ------------------------------------------------------------------------------------------------------------------------ */
/* The text of class k, not NUL-terminated. */
static const char *class_name(const dn_classes *classes, size_t k, size_t *n) {
    const uint32_t from = classes->names.start[k];
    *n = classes->names.start[k + 1] - from;
    return *n > 0 ? classes->names.bytes + from : "";
}

void wire_class_write(const dn_classes *classes, size_t k, struct buf *out) {
    size_t n = 0;
    const char *name = class_name(classes, k, &n);
    if (classes->type == DN_NUMERIC || classes->type == DN_BOOLEAN) {
        buf_append(out, name, n); /* a number's or a boolean's text is JSON */
    } else {
        json_escape(out, name, n);
    }
}

/* The classes as JSON, one after the other. */
struct class_texts {
    struct buf text;
    size_t *end; /* [n] where that of class k ends */
};

static bool texts_make(const dn_classes *classes, struct class_texts *out) {
    *out = (struct class_texts){.end = calloc(classes->n > 0 ? classes->n : 1, sizeof *out->end)};
    for (size_t k = 0; out->end != NULL && k < classes->n; k++) {
        wire_class_write(classes, k, &out->text);
        out->end[k] = out->text.size;
    }
    return out->end != NULL && !out->text.failed;
}

static void texts_done(struct class_texts *t) {
    free(t->end);
    buf_done(&t->text);
}

static void put_class(const struct class_texts *t, size_t k, struct buf *out) {
    const size_t from = k > 0 ? t->end[k - 1] : 0;
    buf_append(out, t->text.data + from, t->end[k] - from);
}

/* ---- rows --------------------------------------------------------------------------------------------------------------------------- */
static void put_numbers(const char *key, const double *x, size_t n, struct buf *out) {
    buf_puts(out, key);
    if (!buf_reserve(out, n * (DN_NUMBER_SIZE + 1) + 2)) {
        return;
    }
    char *p = out->data + out->size;
    *p++ = '[';
    for (size_t i = 0; i < n; i++) {
        if (i > 0) {
            *p++ = ',';
        }
        p += dn_number_format(x[i], p); /* what is not finite is null */
    }
    *p++ = ']';
    out->size = (size_t)(p - out->data);
}

static void put_row(const struct class_texts *texts, size_t n_classes, size_t n_scores, const dn_prediction *prediction, size_t i,
                    struct buf *out) {
    const char *comma = "";
    buf_putc(out, '{');
    if (prediction->label != NULL) {
        buf_puts(out, "\"label\":");
        if (prediction->label[i] == DN_AMBIGUOUS)
            buf_puts(out, "null");
        else
            put_class(texts, prediction->label[i], out);
        comma = ",";
    }
    if (prediction->probabilities != NULL) {
        buf_puts(out, comma);
        put_numbers("\"probabilities\":", prediction->probabilities + i * n_classes, n_classes, out);
        comma = ",";
    }
    if (prediction->scores != NULL) {
        buf_puts(out, comma);
        put_numbers("\"scores\":", prediction->scores + i * n_scores, n_scores, out);
    }
    buf_putc(out, '}');
}

void wire_predictions_write(const dn_model *model, const char *name, int64_t version, size_t n, const dn_prediction *prediction,
                            struct buf *out) {
    const dn_classes *classes = dn_model_classes(model);
    const size_t n_scores = dn_model_n_scores(model);
    struct class_texts texts;
    if (!texts_make(classes, &texts)) {
        out->failed = true;
    }
    buf_puts(out, "{\"model\":");
    json_escape(out, name, strlen(name));
    buf_printf(out, ",\"version\":%" PRId64 ",\"classes\":[", version);
    for (size_t k = 0; k < classes->n && !out->failed; k++) {
        if (k > 0) {
            buf_putc(out, ',');
        }
        put_class(&texts, k, out);
    }
    buf_puts(out, "],\"predictions\":[");
    for (size_t i = 0; i < n && !out->failed; i++) {
        if (i > 0) {
            buf_putc(out, ',');
        }
        put_row(&texts, classes->n, n_scores, prediction, i, out);
    }
    buf_puts(out, "]}");
    texts_done(&texts);
}
