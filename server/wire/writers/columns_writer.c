/* The stored columns as the API shows them: a sparse column as the features that it stands for. */
#include "base/json.h"
#include "base/json_write.h"
#include "wire/table/table_svmlight.h"
#include "wire/wire.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* How our writer begins a sparse column, which is the last of its table. Within a string this could not stand: quotes are escaped there. */
#define SPARSE_COLUMN "{\"name\":\"" TABLE_SPARSE_NAME "\",\"type\":\"sparse\","

enum { NAME_SIZE = sizeof TABLE_SPARSE_NAME + 24 };

static int64_t integer_of(const json_t *object, const char *key) {
    return (int64_t)json_number_value(json_object_get(object, key));
}

static const char *feature_name(const json_t *column, int64_t place, char out[NAME_SIZE]) {
    (void)snprintf(out, NAME_SIZE, TABLE_SPARSE_NAME "%" PRId64,
                   integer_of(column, "first") + place);
    return out;
}

/* One object for each place. */
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
                                                 : (double)NAN); /* NaN is null */
        }
        json_end_object(w);
    }
}

/* The columns before the sparse one as they are; text[0 … before - 1] is "[…,". */
static void write_columns(const char *text, size_t before, const json_t *column,
                          struct json_writer *w) {
    json_put_key(w, "columns");
    json_begin_array(w);
    if (before > 2) {
        json_put_raw(w, text + 1, before - 2);
    }
    write_features(column, w);
    json_end_array(w);
}

static void write_sparse(const json_t *column, int64_t n_rows, struct json_writer *w) {
    const int64_t width = integer_of(column, "width"), entries = integer_of(column, "entries");
    char first[NAME_SIZE];
    json_put_key(w, "sparse");
    json_begin_object(w);
    json_kv_string(w, "first", feature_name(column, 0, first));
    json_kv_int(w, "columns", width);
    json_kv_int(w, "entries", entries);
    json_kv_double(w, "density",
                   width > 0 && n_rows > 0 ? (double)entries / ((double)n_rows * (double)width)
                                           : 0);
    json_end_object(w);
}

void wire_columns_write(const char *columns, int64_t n_rows, struct json_writer *w) {
    const char *sparse = columns != NULL ? strstr(columns, SPARSE_COLUMN) : NULL;
    const char *end = columns != NULL ? strrchr(columns, ']') : NULL;
    struct problem problem = {0};
    json_t *column = sparse != NULL && end > sparse
                         ? json_parse(sparse, (size_t)(end - sparse), &problem)
                         : NULL;
    problem_done(&problem);
    if (column != NULL && json_object_get(column, "features") != NULL) {
        write_columns(columns, (size_t)(sparse - columns), column, w);
    } else { /* as they are, which is so of most tables */
        json_kv_raw(w, "columns", columns);
    }
    if (column != NULL) {
        write_sparse(column, n_rows, w);
    }
    json_decref(column);
}
