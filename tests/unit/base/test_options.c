/* Tests of options: the grammar of each kind, precedence, a one-line message for each mistake, the
 * help text. */
#include "lib/cmocka.h"

#include "base/options/options.h"

#include <stdlib.h>
#include <string.h>

struct settings {
    const char *database;      /* OPTION_STRING */
    struct option_list listen; /* OPTION_LIST */
    int64_t workers;           /* OPTION_INT */
    int64_t free_int;          /* OPTION_INT without a range */
    int64_t max_body;          /* OPTION_SIZE */
    double wait;               /* OPTION_SECONDS */
    bool insecure;             /* OPTION_FLAG */
    const char *log_format;    /* OPTION_CHOICE */
};

static const struct option_row rows[] = {
    {"database", OPTION_STRING, offsetof(struct settings, database), "discern.db", 0, 0, NULL,
     "FILE", "The database file.", "Storage"},
    {"listen", OPTION_LIST, offsetof(struct settings, listen), "127.0.0.1:8080", 0, 0, NULL,
     "ADDRESS:PORT", "Where to listen.", "Network"},
    {"workers", OPTION_INT, offsetof(struct settings, workers), "2", 1, 256, NULL, NULL,
     "Jobs trained at once.", "Jobs"},
    {"free-int", OPTION_INT, offsetof(struct settings, free_int), NULL, 0, 0, NULL, NULL,
     "Any integer.", "Jobs"},
    {"max-body", OPTION_SIZE, offsetof(struct settings, max_body), "64M", 1024, 1099511627776.0,
     NULL, NULL,
     "The largest body. This sentence is here to be longer than what fits on one line of the help "
     "text, so that it is wrapped, and wrapped "
     "again.",
     "Network"},
    {"wait", OPTION_SECONDS, offsetof(struct settings, wait), "1m", 0.01, 3600, NULL, NULL,
     "How long to wait.", "Network"},
    {"insecure", OPTION_FLAG, offsetof(struct settings, insecure), NULL, 0, 0, NULL, NULL,
     "Allow other than loopback.", "Network"},
    {"log-format", OPTION_CHOICE, offsetof(struct settings, log_format), "text", 0, 0, "text|json",
     NULL, "Form of log lines.", NULL},
};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

/* Reads up to five arguments (ending in NULL). The caller calls options_free and problem_done. */
static bool read_args(struct settings *s, struct problem *p, const char *const *args) {
    char *argv[8] = {(char *)(uintptr_t) "discernd"};
    int argc = 1;
    for (; args[argc - 1] != NULL; argc++) {
        argv[argc] = (char *)(uintptr_t)args[argc - 1];
    }
    return options_read(rows, N_ROWS, argc, argv, s, p);
}

static void assert_reads(struct settings *s, const char *const *args) {
    struct problem p = {0};
    if (!read_args(s, &p, args)) {
        fail_msg("%s", p.detail);
    }
}

static void assert_refused(const char *message, const char *const *args) {
    struct problem p = {0};
    struct settings s;
    assert_false(read_args(&s, &p, args));
    assert_string_equal(p.detail, message);
    problem_done(&p);
    options_free(rows, N_ROWS, &s);
}

static void test_defaults(void **state) {
    (void)state;
    struct settings s;
    memset(&s, 0xAB, sizeof s); /* so that a member that is not set would be noticed */
    static const char *const none[] = {NULL};
    assert_reads(&s, none);
    assert_string_equal(s.database, "discern.db");
    assert_int_equal(s.listen.n, 1);
    assert_string_equal(s.listen.items[0], "127.0.0.1:8080");
    assert_int_equal(s.workers, 2);
    assert_int_equal(s.free_int, 0);
    assert_int_equal(s.max_body, 64 << 20);
    assert_true(s.wait == 60);
    assert_false(s.insecure);
    assert_string_equal(s.log_format, "text");
    options_free(rows, N_ROWS, &s);
    assert_int_equal(s.listen.n, 0);
}

static void test_flags(void **state) {
    (void)state;
    struct settings s;
    assert_reads(&s, (const char *const[]){"--database=a=b", "--workers", "7", "--insecure",
                                           "--log-format=json", NULL});
    assert_string_equal(s.database, "a=b");
    assert_int_equal(s.workers, 7);
    assert_true(s.insecure);
    assert_string_equal(s.log_format, "json");
    options_free(rows, N_ROWS, &s);
    assert_reads(&s, (const char *const[]){"--insecure", "--insecure=off", "--database", "--odd",
                                           "--free-int=-5", NULL});
    assert_false(s.insecure); /* the last occurrence counts */
    assert_string_equal(s.database, "--odd");
    assert_int_equal(s.free_int, -5);
    options_free(rows, N_ROWS, &s);
    assert_reads(&s, (const char *const[]){"--listen", "a:1, b:2", "--listen=c:3", NULL});
    assert_int_equal(s.listen.n, 3); /* the given values replace the default */
    assert_string_equal(s.listen.items[0], "a:1");
    assert_string_equal(s.listen.items[1], "b:2");
    assert_string_equal(s.listen.items[2], "c:3");
    options_free(rows, N_ROWS, &s);
    assert_reads(&s, (const char *const[]){"--listen=", NULL});
    assert_int_equal(s.listen.n, 0);
}

static void test_sizes_and_times(void **state) {
    (void)state;
    static const struct {
        const char *text; /* value of --max-body */
        int64_t bytes;    /* -1: the text must be refused */
    } sizes[] = {{"1024", 1024},
                 {"1K", 1024},
                 {"1k", 1024},
                 {"1KiB", 1024},
                 {"64M", 64 << 20},
                 {"64 MiB", 64 << 20},
                 {"64mib", 64 << 20},
                 {"2G", INT64_C(2) << 30},
                 {"3GiB", INT64_C(3) << 30},
                 {"2048B", 2048},
                 {"1024G", INT64_C(1) << 40},
                 {"1025G", -1},
                 {"1023", -1},
                 {"64MB", -1},
                 {"64X", -1},
                 {"", -1},
                 {"M", -1},
                 {"1.5M", -1},
                 {"-1M", -1},
                 {" 64M", -1},
                 {"0x400", -1},
                 {"99999999999999999999", -1},
                 {"9223372036854775807G", -1},
                 {"64MM", -1}};
    static const struct {
        const char *text; /* value of --wait */
        double seconds;   /* -1: the text must be refused */
    } times[] = {{"30", 30},   {"30s", 30}, {"0.5", 0.5}, {"500ms", 0.5}, {"1.5m", 90},
                 {"1h", 3600}, {"61m", -1}, {"1ms", -1},  {"", -1},       {"s", -1},
                 {"1e3", -1},  {"inf", -1}, {"nan", -1},  {"-1", -1},     {"0x10", -1},
                 {" 5", -1},   {"5 s", -1}, {"5d", -1},   {"1.2.3", -1},  {".", -1},
                 {"1.e1", -1}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct settings s;
        struct problem p = {0};
        const bool good =
            read_args(&s, &p, (const char *const[]){"--max-body", sizes[i].text, NULL});
        if (good != (sizes[i].bytes >= 0) || (good && s.max_body != sizes[i].bytes)) {
            fail_msg("size \"%s\"", sizes[i].text);
        }
        problem_done(&p);
        options_free(rows, N_ROWS, &s);
    }
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        struct settings s;
        struct problem p = {0};
        const bool good = read_args(&s, &p, (const char *const[]){"--wait", times[i].text, NULL});
        if (good != (times[i].seconds >= 0) || (good && s.wait != times[i].seconds)) {
            fail_msg("time \"%s\"", times[i].text);
        }
        problem_done(&p);
        options_free(rows, N_ROWS, &s);
    }
}

static void test_mistakes(void **state) {
    (void)state;
    static const struct {
        const char *args[3];
        const char *message;
    } cases[] = {
        {{"--workers", "x"}, "--workers must be an integer from 1 to 256, got \"x\""},
        {{"--workers=0"}, "--workers must be an integer from 1 to 256, got \"0\""},
        {{"--workers=257"}, "--workers must be an integer from 1 to 256, got \"257\""},
        {{"--workers=1.5"}, "--workers must be an integer from 1 to 256, got \"1.5\""},
        {{"--workers="}, "--workers must be an integer from 1 to 256, got \"\""},
        {{"--free-int=99999999999999999999"},
         "--free-int must be an integer, got \"99999999999999999999\""},
        {{"--max-body=1"},
         "--max-body must be a size from 1K to 1024G, like 64M or 512K, got \"1\""},
        {{"--wait=soon"},
         "--wait must be a time from 0.01 to 3600 seconds, like 30, 30s, 5m or 500ms, got "
         "\"soon\""},
        {{"--insecure=maybe"}, "--insecure must be true or false, got \"maybe\""},
        {{"--log-format", "xml"}, "--log-format must be one of text|json, got \"xml\""},
        {{"--log-format", "text|json"}, "--log-format must be one of text|json, got \"text|json\""},
        {{"--log-format", "tex"}, "--log-format must be one of text|json, got \"tex\""},
        {{"--log-format="}, "--log-format must be one of text|json, got \"\""},
        {{"--listen", "a,,b"},
         "--listen must be a comma-separated list without empty items, got \"a,,b\""},
        {{"--workers"}, "--workers needs a value (N)"},
        {{"--listen"}, "--listen needs a value (ADDRESS:PORT)"},
        {{"--wrokers", "5"}, "unknown option --wrokers; did you mean --workers?"},
        {{"--zebra"}, "unknown option --zebra; --help lists them all"},
        {{"--WORKERS=2"}, "unknown option --WORKERS; --help lists them all"},
        {{"file.csv"}, "stray argument \"file.csv\"; options look like --name value"},
        {{"-h"},
         /* this table of options has no --help */
         "stray argument \"-h\"; options look like --name value"},
        {{"-w"}, "stray argument \"-w\"; options look like --name value"},
        {{"--"}, "stray argument \"--\"; options look like --name value"},
        {{""}, "stray argument \"\"; options look like --name value"},
        {{"--insecure", "true"}, "stray argument \"true\"; options look like --name value"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_refused(cases[i].message, cases[i].args);
    }
}

static void test_environment(void **state) {
    (void)state;
    static const char *const none[] = {NULL};
    struct settings s;
    assert_int_equal(setenv("DISCERN_WORKERS", "9", 1), 0);
    assert_int_equal(setenv("DISCERN_LISTEN", "x:1,y:2", 1), 0);
    assert_int_equal(setenv("DISCERN_INSECURE", "yes", 1), 0);
    assert_int_equal(setenv("DISCERN_MAX_BODY", "1M", 1), 0);
    /* an empty variable counts as not set */
    assert_int_equal(setenv("DISCERN_DATABASE", "", 1), 0);
    assert_int_equal(setenv("DISCERNING", "1", 1), 0); /* a variable with another prefix */
    assert_reads(&s, none);
    assert_int_equal(s.workers, 9);
    assert_int_equal(s.listen.n, 2); /* the values replace the default */
    assert_string_equal(s.listen.items[1], "y:2");
    assert_true(s.insecure);
    assert_int_equal(s.max_body, 1 << 20);
    assert_string_equal(s.database, "discern.db");
    options_free(rows, N_ROWS, &s);
    assert_reads(&s, (const char *const[]){"--workers=3", "--listen=z:3", "--insecure=no",
                                           NULL}); /* command-line options have priority */
    assert_int_equal(s.workers, 3);
    assert_int_equal(s.listen.n, 1);
    assert_string_equal(s.listen.items[0], "z:3");
    assert_false(s.insecure);
    options_free(rows, N_ROWS, &s);
    assert_int_equal(setenv("DISCERN_WORKERS", "many", 1), 0);
    assert_refused("DISCERN_WORKERS must be an integer from 1 to 256, got \"many\"", none);
    (void)unsetenv("DISCERN_WORKERS");
    assert_int_equal(setenv("DISCERN_WROKERS", "1", 1), 0);
    assert_refused("unknown environment variable DISCERN_WROKERS; --help lists them all", none);
    (void)unsetenv("DISCERN_WROKERS");
    assert_int_equal(setenv("DISCERN_MAX-BODY", "1M", 1), 0);
    assert_refused("unknown environment variable DISCERN_MAX-BODY; --help lists them all", none);
    (void)unsetenv("DISCERN_MAX-BODY");
    (void)unsetenv("DISCERN_LISTEN");
    (void)unsetenv("DISCERN_INSECURE");
    (void)unsetenv("DISCERN_MAX_BODY");
    (void)unsetenv("DISCERN_DATABASE");
}

static void test_list_limit(void **state) {
    (void)state;
    char text[4 * OPTION_LIST_MAX + 8] = "";
    for (int i = 0; i < OPTION_LIST_MAX; i++) {
        strcat(text, i > 0 ? ",ab" : "ab");
    }
    struct settings s;
    assert_reads(&s, (const char *const[]){"--listen", text, NULL});
    assert_int_equal(s.listen.n, OPTION_LIST_MAX);
    options_free(rows, N_ROWS, &s);
    assert_refused("--listen must have at most 64 items",
                   (const char *const[]){"--listen", text, "--listen=x", NULL});
}

static void test_help(void **state) {
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    options_help(rows, N_ROWS, "usage: discernd [options]", out);
    assert_int_equal(fclose(out), 0);
    static const char *const in_order[] = {
        "usage: discernd [options]\n",
        "\nStorage:\n",
        "  --database FILE               The database file. [default: discern.db; "
        "DISCERN_DATABASE]\n",
        "\nNetwork:\n",
        "  --listen ADDRESS:PORT ",
        "Comma-separated or repeated. [default:\n                                127.0.0.1:8080; "
        "DISCERN_LISTEN]\n",
        "  --max-body SIZE",
        "DISCERN_MAX_BODY]",
        "  --wait TIME",
        "  --insecure                    Allow other than loopback. [DISCERN_INSECURE]\n",
        "\nJobs:\n",
        "  --workers N ",
        "  --free-int N ",
        "\nOptions:\n",
        "  --log-format text|json ",
        "[default: text; DISCERN_LOG_FORMAT]\n",
    };
    const char *at = text;
    for (size_t i = 0; i < sizeof in_order / sizeof in_order[0]; i++) {
        const char *found = strstr(at, in_order[i]);
        if (found == NULL) {
            fail_msg("no \"%s\" in order in:\n%s", in_order[i], text);
        }
        at = found == NULL ? at : found + 1;
    }
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        assert_true(strlen(line) <= 100);
        assert_true(line[strlen(line) - 1] != ' ');
    }
    free(text);
}

int main(void) {
    /* The rows of this test do not have this option, which runs with sanitizers set. */
    (void)unsetenv("DISCERN_NO_SANDBOX");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_sizes_and_times),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_list_limit),
        cmocka_unit_test(test_help),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
