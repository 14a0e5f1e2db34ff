/* Names of columns: checks them and adds columns. */
#include "base/json/json_write.h"
#include "formats/formats.h"
#include "formats/table/table.h"

#include <stdio.h>
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
        return table_fault(t, line, column, "column name %s is used twice: columns %td and %zu", as,
                           same + 1, position);
    }
    return table_fault(t, line, column, "column name %s has a control character", as);
}

bool table_add_column(struct table *t, const char *bytes, size_t n, size_t position,
                      const struct names *header, const struct table_where *where) {
    char made[64];
    struct text name = text_trim(bytes, n);
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

bool table_add_numbered(struct table *t, size_t n, const struct table_where *where) {
    for (size_t i = 0; i < n; i++) {
        char made[24];
        snprintf(made, sizeof made, "c%zu", i + 1);
        const char *name = i + 1 == n && t->options.label != NULL ? t->options.label : made;
        if (!table_add_column(t, name, strlen(name), i + 1, NULL, where)) {
            return false;
        }
    }
    return true;
}

void table_declare_type(struct table *t, size_t i, dn_column_type type) {
    const char *name = t->builder.column[i].name;
    if (!t->builder.column[i].forced) {
        builder_force(&t->builder, i, type);
        json_escape(&t->declared, name, strlen(name));
        buf_printf(&t->declared, ":%s,", dn_column_type_name(type));
    }
}
