/* Writes the stored columns as the API shows them: the features of a sparse column take its
 * place. */
#include "base/json/json.h"
#include "base/json/json_write.h"
#include "formats/formats.h"
#include "formats/json/json_reader.h"
#include "formats/svmlight/table_svmlight.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_SIZE = sizeof TABLE_SPARSE_NAME + 24 };

static int64_t integer_of(const json_t *object, const char *key) {
    return (int64_t)json_number_value(json_object_get(object, key));
}

static const char *feature_name(const json_t *column, int64_t place, char out[NAME_SIZE]) {
    (void)snprintf(out, NAME_SIZE, TABLE_SPARSE_NAME "%" PRId64,
                   integer_of(column, "first") + place);
    return out;
}

/* Writes an object for each feature. */
static void write_features(const json_t *column, struct json_writer *w) {
    static const char *const members[] = {"min", "max", "mean", "std", "nonzero"};
    const json_t *features = json_object_get(column, "features");
    const int64_t width = integer_of(column, "width");
    char name[NAME_SIZE];
    for (int64_t j = 0; j < width; j++) {
        json_begin_object(w);
        json_kv_string(w, "name", feature_name(column, j, name));
        json_kv_string(w, "type", dn_column_type_name(DN_NUMERIC));
        json_kv_int(w, "missing", 0);
        for (size_t m = 0; m < sizeof members / sizeof members[0]; m++) {
            const json_t *value = json_array_get(json_object_get(features, members[m]), (size_t)j);
            json_kv_double(w, members[m],
                           json_is_number(value) ? json_number_value(value)
                                                 : (double)NAN); /* written as null */
        }
        json_end_object(w);
    }
}

/* Writes the columns before the sparse column unchanged, and the features of the sparse column.
 * text[0 … before - 1] is "[…,". */
static void write_columns(const char *text, size_t before, const json_t *column,
                          struct json_writer *w) {
    const char *first = strchr(text, '[') + 1, *comma = text + before;
    while (comma > first && *comma != ',') {
        comma--;
    }
    json_kv_begin_array(w, "columns");
    if (comma > first) {
        json_put_raw(w, first, (size_t)(comma - first));
    }
    write_features(column, w);
    json_end_array(w);
}

static void write_sparse(const json_t *column, int64_t n_rows, struct json_writer *w) {
    const int64_t width = integer_of(column, "width"), entries = integer_of(column, "entries");
    char first[NAME_SIZE];
    json_kv_begin_object(w, "sparse");
    json_kv_string(w, "first", feature_name(column, 0, first));
    json_kv_int(w, "columns", width);
    json_kv_int(w, "entries", entries);
    json_kv_double(w, "density",
                   width > 0 && n_rows > 0 ? (double)entries / ((double)n_rows * (double)width)
                                           : 0);
    json_end_object(w);
}

/* Skips the value that begins with the current token. */
static bool skip_value(struct json_reader *r, struct json_token *token) {
    const unsigned depth = r->depth - json_token_begins(token->kind);
    while (r->depth > depth) {
        const enum json_token_kind kind = json_reader_next(r, token);
        if (kind == JSON_TOKEN_FAULT || kind == JSON_TOKEN_END) {
            return false;
        }
    }
    return true;
}

static bool token_is(const struct json_token *token, const char *text) {
    return token->length == strlen(text) && memcmp(token->text, text, token->length) == 0;
}

/* Reads to the end of a column object. *sparse: set if the type of the column is sparse. */
static bool read_column(struct json_reader *r, struct json_token *token, bool *sparse) {
    while (json_reader_next(r, token) == JSON_TOKEN_KEY) {
        const bool is_type = token_is(token, "type");
        (void)json_reader_next(r, token);
        *sparse = *sparse || (is_type && token->kind == JSON_TOKEN_STRING &&
                              token_is(token, dn_column_type_name(DN_SPARSE)));
        if (!skip_value(r, token)) {
            return false;
        }
    }
    return token->kind == JSON_TOKEN_END_OBJECT;
}

/* Finds the sparse column, which is the last one of its table, in the text of the columns: it is
 * columns[*from … *to - 1]. Returns false if there is none. */
static bool find_sparse(const char *columns, size_t *from, size_t *to) {
    struct json_reader r;
    struct json_token token;
    bool sparse = false, well = true;
    json_reader_init(&r);
    json_reader_feed(&r, columns, strlen(columns));
    json_reader_close(&r);
    well = json_reader_next(&r, &token) == JSON_TOKEN_BEGIN_ARRAY;
    while (well && !sparse && json_reader_next(&r, &token) == JSON_TOKEN_BEGIN_OBJECT) {
        *from = (size_t)r.token_at;
        well = read_column(&r, &token, &sparse);
        *to = (size_t)r.token_at + 1;
    }
    json_reader_done(&r);
    return well && sparse;
}

int64_t schema_columns_write(const char *columns, int64_t n_rows, struct json_writer *w) {
    size_t from = 0, to = 0;
    int64_t n_features = -1;
    struct problem problem = {0};
    json_t *column = columns != NULL && find_sparse(columns, &from, &to)
                         ? json_parse(columns + from, to - from, &problem)
                         : NULL;
    problem_done(&problem);
    if (column != NULL && json_object_get(column, "features") != NULL) {
        write_columns(columns, from, column, w);
    } else { /* there is no sparse column whose features are listed */
        json_kv_raw(w, "columns", columns);
    }
    if (column != NULL) {
        write_sparse(column, n_rows, w);
        n_features = integer_of(column, "width");
    }
    json_decref(column);
    return n_features;
}
