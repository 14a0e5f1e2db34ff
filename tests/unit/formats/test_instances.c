/* Tests of instances: what JSON, CSV and query strings give, and each fault with its place. */
#include "model_helper.h"

#include <math.h>

static dn_model *mixed, *numeric, *boolean;

static int setup(void **state) {
    (void)state;
    mixed = model_mixed();
    numeric = model_numeric();
    boolean = model_boolean();
    return 0;
}

static int teardown(void **state) {
    (void)state;
    dn_model_unref(mixed);
    dn_model_unref(numeric);
    dn_model_unref(boolean);
    return 0;
}

/* Appends the matrix and the labels as text: one line "[1.5 null unseen]=label" for each row. */
static void put_rows(const dn_model *model, const struct instance_rows *in, struct buf *out) {
    for (size_t i = 0; i < in->n; i++) {
        buf_putc(out, '[');
        for (size_t j = 0; j < in->n_inputs; j++) {
            const double x = in->raw[i * in->n_inputs + j];
            const dn_input *input = dn_encoder_input(dn_model_encoder(model), j);
            buf_puts(out, j > 0 ? " " : "");
            if (isnan(x)) {
                buf_puts(out, "-");
            } else if (input->type == DN_CATEGORICAL && x == DN_UNSEEN) {
                buf_puts(out, "unseen");
            } else if (input->type == DN_CATEGORICAL) {
                const uint32_t *start = input->levels.start + (size_t)x;
                assert_true(x >= 0 && (size_t)x < input->levels.n);
                buf_append(out, input->levels.bytes + start[0], start[1] - start[0]);
            } else {
                char form[DN_NUMBER_SIZE];
                dn_number_format(x, form);
                buf_puts(out, form);
            }
        }
        buf_putc(out, ']');
        if (in->label != NULL && in->label[i] == SIZE_MAX) {
            buf_puts(out, "=-");
        } else if (in->label != NULL) {
            buf_putc(out, '=');
            answer_class_write(dn_model_classes(model), in->label[i], out);
        }
        buf_putc(out, '\n');
    }
}

static void check_read(const dn_model *model, bool labelled, const struct format *format,
                       const char *body, const char *expected) {
    struct instance_rows in = {0};
    struct problem problem = {0};
    struct buf out = {0};
    /* a block of exactly this size, so that the sanitizer reports a read beyond its end */
    char *copy = malloc(strlen(body) + 1);
    assert_non_null(copy);
    memcpy(copy, body, strlen(body));
    if (!instances_read(copy, strlen(body),
                        &(struct instances_options){.format = format, .labelled = labelled}, model,
                        &in, &problem)) {
        problem_write(&problem, "", NULL, &out);
        fail_msg("%s\n%s", body, buf_cstr(&out));
    }
    put_rows(model, &in, &out);
    assert_string_equal(buf_cstr(&out), expected);
    buf_done(&out);
    instance_rows_done(&in);
    free(copy);
}

static void check(const dn_model *model, const char *body, const char *expected) {
    check_read(model, false, NULL, body, expected);
}

static void check_refused(const dn_model *model, bool labelled, const char *body,
                          enum problem_type type, const char *const *texts) {
    struct instance_rows in = {.n = 77};
    struct problem problem = {0};
    struct buf out = {0};
    if (instances_read(body, strlen(body),
                       &(struct instances_options){.labelled = labelled, .refuse_extra = true},
                       model, &in, &problem)) {
        fail_msg("taken: %s", body);
    }
    assert_int_equal(in.n, 77); /* instances_read did not change `in` */
    problem_write(&problem, "", NULL, &out);
    if (problem.type != type) {
        fail_msg("%s\n%s", body, buf_cstr(&out));
    }
    for (size_t i = 0; texts[i] != NULL; i++) {
        if (strstr(buf_cstr(&out), texts[i]) == NULL) {
            fail_msg("%s\nis not in %s", texts[i], buf_cstr(&out));
        }
    }
    problem_done(&problem);
    buf_done(&out);
}

static void refused(const dn_model *model, const char *body, const char *text) {
    const char *const texts[] = {text, NULL};
    check_refused(model, false, body, PROBLEM_INVALID_INSTANCES, texts);
}

static void test_json_arrays(void **state) {
    (void)state;
    check(numeric, "{\"instances\":[[1,2],[0.5,-2e-3]]}", "[1 2]\n[0.5 -0.002]\n");
    check(numeric, "[[1,2],[null,2]]", "[1 2]\n[- 2]\n");
    check(numeric, " \n[ [ 1 , 2 ] ]\n", "[1 2]\n");
    check(numeric, "\xEF\xBB\xBF[[1,2]]", "[1 2]\n");
    check(numeric, "[[0.12345678901234567,123456789012345678]]",
          "[0.12345678901234566 123456789012345680]\n");
    check(mixed,
          "[[1.5,2,\"red\",true],[1,2,\"pink\",0],[1,2,null,null],[1,2,\"\",\"TRUE\"],[1,2,5,1]]",
          "[1.5 2 red 1]\n[1 2 unseen 0]\n[1 2 - -]\n[1 2 - 1]\n[1 2 unseen 1]\n");
}

static void test_json_objects(void **state) {
    (void)state;
    check(mixed,
          "{\"instances\":[{\"length\":1,\"width\":2,\"colour\":\"blue\",\"old\":false},{\"old\":"
          "true,\"length\":3},{}]}",
          "[1 2 blue 0]\n[3 - - 1]\n[- - - -]\n");
    check(mixed, "[{\"kind\":\"a\",\"length\":1,\"width\":2,\"colour\":\"blue\",\"old\":false}]",
          "[1 2 blue 0]\n"); /* an instance may contain the target */
    check(numeric, "[[1,2],{\"y\":3}]", "[1 2]\n[- 3]\n");
}

static void test_json_tables(void **state) {
    (void)state;
    check(numeric, "{\"columns\":[\"y\",\"x\"],\"rows\":[[1,2],[null,3]]}", "[2 1]\n[3 -]\n");
    check(mixed,
          "{\"columns\":[{\"name\":\"old\",\"type\":\"boolean\",\"top\":[[true,3]]},\"length\","
          "\"kind\",{\"name\":\"colour\"},\"width\"],\n"
          "\"rows\":[[true,1,\"a\",\"red\",2],[0,null,\"z\",null,4]]}",
          "[1 2 red 1]\n[- 4 - 0]\n");
    check_read(numeric, true, &format_json,
               "{\"columns\":[\"class\",\"x\",\"y\"],\"rows\":[[7.5,1,2]]}", "[1 2]=7.5\n");
    refused(numeric, "{\"columns\":[\"x\",\"z\",\"x\"],\"rows\":[[1,2]]}",
            "{\"pointer\":\"/columns/1\",\"detail\":\"the model has no column "
            "\\\"z\\\"\"},{\"pointer\":\"/columns/2\",\"detail\":\"the column "
            "\\\"x\\\" comes twice\"}");
    refused(numeric, "{\"columns\":[\"x\"],\"rows\":[[1]]}",
            "{\"pointer\":\"/rows\",\"detail\":\"no instance names the column \\\"y\\\"\"}");
    refused(numeric, "{\"columns\":[\"x\",\"y\"],\"rows\":[[1,2],[1],{\"x\":1},[1,\"b\"]]}",
            "{\"pointer\":\"/rows/1\",\"detail\":\"instance 1 has 1 value, expected 2 as "
            "\\\"columns\\\" has\"},"
            "{\"pointer\":\"/rows/2\",\"detail\":\"instance 2 must be an array of the values of "
            "\\\"columns\\\"\"},"
            "{\"pointer\":\"/rows/3/1\",\"detail\":\"instance 3, column \\\"y\\\": must be a "
            "finite number (got \\\"b\\\")\"}");
    refused(numeric, "{\"rows\":[[1,2]],\"columns\":[\"x\",\"y\"]}",
            "\\\"columns\\\" must come before \\\"rows\\\"");
    refused(numeric, "{\"columns\":[\"x\",\"y\"]}", "\\\"rows\\\" is missing");
    refused(numeric, "{\"columns\":[\"x\",5],\"rows\":[[1,2]]}",
            "{\"pointer\":\"/columns/1\",\"detail\":\"a column must be a name");
    refused(numeric, "{\"columns\":{},\"rows\":[]}", "\\\"columns\\\" must be an array");
    refused(numeric, "{\"columns\":[\"x\",\"y\"],\"rows\":[[1,2]],\"instances\":[[1,2]]}",
            "there must be either");
}

/* A body that is one instance without an array around it. */
static void test_lone_instance(void **state) {
    (void)state;
    refused(mixed, "{\"length\":1,\"width\":[2,{}],\"colour\":\"red\",\"other\":3}\n",
            "\"errors\":[{\"pointer\":\"\",\"detail\":\"the body is one instance "
            "(\\\"length\\\" is a column of the model): send "
            "{\\\"instances\\\":[{…}]}, or one instance on each line as application/x-ndjson\"}]");
}

static void test_csv(void **state) {
    (void)state;
    check(numeric, "1,2\n0.5,-2e-3\n", "[1 2]\n[0.5 -0.002]\n");
    check(numeric, "1,2", "[1 2]\n");
    check(numeric, "y,x\n1,2\n", "[2 1]\n");
    check(numeric, "x;y\r\n1;2\r\n;3", "[1 2]\n[- 3]\n");
    check(numeric, "x\ty\n 1 \tNA\n", "[1 -]\n");
    check(numeric, "class,y,x\n0,1,2\n", "[2 1]\n");
    check(mixed, "length,width,colour,old\n1.5,2,red,true\n?,null,\"dark, blue\",0\n1,2,,\n",
          "[1.5 2 red 1]\n[- - unseen 0]\n[1 2 - -]\n");
    check(mixed, "1.5,2,red,FALSE\n", "[1.5 2 red 0]\n");
    /* with comment lines */
    check(numeric, "# from the lab\n#\nx,y\n# two\n1,2\n# \"a\"\n", "[1 2]\n");
    check(numeric, "# 1,2,3\r1,2\r3,4", "[1 2]\n[3 4]\n");
    check_read(numeric, false, &format_tsv, "y\tx\n# made\n1\t2\n", "[2 1]\n");
    check_read(mixed, false, &format_tsv, "1.5\t2\tred,rose,pink\tFALSE\n", "[1.5 2 unseen 0]\n");
    check_read(numeric, false, &format_csv, "1,2\n", "[1 2]\n");
}

/* A model with one text input, whose values contain commas: with the media type of TSV each line is
 * one cell, but sniffing finds the comma as the delimiter. */
static void test_tsv_of_one_column(void **state) {
    (void)state;
    dn_model *model = model_one_text_column();
    check_read(model, false, &format_tsv, "a,b\nc,d\n", "[a,b]\n[c,d]\n");
    check_read(model, false, &format_tsv, "place\nc,d\n", "[c,d]\n");
    refused(model, "a,b\nc,d\n", "instance 0 has 2 cells, expected 1");
    dn_model_unref(model);
}

static void test_labels(void **state) {
    (void)state;
    check_read(mixed, true, NULL,
               "[[1,2,\"red\",true,\"b\"],[1,2,\"red\",true,null],[1,2,\"red\",true,\"c\"]]",
               "[1 2 red 1]=\"b\"\n[1 2 red 1]=-\n[1 2 red 1]=\"c\"\n");
    check_read(mixed, true, NULL,
               "[{\"length\":1,\"width\":2,\"colour\":\"red\",\"old\":true,\"kind\":\"a\"},{"
               "\"length\":1}]",
               "[1 2 red 1]=\"a\"\n[1 - - -]=-\n");
    check_read(mixed, true, NULL, "kind,length,width,colour,old\na,1,2,red,1\n,1,2,red,1\n",
               "[1 2 red 1]=\"a\"\n[1 2 red 1]=-\n");
    check_read(mixed, true, NULL, "1,2,red,1,b\n", "[1 2 red 1]=\"b\"\n");
    check_read(numeric, true, NULL, "[[1,2,0],[1,2,7.5],[1,2,1.0]]",
               "[1 2]=0\n[1 2]=7.5\n[1 2]=1\n");
    check_read(numeric, true, NULL, "1,2,7.50\n", "[1 2]=7.5\n");
    check_read(boolean, true, NULL, "[[37,true],[38,0],[39,\"false\"]]",
               "[37]=true\n[38]=false\n[39]=false\n");
    check_read(boolean, true, NULL, "fever,sick\n37,TRUE\n38,0\n", "[37]=true\n[38]=false\n");
}

static void test_json_faults(void **state) {
    (void)state;
    refused(numeric, "[[1]]",
            "{\"pointer\":\"/0\",\"detail\":\"instance 0 has 1 value, expected 2\"}");
    refused(numeric, "{\"instances\":[[1,2],[1,2,3]]}",
            "{\"pointer\":\"/instances/1\",\"detail\":\"instance 1 has 3 values, expected 2\"}");
    refused(numeric, "{\"instances\":[[1,2],[1,\"2\"]]}",
            "{\"pointer\":\"/instances/1/1\",\"detail\":\"instance 1, column \\\"y\\\": must be a "
            "finite number (got \\\"2\\\"): a JSON number is written without quotes\"}");
    refused(numeric, "[[1,true]]", "must be a finite number (got true)");
    refused(numeric, "[[1,[2]]]", "must be a finite number (got an array or an object)");
    refused(numeric, "[[1,1e999]]",
            "{\"pointer\":\"/0/1\",\"detail\":\"instance 0, column \\\"y\\\": must be a finite "
            "number (got 1e999): the number is beyond the range of double precision\"}");
    refused(numeric, "[[NaN,1]]",
            "{\"pointer\":\"/0/0\",\"detail\":\"instance 0, column \\\"x\\\": must be a finite "
            "number (got NaN): JSON has no NaN or Infinity: send null for a missing value\"}");
    refused(numeric, "[[1,-Infinity]]", "(got -Infinity): JSON has no NaN or Infinity");
    refused(numeric, "[[1,\"\"]]", "must be a finite number (got \\\"\\\")");
    refused(mixed, "[[1,2,\"red\",2]]",
            "{\"pointer\":\"/0/3\",\"detail\":\"instance 0, column \\\"old\\\": must be true or "
            "false (got 2)\"}");
    refused(mixed, "[[1,2,{\"a\":[1]},true]]", "must be a string (got an array or an object)");
    refused(mixed, "[[1,2,NaN,true]]", "must be a string (got NaN)");
    refused(numeric, "[{\"x\":1,\"z\":2,\"y\":3}]",
            "{\"pointer\":\"/0/z\",\"detail\":\"instance 0: the model has no column \\\"z\\\"\"}");
    refused(numeric, "[{\"x\":1,\"a/b~\":{\"c\":[]},\"y\":3}]", "\"pointer\":\"/0/a~1b~0\"");
    refused(numeric, "[{\"x\":1,\"y\":2,\"x\":3}]",
            "{\"pointer\":\"/0/x\",\"detail\":\"instance 0: the column \\\"x\\\" comes twice\"}");
    refused(numeric, "{\"instances\":[{\"x\":1},{\"x\":2}]}",
            "{\"pointer\":\"/instances\",\"detail\":\"no instance names the column \\\"y\\\"\"}");
    refused(numeric, "[1,2]",
            "{\"pointer\":\"/0\",\"detail\":\"instance 0 must be an array or an object\"}");
    refused(numeric, "{\"instances\":[]}", "there are no instances");
    refused(numeric, "[]", "there are no instances");
    refused(numeric, "{}", "\\\"instances\\\" is missing: the body must be as");
    refused(numeric, "{\"instances\":5}", "\\\"instances\\\" must be an array");
    refused(numeric, "{\"instances\":{\"x\":[1]}}", "\\\"instances\\\" must be an array");
    refused(numeric, "{\"a\":[{}],\"instances\":[[1,2]]}",
            "{\"pointer\":\"/a\",\"detail\":\"unknown member \\\"a\\\": there are only "
            "\\\"instances\\\", or \\\"columns\\\" and "
            "\\\"rows\\\", or \\\"dataset\\\" alone\"}");
    refused(numeric, "{\"instances\":[[1,2]],\"instances\":[[1,2]]}",
            "member \\\"instances\\\" comes twice");
    const char *const both[] = {"\"pointer\":\"/0/0\"", "\"pointer\":\"/2\"",
                                "\"pointer\":\"/3/1\"", NULL}; /* all faults are reported */
    check_refused(numeric, false, "[[\"a\",1],[1,2],[1],[1,\"b\"]]", PROBLEM_INVALID_INSTANCES,
                  both);
    const char *const label[] = {
        "{\"pointer\":\"/0/4\",\"detail\":\"instance 0, column \\\"kind\\\": must be one of the "
        "model's classes (got \\\"z\\\")\"}",
        NULL};
    check_refused(mixed, true, "[[1,2,\"red\",true,\"z\"]]", PROBLEM_INVALID_INSTANCES, label);
    const char *const unlabelled[] = {"no instance names the column \\\"kind\\\"", NULL};
    check_refused(mixed, true, "[{\"length\":1,\"width\":2,\"colour\":\"red\",\"old\":true}]",
                  PROBLEM_INVALID_INSTANCES, unlabelled);
    const char *const last[] = {"instance 0 has 4 values, expected 5 (the target last)", NULL};
    check_refused(mixed, true, "[[1,2,\"red\",true]]", PROBLEM_INVALID_INSTANCES, last);
}

static void test_bad_json(void **state) {
    static const struct {
        const char *body, *text;
    } cases[] = {
        {"[[1,2]",
         "{\"line\":1,\"column\":7,\"detail\":\"the body ends within an array or object\"}"},
        {"[[1,2],\n[1,2 3]]", "{\"line\":2,\"column\":6,"},
        {"{\"instances\":[[1,2]]} x", "nothing may follow the value"},
        {"[[1,\"a\"],[1,nope]]", "unknown word"},
        {"[[\"\\ud800\",2]]", "half of a surrogate pair"},
        {"{\"instances\":[[1,2]],\"b\":[[[[", "the body ends within"},
        {"[[1,2],[01,2]]", "malformed number"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *const texts[] = {cases[i].text, NULL};
        check_refused(numeric, false, cases[i].body, PROBLEM_BAD_JSON, texts);
    }
    char deep[40000];
    memset(deep, '[', sizeof deep);
    struct instance_rows in = {0};
    struct problem problem = {0};
    assert_false(instances_read(deep, sizeof deep,
                                &(struct instances_options){.format = &format_json}, numeric, &in,
                                &problem));
    assert_int_equal(problem.type, PROBLEM_BAD_JSON);
    problem_done(&problem);
}

static void test_csv_faults(void **state) {
    (void)state;
    refused(numeric, "1,2\n1,x\n",
            "{\"line\":2,\"column\":3,\"detail\":\"instance 1, column \\\"y\\\": must be a finite "
            "number (got \\\"x\\\")\"}");
    refused(numeric, "x,y\n1,1e999\n",
            "{\"line\":2,\"column\":3,\"detail\":\"instance 0, column \\\"y\\\": must be a finite "
            "number (got \\\"1e999\\\"): its magnitude is "
            "beyond the largest number, about 1.8e308\"}");
    refused(numeric, "1,NaN\n", "must be a finite number (got \\\"NaN\\\")");
    refused(numeric, "1,inf\n", "must be a finite number (got \\\"inf\\\")");
    refused(numeric, "x;y\n1;2,5\n3;4\n",
            "(got \\\"2,5\\\"): write decimal fractions with a point");
    refused(numeric, "1,0x2\n", "hexadecimal numbers are not read as numbers");
    refused(numeric, "1,n/a\n", "(got \\\"n/a\\\"): a missing value is null, or empty in text");
    refused(numeric, "[[1,\"2,5\"]]", "(got \\\"2,5\\\"): write decimal fractions with a point");
    refused(numeric, "# 1,2,3\n1,2\n# x,\"a\"b,c\n1,2,3\n", "\"errors\":[{\"line\":4,");
    refused(numeric, "1,2\n#1,2\n", "{\"line\":2,\"column\":1,");
    refused(numeric, "1,2,3\n",
            "{\"line\":1,\"column\":5,\"detail\":\"instance 0 has 3 cells, expected 2\"}");
    refused(numeric, "1,2\n1\n",
            "{\"line\":2,\"column\":2,\"detail\":\"instance 1 has 1 cell, expected 2\"}");
    refused(numeric, "x,z\n1,2\n",
            "{\"line\":1,\"column\":3,\"detail\":\"the model has no column \\\"z\\\"\"}");
    refused(numeric, "x,x,y\n1,2,3\n",
            "{\"line\":1,\"column\":3,\"detail\":\"the column \\\"x\\\" comes twice\"}");
    refused(numeric, "x,class\n1,0\n", "no instance names the column \\\"y\\\"");
    refused(numeric, "x,y\n", "there are no instances");
    refused(numeric, "", "there are no instances");
    refused(numeric, "a,b\n1,2\n",
            "{\"line\":1,\"column\":1,\"detail\":\"the model has no column \\\"a\\\"\"}");
    refused(numeric, "a,2\n1,2\n",
            "{\"line\":1,\"column\":1,\"detail\":\"instance 0, column \\\"x\\\": must be a finite "
            "number (got \\\"a\\\")\"}");
    refused(numeric, "1,\"2\n", "the quote is not closed");
    refused(numeric, "1,\xFF\n", "{\"line\":1,\"column\":3,\"detail\":\"invalid UTF-8\"}");
    refused(mixed, "1,2,red,maybe\n",
            "column \\\"old\\\": must be true or false (got \\\"maybe\\\")");
}

static void test_pairs(void **state) {
    (void)state;
    const char *names[] = {"old", "length", "width", "colour", "kind"};
    const char *values[] = {"true", " 1.5 ", "", "red", "a"};
    struct instance_rows in = {0};
    struct problem problem = {0};
    struct buf out = {0};
    assert_true(instances_read_pairs(names, values, 5, mixed, NULL, NULL, false, &in, &problem));
    put_rows(mixed, &in, &out);
    assert_string_equal(buf_cstr(&out), "[1.5 - red 1]\n");
    instance_rows_done(&in);
    names[4] = "width";
    values[1] = "tall";
    names[3] = "color";
    assert_false(instances_read_pairs(names, values, 5, mixed, NULL, NULL, true, &in, &problem));
    buf_clear(&out);
    problem_write(&problem, "", NULL, &out);
    const char *text = buf_cstr(&out);
    assert_int_equal(problem.type, PROBLEM_INVALID_INSTANCES);
    assert_non_null(strstr(text, "{\"pointer\":\"/length\",\"detail\":\"column \\\"length\\\": "
                                 "must be a finite number (got \\\"tall\\\")\"}"));
    assert_non_null(
        strstr(text,
               "{\"pointer\":\"/color\",\"detail\":\"the model has no column \\\"color\\\"\"}"));
    assert_non_null(
        strstr(text,
               "{\"pointer\":\"/width\",\"detail\":\"the column \\\"width\\\" comes twice\"}"));
    assert_non_null(strstr(text, "the column \\\"colour\\\" is not given"));
    problem_done(&problem);
    assert_false(instances_read_pairs(names, values, 0, numeric, NULL, NULL, true, &in, &problem));
    assert_int_equal(problem.n_errors, 2);
    problem_done(&problem);
    buf_done(&out);
}

static void test_many_instances(void **state) {
    (void)state;
    struct buf body = {0}, csv = {0};
    uint64_t seed = 14;
    enum { N = 5000 };
    buf_puts(&body, "{\"instances\":[");
    for (int i = 0; i < N; i++) {
        const double x = (double)cells_random(&seed) / 1000,
                     y = (double)cells_random(&seed) * 1e-12;
        char fx[DN_NUMBER_SIZE], fy[DN_NUMBER_SIZE];
        dn_number_format(x, fx);
        dn_number_format(y, fy);
        buf_printf(&body, "%s[%s, %s]", i > 0 ? "," : "", fx, fy);
        buf_printf(&csv, "%s,%s\n", fx, fy);
    }
    buf_puts(&body, "]}");
    struct instance_rows a = {0}, b = {0};
    struct problem problem = {0};
    assert_true(instances_read(body.data, body.size, &(struct instances_options){.format = NULL},
                               numeric, &a, &problem));
    assert_true(instances_read(csv.data, csv.size, &(struct instances_options){.format = NULL},
                               numeric, &b, &problem));
    assert_int_equal(a.n, N);
    assert_int_equal(b.n, N);
    assert_memory_equal(a.raw, b.raw, N * 2 * sizeof *a.raw);
    seed = 14;
    for (int i = 0; i < N; i++) {
        assert_true(a.raw[2 * i] == (double)cells_random(&seed) / 1000);
        assert_true(a.raw[2 * i + 1] == (double)cells_random(&seed) * 1e-12);
    }
    instance_rows_done(&a);
    instance_rows_done(&b);
    buf_done(&body);
    buf_done(&csv);
}

/* Tests that blocks contain the rows in order; that after a fault no more blocks are passed on, but
 * further faults are found; and that reading stops if the callback returns false. */
static bool on_block(void *arg, const struct instance_rows *rows, size_t first,
                     struct problem *problem) {
    size_t *n = arg;
    assert_int_equal(first, *n);
    assert_in_range(rows->n, 1, INSTANCES_BLOCK_ROWS);
    for (size_t i = 0; i < rows->n; i++) {
        assert_true(rows->raw[2 * i] == (double)(first + i) && rows->raw[2 * i + 1] == 7);
    }
    *n += rows->n;
    return *n < 4 * INSTANCES_BLOCK_ROWS || problem_set(problem, PROBLEM_UNAVAILABLE, "enough");
}

static void test_blocks(void **state) {
    (void)state;
    static const struct {
        size_t rows, given;
        bool fault;
        enum problem_type said;
    } cases[] = {{1, 1, false, PROBLEM_NONE},
                 {INSTANCES_BLOCK_ROWS, INSTANCES_BLOCK_ROWS, false, PROBLEM_NONE},
                 {3 * INSTANCES_BLOCK_ROWS + 5, 3 * INSTANCES_BLOCK_ROWS + 5, false, PROBLEM_NONE},
                 {3 * INSTANCES_BLOCK_ROWS + 5, 3 * INSTANCES_BLOCK_ROWS, true,
                  PROBLEM_INVALID_INSTANCES},
                 {9 * INSTANCES_BLOCK_ROWS, 4 * INSTANCES_BLOCK_ROWS, false, PROBLEM_UNAVAILABLE}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct buf body = {0};
        struct instance_rows none = {0};
        struct problem problem = {0};
        size_t n = 0;
        const struct instances_options options = {.format = &format_csv,
                                                  .block = on_block,
                                                  .arg = &n};
        for (size_t i = 0; i < cases[c].rows; i++) {
            buf_printf(&body, "%zu,7\n", i);
        }
        buf_puts(&body, cases[c].fault ? "1,x\n1,y,z\n" : "");
        assert_true(instances_read(body.data, body.size, &options, numeric, &none, &problem) ==
                    (cases[c].said == PROBLEM_NONE));
        assert_int_equal(problem.type, cases[c].said);
        assert_int_equal(problem.n_errors, cases[c].fault ? 2 : 0);
        assert_int_equal(n, cases[c].given);
        assert_true(none.n == 0 && none.raw == NULL);
        problem_done(&problem);
        buf_done(&body);
    }
}

static void test_faults_are_bounded(void **state) {
    (void)state;
    struct buf body = {0};
    buf_putc(&body, '[');
    for (int i = 0; i < 5000; i++) {
        buf_puts(&body, i > 0 ? ",[1]" : "[1]");
    }
    buf_putc(&body, ']');
    struct instance_rows in = {0};
    struct problem problem = {0};
    assert_false(instances_read(body.data, body.size, &(struct instances_options){.format = NULL},
                                numeric, &in, &problem));
    assert_int_equal(problem.n_errors, PROBLEM_MAX_ERRORS);
    assert_int_equal(problem.n_dropped, 900);
    problem_done(&problem);
    buf_done(&body);
}

/* A model that refuses categories that do not occur in its training rows; everything else must be
 * read as usual. */
static void test_unseen_categories_refused(void **state) {
    (void)state;
    dn_model *careful = model_mixed_as(NULL, DN_UNSEEN_REFUSE);
    check(careful, "[[1.5,2,\"red\",true],[1,2,null,null],[1,2,\"\",0]]",
          "[1.5 2 red 1]\n[1 2 - -]\n[1 2 - 0]\n");
    refused(careful, "[[1.5,2,\"red\",true],[1,2,\"pink\",0]]",
            "{\"pointer\":\"/1/2\",\"detail\":\"instance 1, column \\\"colour\\\": must be a "
            "category of the training data (got \\\"pink\\\")\"}");
    refused(careful, "length,width,colour,old\n1,2,5,1\n",
            "instance 0, column \\\"colour\\\": must be a category of the training data");
    dn_model_unref(careful);
}

static void test_media_types(void **state) {
    const struct format *format;
    (void)state;
    assert_true(format_find("", FORMAT_INSTANCES, &format));
    assert_ptr_equal(format, NULL);
    assert_true(format_find("application/json", FORMAT_INSTANCES, &format));
    assert_ptr_equal(format, &format_json);
    assert_true(format_find("text/csv", FORMAT_INSTANCES, &format));
    assert_ptr_equal(format, &format_csv);
    assert_true(format_find("text/tab-separated-values", FORMAT_INSTANCES, &format));
    assert_ptr_equal(format, &format_tsv);
    static const char *const lines[] = {"application/x-ndjson", "application/ndjson",
                                        "application/jsonl"};
    for (size_t i = 0; i < 3; i++) {
        assert_true(format_find(lines[i], FORMAT_INSTANCES, &format));
        assert_ptr_equal(format, &format_ndjson);
    }
    assert_false(format_find("image/png", FORMAT_INSTANCES, &format));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_json_arrays),
                                       cmocka_unit_test(test_json_objects),
                                       cmocka_unit_test(test_csv),
                                       cmocka_unit_test(test_tsv_of_one_column),
                                       cmocka_unit_test(test_labels),
                                       cmocka_unit_test(test_json_faults),
                                       cmocka_unit_test(test_bad_json),
                                       cmocka_unit_test(test_csv_faults),
                                       cmocka_unit_test(test_pairs),
                                       cmocka_unit_test(test_json_tables),
                                       cmocka_unit_test(test_lone_instance),
                                       cmocka_unit_test(test_many_instances),
                                       cmocka_unit_test(test_blocks),
                                       cmocka_unit_test(test_faults_are_bounded),
                                       cmocka_unit_test(test_unseen_categories_refused),
                                       cmocka_unit_test(test_media_types)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
