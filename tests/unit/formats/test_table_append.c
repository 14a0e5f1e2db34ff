/* Tests of rows that are appended to a stored table: the result must be the same as that of all
 * rows uploaded at once, wherever the rows are split, whatever the order of the columns and the
 * format; faults are reported. */
#include "nasty_rows.h"
#include "table_helper.h"
#include "unit/base/alloc_fail.h"
#include <jansson.h>

/* A stored table and the new chunks for it. */
struct both {
    const struct table_copy *stored;
    struct table_copy own;
};

static bool both_chunk(void *arg, int64_t chunk, int64_t n_rows, struct table_blob *blobs,
                       size_t n_columns, struct problem *problem) {
    struct both *b = arg;
    return table_sink_chunk(&b->own, chunk - 1, n_rows, blobs, n_columns,
                            problem); /* no stored chunk is replaced, so there is no chunk 0 */
}

static bool both_reread(void *arg, int64_t chunk, size_t column, struct buf *out,
                        struct problem *problem) {
    struct both *b = arg;
    const int64_t n = (int64_t)b->stored->n_chunks;
    return chunk < n ? table_sink_reread((void *)(uintptr_t)b->stored, chunk, column, out, problem)
                     : table_sink_reread(&b->own, chunk - n, column, out, problem);
}

static bool both_summary(void *arg, size_t column, struct buf *out, struct problem *problem) {
    const struct both *b = arg;
    (void)problem;
    if (b->stored->n_saved > 0) {
        buf_append(out, b->stored->saved[column].bytes, b->stored->saved[column].size);
    }
    return true;
}

static struct table_stored stored_of(const struct table_copy *t) {
    return (struct table_stored){.columns = t->columns,
                                 .notes = t->notes,
                                 .n_rows = t->sum.n_rows,
                                 .n_chunks = (int64_t)t->n_chunks,
                                 .summary = both_summary};
}

/* Returns the new table: the stored chunks, then the new ones. */
static struct table_copy joined(const struct both *b) {
    struct table_copy t = b->own;
    const size_t n = b->stored->n_chunks * b->stored->n_columns,
                 own = b->own.n_chunks * b->own.n_columns;
    t.n_columns = b->stored->n_columns;
    t.n_chunks = b->stored->n_chunks + b->own.n_chunks;
    t.blobs = calloc(n + own + 1, sizeof *t.blobs);
    t.rows = calloc(t.n_chunks + 1, sizeof *t.rows);
    assert_true(t.blobs != NULL && t.rows != NULL);
    for (size_t i = 0; i < n; i++) {
        t.blobs[i] =
            (struct table_blob){malloc(b->stored->blobs[i].size + 1), b->stored->blobs[i].size};
        assert_non_null(t.blobs[i].bytes);
        memcpy(t.blobs[i].bytes, b->stored->blobs[i].bytes, t.blobs[i].size);
    }
    memcpy(t.rows, b->stored->rows, b->stored->n_chunks * sizeof *t.rows);
    if (own > 0) {
        memcpy(t.blobs + n, b->own.blobs, own * sizeof *t.blobs);
        memcpy(t.rows + b->stored->n_chunks, b->own.rows, b->own.n_chunks * sizeof *t.rows);
    }
    free(b->own.blobs);
    free(b->own.rows);
    return t;
}

/* Appends the body, which is read for `onto`. newer: the version that others have made of `onto`
 * before the end; NULL: there is none. */
static struct table_copy append_rebased(const struct table_copy *onto,
                                        const struct table_copy *newer,
                                        const struct table_options *options, const char *body) {
    struct both b = {.stored = onto};
    struct problem early = {0}, problem = {0};
    const struct table_sink sink = {both_chunk, both_reread, &b};
    const struct table_stored stored = stored_of(onto);
    struct table *reader = table_new_onto(options, &stored, &sink, &problem);
    assert_non_null(reader);
    const size_t size = strlen(body), half = size / 2;
    bool fit = table_feed(reader, body, half, &early) &&
               table_feed(reader, body + half, size - half, &early);
    problem_done(&early);
    (void)fit; /* the end reports the problem again */
    if (newer != NULL) {
        const struct table_stored now = stored_of(newer);
        b.stored = newer;
        fit = table_rebase(reader, &now, &b.own.problem);
    } else {
        fit = true;
    }
    b.own.well = fit && table_end(reader, &b.own.sum, &b.own.problem);
    if (b.own.well) {
        b.own.columns = strdup(b.own.sum.columns);
        b.own.notes = strdup(b.own.sum.notes);
        b.own.saved = table_copy_saved(&b.own.sum, &b.own.n_saved);
    } else {
        assert_int_not_equal(b.own.problem.type, PROBLEM_NONE);
        problem_write(&b.own.problem, "", NULL, &b.own.problem_text);
    }
    table_free(reader);
    return joined(&b);
}

static struct table_copy append_options(const struct table_copy *onto,
                                        const struct table_options *options, const char *body) {
    return append_rebased(onto, NULL, options, body);
}

/* Types may change, so that the result is the same as that of one upload of all rows. */
static const struct table_options may_change = {.allow_type_change = true};

static struct table_copy append(const struct table_copy *onto, const char *body) {
    return append_options(onto, &may_change, body);
}

static void assert_same_rows(const struct table_copy *a, const struct table_copy *b) {
    static const struct format *const chosen[] = {&format_csv, &format_ndjson};
    const size_t n = strstr(a->columns, "\"sparse\"") != NULL
                         ? 0
                         : 4; /* a sparse column cannot be shown as text; its content is compared */
    for (size_t i = 0; i < n; i++) {
        struct buf x = {0}, y = {0};
        table_rows(a, chosen[i % 2], i < 2, &x);
        table_rows(b, chosen[i % 2], i < 2, &y);
        assert_string_equal(buf_cstr(&x), buf_cstr(&y));
        buf_done(&x);
        buf_done(&y);
    }
}

/* Checks that the table after the append is the same as the table uploaded at once. */
static void assert_same(const struct table_copy *appended, const struct table_copy *whole) {
    if (!appended->well || !whole->well) {
        fail_msg("refused: %s / %s", appended->problem.detail ? appended->problem.detail : "",
                 whole->problem.detail ? whole->problem.detail : "");
    }
    struct schema a = {0}, w = {0};
    struct problem problem = {0};
    assert_true(schema_parse(appended->columns, &a, &problem) &&
                schema_parse(whole->columns, &w, &problem));
    assert_int_equal(a.n, w.n);
    for (size_t i = 0; i < a.n; i++) {
        assert_string_equal(a.columns[i].name, w.columns[i].name);
        assert_int_equal(a.columns[i].type, w.columns[i].type);
        assert_int_equal(a.columns[i].missing, w.columns[i].missing);
        assert_int_equal(a.columns[i].distinct, w.columns[i].distinct);
    }
    schema_done(&a);
    schema_done(&w);
    assert_int_equal(appended->sum.n_rows, whole->sum.n_rows);
    assert_string_equal(appended->sum.content, whole->sum.content);
    assert_same_rows(appended, whole);
}

/* Checks that `first` with `then` appended is the same table as `all`. */
static void check(const char *first, const char *then, const char *all) {
    struct table_copy base = cells_read(first), appended = append(&base, then),
                      whole = cells_read(all);
    assert_true(base.well);
    assert_same(&appended, &whole);
    table_done(&base);
    table_done(&appended);
    table_done(&whole);
}

static void assert_has(const char *text, const char *part) {
    if (strstr(text, part) == NULL) {
        fail_msg("%s\nis not in\n%s", part, text);
    }
}

/* Checks that `then` cannot be appended to `first`, and that the problem document contains these
 * parts (ending in NULL). */
static void refused(const char *first, const struct table_options *options, const char *then,
                    const char *const *parts) {
    struct table_copy base = cells_read(first), appended = append_options(&base, options, then);
    assert_true(base.well);
    assert_false(appended.well);
    for (size_t i = 0; parts[i] != NULL; i++) {
        assert_has(buf_cstr(&appended.problem_text), parts[i]);
    }
    table_done(&base);
    table_done(&appended);
}
#define REFUSED(first, then, ...)                                                                  \
    refused(first, &(struct table_options){0}, then, (const char *const[]){__VA_ARGS__, NULL})

static const char abc[] = "a,b,c\n1,x,true\n2.50,y,false\n";

static void test_formats(void **state) {
    (void)state;
    check(abc, "a,b,c\n007,z,TRUE\n", "a,b,c\n1,x,true\n2.50,y,false\n007,z,TRUE\n");
    /* columns by position */
    check(abc, "007,z,TRUE\n", "a,b,c\n1,x,true\n2.50,y,false\n007,z,TRUE\n");
    check(abc, "007\tz\tTRUE\n", "a,b,c\n1,x,true\n2.50,y,false\n007,z,TRUE\n");
    check(abc, "c;a;b\r\nTRUE;007;z\r\n",
          "a,b,c\n1,x,true\n2.50,y,false\n007,z,TRUE\n"); /* columns in any order */
    check(abc, "[{\"c\":true,\"a\":3,\"b\":\"z\"}]", "a,b,c\n1,x,true\n2.50,y,false\n3,z,true\n");
    check(abc, "{\"c\":true,\"a\":3,\"b\":\"z\"}\n{\"b\":\"w\",\"a\":4,\"c\":false}\n",
          "a,b,c\n1,x,true\n2.50,y,false\n3,z,true\n4,w,false\n");
    check(abc, "[3,\"z\",true]\n[4,\"w\",false]\n",
          "a,b,c\n1,x,true\n2.50,y,false\n3,z,true\n4,w,false\n");
    check(
        abc,
        "{\"columns\":[\"b\",{\"name\":\"c\",\"type\":\"text\"},\"a\"],\"rows\":[[\"z\",true,3]]}",
        "a,b,c\n1,x,true\n2.50,y,false\n3,z,true\n");
    /* more features than the stored table */
    check("1 1:5 3:2\n0 2:1\n", "1 7:0.5\n", "1 1:5 3:2\n0 2:1\n1 7:0.5\n");
    /* fewer features than the stored table */
    check("1 1:5 9:2\n0 2:1\n", "1 7:0.5\n", "1 1:5 9:2\n0 2:1\n1 7:0.5\n");
}

static void test_missing_columns(void **state) {
    (void)state;
    struct table_copy base = cells_read(abc), t = append(&base, "b\nz\nw\n"),
                      whole = cells_read("a,b,c\n1,x,true\n2.50,y,false\n,z,\n,w,\n");
    assert_same(&t, &whole);
    assert_has(t.notes, "the rows have no columns \\\"a\\\", \\\"c\\\": their cells are missing");
    table_done(&t);
    table_done(&whole);
    t = append(&base, "[{\"a\":1},{\"b\":\"z\"}]");
    whole = cells_read("a,b,c\n1,x,true\n2.50,y,false\n1,,\n,z,\n");
    assert_same(&t, &whole);
    assert_has(t.notes, "the rows have no column \\\"c\\\": its cells are missing");
    table_done(&t);
    table_done(&whole);
    table_done(&base);
}

static void test_unknown_columns(void **state) {
    (void)state;
    REFUSED(abc, "a,e,c,f\n1,2,true,3\n", "no column \\\"e\\\"", "\"column\":3",
            "no column \\\"f\\\"", "header=false");
    REFUSED(abc, "u,v,w\n5,z,true\n6,z,true\n", "no column \\\"u\\\"", "no column \\\"v\\\"",
            "no column \\\"w\\\""); /* the header of another table */
    REFUSED(abc, "[{\"a\":1,\"d\":2},{\"e\":1}]", "no column \\\"d\\\"", "no column \\\"e\\\"");
    REFUSED(abc, "{\"columns\":[\"a\",\"d\",\"b\",\"e\"],\"rows\":[]}", "no column \\\"d\\\"",
            "no column \\\"e\\\"");
    REFUSED(abc, "a,b,a\n1,z,2\n", "column \\\"a\\\" occurs twice", "\"column\":5");
}

static void test_wrong_rows(void **state) {
    (void)state;
    REFUSED(abc, "1,z\n2,w\n", "row has 2 cells, expected 3");
    REFUSED(abc, "a,c\n1,true\n2,true,7\n", "row has 3 cells, expected 2", "\"line\":3");
    REFUSED(abc, "[1,2]\n[1,\"z\",true]\n", "row 1 has 2 cells, expected 3");
    REFUSED(abc, "{\"columns\":[\"a\"],\"rows\":[[1,2]]}", "row 1 has 2 cells, expected 1");
    REFUSED(abc, "", "the table has no rows");
    REFUSED(abc, "a,b,c\n", "the table has no rows");
    REFUSED(abc, "[]", "the table has no rows");
    REFUSED(abc, "1 1:5\n-1 2:3\n", "not sparse");
    REFUSED("1 1:5\n-1 2:3\n", "a,b\n1,2\n", "a row has one label");
    REFUSED("1 1:5\n-1 2:3\n", "[{\"label\":1}]", "svmlight");
    refused("1 1:5\n-1 2:3\n", &(struct table_options){.format = &format_csv}, "label,f1\n1,2\n",
            (const char *const[]){"svmlight", NULL});
    refused("1 1:5\n-1 2:3\n", &(struct table_options){.format = &format_svmlight}, "1 0:5\n",
            (const char *const[]){"index 0", NULL});
}

/* Bodies that are not rows of the dataset are refused with the true reason. */
static void test_bodies_of_another_kind(void **state) {
    (void)state;
    refused(abc, &(struct table_options){0}, "\n",
            (const char *const[]){"the body has no data", NULL});
    refused(abc, &(struct table_options){0}, "a,b,c\n",
            (const char *const[]){"there is only a header", NULL});
    refused("1 1:5\n-1 2:3\n", &(struct table_options){0}, "label,f1\n1,5\n",
            (const char *const[]){"the dataset is sparse and takes rows of svmlight only", NULL});
}

static void test_types_fall_as_in_the_whole(void **state) {
    (void)state;
    struct table_copy base = cells_read("a,b,d\n1,true,\n2.50,false,\n007,TRUE,\n"),
                      t = append(&base, "abc,5,maybe\n1e2,false,\n"),
                      whole = cells_read(
                          "a,b,d\n1,true,\n2.50,false,\n007,TRUE,\nabc,5,maybe\n1e2,false,\n");
    assert_same(&t, &whole);
    assert_has(t.columns, "\"name\":\"a\",\"type\":\"categorical\"");
    static const char reason[] = "\"row\":4,\"line\":1,\"cell\":\"abc\",\"detail\":\"the cells "
                                 "before it are numbers; the line is one of "
                                 "the rows that were appended\"";
    assert_has(t.columns, reason);
    assert_has(
        t.notes,
        "\"column \\\"a\\\": categorical because of line 1 of the appended rows (\\\"abc\\\")");
    /* the reason of the type and the warnings are kept */
    struct table_copy again = append(&t, "9,true,no\n");
    assert_has(again.columns, reason);
    assert_has(again.notes, "\"rows 4 to 5, appended: column \\\"a\\\": categorical because of "
                            "line 1 of the appended rows (\\\"abc\\\")");
    assert_has(again.notes, "\"append\":{\"rows\":1,\"bytes\":10,");
    table_done(&again);
    table_done(&base);
    table_done(&t);
    table_done(&whole);
}

/* Replaces the first `from` in the description of the columns by `to`. */
static void reword(struct table_copy *t, const char *from, const char *to) {
    const char *at = strstr(t->columns, from);
    assert_non_null(at);
    struct buf out = {0};
    buf_printf(&out, "%.*s%s%s", (int)(at - t->columns), t->columns, to, at + strlen(from));
    assert_non_null(buf_cstr(&out));
    free(t->columns);
    t->columns = strdup(buf_cstr(&out));
    assert_non_null(t->columns);
    buf_done(&out);
}

/* A stored type reason is recognised by its code, not by its text, which may be different in
 * another release. */
static void test_reasons_by_code(void **state) {
    (void)state;
    struct buf text = {0};
    buf_puts(&text, "a\n5\n");
    for (int i = 0; i < 150; i++) {
        buf_printf(&text, "w%d\n", i);
    }
    struct table_copy t = cells_read(buf_cstr(&text));
    assert_has(t.columns, "\"type\":\"text\"");
    reword(&t, "; text for its many distinct values", ", and it is text for there are many");
    buf_clear(&text);
    for (int i = 0; i < 300; i++) {
        buf_puts(&text, "w1\n");
    }
    struct table_copy back = append(&t, buf_cstr(&text));
    assert_has(back.columns, "\"type\":\"categorical\"");
    assert_has(back.columns, "\"detail\":\"the cells before it are numbers\","
                             "\"code\":\"after_numbers\"}");
    struct table_copy again = append(&back, "7\n");
    assert_has(again.columns, "\"cell\":\"w0\",\"detail\":\"the cells before it are numbers\","
                              "\"code\":\"after_numbers\"}");
    assert_null(strstr(again.columns, "appended"));
    table_done(&again);
    table_done(&back);
    /* a reason stored before there were codes: its text is kept */
    reword(&t, ",\"code\":\"after_numbers\"", "");
    back = append(&t, "7\n");
    assert_has(back.columns,
               "the cells before it are numbers, and it is text for there are many\"}");
    table_done(&back);
    table_done(&t);
    buf_done(&text);
}

/* A categorical column becomes a text column by the distinct values of all rows, and may become
 * categorical again. */
static void test_categorical_and_text(void **state) {
    (void)state;
    struct buf first = {0}, then = {0}, all = {0}, repeats = {0};
    buf_puts(&first, "a\n");
    for (int i = 0; i < 90; i++) {
        buf_printf(&first, "w%d\n", i);
    }
    for (int i = 90; i < 150; i++) {
        buf_printf(&then, "w%d\n", i);
    }
    for (int i = 0; i < 200; i++) {
        buf_puts(&repeats, "w1\n");
    }
    buf_append(&all, first.data, first.size);
    buf_append(&all, then.data, then.size);
    struct table_copy base = cells_read(buf_cstr(&first)), t = append(&base, buf_cstr(&then)),
                      whole = cells_read(buf_cstr(&all));
    assert_has(base.columns, "\"type\":\"categorical\"");
    assert_has(t.columns, "\"type\":\"text\"");
    assert_has(t.columns, "; text for its many distinct values\"");
    assert_same(&t, &whole);
    struct table_copy back = append(&t, buf_cstr(&repeats));
    assert_has(back.columns, "\"type\":\"categorical\"");
    assert_null(strstr(back.columns, "many distinct values"));
    table_done(&back);
    table_done(&base);
    table_done(&t);
    table_done(&whole);
    buf_done(&first);
    buf_done(&then);
    buf_done(&all);
    buf_done(&repeats);
}

static void test_given_types_hold(void **state) {
    (void)state;
    const struct table_options options = {.types = "a:numeric,z:text,b:categorical"};
    static const char first[] = "a,z,b,x\n1,12,3,4\n2,13,4,5\n";
    struct table_copy base = table_read_options(&options, first), t = append(&base, "5,14,7,8\n"),
                      whole =
                          table_read_options(&options, "a,z,b,x\n1,12,3,4\n2,13,4,5\n5,14,7,8\n");
    assert_same(&t, &whole);
    assert_has(t.notes, "\"types\":{\"a\":\"numeric\",\"z\":\"text\",\"b\":\"categorical\"}");
    table_done(&whole);
    /* the declared type is still valid after an append */
    struct table_copy bad = append(&t, "a,z,b,x\nabc,1,2,3\n4,true,2,3\n");
    assert_false(bad.well);
    assert_has(buf_cstr(&bad.problem_text),
               "column \\\"a\\\": a cell must be a number (got \\\"abc\\\")");
    table_done(&bad);
    table_done(&t);
    table_done(&base);
    /* columns whose types the JSON body declares */
    base =
        cells_read("{\"columns\":[{\"name\":\"n\",\"type\":\"categorical\"}],\"rows\":[[1],[2]]}");
    t = append(&base, "[{\"n\":3}]");
    whole = cells_read(
        "{\"columns\":[{\"name\":\"n\",\"type\":\"categorical\"}],\"rows\":[[1],[2],[3]]}");
    assert_same(&t, &whole);
    table_done(&base);
    table_done(&t);
    table_done(&whole);
}

/* In a version that an older daemon stored, only the stored option says which types were
 * declared. */
static void test_given_types_of_older_versions(void **state) {
    (void)state;
    struct both b = {.stored = &(struct table_copy){0}};
    const struct table_sink sink = {both_chunk, both_reread, &b};
    const struct table_stored old = {.columns =
                                         "[{\"name\":\"a\",\"type\":\"numeric\",\"missing\":0}]",
                                     .notes = "{\"warnings\":[]}",
                                     .types = "a:numeric",
                                     .n_rows = 3,
                                     .n_chunks = 1};
    struct problem problem = {0};
    struct table_summary sum;
    struct table *reader = table_new_onto(&may_change, &old, &sink, &problem);
    assert_non_null(reader);
    table_feed(reader, "a\nabc\n", 6, &problem);
    problem_done(&problem);
    assert_false(table_end(reader, &sum, &problem));
    assert_int_equal(problem.type, PROBLEM_INVALID_DATASET);
    problem_done(&problem);
    table_free(reader);
}

static void test_headers(void **state) {
    (void)state;
    /* names that are numbers; a column without a name; a quoted name */
    check("id,2020,2021\n7,1,2\n8,3,4\n", "2021,id,2020\n6,9,5\n",
          "id,2020,2021\n7,1,2\n8,3,4\n9,5,6\n");
    check(",a,b\n0,1,x\n1,2,y\n", ",a,b\n2,3,z\n", ",a,b\n0,1,x\n1,2,y\n2,3,z\n");
    check("\"a,b\",c\n1,x\n2,y\n", "c,\"a,b\"\nz,3\n", "\"a,b\",c\n1,x\n2,y\n3,z\n");
    /* only words, columns by position: a row, not a header */
    check("1,x\n2,y\n", "3,z\n", "1,x\n2,y\n3,z\n");
    check("u,v\nx,y\nx,z\nx,y\n", "p,q\n", "u,v\nx,y\nx,z\nx,y\np,q\n");
    check("a,b\n1,x\n2,y\n", "abc,z\n", "a,b\n1,x\n2,y\nabc,z\n");
    /* a table with one column */
    check("a\n1\n2\n", "3\n", "a\n1\n2\n3\n");
    check("a\n1\n2\n", "a\n3\n", "a\n1\n2\n3\n");
    struct table_copy base = cells_read("a,b\n1,x\n2,y\n"),
                      t = append_options(&base,
                                         &(struct table_options){.header = TABLE_HEADER_NO,
                                                                 .allow_type_change = true},
                                         "a,b\n"),
                      whole =
                          table_read_options(&(struct table_options){.header = TABLE_HEADER_YES},
                                             "a,b\n1,x\n2,y\na,b\n");
    assert_same(&t, &whole); /* the option says that the first row is data */
    table_done(&t);
    table_done(&whole);
    t = append_options(&base, &(struct table_options){.header = TABLE_HEADER_YES}, "1,2\n3,4\n");
    assert_false(t.well);
    assert_has(buf_cstr(&t.problem_text), "no column \\\"1\\\"");
    table_done(&t);
    table_done(&base);
}

/* If the first bytes do not determine the delimiter, that of the stored table is used. */
static void test_delimiter(void **state) {
    (void)state;
    check("a;b\n1,5;x\n2,5;y\n", "3,5;z,w\n", "a;b\n1,5;x\n2,5;y\n3,5;z,w\n");
}

static void test_skip_and_comments(void **state) {
    (void)state;
    struct table_copy base = cells_read(abc),
                      t = append_options(&base, &(struct table_options){.on_error = TABLE_SKIP},
                                         "a,b,c\n# a comment\n1,z\n5,z,true\n"),
                      whole = cells_read("a,b,c\n1,x,true\n2.50,y,false\n5,z,true\n");
    assert_same(&t, &whole);
    assert_has(t.notes, "\"skipped\"");
    table_done(&t);
    t = append_options(&base, &(struct table_options){.on_error = TABLE_SKIP},
                       "{\"a\":5,\"b\":\"z\",\"c\":true}\n{\"d\":1}\n");
    assert_same(&t, &whole);
    table_done(&t);
    table_done(&base);
    table_done(&whole);
}

/* ---- every split ---- */
static void test_any_split(void **state) {
    (void)state;
    static const char header[] = NASTY_HEADER;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint64_t s = seed;
        struct buf rows = {0}, all = {0};
        size_t start[41];
        for (int i = 0; i < 40; i++) {
            start[i] = rows.size;
            nasty_row(&s, i, 40, &rows);
        }
        start[40] = rows.size;
        const int n = 10 + (int)(cells_random(&s) % 31);
        buf_printf(&all, "%s%.*s", header, (int)start[n], rows.data);
        struct table_copy whole = cells_read(buf_cstr(&all));
        assert_true(whole.well);
        struct table_copy t = {0};
        for (int at = 0; at < n;) {
            const int left = n - at,
                      take = 1 + (int)(cells_random(&s) % (unsigned)(left < 12 ? left : 12));
            struct buf piece = {0};
            buf_printf(&piece, "%s%.*s", header, (int)(start[at + take] - start[at]),
                       rows.data + start[at]);
            struct table_copy next =
                at == 0 ? table_read_options(&(struct table_options){.header = TABLE_HEADER_YES},
                                             buf_cstr(&piece))
                        : append_options(&t,
                                         &(struct table_options){.header = TABLE_HEADER_YES,
                                                                 .allow_type_change = true},
                                         buf_cstr(&piece));
            assert_true(next.well);
            table_done(&t);
            t = next;
            buf_done(&piece);
            at += take;
        }
        assert_same(&t, &whole);
        table_done(&t);
        table_done(&whole);
        buf_done(&rows);
        buf_done(&all);
    }
}

/* ---- append to a newer version ---- */
/* Reads `ours` for `first`, to which others append `theirs` before the end; the result must be the
 * same table as `all`. */
static void rebased(const char *first, const char *theirs, const char *ours, const char *all) {
    struct table_copy base = cells_read(first), newer = append(&base, theirs),
                      t = append_rebased(&base, &newer, &may_change, ours), whole = cells_read(all);
    assert_same(&t, &whole);
    table_done(&base);
    table_done(&newer);
    table_done(&t);
    table_done(&whole);
}

static void test_rebase(void **state) {
    (void)state;
    rebased(abc, "3,z,true\n", "4,w,true\n", "a,b,c\n1,x,true\n2.50,y,false\n3,z,true\n4,w,true\n");
    /* `theirs` makes a column a string column */
    rebased(abc, "abc,z,true\n", "007,w,true\n",
            "a,b,c\n1,x,true\n2.50,y,false\nabc,z,true\n007,w,true\n");
    /* `ours` makes a column a string column */
    rebased(abc, "3,z,true\n", "u,w,true\n", "a,b,c\n1,x,true\n2.50,y,false\n3,z,true\nu,w,true\n");
    /* both make the column a string column */
    rebased(abc, "v,z,true\n", "u,w,true\n", "a,b,c\n1,x,true\n2.50,y,false\nv,z,true\nu,w,true\n");
    rebased("a,b\n1,\n2,\n", "3,5\n", "4,6\n",
            "a,b\n1,\n2,\n3,5\n4,6\n"); /* the type of b was not known */
    rebased("a,b\n1,\n2,\n", "3,x\n", "4,6\n", "a,b\n1,\n2,\n3,x\n4,6\n");
    rebased("a,b\ntrue,1\n", "x,2\n", " TRUE ,3\n",
            "a,b\ntrue,1\nx,2\n TRUE ,3\n"); /* the texts of booleans keep their spaces */
    rebased("a,b\n,1\n", "5,2\n", " true,3\n", "a,b\n,1\n5,2\n true,3\n");
    rebased("1 1:5\n0 2:1\n", "1 9:1\n", "1 4:1\n", "1 1:5\n0 2:1\n1 9:1\n1 4:1\n");
}

static void cannot_rebase(const char *first, const char *now, const char *ours) {
    struct table_copy base = cells_read(first), newer = cells_read(now),
                      t = append_rebased(&base, &newer, &may_change, ours);
    assert_true(newer.well);
    assert_false(t.well);
    assert_int_equal(t.problem.type, PROBLEM_CONFLICT);
    table_done(&base);
    table_done(&newer);
    table_done(&t);
}

static void test_rebase_that_does_not_fit(void **state) {
    (void)state;
    cannot_rebase(abc, "a,b,d\n1,x,true\n2,y,true\n", "4,w,true\n");
    cannot_rebase(abc, "b,a,c\nx,1,true\ny,2,true\n", "4,w,true\n");
    cannot_rebase(abc, "a,b\n1,x\n2,y\n", "4,w,true\n");
    /* a was a string column and is numeric now, but 7 was kept as a string */
    cannot_rebase("a,b\nx,1\ny,2\n", "a,b\n1,1\n2,2\n", "7,3\n");
    cannot_rebase("{\"columns\":[{\"name\":\"n\",\"type\":\"numeric\"}],\"rows\":[[1],[2]]}",
                  "{\"columns\":[{\"name\":\"n\",\"type\":\"categorical\"}],\"rows\":[[1],[2]]}",
                  "[{\"n\":3}]");
    cannot_rebase("1 1:5\n0 2:1\n", "a,b\n1,x\n2,y\n", "1 3:1\n");
}

/* ---- chunks ---- */
/* Both the stored and the appended rows need more than one chunk: the stored chunks are not
 * changed, though the last one is short. */
static void test_many_chunks(void **state) {
    (void)state;
    struct buf first = {0}, then = {0}, all = {0};
    buf_puts(&first, "a,b\n");
    for (int i = 0; i < 70000; i++) {
        buf_printf(&first, "%d,%d.5\n", i, i % 97);
    }
    for (int i = 70000; i < 140000; i++) {
        buf_printf(&then, "%d,%d.5\n", i, i % 97);
    }
    buf_append(&all, first.data, first.size);
    buf_append(&all, then.data, then.size);
    struct table_copy base = cells_read(buf_cstr(&first)), t = append(&base, buf_cstr(&then)),
                      whole = cells_read(buf_cstr(&all));
    assert_int_equal(base.n_chunks, 2);
    assert_int_equal(t.n_chunks, 4);
    assert_int_equal(t.rows[1], 70000 - 65536);
    assert_int_equal(whole.n_chunks, 3);
    assert_same(&t, &whole);
    table_done(&base);
    table_done(&t);
    table_done(&whole);
    buf_done(&first);
    buf_done(&then);
    buf_done(&all);
}

/* ---- no memory ---- */
struct lean {
    const struct table_copy *stored;
    struct buf own; /* chunks of the only column that is compared */
    size_t size[4]; /* bytes of each column's blob; the blobs follow each other in `own` */
};

static bool lean_chunk(void *arg, int64_t chunk, int64_t n_rows, struct table_blob *blobs,
                       size_t n_columns, struct problem *problem) {
    struct lean *l = arg;
    (void)chunk;
    (void)n_rows;
    for (size_t i = 0; i < n_columns; i++) {
        buf_append(&l->own, blobs[i].bytes, blobs[i].size);
        l->size[i] = blobs[i].size;
        free(blobs[i].bytes);
    }
    return !l->own.failed || problem_set(problem, PROBLEM_UNAVAILABLE, "no memory left");
}

static bool lean_reread(void *arg, int64_t chunk, size_t column, struct buf *out,
                        struct problem *problem) {
    struct lean *l = arg;
    if ((size_t)chunk < l->stored->n_chunks) {
        return table_sink_reread((void *)(uintptr_t)l->stored, chunk, column, out, problem);
    }
    size_t at = 0;
    for (size_t i = 0; i < column; i++) {
        at += l->size[i];
    }
    buf_append(out, l->own.data + at, l->size[column]);
    return true;
}

/* Returns true if the rows were appended; false if a lack of memory was reported (or, if a
 * description could not be read because of it, damage). */
static bool append_lean(const struct table_copy *onto, const struct table_copy *newer,
                        const char *body) {
    struct lean l = {.stored = onto};
    struct problem problem = {0};
    struct table_summary sum;
    const struct table_sink sink = {lean_chunk, lean_reread, &l};
    const struct table_stored stored = stored_of(onto), now = stored_of(newer);
    struct table *t =
        table_new_onto(&(struct table_options){.missing = "-"}, &stored, &sink, &problem);
    bool well = t != NULL && table_feed(t, body, strlen(body), &problem);
    if (well) {
        l.stored = newer;
        well = table_rebase(t, &now, &problem) && table_end(t, &sum, &problem);
    }
    if (!well && problem.type != PROBLEM_UNAVAILABLE && problem.type != PROBLEM_INTERNAL) {
        atomic_store(&alloc_fail_at, 0);
        fail_msg("problem %d: %s", problem.type, problem.detail != NULL ? problem.detail : "");
    }
    assert_true(!well || sum.n_rows == newer->sum.n_rows + 2);
    problem_done(&problem);
    table_free(t);
    buf_done(&l.own);
    return well;
}

static void test_no_memory(void **state) {
    (void)state;
    if (!alloc_fail_works()) {
        skip(); /* before any memory is allocated that would leak */
    }
    static const char *const bodies[] = {
        "c,a,b\ntrue,007,z\n,-,w\n", "5,z,true\nabc,w,false\n",
        "[{\"a\":1},{\"b\":\"z\",\"c\":true}]",
        "{\"columns\":[\"b\",\"a\"],\"rows\":[[\"z\",1],[\"w\",\"x\"]]}"};
    struct table_copy base = cells_read(abc), newer = append(&base, "word,z,true\n");
#if ALLOC_FAIL_WORKS
    /* Jansson 2.14 damages the heap if the allocation for an object's member fails; therefore its
     * allocations do not fail here. */
    json_set_alloc_funcs(__libc_malloc, free);
#endif
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        bool well = false;
        ALLOC_FAIL_EACH(well = append_lean(&base, &newer, bodies[i]));
        assert_true(well); /* the last call, in which no allocation failed */
    }
    json_set_alloc_funcs(malloc, free);
    table_done(&base);
    table_done(&newer);
}

static void test_damaged_description(void **state) {
    (void)state;
    struct both b = {.stored = &(struct table_copy){0}};
    const struct table_sink sink = {both_chunk, both_reread, &b};
    static const char *const bad[][2] = {{"[", "{}"}, {"[{\"name\":\"a\"}]", "{}"}, {"[]", "{"}};
    for (size_t i = 0; i < 3; i++) {
        const struct table_stored stored = {.columns = bad[i][0],
                                            .notes = bad[i][1],
                                            .n_rows = 1,
                                            .n_chunks = 1};
        struct problem problem = {0};
        assert_null(table_new_onto(&(struct table_options){0}, &stored, &sink, &problem));
        assert_int_equal(problem.type, PROBLEM_INTERNAL);
        problem_done(&problem);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_missing_columns),
        cmocka_unit_test(test_unknown_columns),
        cmocka_unit_test(test_wrong_rows),
        cmocka_unit_test(test_bodies_of_another_kind),
        cmocka_unit_test(test_types_fall_as_in_the_whole),
        cmocka_unit_test(test_reasons_by_code),
        cmocka_unit_test(test_categorical_and_text),
        cmocka_unit_test(test_given_types_hold),
        cmocka_unit_test(test_given_types_of_older_versions),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_delimiter),
        cmocka_unit_test(test_skip_and_comments),
        cmocka_unit_test(test_any_split),
        cmocka_unit_test(test_rebase),
        cmocka_unit_test(test_rebase_that_does_not_fit),
        cmocka_unit_test(test_many_chunks),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_damaged_description),
    };
    return cmocka_run_group_tests_name("formats: appended rows", tests, NULL, NULL);
}
