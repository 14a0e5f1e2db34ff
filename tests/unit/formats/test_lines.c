/* Tests of instances as NDJSON: blocks of rows, refused lines with their line numbers; the result
 * must not depend on where the bytes are cut. */
#include "model_helper.h"

#include <math.h>

static dn_model *mixed, *numeric;

static int setup(void **state) {
    (void)state;
    mixed = model_mixed();
    numeric = model_numeric();
    return 0;
}

static int teardown(void **state) {
    (void)state;
    dn_model_unref(mixed);
    dn_model_unref(numeric);
    return 0;
}

static void put_block(struct instance_lines *lines, struct buf *out) {
    const struct instance_rows *block = instance_lines_block(lines);
    for (size_t i = 0; i < block->n; i++) {
        buf_printf(out, "%d:", (int)instance_lines_line_of(lines, i));
        for (size_t j = 0; j < block->n_inputs; j++) {
            const double x = block->raw[i * block->n_inputs + j];
            buf_printf(out, isnan(x) ? " -" : " %.17g", x);
        }
        buf_putc(out, '\n');
    }
    instance_lines_clear(lines);
}

static void put_refusal(const struct problem *problem, struct buf *out) {
    assert_int_equal(problem->type, PROBLEM_INVALID_INSTANCES);
    assert_true(problem->n_errors > 0);
    for (size_t i = 0; i < problem->n_errors; i++) {
        buf_printf(out, "%d.%d %s\n", (int)problem->errors[i].line, (int)problem->errors[i].column,
                   problem->errors[i].detail);
    }
}

/* Appends what is read from the pieces that begin at body[cut[i]]. Bytes that were not used are
 * passed again, as any caller must do. */
static void read_cut(const dn_model *model, size_t max_rows, size_t max_line, const char *body,
                     size_t size, const size_t *cut, size_t n_cuts, struct buf *out) {
    struct problem problem = {0};
    struct instance_lines *lines =
        instance_lines_new(model, &(struct instances_options){.refuse_extra = true}, max_rows,
                           max_line, &problem);
    assert_non_null(lines);
    size_t at = 0;
    for (size_t i = 0; i <= n_cuts; i++) {
        const size_t upto = i < n_cuts ? cut[i] : size;
        const bool last = i == n_cuts;
        enum instance_lines_state state = INSTANCE_LINES_FULL;
        while (state != INSTANCE_LINES_MORE) {
            size_t used = 0;
            /* a separate block for each piece, so that the sanitizer reports a read beyond its
             * end */
            char *piece = malloc(upto - at + 1);
            assert_non_null(piece);
            memcpy(piece, body + at, upto - at);
            state = instance_lines_read(lines, piece, upto - at, last, &used, &problem);
            free(piece);
            assert_true(used <= upto - at);
            at += used;
            assert_true(instance_lines_block(lines)->n <= max_rows);
            assert_true(state != INSTANCE_LINES_FULL || instance_lines_block(lines)->n > 0);
            put_block(lines, out);
            if (state == INSTANCE_LINES_FAULT) {
                put_refusal(&problem, out);
                problem_done(&problem);
            }
            assert_int_equal(problem.type, PROBLEM_NONE);
        }
    }
    assert_int_equal(at, size);
    assert_true(instance_lines_memory(lines) > 0);
    instance_lines_free(lines);
}

static void check(const dn_model *model, const char *body, const char *expected) {
    const size_t size = strlen(body);
    for (size_t cut = 0; cut <= size; cut++) { /* 0: the body in one piece; else in two pieces */
        struct buf out = {0};
        read_cut(model, 3, 60, body, size, &cut, cut > 0, &out);
        assert_string_equal(buf_cstr(&out), expected);
        buf_done(&out);
    }
    size_t *each = calloc(size + 1, sizeof *each);
    struct buf out = {0};
    assert_non_null(each);
    for (size_t i = 0; i < size; i++) {
        each[i] = i;
    }
    read_cut(model, 1, 60, body, size, each, size, &out);
    assert_string_equal(buf_cstr(&out), expected);
    buf_done(&out);
    free(each);
}

static void test_lines(void **state) {
    (void)state;
    check(numeric, "[1,2]\n{\"y\":3}\n[4.5,null]", "1: 1 2\n2: - 3\n3: 4.5 -\n");
    check(numeric, "[1,2]\r\n\n  \r\n{\"x\":null}\n", "1: 1 2\n4: - -\n");
    check(numeric, "\xEF\xBB\xBF[1,2]\n[3,4]\n", "1: 1 2\n2: 3 4\n");
    check(numeric, "", "");
    check(numeric, "\n\n", "");
    check(mixed, "{\"colour\":\"red\",\"length\":2}\n[1,2,\"nothing\",true]\n",
          "1: 2 - 2 -\n2: 1 2 -1 1\n");
}

static void test_refused_lines(void **state) {
    (void)state;
    check(numeric, "[1,2]\n[1]\n[3,4]\n",
          "1: 1 2\n2.3 the instance has 1 value, expected 2\n3: 3 4\n");
    check(numeric, "[1,\n[5,6]\n", "1.4 the line ends within an array or object\n2: 5 6\n");
    check(numeric, "[\"1,\n[5,6]\n", "1.2 the line ends within a string\n2: 5 6\n");
    check(numeric, "{\"x\":1,\"z\":2,\"x\":3}\n[5,6]\n",
          "1.8 the instance: the model has no column \"z\"\n1.14 the instance: the column \"x\" "
          "comes twice\n2: 5 6\n");
    check(numeric, "[1,\"2\"]\n7\n[1,2] [3,4]\n[1e999,2]\n",
          "1.4 the instance, column \"y\": must be a finite number (got \"2\"): a JSON "
          "number is written without quotes\n2.1 the instance "
          "must be an array or an object\n"
          "3.7 nothing may follow the value\n4.2 the instance, column \"x\": must be a finite "
          "number (got 1e999): the number is beyond the range of double precision\n");
    check(
        numeric, "{}\n[3,4]\n{\"class\":1}\n{\"z\":1}\n",
        "1.1 the instance names no column of the model, such as \"x\"\n2: 3 4\n"
        "3.2 the instance: the column \"class\" is the target, which is not an input of the model\n"
        "4.2 the instance: the model has no column \"z\"\n");
    check(numeric, "[1,2]\n[1,2,                                                        ]\n[3,4]\n",
          "1: 1 2\n2.1 the line is longer than 60 bytes\n3: 3 4\n");
}

/* A line of exactly the limit is accepted, one of a byte more is refused, wherever the line
 * ends. */
static void test_longest_line(void **state) {
    (void)state;
    struct buf body = {0};
    for (int bom = 0; bom < 2; bom++) {
        for (int end = 0; end < 2; end++) {
            for (int more = 0; more < 2; more++) {
                buf_clear(&body);
                buf_printf(&body, "%s[1,2%*s]%s", bom ? "\xEF\xBB\xBF" : "", 55 + more, "",
                           end ? "\n" : "");
                assert_int_equal(body.size, (size_t)(3 * bom + 60 + more + end));
                check(numeric, buf_cstr(&body),
                      more ? "1.1 the line is longer than 60 bytes\n" : "1: 1 2\n");
            }
        }
    }
    buf_clear(&body);
    buf_printf(&body, "[1,2]\n[3,4%*s]\n[5,6%*s]\n[7,8]\n", 55, "", 56, "");
    check(numeric, buf_cstr(&body),
          "1: 1 2\n2: 3 4\n3.1 the line is longer than 60 bytes\n4: 7 8\n");
    buf_done(&body);
}

/* A line that never ends must not be kept in memory. */
static void test_endless_line(void **state) {
    (void)state;
    struct problem problem = {0};
    struct instance_lines *lines =
        instance_lines_new(numeric, &(struct instances_options){.refuse_extra = true}, 10, 1000,
                           &problem);
    char piece[4000];
    size_t used = 0;
    assert_non_null(lines);
    memset(piece, '[', sizeof piece);
    assert_int_equal(instance_lines_read(lines, piece, 900, false, &used, &problem),
                     INSTANCE_LINES_MORE);
    assert_int_equal(used, 0);
    assert_int_equal(instance_lines_read(lines, piece, sizeof piece, false, &used, &problem),
                     INSTANCE_LINES_FAULT);
    assert_int_equal(used, sizeof piece);
    problem_done(&problem);
    for (size_t i = 0; i < 1000; i++) {
        assert_int_equal(instance_lines_read(lines, piece, sizeof piece, false, &used, &problem),
                         INSTANCE_LINES_MORE);
        assert_int_equal(used, sizeof piece);
    }
    assert_true(instance_lines_memory(lines) < 10000);
    memcpy(piece, "]\n[1,2]\n", 8);
    assert_int_equal(instance_lines_read(lines, piece, 8, false, &used, &problem),
                     INSTANCE_LINES_MORE);
    assert_int_equal(instance_lines_block(lines)->n, 1);
    assert_int_equal(instance_lines_line_of(lines, 0), 2);
    instance_lines_free(lines);
}

/* The memory in use after 20,000 lines must be the same as after the first thousand, though some
 * lines are refused. */
static void test_memory_is_bounded(void **state) {
    (void)state;
    struct problem problem = {0};
    struct instance_lines *lines =
        instance_lines_new(mixed, &(struct instances_options){.refuse_extra = true}, 100, 1000,
                           &problem);
    size_t early = 0, used = 0, refused = 0;
    assert_non_null(lines);
    for (int i = 0; i < 20000; i++) {
        char line[200];
        const int n =
            snprintf(line, sizeof line,
                     i % 7 == 0 ? "{\"length\":%d,\"none\":1}\n" : "{\"old\":true,\"length\":%d}\n",
                     i);
        const enum instance_lines_state said =
            instance_lines_read(lines, line, (size_t)n, false, &used, &problem);
        assert_int_equal(used, n);
        refused += said == INSTANCE_LINES_FAULT;
        problem_done(&problem);
        if (said == INSTANCE_LINES_FULL) {
            instance_lines_clear(lines);
        }
        early = i == 1000 ? instance_lines_memory(lines) : early;
    }
    assert_int_equal(refused, 20000 / 7 + 1);
    assert_int_equal(instance_lines_memory(lines), early);
    assert_int_equal(instance_lines_at(lines), 20000);
    instance_lines_free(lines);
}

/* A whole body as one table: each fault is reported with its line. */
static void test_whole_body(void **state) {
    (void)state;
    const struct instances_options options = {.format = &format_ndjson, .labelled = true};
    const char *good = "[1,2,0]\n\n{\"class\":7.5,\"x\":3}\n{\"x\":4,\"y\":2}\n",
               *bad = "[1,2,0]\n[1,2,9]\nx\n";
    struct instance_rows in = {0};
    struct problem problem = {0};
    assert_true(instances_read(good, strlen(good), &options, numeric, &in, &problem));
    assert_int_equal(in.n, 3);
    assert_true(in.label[0] == 0 && in.label[1] == 2 && in.label[2] == SIZE_MAX);
    instance_rows_keep_labelled(&in);
    assert_int_equal(in.n, 2);
    assert_true(in.raw[2] == 3 && isnan(in.raw[3]) && in.label[1] == 2);
    instance_rows_done(&in);
    assert_false(instances_read(bad, strlen(bad), &options, numeric, &in, &problem));
    assert_int_equal(problem.n_errors, 2);
    assert_int_equal(problem.errors[0].line, 2);
    assert_int_equal(problem.errors[1].line, 3);
    assert_int_equal(problem.errors[1].column, 1);
    problem_done(&problem);
}

static void test_sniffing(void **state) {
    (void)state;
    const struct {
        const char *body;
        const struct format *format;
    } expected[] = {{"{\"instances\":[[1,2]]}", &format_json},
                    {"{\"instances\":[[1,2]]}\n", &format_json},
                    {"{\n\"instances\":[[1,2]]}\n", &format_json},
                    {"[[1,2],\n[3,4]]\n", &format_json},
                    {"\xEF\xBB\xBF [1,2]\n[3,4]\n", &format_ndjson},
                    {"{\"x\":1}\n{\"x\":2}", &format_ndjson},
                    {"{\"x\":1}\r\n\r\n{\"x\":2}", &format_ndjson},
                    {"1,2\n3,4\n", &format_csv},
                    {"x,y\n1,2\n", &format_csv},
                    {"", &format_csv},
                    {"# made by hand\n+1 1:0.5 7:2\n", &format_svmlight},
                    {"-1 3:1\n", &format_svmlight}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        assert_int_equal(instances_sniff(expected[i].body, strlen(expected[i].body)),
                         expected[i].format);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_longest_line),
                                       cmocka_unit_test(test_lines),
                                       cmocka_unit_test(test_refused_lines),
                                       cmocka_unit_test(test_endless_line),
                                       cmocka_unit_test(test_memory_is_bounded),
                                       cmocka_unit_test(test_whole_body),
                                       cmocka_unit_test(test_sniffing)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
