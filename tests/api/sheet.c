/* Tables in memory, which are generated, changed and written as CSV. Cells keep the text that they
 * were read with: a change of the order changes no digit. */
#include "sheet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CLASSES = 16 };

double next_uniform(uint64_t *state) {
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (double)(*state >> 11) / 9007199254740992.0;
}

size_t *shuffled(size_t n, uint64_t seed) {
    size_t *order = keep(calloc(n, sizeof *order), free);
    for (size_t i = 0; i < n; i++) {
        size_t j = (size_t)(next_uniform(&seed) * (double)(i + 1));
        order[i] = order[j];
        order[j] = i;
    }
    return order;
}

static struct sheet *sheet_new(size_t n_rows, size_t n_cols) {
    struct sheet *s = keep(calloc(1, sizeof *s), free);
    *s = (struct sheet){.n_rows = n_rows,
                        .n_cols = n_cols,
                        .names = keep(calloc(n_cols, sizeof *s->names), free),
                        .cell = keep(calloc(n_rows * n_cols, sizeof *s->cell), free),
                        .label = keep(calloc(n_rows, sizeof *s->label), free)};
    return s;
}

static struct sheet *sheet_copy(const struct sheet *s) {
    struct sheet *copy = sheet_new(s->n_rows, s->n_cols);
    memcpy(copy->names, s->names, s->n_cols * sizeof *s->names);
    memcpy(copy->cell, s->cell, s->n_rows * s->n_cols * sizeof *s->cell);
    memcpy(copy->label, s->label, s->n_rows * sizeof *s->label);
    copy->weight = s->weight;
    return copy;
}

/* ---- made ---- */

const struct sheet *sheet_read(const char *file) {
    const struct table *t = table_read(text("tests/data/%s", file));
    struct sheet *s = sheet_new(t->n_rows, t->n_cols);
    memcpy(s->names, t->names, t->n_cols * sizeof *t->names);
    memcpy(s->label, t->label, t->n_rows * sizeof *t->label);
    for (size_t i = 0; i < t->n_rows * t->n_cols; i++) {
        s->cell[i] = text("%.17g", t->x[i]);
    }
    return s;
}

const struct sheet *sheet_made(size_t n_rows, size_t n_classes) {
    static const char *const names[] = {"u", "v", "w", "x", "y", "z", "colour", "open"};
    static const char *const colours[] = {"blue", "green", "red", "yellow"};
    static const char *const letters[] = {"a", "b", "c", "d"}, *const numbers[] = {"2", "10"};
    struct sheet *s = sheet_new(n_rows, 8);
    assert_true(n_classes <= 4);
    uint64_t state = 2024;
    memcpy(s->names, names, sizeof names);
    for (size_t i = 0; i < n_rows; i++) {
        const char **cell = s->cell + 8 * i;
        const size_t k = (size_t)(next_uniform(&state) * (double)n_classes);
        for (size_t j = 0; j < 6; j++) {
            double noise = next_uniform(&state) + next_uniform(&state) + next_uniform(&state) - 1.5;
            cell[j] = text("%.6f",
                           (double)((k * (j + 1)) % 3) * 0.5 + noise * (1 + (double)j) + (double)j);
        }
        if (next_uniform(&state) < 0.05) {
            cell[1] = "";
        }
        const size_t colour = (size_t)(next_uniform(&state) * 4);
        cell[6] =
            next_uniform(&state) < 0.05 ? "" : colours[next_uniform(&state) < 0.3 ? k % 4 : colour];
        cell[7] = next_uniform(&state) < 0.3 + 0.2 * (double)(k % 3) ? "true" : "false";
        s->label[i] = n_classes == 2 ? numbers[k] : letters[k];
    }
    return s;
}

/* ---- changed ---- */

const struct sheet *sheet_rows(const struct sheet *s, const size_t *rows, size_t n) {
    struct sheet *out = sheet_new(n, s->n_cols);
    memcpy(out->names, s->names, s->n_cols * sizeof *s->names);
    for (size_t i = 0; i < n; i++) {
        memcpy(out->cell + i * s->n_cols, s->cell + rows[i] * s->n_cols,
               s->n_cols * sizeof *s->cell);
        out->label[i] = s->label[rows[i]];
    }
    return out;
}

const struct sheet *sheet_without(const struct sheet *s, const char *label) {
    size_t *rows = keep(calloc(s->n_rows, sizeof *rows), free), n = 0;
    for (size_t i = 0; i < s->n_rows; i++) {
        if (strcmp(s->label[i], label) != 0) {
            rows[n++] = i;
        }
    }
    assert_true(n > 0 && n < s->n_rows);
    return sheet_rows(s, rows, n);
}

const struct sheet *sheet_columns(const struct sheet *s, const size_t *order) {
    struct sheet *out = sheet_copy(s);
    for (size_t j = 0; j < s->n_cols; j++) {
        out->names[j] = s->names[order[j]];
        for (size_t i = 0; i < s->n_rows; i++) {
            out->cell[i * s->n_cols + j] = s->cell[i * s->n_cols + order[j]];
        }
    }
    return out;
}

const struct sheet *sheet_moved(const struct sheet *s, const double *scale, const double *shift) {
    struct sheet *out = sheet_copy(s);
    for (size_t j = 0; j < s->n_cols; j++) {
        for (size_t i = j; sheet_is_number(s, j) && i < s->n_rows * s->n_cols; i += s->n_cols) {
            if (s->cell[i][0] != '\0') {
                out->cell[i] = text("%.17g", scale[j] * strtod(s->cell[i], NULL) + shift[j]);
            }
        }
    }
    return out;
}

const struct sheet *sheet_renamed(const struct sheet *s, const char *const *classes, size_t n) {
    struct sheet *out = sheet_copy(s);
    for (size_t i = 0; i < s->n_rows; i++) {
        for (size_t k = 0; k < n; k++) {
            if (strcmp(s->label[i], classes[k]) == 0) {
                out->label[i] = classes[n - 1 - k];
            }
        }
    }
    return out;
}

const struct sheet *sheet_weighed(const struct sheet *s, const double *weight) {
    struct sheet *out = sheet_copy(s);
    out->weight = weight;
    return out;
}

/* ---- looked at ---- */

bool sheet_is_number(const struct sheet *s, size_t column) {
    char *end;
    size_t i = column;
    while (s->cell[i][0] == '\0') {
        i += s->n_cols;
    }
    return (void)strtod(s->cell[i], &end), *end == '\0';
}

double sheet_largest(const struct sheet *s, size_t column) {
    double largest = 0;
    for (size_t i = column; i < s->n_rows * s->n_cols; i += s->n_cols) {
        largest = fmax(largest, fabs(strtod(s->cell[i], NULL)));
    }
    return largest;
}

size_t sheet_classes(const struct sheet *s, const char *classes[]) {
    size_t n = 0;
    for (size_t i = 0; i < s->n_rows; i++) {
        size_t k = 0;
        while (k < n && strcmp(classes[k], s->label[i]) < 0) {
            k++;
        }
        if (k < n && strcmp(classes[k], s->label[i]) == 0) {
            continue;
        }
        assert_true(n < MOST_CLASSES);
        memmove(classes + k + 1, classes + k, (n - k) * sizeof *classes);
        classes[k] = s->label[i];
        n++;
    }
    return n;
}

const char *sheet_csv(const struct sheet *s, bool labelled) {
    size_t room = 256, at = 0;
    for (size_t i = 0; i < s->n_rows * s->n_cols; i++) {
        room += strlen(s->cell[i]) + 1;
    }
    for (size_t j = 0; j < s->n_cols; j++) {
        room += strlen(s->names[j]) + 1;
    }
    for (size_t i = 0; i < s->n_rows; i++) {
        room += strlen(s->label[i]) + 32;
    }
    char *out = keep(malloc(room), free);
    for (size_t i = 0; i <= s->n_rows; i++) {
        const char *const *line = i == 0 ? s->names : s->cell + (i - 1) * s->n_cols;
        for (size_t j = 0; j < s->n_cols; j++) {
            at += (size_t)snprintf(out + at, room - at, "%s%s", j > 0 ? "," : "", line[j]);
        }
        if (labelled) {
            at += (size_t)snprintf(out + at, room - at, ",%s", i == 0 ? "class" : s->label[i - 1]);
        }
        if (labelled && s->weight != NULL) {
            at += (size_t)(i == 0 ? snprintf(out + at, room - at, ",weight")
                                  : snprintf(out + at, room - at, ",%.17g", s->weight[i - 1]));
        }
        at += (size_t)snprintf(out + at, room - at, "\n");
    }
    return out;
}

void sheet_upload(const struct sheet *s, const char *dataset) {
    const struct response *r = call_upload(text("/v1/datasets/%s", dataset), sheet_csv(s, true));
    if (r->status != 201 && r->status != 200) {
        fail_msg("%s: %d %s", dataset, r->status, r->body);
    }
}
