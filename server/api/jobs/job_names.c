/* Writes the names of the features of a job. An encoder is fitted to a small table that is made
 * from the dataset's summary: same columns, levels and missing values, which determine the names.
 * The names are unknown if an input is text, or has levels that the summary does not list. */
#include "api/jobs/job_dry_run.h"
#include "base/json/json.h"
#include "jobs/documents.h"

#include <math.h>
#include <string.h>

enum {
    MAX_NAMES = 2000,    /* limit of names in the answer */
    MAX_MADE_UP = 200000 /* limit of cells of the table */
};

/* The table, allocated in the request's arena. */
struct made_up {
    const struct jobs_request *r;
    const json_t *summary; /* summary of the dataset's columns */
    size_t n_rows;
    dn_table_column *columns;
    dn_column_view *views;
};

/* Returns the levels of a categorical input; NULL: the summary does not list all of them. */
static const json_t *levels_of(const struct made_up *m, size_t input) {
    const struct schema_column *c = &m->r->schema.columns[m->r->inputs[input].index];
    const json_t *top =
        json_object_get(json_array_get(m->summary, m->r->inputs[input].index), "top");
    return c->distinct >= 0 && json_array_size(top) == (size_t)c->distinct ? top : NULL;
}

/* Returns true if the names can be determined. Sets n_rows: enough for every level and a missing
 * value. */
static bool survey(struct made_up *m) {
    const struct jobs_request *r = m->r;
    m->n_rows = 2;
    for (size_t i = 0; i < r->n_inputs; i++) {
        const json_t *levels = levels_of(m, i);
        if (r->inputs[i].type == DN_TEXT || (r->inputs[i].type == DN_CATEGORICAL && !levels)) {
            return false;
        }
        if (json_array_size(levels) + 1 > m->n_rows) {
            m->n_rows = json_array_size(levels) + 1;
        }
    }
    for (size_t i = 0; i < r->features.n_bases; i++) {
        if (r->features.bases[i].kind == DN_BASIS_FISHER) { /* depends on the values of all rows */
            return false;
        }
    }
    return r->n_features <= MAX_NAMES && m->n_rows * r->n_inputs <= MAX_MADE_UP;
}

/* Fills a numeric column. missing: the last row has a missing value. */
static bool fill_numbers(struct made_up *m, size_t input, bool missing) {
    double *number = arena_alloc(m->r->arena, m->n_rows * sizeof *number);
    for (size_t i = 0; number && i < m->n_rows; i++) {
        number[i] = missing && i + 1 == m->n_rows ? (double)NAN : (double)(i % 2);
    }
    m->views[input].number = number;
    return number != NULL;
}

/* Fills a sparse column without entries: the names depend on its width only. */
static bool fill_places(struct made_up *m, size_t input) {
    size_t *start = arena_alloc(m->r->arena, (m->n_rows + 1) * sizeof *start);
    if (start) {
        memset(start, 0, (m->n_rows + 1) * sizeof *start);
    }
    m->views[input].row_start = start;
    return start != NULL;
}

static bool fill_levels(struct made_up *m, size_t input, bool missing) {
    const json_t *levels = levels_of(m, input);
    const size_t n = json_array_size(levels);
    size_t bytes = 0;
    for (size_t k = 0; k < n; k++) {
        bytes += json_string_length(json_array_get(json_array_get(levels, k), 0));
    }
    uint32_t *code = arena_alloc(m->r->arena, m->n_rows * sizeof *code),
             *start = arena_alloc(m->r->arena, (n + 1) * sizeof *start);
    char *text = arena_alloc(m->r->arena, bytes + 1);
    if (!code || !start || !text) {
        return false;
    }
    start[0] = 0;
    for (size_t k = 0; k < n; k++) {
        const json_t *level = json_array_get(json_array_get(levels, k), 0);
        memcpy(text + start[k], json_string_value(level), json_string_length(level));
        start[k + 1] = start[k] + (uint32_t)json_string_length(level);
    }
    for (size_t i = 0; i < m->n_rows; i++) {
        code[i] = (missing && i + 1 == m->n_rows) || n == 0 ? DN_CODE_MISSING : (uint32_t)(i % n);
    }
    m->views[input].code = code;
    m->views[input].strings = (dn_strings){.n = n, .start = start, .bytes = text};
    return true;
}

static bool fill(struct made_up *m) {
    const struct jobs_request *r = m->r;
    for (size_t i = 0; i < r->n_inputs; i++) {
        const bool missing = r->schema.columns[r->inputs[i].index].missing > 0;
        m->views[i] = (dn_column_view){.type = r->inputs[i].type, .n_rows = m->n_rows};
        const dn_column_type type = r->inputs[i].type;
        if (!(type == DN_CATEGORICAL ? fill_levels(m, i, missing)
              : type == DN_SPARSE    ? fill_places(m, i)
                                     : fill_numbers(m, i, missing))) {
            return false;
        }
    }
    return true;
}

/* Replaces centres of k-means by zeros: the names depend on their number only. */
static bool place_centres(const struct made_up *m, dn_encoder_spec *spec) {
    const struct jobs_request *r = m->r;
    dn_basis_spec *bases = arena_alloc(r->arena, (spec->n_bases + 1) * sizeof *bases);
    for (size_t i = 0; bases && i < spec->n_bases; i++) {
        bases[i] = spec->bases[i];
        if (bases[i].kind != DN_BASIS_GAUSSIAN || bases[i].points) {
            continue;
        }
        const size_t n =
            bases[i].n_points * jobs_basis_width(&r->features.bases[i], r->inputs, r->n_inputs);
        double *points = arena_alloc(r->arena, (n + 1) * sizeof *points);
        if (!points) {
            return false;
        }
        memset(points, 0, n * sizeof *points);
        bases[i].points = points;
    }
    spec->bases = bases;
    return bases != NULL;
}

static dn_encoder *fit(struct made_up *m) {
    const struct jobs_request *r = m->r;
    const dn_run run = dn_run_default();
    dn_table_source *source = NULL;
    dn_encoder *encoder = NULL;
    dn_encoder_spec spec;
    m->columns = arena_alloc(r->arena, (r->n_inputs + 1) * sizeof *m->columns);
    m->views = arena_alloc(r->arena, (r->n_inputs + 1) * sizeof *m->views);
    if (!m->columns || !m->views || !fill(m) || !jobs_encoder_spec(r, m->columns, &spec) ||
        !place_centres(m, &spec)) {
        return NULL;
    }
    if (dn_table_source_from_columns(m->columns, m->views, r->n_inputs, m->n_rows, &source, NULL) ==
            DN_OK &&
        dn_encoder_fit(source, &spec, NULL, NULL, &run, &encoder, NULL) != DN_OK) {
        encoder = NULL;
    }
    dn_table_source_free(source);
    return encoder;
}

void job_names_write(const struct jobs_request *r, struct json_writer *w) {
    struct problem ignored = {0};
    json_t *summary = json_parse(r->data.columns, strlen(r->data.columns), &ignored);
    struct made_up m = {.r = r, .summary = summary};
    dn_encoder *encoder = survey(&m) ? fit(&m) : NULL;
    if (encoder && dn_encoder_n_features(encoder) == r->n_features) {
        jobs_feature_names_write(encoder, w);
    } else {
        json_put_null(w);
    }
    dn_encoder_unref(encoder);
    problem_done(&ignored);
    json_decref(summary);
}
