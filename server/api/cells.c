#include "api/cells.h"

#include "base/json/json.h"
#include "base/json/json_write.h"
#include "formats/formats.h"

#include <stdlib.h>
#include <string.h>

struct visit {
    struct buf path;
    bool into_arrays; /* each item of an array is a value with its own path */
    void (*value)(void *arg, const char *path, const json_t *value);
    void *arg;
    bool failed;
};

/* Calls v->value for each value, in the order of the text. */
static void visit(struct visit *v, const json_t *value) {
    const size_t size = v->path.size;
    const char *key, *dot = size > 0 ? "." : "";
    json_t *member;
    if (json_object_size(value) > 0) {
        json_object_foreach((json_t *)(uintptr_t)value, key, member) {
            buf_printf(&v->path, "%s%s", dot, key);
            visit(v, member);
            v->path.size = size;
        }
    } else if (v->into_arrays && json_array_size(value) > 0) {
        for (size_t i = 0; i < json_array_size(value); i++) {
            buf_printf(&v->path, "%s%zu", dot, i);
            visit(v, json_array_get(value, i));
            v->path.size = size;
        }
    } else {
        const char *path = buf_cstr(&v->path);
        v->failed = v->failed || path == NULL;
        if (path != NULL) {
            v->value(v->arg, path, value);
        }
    }
}

/* Visits the values of a JSON text. Returns false if out of memory, or if the text is not valid. */
static bool visit_text(struct visit *v, const char *text) {
    struct problem ignored = {0};
    json_t *root = json_parse(text, strlen(text), &ignored);
    if (root != NULL) {
        visit(v, root);
    }
    v->failed = v->failed || root == NULL;
    problem_done(&ignored);
    buf_done(&v->path);
    json_decref(root);
    return !v->failed;
}

static void put_value(const json_t *value, char delimiter, struct buf *out) {
    if (json_is_string(value)) {
        csv_text_write(json_string_value(value), json_string_length(value), delimiter, out);
    } else if (json_is_number(value)) {
        json_double_write(json_number_value(value), out);
    } else if (json_is_boolean(value)) {
        buf_puts(out, json_is_true(value) ? "true" : "false");
    } else if (!json_is_null(value)) {
        struct buf text = {0};
        struct json_writer w = json_writer_of(&text);
        json_put_value(value, &w);
        csv_text_write(text.data != NULL ? text.data : "", text.size, delimiter, out);
        out->failed = out->failed || text.failed;
        buf_done(&text);
    }
}

/* ---- a table ---- */

struct table {
    char **paths; /* [n_columns] */
    size_t n_columns, room;
    size_t next; /* where the next path probably is: objects have the same order */
    char delimiter;
    const json_t **row; /* [n_columns] values of the current object; NULL: absent */
    bool failed;
};

/* Returns the column of a path; SIZE_MAX: there is none. */
static size_t find(struct table *t, const char *path) {
    for (size_t i = 0; i < t->n_columns; i++) {
        const size_t at = (t->next + i) % t->n_columns;
        if (strcmp(t->paths[at], path) == 0) {
            t->next = at + 1;
            return at;
        }
    }
    return SIZE_MAX;
}

static void add_path(void *arg, const char *path, const json_t *value) {
    struct table *t = arg;
    (void)value;
    if (t->failed || find(t, path) != SIZE_MAX) {
        return;
    }
    if (t->n_columns == t->room) {
        const size_t room = t->room > 0 ? 2 * t->room : 64;
        char **paths = realloc(t->paths, room * sizeof *paths);
        if (paths == NULL) {
            t->failed = true;
            return;
        }
        t->paths = paths;
        t->room = room;
    }
    t->paths[t->n_columns] = strdup(path);
    t->failed = t->paths[t->n_columns] == NULL;
    t->n_columns += !t->failed;
}

static void set_cell(void *arg, const char *path, const json_t *value) {
    struct table *t = arg;
    const size_t i = find(t, path);
    if (i != SIZE_MAX) {
        t->row[i] = json_incref((json_t *)(uintptr_t)value);
    }
}

static bool put_row(struct table *t, const char *object, struct buf *out) {
    struct visit v = {.value = set_cell, .arg = t};
    const bool good = visit_text(&v, object);
    if (t->n_columns == 1 && (t->row[0] == NULL || json_is_null(t->row[0]))) {
        buf_puts(out, "\"\""); /* an empty line would not be read as a row */
    }
    for (size_t i = 0; i < t->n_columns; i++) {
        if (i > 0) {
            buf_putc(out, t->delimiter);
        }
        if (t->row[i] != NULL) {
            put_value(t->row[i], t->delimiter, out);
            json_decref((json_t *)(uintptr_t)t->row[i]);
            t->row[i] = NULL;
        }
    }
    buf_puts(out, "\n");
    return good;
}

void api_cells_table(const char *const *objects, size_t n, char delimiter, struct buf *out) {
    struct table t = {.delimiter = delimiter};
    bool good = true;
    for (size_t i = 0; i < n && good; i++) {
        struct visit v = {.value = add_path, .arg = &t};
        good = visit_text(&v, objects[i]) && !t.failed;
    }
    t.row = calloc(t.n_columns + 1, sizeof(*t.row));
    good = good && t.row != NULL;
    for (size_t i = 0; i < t.n_columns && good; i++) {
        if (i > 0) {
            buf_putc(out, delimiter);
        }
        csv_text_write(t.paths[i], strlen(t.paths[i]), delimiter, out);
    }
    if (good && t.n_columns > 0) {
        buf_puts(out, "\n");
    }
    for (size_t i = 0; i < n && good; i++) {
        good = put_row(&t, objects[i], out);
    }
    out->failed = out->failed || !good;
    for (size_t i = 0; i < t.n_columns; i++) {
        free(t.paths[i]);
    }
    free(t.paths);
    free((void *)t.row);
}

/* ---- names and values ---- */

struct pairs {
    char delimiter;
    struct buf *out;
};

static void put_pair(void *arg, const char *path, const json_t *value) {
    const struct pairs *p = arg;
    csv_text_write(path, strlen(path), p->delimiter, p->out);
    buf_putc(p->out, p->delimiter);
    put_value(value, p->delimiter, p->out);
    buf_puts(p->out, "\n");
}

void api_cells_pairs(const char *object, char delimiter, struct buf *out) {
    struct pairs p = {delimiter, out};
    struct visit v = {.into_arrays = true, .value = put_pair, .arg = &p};
    buf_printf(out, "name%cvalue\n", delimiter);
    if (!visit_text(&v, object)) {
        out->failed = true;
    }
}
