/* Names of columns: checks them and adds columns. */
#include "base/json/json_write.h"
#include "base/nearest.h"
#include "formats/formats.h"
#include "formats/table/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_control(struct text t) {
    for (size_t i = 0; i < t.n; i++) {
        if ((unsigned char)t.bytes[i] < 0x20 || t.bytes[i] == 0x7F) {
            return true;
        }
    }
    return false;
}

bool table_key_check(struct table *t, struct text name, const struct table_where *where) {
    char shown[TEXT_SHOWN];
    int64_t line = 0, column = 0;
    if (name.n <= TABLE_MAX_NAME && !has_control(name)) {
        return true;
    }
    where->place(where->arg, 0, &line, &column);
    const char *as = text_show(name.bytes, name.n, shown);
    return name.n > TABLE_MAX_NAME
               ? table_row_fault(t, line, column,
                                 "key %s is %zu bytes long, at most %d are allowed", as, name.n,
                                 TABLE_MAX_NAME)
               : table_row_fault(t, line, column, "key %s has a control character", as);
}

/* Returns false if reading stops. */
static bool check_name(struct table *t, struct text name, size_t position,
                       const struct table_where *where) {
    const ptrdiff_t same = names_find(&t->builder.names, name.bytes, name.n);
    char shown[TEXT_SHOWN];
    if (name.n <= TABLE_MAX_NAME && !has_control(name) && same < 0) {
        return true;
    }
    int64_t line = 0, column = 0;
    if (where != NULL) {
        where->place(where->arg, position, &line, &column);
    }
    const char *as = text_show(name.bytes, name.n, shown);
    if (name.n > TABLE_MAX_NAME) {
        return table_fault(t, line, column,
                           "column name %s is %zu bytes long, at most %d are allowed", as, name.n,
                           TABLE_MAX_NAME);
    }
    if (same >= 0) {
        return table_fault(t, line, column,
                           "column name %s is used twice: columns %td and %zu; duplicates=rename "
                           "gives the second one another name",
                           as, same + 1, position);
    }
    return table_fault(t, line, column, "column name %s has a control character", as);
}

struct taken {
    const struct table *t;
    const struct names *header;
};

/* Whether a column of the body has the name, or a later one will have it. */
static bool is_taken(const void *arg, const char *name, size_t n) {
    const struct taken *by = arg;
    const struct table *t = by->t;
    const ptrdiff_t found = names_find(&t->builder.names, name, n);
    return (found >= 0 && (!t->append.on || t->append.listed[found])) ||
           (by->header != NULL && names_find(by->header, name, n) >= 0);
}

const char *table_copy_name(struct table *t, struct text name, size_t same,
                            const struct names *header, char made[TABLE_COPY_NAME]) {
    if (t->copies == NULL) {
        t->copies = calloc(TABLE_MAX_COLUMNS, sizeof *t->copies);
    }
    if (t->copies == NULL || same >= TABLE_MAX_COLUMNS) {
        return NULL;
    }
    t->copies[same] += t->copies[same] == 0;
    (void)names_copy(name, &t->copies[same], is_taken, &(struct taken){t, header}, made);
    return made;
}

bool table_add_column(struct table *t, const char *bytes, size_t n, size_t position,
                      const struct names *header, const struct table_where *where) {
    char made[64], copy[TABLE_COPY_NAME];
    struct text name = text_trim(bytes, n);
    const ptrdiff_t same = t->options.rename && name.n > 0 && name.n <= TABLE_MAX_NAME
                               ? names_find(&t->builder.names, name.bytes, name.n)
                               : -1;
    if (same >= 0) {
        const char *renamed = table_copy_name(t, name, (size_t)same, header, copy);
        if (renamed == NULL) {
            return table_no_memory(t);
        }
        name = (struct text){renamed, strlen(renamed)};
        table_warn(t, "the name of column %zu is that of column %td: it is called \"%s\"", position,
                   same + 1, renamed);
    }
    if (name.n == 0) {
        name = (struct text){made, (size_t)snprintf(made, sizeof made, "c%zu", position)};
        for (size_t k = 2; names_find(&t->builder.names, name.bytes, name.n) >= 0 ||
                           (header && names_find(header, name.bytes, name.n) >= 0);
             k++) {
            name.n = (size_t)snprintf(made, sizeof made, "c%zu_%zu", position, k);
        }
        table_warn(t, "column %zu has no name: it is called \"%s\"", position, made);
    }
    const bool go_on = check_name(t, name, position, where);
    if (t->n_faults > 0) { /* The table is refused. The name is not shown; it only has to be
                            * unique. */
        name = (struct text){made, (size_t)snprintf(made, sizeof made, "\001%zu", position)};
    }
    if (builder_add_column(&t->builder, name.bytes, name.n) != BUILDER_WELL) {
        return table_stop(t);
    }
    return go_on;
}

struct nearest table_nearest(const struct table *t, const char *name, size_t n) {
    struct nearest near = nearest_to(name, n);
    for (size_t i = 0; i < t->builder.n_columns; i++) {
        nearest_offer(&near, t->builder.column[i].name, strlen(t->builder.column[i].name));
    }
    return near;
}

/* Decides whether a label of digits is a name or a position. */
static void resolve_label(struct table *t) {
    struct table_options *o = &t->options;
    const ptrdiff_t named =
        o->label != NULL ? names_find(&t->builder.names, o->label, strlen(o->label)) : -1;
    const int64_t at = o->label_at;
    if (named < 0) {
        o->label = at > 0 && at <= (int64_t)t->builder.n_columns ? NULL : o->label;
        return;
    }
    o->label_at = 0;
    if (at > 0 && at <= (int64_t)t->builder.n_columns && at != named + 1) {
        table_warn(t,
                   "label=%" PRId64 " is the column of that name; column %" PRId64
                   ", \"%s\", is label=#%" PRId64 " (a URL has %%23 for #)",
                   at, at, t->builder.column[at - 1].name, at);
    }
}

bool table_check_label(struct table *t) {
    const struct table_options *o = &t->options;
    char shown[TEXT_SHOWN];
    resolve_label(t);
    if (o->label_at > (int64_t)t->builder.n_columns) {
        char position[24];
        snprintf(position, sizeof position, "%" PRId64, o->label_at);
        return table_fatal(t, 0, 0,
                           "option \"label\" is column %.100s, and the table has %zu column%s",
                           o->label != NULL ? o->label : position, t->builder.n_columns,
                           t->builder.n_columns == 1 ? "" : "s");
    }
    if (o->label == NULL || names_find(&t->builder.names, o->label, strlen(o->label)) >= 0) {
        return true;
    }
    const struct nearest near = table_nearest(t, o->label, strlen(o->label));
    return table_fatal(t, 0, 0, "option \"label\" names %s, which is not a column of the table%s",
                       text_show(o->label, strlen(o->label), shown), near.hint);
}

const char *table_label_name(const struct table *t) {
    return t->options.label != NULL ? t->options.label
                                    : t->builder.column[t->options.label_at - 1].name;
}

/* Adds n columns with the names of the option `names`. */
static bool add_named(struct table *t, size_t n, const struct table_where *where) {
    struct problem problem = {0};
    struct text *names = NULL;
    size_t n_names = 0;
    if (!table_names_parse(t->options.names, &names, &n_names, &problem)) {
        problem_done(&problem);
        return table_no_memory(t); /* the list was checked before */
    }
    bool go_on =
        n_names == n ||
        table_fatal(t, 0, 0, "option \"names\" has %zu name%s, and the rows have %zu cell%s",
                    n_names, n_names == 1 ? "" : "s", n, n == 1 ? "" : "s");
    for (size_t i = 0; go_on && i < n; i++) {
        go_on = table_add_column(t, names[i].bytes, names[i].n, i + 1, NULL, where);
    }
    free(names);
    t->refused |= t->n_faults > 0;
    return go_on && !t->refused && table_check_label(t);
}

bool table_add_numbered(struct table *t, size_t n, const struct table_where *where) {
    const size_t label = t->options.label_at > 0    ? (size_t)t->options.label_at
                         : t->options.label != NULL ? n
                                                    : 0;
    if (t->options.names != NULL) {
        return add_named(t, n, where);
    }
    if (t->options.label_at > 0 && label <= n) {
        t->options.label = NULL; /* there are no names */
    }
    for (size_t i = 0; i < n; i++) {
        char made[24];
        snprintf(made, sizeof made, "c%zu", i + 1);
        const char *name = i + 1 != label             ? made
                           : t->options.label_at == 0 ? t->options.label
                                                      : TABLE_LABEL_NAME;
        if (!table_add_column(t, name, strlen(name), i + 1, NULL, where)) {
            return false;
        }
    }
    return label <= n || table_check_label(t);
}

void table_declare_type(struct table *t, size_t i, dn_column_type type, unsigned orders) {
    const char *name = t->builder.column[i].name;
    if (!t->builder.column[i].forced) {
        builder_force(&t->builder, i, type, orders);
        json_escape(&t->declared, name, strlen(name));
        buf_printf(&t->declared, ":%s,", dn_column_type_name(type));
    }
}
