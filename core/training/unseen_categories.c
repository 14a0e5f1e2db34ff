/* Counts the categories of validation rows that no training row has. */
#include "training/unseen_categories.h"
#include "catalogue/report.h"

#include <stdio.h>
#include <string.h>

/* Returns the categorical column with a name, beginning the search at column `first`; SIZE_MAX:
 * none. */
static size_t find_column(const dn_table_source *source, const char *name, size_t first) {
    for (size_t k = 0; k < source->n_cols; k++) {
        const size_t j = (first + k) % source->n_cols;
        if (strcmp(source->columns[j].name, name) == 0) {
            return source->columns[j].type == DN_CATEGORICAL ? j : SIZE_MAX;
        }
    }
    return SIZE_MAX;
}

static bool is_wanted(const dn_table_source *source, const uint8_t *role, size_t chunk, size_t i) {
    return role == NULL || role[source->chunk_first_row[chunk] + i] == DN_ROW_VALIDATE;
}

static bool has_wanted(const dn_table_source *source, const uint8_t *role, size_t chunk) {
    const size_t n = source->chunk_first_row[chunk + 1] - source->chunk_first_row[chunk];
    for (size_t i = 0; i < n; i++) {
        if (is_wanted(source, role, chunk, i)) {
            return true;
        }
    }
    return false;
}

/* Copies a text that is not NUL-terminated. */
static void copy_text(const char *text, size_t n, char out[DN_FIELD_SIZE]) {
    char whole[DN_FIELD_SIZE + 1];
    const size_t kept = n < DN_FIELD_SIZE ? n : DN_FIELD_SIZE;
    memcpy(whole, text, kept);
    whole[kept] = '\0';
    dni_copy_name(whole, out);
}

static void add(dni_unseen *u, const char *column, const char *text, size_t n) {
    dni_unseen_category c = {.n_rows = 1};
    dni_copy_name(column, c.column);
    copy_text(text, n, c.value);
    u->n_values++;
    for (size_t k = 0; k < u->n_listed; k++) {
        if (strcmp(u->listed[k].column, c.column) == 0 &&
            strcmp(u->listed[k].value, c.value) == 0) {
            u->listed[k].n_rows++;
            return;
        }
    }
    if (u->n_listed < DNI_UNSEEN_LISTED) {
        u->listed[u->n_listed++] = c;
    }
}

/* Counts the cells of input `input` in a chunk. */
static dn_status count_chunk(const dn_encoder *encoder, size_t input, const dn_table_source *source,
                             size_t column, size_t chunk, const uint8_t *role, const dn_run *run,
                             dni_unseen *u, dn_error *err) {
    dn_column_view view;
    dn_status status = dn_run_stop(run, err);
    if (status == DN_OK) {
        status = source->column(source, chunk, column, 0, &view, err);
    }
    void *memory = NULL;
    if (status == DN_OK && view.strings.n > 0) {
        status = dn_run_alloc(run, view.strings.n, 1, "the categories of a chunk", &memory, err);
    }
    if (status != DN_OK || memory == NULL) {
        return status;
    }
    const dn_strings *s = &view.strings;
    bool *unseen = memory, any = false;
    for (size_t k = 0; k < s->n; k++) {
        unseen[k] = dn_encoder_level(encoder, input, s->bytes + s->start[k],
                                     s->start[k + 1] - s->start[k]) == DN_UNSEEN;
        any = any || unseen[k];
    }
    for (size_t i = 0; any && i < view.n_rows; i++) {
        const uint32_t code = view.code[i];
        if (code != DN_CODE_MISSING && unseen[code] && is_wanted(source, role, chunk, i)) {
            add(u, dn_encoder_input(encoder, input)->name, s->bytes + s->start[code],
                s->start[code + 1] - s->start[code]);
        }
    }
    dn_run_free(run, memory);
    return DN_OK;
}

dn_status dni_unseen_count(const dn_encoder *encoder, const dn_table_source *source,
                           const uint8_t *role, const dn_run *run, dni_unseen *unseen,
                           dn_error *err) {
    for (size_t c = 0; c < source->n_chunks; c++) {
        size_t next = 0; /* the columns are mostly in the order of the inputs */
        const size_t n = has_wanted(source, role, c) ? dn_encoder_n_inputs(encoder) : 0;
        for (size_t i = 0; i < n; i++) {
            const dn_input *input = dn_encoder_input(encoder, i);
            const size_t j =
                input->type == DN_CATEGORICAL ? find_column(source, input->name, next) : SIZE_MAX;
            next = j == SIZE_MAX ? next + 1 : j + 1;
            const dn_status status =
                j == SIZE_MAX ? DN_OK
                              : count_chunk(encoder, i, source, j, c, role, run, unseen, err);
            if (status != DN_OK) {
                return status;
            }
        }
    }
    return DN_OK;
}

void dni_unseen_warn(const dni_unseen *u, const char *rows, dn_report *report) {
    enum { REST = 160 }; /* bytes for the beginning and the end of the message */
    char text[DN_MESSAGE_SIZE];
    size_t length = 0, named = 0;
    for (size_t k = 0; k < u->n_listed; k++) {
        const dni_unseen_category *c = &u->listed[k];
        const size_t room = sizeof text - REST - length;
        const int n = snprintf(text + length, room, "%s\"%s\" in column \"%s\" (%zu row%s)",
                               length == 0 ? "" : ", ", c->value, c->column, c->n_rows,
                               c->n_rows == 1 ? "" : "s");
        if (n < 0 || (size_t)n >= room) {
            break;
        }
        length += (size_t)n;
        named += c->n_rows;
    }
    text[length] = '\0';
    char more[64] = "";
    if (named < u->n_values) {
        (void)snprintf(more, sizeof more, "%s%zu of other categories", length == 0 ? "" : " and ",
                       u->n_values - named);
    }
    if (u->n_values > 0) {
        dn_report_warn(report, DN_WARNING_UNSEEN,
                       "the %s rows have %zu value%s that no training row has: %s%s", rows,
                       u->n_values, u->n_values == 1 ? "" : "s", text, more);
    }
}
