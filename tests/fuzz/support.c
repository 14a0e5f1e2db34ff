#include "fuzz/support.h"

uint32_t fuzz_random(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

char *fuzz_copy(const void *bytes, size_t n) {
    char *copy = malloc(n > 0 ? n : 1);
    CHECK(copy != NULL);
    if (n > 0) {
        memcpy(copy, bytes, n);
    }
    return copy;
}

static bool fuzz_chunk(void *arg, int64_t chunk, int64_t n_rows, struct table_blob *blobs,
                       size_t n_columns, struct problem *problem) {
    struct fuzz_table *t = arg;
    (void)problem;
    CHECK((size_t)chunk == t->n_chunks && n_rows > 0 && n_columns > 0 &&
          (t->n_columns == 0 || t->n_columns == n_columns));
    t->n_columns = n_columns;
    t->blobs = realloc(t->blobs, (t->n_chunks + 1) * n_columns * sizeof *t->blobs);
    t->rows = realloc(t->rows, (t->n_chunks + 1) * sizeof *t->rows);
    CHECK(t->blobs != NULL && t->rows != NULL);
    memcpy(t->blobs + t->n_chunks * n_columns, blobs, n_columns * sizeof *blobs);
    t->rows[t->n_chunks++] = n_rows;
    return true;
}

static bool fuzz_reread(void *arg, int64_t chunk, size_t column, struct buf *out,
                        struct problem *problem) {
    struct fuzz_table *t = arg;
    (void)problem;
    const struct table_blob *blob = &t->blobs[(size_t)chunk * t->n_columns + column];
    buf_append(out, blob->bytes, blob->size);
    return true;
}

struct fuzz_table fuzz_read(const struct table_options *options, const char *body, size_t size,
                            uint64_t seed) {
    struct fuzz_table t = {0};
    struct problem early = {0}, problem = {0};
    struct table_summary sum;
    struct table *reader = table_new(options, &(struct table_sink){fuzz_chunk, fuzz_reread, &t});
    CHECK(reader != NULL);
    bool go_on = true;
    for (size_t at = 0; at < size && go_on;) {
        size_t n = size - at;
        if (seed != 0) {
            const size_t most = 1 + fuzz_random(&seed) % 64;
            n = n < most ? n : 1 + fuzz_random(&seed) % most;
        }
        char *piece = fuzz_copy(body + at, n);
        go_on = table_feed(reader, piece, n, &early);
        free(piece);
        at += n;
    }
    t.well = table_end(reader, &sum, &problem);
    CHECK(go_on || !t.well);
    if (t.well) {
        CHECK(sum.bytes == (int64_t)size && sum.n_rows > 0 && sum.n_columns > 0 &&
              (size_t)sum.n_chunks == t.n_chunks);
        memcpy(t.content, sum.content, sizeof t.content);
        t.columns = strdup(sum.columns);
        buf_printf(&t.text, "%s %s %s", sum.columns, sum.notes, sum.content);
    } else {
        CHECK(problem.type == PROBLEM_INVALID_DATASET || problem.type == PROBLEM_BAD_JSON);
        problem_write(&problem, "", NULL, &t.text);
    }
    CHECK(buf_cstr(&t.text) != NULL);
    problem_done(&early);
    problem_done(&problem);
    table_free(reader);
    return t;
}

void fuzz_table_done(struct fuzz_table *t) {
    for (size_t i = 0; i < t->n_chunks * t->n_columns; i++) {
        free(t->blobs[i].bytes);
    }
    free(t->blobs);
    free(t->rows);
    free(t->columns);
    buf_done(&t->text);
}

/* Appends row i of a chunk as a JSON object (`object`) or as a JSON array. */
static void fuzz_row(const dn_column_view *view, const char *const *names, size_t n, size_t i,
                     bool object, struct buf *out) {
    if (object) {
        format_json.rows->rows(view, names, n, i, 1, false, out);
        return;
    }
    for (size_t j = 0; j < n; j++) { /* takes the value out of {"":value} */
        struct buf one = {0};
        format_json.rows->rows(&view[j], &(const char *){""}, 1, i, 1, false, &one);
        CHECK(one.size > 5 && memcmp(one.data, "{\"\":", 4) == 0);
        buf_putc(out, j == 0 ? '[' : ',');
        buf_append(out, one.data + 4, one.size - 5);
        buf_done(&one);
    }
    buf_putc(out, ']');
}

/* Appends the table as a JSON body: as objects, or as columns (with their types) and rows. The rows
 * are written with the types of the summary. */
static void fuzz_body(const struct fuzz_table *t, bool objects, struct buf *out) {
    struct schema schema = {0};
    struct problem problem = {0};
    CHECK(schema_parse(t->columns, &schema, &problem) && schema.n == t->n_columns);
    const char **names = calloc(schema.n, sizeof *names);
    dn_column_chunk **chunk = calloc(schema.n, sizeof *chunk);
    dn_column_view *view = calloc(schema.n, sizeof *view);
    CHECK(names != NULL && chunk != NULL && view != NULL);
    for (size_t j = 0; j < schema.n; j++) {
        names[j] = schema.columns[j].name;
        CHECK(dn_column_chunk_new(&chunk[j], NULL) == DN_OK);
    }
    buf_printf(out, objects ? "[" : "{\"columns\":%s,\"rows\":[", t->columns);
    for (size_t c = 0; c < t->n_chunks; c++) {
        for (size_t j = 0; j < schema.n; j++) {
            const struct table_blob *blob = &t->blobs[c * t->n_columns + j];
            CHECK(dn_column_chunk_decode(chunk[j], blob->bytes, blob->size,
                                         schema_shown_type(&schema.columns[j]), &view[j],
                                         NULL) == DN_OK);
            CHECK(view[j].n_rows == (size_t)t->rows[c]);
        }
        for (size_t i = 0; i < (size_t)t->rows[c]; i++) {
            buf_puts(out, c > 0 || i > 0 ? ",\n" : "");
            fuzz_row(view, names, schema.n, i, objects, out);
        }
    }
    buf_puts(out, objects ? "]" : "]}");
    for (size_t j = 0; j < schema.n; j++) {
        dn_column_chunk_free(chunk[j]);
    }
    free(names);
    free(chunk);
    free(view);
    schema_done(&schema);
    CHECK(!out->failed);
}

static void fuzz_check_again(const struct fuzz_table *t, bool objects) {
    struct buf body = {0};
    fuzz_body(t, objects, &body);
    struct fuzz_table again =
        fuzz_read(&(struct table_options){.format = &format_json}, body.data, body.size, 0);
    CHECK(again.well);
    CHECK(strcmp(again.content, t->content) == 0);
    fuzz_table_done(&again);
    buf_done(&body);
}

void fuzz_check_table(const struct table_options *options, const char *body, size_t size,
                      uint64_t seed, bool inferred) {
    struct fuzz_table whole = fuzz_read(options, body, size, 0),
                      cut = fuzz_read(options, body, size, seed | 1);
    CHECK(strcmp(whole.text.data, cut.text.data) == 0);
    CHECK(whole.well == cut.well);
    if (whole.well && strstr(whole.columns, "\"type\":\"sparse\"") ==
                          NULL) { /* sniffing found svmlight, which fuzz_svmlight.c checks */
        fuzz_check_again(&whole, false);
        if (inferred) {
            fuzz_check_again(&whole, true);
        }
    }
    fuzz_table_done(&whole);
    fuzz_table_done(&cut);
}

dn_model *fuzz_model(void) {
    static const char body[] = "x,y,colour,old,kind\n1.5,2,red,true,a\n2.5,1,blue,false,b\n3,7,red,"
                               "true,c\n1,2.5,green,false,a\n2,1.5,,"
                               "true,b\n3.5,6,red,false,c\n";
    struct fuzz_table t = fuzz_read(&(struct table_options){0}, body, sizeof body - 1, 0);
    static const char *const names[] = {"x", "y", "colour", "old", "kind"};
    static const dn_column_type types[] = {DN_NUMERIC, DN_NUMERIC, DN_CATEGORICAL, DN_BOOLEAN,
                                           DN_CATEGORICAL};
    static const size_t inputs[] = {0, 1, 2, 3};
    dn_table_column columns[5];
    dn_column_view views[5];
    dn_column_chunk *chunks[5];
    dn_table_source *source = NULL;
    dn_params *params = NULL;
    dn_train_result result = {0};
    CHECK(t.well && t.n_columns == 5 && t.n_chunks == 1);
    for (size_t j = 0; j < 5; j++) {
        columns[j] = (dn_table_column){.name = names[j], .type = types[j]};
        CHECK(dn_column_chunk_new(&chunks[j], NULL) == DN_OK);
        CHECK(dn_column_chunk_decode(chunks[j], t.blobs[j].bytes, t.blobs[j].size, types[j],
                                     &views[j], NULL) == DN_OK);
    }
    CHECK(dn_table_source_from_columns(columns, views, 5, (size_t)t.rows[0], &source, NULL) ==
          DN_OK);
    CHECK(dn_params_new(dn_algorithm_find("logistic"), &params, NULL) == DN_OK);
    CHECK(dn_params_set_number(params, "lambda", 0.1, NULL) == DN_OK);
    const dn_run run = dn_run_default();
    const dn_train_request request = {.source = source,
                                      .params = params,
                                      .target = 4,
                                      .features = {.columns = inputs,
                                                   .n_columns = 4,
                                                   .standardize = true}};
    CHECK(dn_train(&request, &run, &result, NULL) == DN_OK);
    dn_model *model = dn_model_ref(result.model);
    dn_train_result_done(&result);
    dn_params_free(params);
    dn_table_source_free(source);
    for (size_t j = 0; j < 5; j++) {
        dn_column_chunk_free(chunks[j]);
    }
    fuzz_table_done(&t);
    return model;
}
