#include "lib/csv_table.h"

#include "lib/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool numeric_order; /* order of the labels; static, since qsort passes no context */

static int compare(const void *a, const void *b) {
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    if (!numeric_order) {
        return strcmp(x, y);
    }
    double u = strtod(x, NULL), v = strtod(y, NULL);
    return (u > v) - (u < v);
}

static void find_classes(struct table *t) {
    const char **sorted = keep(calloc(t->n_rows, sizeof *sorted), free);
    char *end;
    memcpy(sorted, t->label, t->n_rows * sizeof *sorted);
    numeric_order = t->n_rows > 0 && (strtod(sorted[0], &end), *end == '\0');
    qsort(sorted, t->n_rows, sizeof *sorted, compare);
    t->classes = sorted;
    for (size_t i = 0; i < t->n_rows; i++) {
        if (t->n_classes == 0 || strcmp(sorted[t->n_classes - 1], sorted[i]) != 0) {
            t->classes[t->n_classes++] = sorted[i];
        }
    }
    for (size_t i = 0; i < t->n_rows; i++) {
        for (size_t k = 0; k < t->n_classes; k++) {
            if (strcmp(t->label[i], t->classes[k]) == 0) {
                t->y[i] = k;
            }
        }
    }
}

static void find_moments(struct table *t) {
    for (size_t j = 0; j < t->n_cols; j++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < t->n_rows; i++) {
            sum += t->x[i * t->n_cols + j];
        }
        t->mean[j] = sum / (double)t->n_rows;
        for (size_t i = 0; i < t->n_rows; i++) {
            squares += pow(t->x[i * t->n_cols + j] - t->mean[j], 2);
        }
        t->std[j] = sqrt(squares / (double)t->n_rows);
    }
}

/* Splits a line at its commas; the files of the tests do not use quotes. */
static size_t split(char *line, const char **out, size_t most) {
    size_t n = 0;
    for (char *rest = line, *cell; n < most && (cell = strsep(&rest, ",")) != NULL;) {
        out[n++] = cell;
    }
    return n;
}

const struct table *table_read(const char *path) {
    size_t size, n_lines = 0;
    char *bytes = (char *)(uintptr_t)read_whole(path, &size), *line;
    const char *cells[1000];
    for (size_t i = 0; i < size; i++) {
        n_lines += bytes[i] == '\n';
    }
    struct table *t = keep(calloc(1, sizeof *t), free);
    size_t n = split(strsep(&bytes, "\n"), cells, 1000);
    t->n_cols = n - 1;
    t->names = keep(calloc(n, sizeof *t->names), free);
    memcpy(t->names, cells, n * sizeof *cells);
    t->x = keep(calloc((n_lines + 1) * t->n_cols, sizeof *t->x), free);
    t->label = keep(calloc(n_lines + 1, sizeof *t->label), free);
    t->y = keep(calloc(n_lines + 1, sizeof *t->y), free);
    t->mean = keep(calloc(t->n_cols, sizeof *t->mean), free);
    t->std = keep(calloc(t->n_cols, sizeof *t->std), free);
    while ((line = strsep(&bytes, "\n")) != NULL && line[0] != '\0') {
        line[strcspn(line, "\r")] = '\0';
        assert_int_equal(split(line, cells, 1000), n);
        for (size_t j = 0; j < t->n_cols; j++) {
            t->x[t->n_rows * t->n_cols + j] = strtod(cells[j], NULL);
        }
        t->label[t->n_rows++] = cells[t->n_cols];
    }
    find_moments(t);
    find_classes(t);
    return t;
}
