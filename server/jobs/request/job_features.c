/* Reads the options of `features` and computes the encoding and the number of features of each
 * column. */
#include "base/json/json_read.h"
#include "jobs/request/job_request.h"
#include "jobs/request/params.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define DISTINCT_ERROR 1.05 /* relative error of the summary's number of distinct words */
#define UNKNOWN_WORDS 100   /* assumed words in a text if the summary has no count */

/* Returns true if some basis uses the input and no basis that uses it has "keep". */
static bool is_taken(const struct jobs_request *r, size_t input) {
    bool taken = false;
    for (size_t i = 0; i < r->features.n_bases; i++) {
        const dn_basis_spec *basis = &r->features.bases[i];
        if (!jobs_basis_takes(basis, r->inputs, input)) {
            continue;
        }
        if (basis->keep) {
            return false;
        }
        taken = true;
    }
    return taken;
}

/* Returns an upper bound of the number of features of a text column of words. */
static size_t most_words(const struct jobs_request *r, const struct schema_column *c) {
    const dn_text_spec *text = &r->features.text;
    const double known = (double)c->distinct_words * DISTINCT_ERROR;
    if (text->buckets > 0) {
        return text->buckets;
    }
    return c->distinct_words >= 0 && known < (double)text->vocabulary ? (size_t)known
                                                                      : text->vocabulary;
}

/* Returns an estimate of the number of label sequences of graphs: exact for chains of edges, where
 * an edge is two words of the summary. Graphs with branches have more. */
static double sequences(const dn_text_spec *text, double words) {
    return words * text->length;
}

/* Returns the expected size of the encoding of a text column. */
static struct jobs_encoding text_encoding(const struct jobs_request *r,
                                          const struct schema_column *c) {
    const dn_text_spec *text = &r->features.text;
    const double rows = (double)r->data.n_rows,
                 words = c->words < 0 ? rows * UNKNOWN_WORDS : (double)c->words;
    const double different =
        c->distinct_words < 0 ? words : fmin(words, (double)c->distinct_words * DISTINCT_ERROR);
    struct jobs_encoding e = {.n_entries = words,
                              .n_words = c->distinct_words > 0 ? (double)c->distinct_words : 0};
    double all = different, power = different;
    switch (text->weighting) {
    case DN_TEXT_COUNTS:
    case DN_TEXT_BINARY:
    case DN_TEXT_TFIDF:
        e.n_features = most_words(r, c);
        return e;
    case DN_TEXT_CHARACTERS:
        e.n_features = DN_MAX_CHARACTERS;
        e.n_entries =
            rows * fmin(c->longest < 0 ? DN_MAX_CHARACTERS : (double)c->longest, DN_MAX_CHARACTERS);
        e.n_entries = c->text_bytes < 0 ? e.n_entries : fmin(e.n_entries, (double)c->text_bytes);
        e.n_words = 0;
        return e;
    case DN_TEXT_PATHS:
        e.n_entries = sequences(text, words);
        for (unsigned k = 1; k < text->length; k++) {
            all += power *= different;
        }
        break;
    case DN_TEXT_SET:
        break;
    }
    e.n_words = ceil(fmin(all, e.n_entries));
    e.n_features = (size_t)fmin(e.n_words, (double)DN_MAX_WORDS) + 1;
    return e;
}

/* Returns an estimate of the number of levels of a categorical column; if it is unknown, the
 * maximum of an encoder. */
static size_t levels_of(const struct schema_column *c) {
    const int64_t levels = c->distinct_about >= 0 ? c->distinct_about : DN_MAX_LEVELS;
    return (size_t)(levels > DN_MAX_LEVELS ? DN_MAX_LEVELS : levels);
}

/* Returns an upper bound of the number of levels of a part of a datetime column. */
static size_t part_levels(const struct schema_column *c, dn_date_part part) {
    static const size_t most[DN_DATE_PARTS] = {[DN_PART_YEAR] = DN_MAX_LEVELS,
                                               [DN_PART_MONTH] = 12,
                                               [DN_PART_DAY] = 31,
                                               [DN_PART_WEEKDAY] = 7,
                                               [DN_PART_HOUR] = 24};
    size_t levels = most[part];
    if (part == DN_PART_YEAR && isfinite(c->minimum) && isfinite(c->maximum)) {
        const double offset = c->form.offset * 60.0;
        levels = (size_t)(dn_datetime_split(c->maximum + offset).year -
                          dn_datetime_split(c->minimum + offset).year) +
                 1;
    }
    const size_t distinct = levels_of(c);
    return distinct < levels ? distinct : levels;
}

/* Returns the expected size of the encoding of an input: levels of a category, words of a text,
 * indices of a sparse column; otherwise the number, unless only a basis uses it, and an indicator
 * if it has missing values. */
static struct jobs_encoding encoding_of(const struct jobs_request *r, size_t input) {
    const struct jobs_features *f = &r->features;
    const struct schema_column *c = &r->schema.columns[r->inputs[input].index];
    struct jobs_encoding e = {0};
    if (r->inputs[input].type == DN_CATEGORICAL) {
        const size_t levels = r->inputs[input].part != DN_PART_NONE
                                  ? part_levels(c, r->inputs[input].part)
                                  : levels_of(c);
        e.missing_level = c->missing > 0 && f->missing_category == DN_MISSING_OWN_LEVEL;
        e.n_features =
            levels + e.missing_level - (f->categorical == DN_DROP_FIRST && levels > 0 ? 1 : 0);
        return e;
    }
    if (c->type == DN_TEXT) {
        return text_encoding(r, c);
    }
    if (c->type == DN_SPARSE) {
        const double rows = (double)r->data.n_rows;
        e.n_features = dn_index_filter_count(&r->inputs[input].places, c->width);
        e.n_entries = c->entries < 0 ? rows * UNKNOWN_WORDS
                                     : fmin((double)c->entries, rows * (double)e.n_features);
        return e;
    }
    e.taken = is_taken(r, input);
    e.indicator = c->missing > 0 && f->missing_indicator;
    e.n_features = (e.taken ? 0U : 1U) + (e.indicator ? 1U : 0U);
    return e;
}

static bool reckon(struct jobs_request *r) {
    r->encodings = arena_alloc(r->arena, (r->n_inputs + 1) * sizeof *r->encodings);
    if (!r->encodings) {
        return problem_set(r->problem, PROBLEM_UNAVAILABLE, "no memory for %zu columns",
                           r->n_inputs);
    }
    r->n_features = 0;
    r->n_words = 0;
    for (size_t i = 0; i < r->n_inputs; i++) {
        r->encodings[i] = encoding_of(r, i);
        r->n_features += r->encodings[i].n_features;
        r->n_entries += r->encodings[i].n_entries;
        r->n_words = fmax(r->n_words, r->encodings[i].n_words);
    }
    for (size_t i = 0; i < r->features.n_bases; i++) {
        r->n_features += jobs_basis_features(r, i);
    }
    return true;
}

size_t jobs_basis_features(const struct jobs_request *r, size_t basis) {
    const dn_basis_spec *b = &r->features.bases[basis];
    return dn_basis_n_features(b, jobs_basis_width(b, r->inputs, r->n_inputs), r->n_classes);
}

bool jobs_encoder_spec(const struct jobs_request *r, dn_table_column *columns,
                       dn_encoder_spec *out) {
    const size_t n = r->n_inputs;
    size_t *inputs = arena_alloc(r->arena, (n + 1) * sizeof *inputs);
    for (size_t i = 0; inputs && i < n; i++) {
        columns[i] = jobs_table_column(&r->inputs[i]);
        inputs[i] = i;
    }
    if (!inputs) {
        return false;
    }
    *out = jobs_features_spec(&r->features, inputs, n);
    if (!jobs_columns_places(r->inputs, n, r->arena, &out->index_filters)) {
        return false;
    }
    out->n_classes = r->targetless ? 1 : r->n_classes;
    return true;
}

/* Adds a fault of the encoding at the member that err->field names: the basis, features.text, a
 * parameter, or the column in include. */
static void refuse_encoding(struct jobs_request *r, const json_t *features, const dn_error *err) {
    const json_t *include = json_object_get(features, "include");
    if (strcmp(err->field, "basis") == 0 || strcmp(err->field, "text") == 0) {
        json_fault(r->problem, "/features", err->field, "%s", err->message);
        return;
    }
    if (dn_params_has(r->params, err->field)) {
        jobs_params_fault(err, r->problem);
        return;
    }
    for (size_t k = 0; k < json_array_size(include); k++) {
        const char *name = json_string_value(json_array_get(include, k));
        char key[24];
        (void)snprintf(key, sizeof key, "%zu", k);
        if (name && strcmp(name, err->field) == 0) {
            json_fault(r->problem, "/features/include", key, "%s", err->message);
            return;
        }
    }
    json_fault(r->problem, "", "features", "%s", err->message);
}

/* Adds a fault if the client sets an option to true and the algorithm requires false. */
static void refuse_option(struct jobs_request *r, const json_t *object, const char *parent,
                          const char *key) {
    if (json_is_true(json_object_get(object, key))) {
        json_fault(r->problem, parent, key,
                   "must be false for %s with these parameters, which use unchanged columns",
                   r->params->algorithm->id);
    }
}

/* With missing "none": adds a fault for each numeric column with missing values. */
static void check_missing(struct jobs_request *r, const json_t *features) {
    for (size_t i = 0; r->features.missing_number == DN_MISSING_NONE && i < r->n_inputs; i++) {
        const struct schema_column *c = &r->schema.columns[r->inputs[i].index];
        dn_error err;
        dn_error_clear(&err);
        const dn_column_type type = r->inputs[i].type;
        if ((!dn_column_type_is_real(type) && type != DN_BOOLEAN) || c->missing == 0) {
            continue;
        }
        (void)dn_error_set(&err, DN_ERR_ARGUMENT,
                           "column \"%s\" is missing in %" PRId64 " of %" PRId64
                           " rows, and must be missing in none",
                           c->name, c->missing, r->data.n_rows);
        dn_error_set_field(&err, c->name);
        refuse_encoding(r, features, &err);
    }
}

/* Adapts the encoding to the algorithm. Adds a fault for each column or option that the algorithm
 * does not support. */
static bool settle_encoding(struct jobs_request *r, const json_t *features,
                            const dn_table_column *columns, dn_encoder_spec *spec) {
    struct jobs_features *f = &r->features;
    const size_t before = jobs_request_faults(r);
    dn_error err;
    dn_error_clear(&err);
    if (!r->params) {
        return true;
    }
    if (dn_params_encoding(r->params, columns, (size_t)r->data.n_rows, spec, &err) != DN_OK) {
        refuse_encoding(r, features, &err);
    }
    if (f->standardize && !spec->standardize) {
        refuse_option(r, features, "/features", "standardize");
    }
    if (f->standardize_sparse && !spec->standardize_sparse) {
        refuse_option(r, features, "/features", "standardize_sparse");
    }
    if (f->missing_indicator && !spec->missing_indicator) {
        refuse_option(r, json_object_get(features, "missing"), "/features/missing", "indicator");
    }
    f->missing_number = spec->missing_number;
    check_missing(r, features);
    f->standardize = spec->standardize;
    f->standardize_sparse = spec->standardize_sparse;
    f->missing_indicator = spec->missing_indicator;
    f->text = spec->text;
    return jobs_request_faults(r) == before;
}

/* Checks what the encoder and the algorithm would refuse. */
static void check(struct jobs_request *r, const json_t *features) {
    dn_table_column *columns = arena_alloc(r->arena, (r->n_inputs + 1) * sizeof *columns);
    dn_encoder_spec spec;
    dn_error err;
    dn_error_clear(&err);
    bool categories = false;
    for (size_t i = 0; i < r->n_inputs; i++) {
        categories = categories || r->inputs[i].type == DN_CATEGORICAL;
    }
    if (categories && r->algorithm && (r->algorithm->flags & DN_ALGORITHM_ALL_LEVELS) &&
        r->features.categorical == DN_DROP_FIRST) {
        json_fault(r->problem, "/features/categorical", "encoding",
                   "must be one_hot for %s, which needs a feature for every level",
                   r->algorithm->id);
    }
    if (!columns || !jobs_encoder_spec(r, columns, &spec)) {
        problem_set(r->problem, PROBLEM_UNAVAILABLE, "no memory for %zu columns", r->n_inputs);
    } else if (settle_encoding(r, features, columns, &spec) &&
               dn_encoder_check(columns, r->n_inputs, &spec, &err) != DN_OK) {
        json_fault(r->problem, "/features", strcmp(err.field, "basis") == 0 ? "basis" : NULL, "%s",
                   err.message);
    }
}

static bool has_text(const struct jobs_request *r) {
    for (size_t i = 0; i < r->n_inputs; i++) {
        if (r->inputs[i].type == DN_TEXT) {
            return true;
        }
    }
    return false;
}

/* Refuses options of texts that have no effect. Default values are accepted: the document of a
 * model has them, and a client may send it back. */
static void check_text(struct jobs_request *r, const json_t *features) {
    const dn_text_spec *text = &r->features.text, usual = jobs_features_default(r->params).text;
    const json_t *object = json_object_get(features, "text");
    const bool sizes = text->vocabulary != usual.vocabulary || text->min_rows != usual.min_rows;
    const bool any = sizes || text->weighting != usual.weighting ||
                     text->buckets != usual.buckets || text->keep_case != usual.keep_case;
    if (json_object_size(object) == 0) {
        return;
    }
    if (!has_text(r) && any) {
        json_fault(
            r->problem, "/features", "text",
            "has no effect: no feature is a text column (features.include can name a text "
            "column of few words, which is left out otherwise; an upload with types=NAME:text "
            "reads a categorical column as text)");
    } else if (has_text(r) && text->buckets > 0 && sizes) {
        json_fault(r->problem, "/features/text",
                   text->vocabulary != usual.vocabulary ? "vocabulary" : "min_rows",
                   "is for a vocabulary, and with \"hash\" there is none: omit one of the two");
    } else if (text->weighting > DN_TEXT_TFIDF && (sizes || text->buckets > 0)) {
        json_fault(
            r->problem, "/features/text",
            text->buckets > 0                      ? "hash"
            : text->vocabulary != usual.vocabulary ? "vocabulary"
                                                   : "min_rows",
            "is allowed only with weighting counts, binary or tfidf: the weightings for sets, "
            "paths and characters always use the whole text");
    }
}

void jobs_encoding_foresee(struct jobs_request *r) {
    for (size_t i = 0; i < r->n_inputs; i++) {
        const struct schema_column *c = &r->schema.columns[r->inputs[i].index];
        if (r->features.standardize && dn_column_type_is_real(r->inputs[i].type) &&
            c->minimum == c->maximum && !r->encodings[i].taken) {
            char value[DN_DATETIME_SIZE];
            if (c->type == DN_DATETIME) {
                (void)dn_datetime_format(c->minimum, &c->form, value);
            } else {
                (void)snprintf(value, sizeof value, "%g", c->minimum);
            }
            jobs_request_warn(r, DN_WARNING_OTHER,
                              "column \"%s\" is %s in every row that has a value: its feature is "
                              "constant",
                              c->name, value);
        } else if (r->inputs[i].type == DN_CATEGORICAL && c->type == DN_CATEGORICAL &&
                   c->distinct == 1 && c->missing == 0) {
            jobs_request_warn(r, DN_WARNING_OTHER,
                              "column \"%s\" has the same category in every row: it does not "
                              "distinguish the classes",
                              c->name);
        }
    }
}

/* Why a column has no feature. */
enum no_feature { NO_WORDS, NO_ENTRIES, ONE_LEVEL, NO_VALUE, N_REASONS };
static const char *const reasons[N_REASONS] = {
    [NO_WORDS] = "has no words",
    [NO_ENTRIES] = "has no entries",
    [ONE_LEVEL] = "is categorical with a single value, and the first value has no feature",
    [NO_VALUE] = "has no value",
};

static enum no_feature find_reason(const struct schema_column *c) {
    return c->type == DN_TEXT     ? NO_WORDS
           : c->type == DN_SPARSE ? NO_ENTRIES
           : c->distinct > 0      ? ONE_LEVEL
                                  : NO_VALUE;
}

/* Adds the fault that no input has a feature. A reason that several inputs share is given once. */
static void refuse_no_feature(struct jobs_request *r) {
    enum { NAMED = 4 };
    size_t n_reason[N_REASONS] = {0};
    const size_t n = r->n_inputs;
    struct buf why = {0};
    for (size_t i = 0; i < n; i++) {
        const struct schema_column *c = &r->schema.columns[r->inputs[i].index];
        const enum no_feature reason = find_reason(c);
        n_reason[reason]++;
        if (n > 1 && n_reason[reason] == n) {
            buf_clear(&why);
            buf_printf(&why, "every column %s", reasons[reason]);
        } else if (i < NAMED) {
            buf_printf(&why, "%scolumn \"%s\" %s", i == 0 ? "" : ", ", c->name, reasons[reason]);
        } else if (i == NAMED) {
            buf_puts(&why, " and so on");
        }
    }
    json_fault(r->problem, "", "features", "no feature is left: %s",
               buf_cstr(&why) != NULL ? buf_cstr(&why) : "no column has a value");
    buf_done(&why);
}

void jobs_encoding_read(struct jobs_request *r, const json_t *features) {
    struct jobs_features *f = &r->features;
    const size_t before = jobs_request_faults(r);
    *f = jobs_features_default(r->params);
    if (features) {
        jobs_features_read(features, "/features", r->has_inputs ? r->inputs : NULL, r->n_inputs,
                           r->arena, f, r->problem);
    }
    if (f->automatic) {
        f->automatic = false;
        f->categorical = r->params && dn_params_drops_first(r->params) ? DN_DROP_FIRST : DN_ONE_HOT;
    }
    if (!r->has_inputs || jobs_request_faults(r) != before) {
        return;
    }
    check_text(r, features);
    check(r, features);
    if (jobs_request_faults(r) != before || !reckon(r)) {
        return;
    }
    if (r->n_features == 0) {
        refuse_no_feature(r);
    }
}
