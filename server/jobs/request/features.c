/* The options of `features`: missing values, categories, text, standardising. Bases are in bases.c.
 */
#include "jobs/request/features.h"

#include <stdio.h>
#include <string.h>

static const char *const numbers[] = {"mean", "most_frequent", "none",
                                      NULL}; /* dn_missing_number */
static const char *const categories[] = {"own_category", "most_frequent",
                                         NULL}; /* dn_missing_category */
static const char *const encodings[] = {"one_hot", "drop_first", "auto",
                                        NULL}; /* dn_categorical, and the algorithm's choice */
static const char *const unseens[] = {"zeros", "most_frequent", "error", NULL}; /* dn_unseen_rule */
static const char *const weightings[] = {"counts", "binary",     "tfidf", "set",
                                         "paths",  "characters", NULL}; /* dn_text_weighting */

enum { DEFAULT_LENGTH = 3 /* labels in a path */, POINTER_SIZE = 200 };

struct jobs_features jobs_features_default(const dn_params *params) {
    return (struct jobs_features){.standardize = params != NULL && dn_params_standardizes(params),
                                  .automatic = true,
                                  .text = {.vocabulary = DN_DEFAULT_VOCABULARY, .min_rows = 1}};
}

/* Reads the object `key` of `object` and sets `pointer` to its JSON pointer. */
static bool read_part(const json_t *object, const char *key, const char *parent, const json_t **out,
                      char pointer[POINTER_SIZE], struct problem *problem) {
    (void)snprintf(pointer, POINTER_SIZE, "%s/%s", parent, key);
    return json_read_object(object, key, false, parent, out, problem);
}

/* Reads "missing" given as one word for numeric and categorical columns. */
static void read_missing_word(const json_t *object, const char *parent, struct jobs_features *out,
                              struct problem *problem) {
    static const char *const words[] = {"mean", "most_frequent", "own_category", NULL};
    size_t word = 0;
    if (json_read_choice(object, "missing", false, parent, words, &word, problem)) {
        out->missing_number = word == 1 ? DN_MISSING_FREQUENT_NUMBER : DN_MISSING_MEAN;
        out->missing_category = word == 1 ? DN_MISSING_FREQUENT_LEVEL : DN_MISSING_OWN_LEVEL;
    }
}

static void read_missing(const json_t *object, const char *parent, struct jobs_features *out,
                         struct problem *problem) {
    static const char *const known[] = {"numeric", "categorical", "indicator", NULL};
    const json_t *value = json_read_any(object, "missing", false, parent, problem), *part = NULL;
    char pointer[POINTER_SIZE];
    size_t choice = 0;
    if (json_is_string(value)) {
        read_missing_word(object, parent, out, problem);
        return;
    }
    if (value != NULL && !json_is_object(value)) {
        json_refuse_value(problem, parent, "missing", "a word or an object", value);
        return;
    }
    if (!read_part(object, "missing", parent, &part, pointer, problem)) {
        return;
    }
    if (json_read_choice(part, "numeric", false, pointer, numbers, &choice, problem)) {
        out->missing_number = (dn_missing_number)choice;
    }
    if (json_read_choice(part, "categorical", false, pointer, categories, &choice, problem)) {
        out->missing_category = (dn_missing_category)choice;
    }
    json_read_bool(part, "indicator", false, pointer, &out->missing_indicator, problem);
    json_refuse_unknown(part, known, pointer, problem);
}

static void read_categorical(const json_t *object, const char *parent, struct jobs_features *out,
                             struct problem *problem) {
    static const char *const known[] = {"encoding", "unseen", NULL};
    const json_t *part = NULL;
    char pointer[POINTER_SIZE];
    size_t choice = 0;
    if (!read_part(object, "categorical", parent, &part, pointer, problem)) {
        return;
    }
    if (json_read_choice(part, "encoding", false, pointer, encodings, &choice, problem)) {
        out->automatic = choice == 2;
        out->categorical = choice == 1 ? DN_DROP_FIRST : DN_ONE_HOT;
    }
    if (json_read_choice(part, "unseen", false, pointer, unseens, &choice, problem)) {
        out->unseen = (dn_unseen_rule)choice;
    }
    json_refuse_unknown(part, known, pointer, problem);
}

/* Reads `unseen` beside `categorical`, which means `categorical.unseen`. */
static void read_unseen(const json_t *object, const char *parent, struct jobs_features *out,
                        struct problem *problem) {
    static const char *const names[] = {"zero", "error", NULL};
    const json_t *part = json_object_get(object, "categorical");
    size_t choice = 0;
    if (!json_read_choice(object, "unseen", false, parent, names, &choice, problem)) {
        return;
    }
    if (json_object_get(part, "unseen") != NULL) {
        json_fault(problem, parent, "unseen", "is given twice: categorical.unseen says the same");
        return;
    }
    out->unseen = choice == 1 ? DN_UNSEEN_REFUSE : DN_UNSEEN_ZEROS;
}

static void read_count(const json_t *object, const char *key, const char *parent, int64_t least,
                       int64_t most, size_t *out, struct problem *problem) {
    int64_t count = 0;
    if (json_read_int(object, key, false, parent, least, most, &count, problem)) {
        *out = (size_t)count;
    }
}

static void read_text(const json_t *object, const char *parent, struct jobs_features *out,
                      struct problem *problem) {
    static const char *const known[] = {"weighting", "vocabulary", "min_rows", "hash",
                                        "lowercase", "length",     NULL};
    const json_t *text = NULL;
    char pointer[POINTER_SIZE];
    size_t choice = 0, length = DEFAULT_LENGTH;
    bool lowercase = true;
    if (!read_part(object, "text", parent, &text, pointer, problem)) {
        return;
    }
    if (json_read_choice(text, "weighting", false, pointer, weightings, &choice, problem)) {
        out->text.weighting = (dn_text_weighting)choice;
    }
    read_count(text, "vocabulary", pointer, 1, (int64_t)DN_MAX_WORDS, &out->text.vocabulary,
               problem);
    read_count(text, "min_rows", pointer, 1, (int64_t)1 << 40, &out->text.min_rows, problem);
    read_count(text, "hash", pointer, 0, (int64_t)DN_MAX_WORDS, &out->text.buckets, problem);
    if (json_read_bool(text, "lowercase", false, pointer, &lowercase, problem)) {
        out->text.keep_case = !lowercase;
    }
    if (out->text.weighting == DN_TEXT_PATHS) {
        read_count(text, "length", pointer, 1, DN_MAX_PATH_LABELS, &length, problem);
        out->text.length = (unsigned)length;
    } else if (!json_is_null(json_object_get(text, "length")) && json_object_get(text, "length")) {
        json_fault(problem, pointer, "length", "is allowed only with weighting paths");
    }
    json_refuse_unknown(text, known, pointer, problem);
}

static void write_text(const dn_text_spec *text, struct json_writer *w) {
    json_kv_begin_object(w, "text");
    json_kv_string(w, "weighting", weightings[text->weighting]);
    if (text->weighting == DN_TEXT_PATHS) {
        json_kv_int(w, "length", text->length);
    }
    if (text->weighting > DN_TEXT_TFIDF) { /* the other members have no effect */
        if (text->weighting == DN_TEXT_SET) {
            json_kv_bool(w, "lowercase", !text->keep_case);
        }
        json_end_object(w);
        return;
    }
    json_kv_int(w, "vocabulary",
                (int64_t)(text->vocabulary > 0 ? text->vocabulary : DN_DEFAULT_VOCABULARY));
    json_kv_int(w, "min_rows", (int64_t)(text->min_rows > 0 ? text->min_rows : 1));
    json_kv_int(w, "hash", (int64_t)text->buckets);
    json_kv_bool(w, "lowercase", !text->keep_case);
    json_end_object(w);
}

/* The words of "parts", in the order of dn_date_part. */
static const char *const date_parts[] = {"seconds", "year", "month", "day",
                                         "weekday", "hour", NULL};

static void read_date_part(const json_t *part, size_t i, const char *pointer, unsigned *parts,
                           struct problem *problem) {
    const char *word = json_string_value(part);
    char key[24];
    size_t k = 0;
    (void)snprintf(key, sizeof key, "%zu", i);
    while (word != NULL && date_parts[k] != NULL && strcmp(word, date_parts[k]) != 0) {
        k++;
    }
    if (word == NULL || date_parts[k] == NULL) {
        json_refuse_value(problem, pointer, key, "seconds, year, month, day, weekday or hour",
                          part);
    } else if ((*parts & 1U << k) != 0) {
        json_fault(problem, pointer, key, "\"%s\" comes twice", word);
    } else {
        *parts |= 1U << k;
    }
}

void jobs_date_parts_read(const json_t *object, const char *parent, unsigned *out,
                          struct problem *problem) {
    static const char *const known[] = {"parts", NULL};
    const json_t *datetime = NULL;
    char pointer[POINTER_SIZE];
    if (!read_part(object, "datetime", parent, &datetime, pointer, problem)) {
        return;
    }
    json_refuse_unknown(datetime, known, pointer, problem);
    const json_t *list = json_read_any(datetime, "parts", false, pointer, problem);
    if (list == NULL) {
        return;
    }
    if (!json_is_array(list)) {
        json_refuse_value(problem, pointer, "parts", "a list", list);
        return;
    }
    if (json_array_size(list) == 0) {
        json_fault(problem, pointer, "parts", "must have at least one part");
        return;
    }
    unsigned parts = 0;
    (void)snprintf(pointer, sizeof pointer, "%s/datetime/parts", parent);
    for (size_t i = 0; i < json_array_size(list) && i <= DN_DATE_PARTS; i++) {
        read_date_part(json_array_get(list, i), i, pointer, &parts, problem);
    }
    *out = parts;
}

static void write_datetime(unsigned parts, struct json_writer *w) {
    json_kv_begin_object(w, "datetime");
    json_kv_begin_array(w, "parts");
    for (size_t k = 0; k < DN_DATE_PARTS; k++) {
        if ((parts & 1U << k) != 0 || (parts == 0 && k == DN_PART_NONE)) {
            json_put_string(w, date_parts[k]);
        }
    }
    json_end_array(w);
    json_end_object(w);
}

void jobs_features_read(const json_t *object, const char *parent, const struct jobs_column *inputs,
                        size_t n_inputs, struct arena *arena, struct jobs_features *out,
                        struct problem *problem) {
    if (json_read_bool(object, "standardize", false, parent, &out->standardize, problem)) {
        out->standardize_sparse = out->standardize;
    }
    json_read_bool(object, "standardize_sparse", false, parent, &out->standardize_sparse, problem);
    read_text(object, parent, out, problem);
    read_missing(object, parent, out, problem);
    read_categorical(object, parent, out, problem);
    read_unseen(object, parent, out, problem);
    jobs_date_parts_read(object, parent, &out->date_parts, problem);
    jobs_bases_read(object, parent, inputs, n_inputs, arena, out, problem);
}

void jobs_features_write(const struct jobs_features *features, const struct jobs_column *inputs,
                         size_t n_inputs, struct json_writer *w) {
    json_kv_bool(w, "standardize", features->standardize);
    json_kv_bool(w, "standardize_sparse", features->standardize_sparse);
    json_kv_begin_object(w, "missing");
    json_kv_string(w, "numeric", numbers[features->missing_number]);
    json_kv_string(w, "categorical", categories[features->missing_category]);
    json_kv_bool(w, "indicator", features->missing_indicator);
    json_end_object(w);
    json_kv_begin_object(w, "categorical");
    json_kv_string(w, "encoding", features->automatic ? "auto" : encodings[features->categorical]);
    json_kv_string(w, "unseen", unseens[features->unseen]);
    json_end_object(w);
    write_text(&features->text, w);
    write_datetime(features->date_parts, w);
    json_kv_begin_array(w, "basis");
    for (size_t i = 0; i < features->n_bases; i++) {
        jobs_basis_write(&features->bases[i], inputs, n_inputs, w);
    }
    json_end_array(w);
}

dn_table_column jobs_table_column(const struct jobs_column *column) {
    return (dn_table_column){.name = column->name,
                             .type = column->type,
                             .width = column->width,
                             .first_index = column->first_index,
                             .form = column->form,
                             .part = column->part};
}

bool jobs_columns_places(const struct jobs_column *columns, size_t n, struct arena *arena,
                         const dn_index_filter **out) {
    bool any = false;
    *out = NULL;
    for (size_t i = 0; i < n; i++) {
        any = any || columns[i].places.kind != DN_INDICES_ALL;
    }
    dn_index_filter *places = any ? arena_alloc(arena, n * sizeof *places) : NULL;
    for (size_t i = 0; places && i < n; i++) {
        places[i] = columns[i].places;
    }
    *out = places;
    return places || !any;
}

dn_encoder_spec jobs_features_spec(const struct jobs_features *features, const size_t *columns,
                                   size_t n) {
    return (dn_encoder_spec){
        .columns = columns,
        .n_columns = n,
        .standardize = features->standardize,
        .standardize_sparse = features->standardize_sparse,
        .missing_number = features->missing_number,
        .missing_category = features->missing_category,
        .missing_indicator = features->missing_indicator,
        .categorical = features->categorical,
        .unseen = features->unseen,
        .text = features->text,
        .bases = features->bases,
        .n_bases = features->n_bases,
    };
}
