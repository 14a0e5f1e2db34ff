/* Tests of the log: the format of a line, that a client's text cannot forge lines or fields, that
 * lines of several threads are complete. */
#include "lib/cmocka.h"

#include "base/json/json_write.h"
#include "base/log/log.h"

#include <discern/number.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CAPTURE = 1 << 20 };
static char captured[CAPTURE];

/* Opens a temporary file for the log. */
static int capture_open(void) {
    char path[] = "/tmp/discern-log-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)unlink(path);
    assert_int_equal(fcntl(fd, F_SETFL, O_APPEND), 0);
    return fd;
}

static const char *capture_read(int fd) {
    const ssize_t n = pread(fd, captured, CAPTURE - 1, 0);
    assert_true(n >= 0);
    captured[n] = '\0';
    return captured;
}

/* Returns the text after the time, and checks the format of the time. */
static const char *after_time(const char *line) {
    int y, mo, d, h, mi, s, ms, n = 0;
    assert_int_equal(sscanf(line, "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ %n", &y, &mo, &d, &h, &mi, &s, &ms,
                            &n),
                     7);
    assert_int_equal(n, 25);
    return line + n;
}

static void assert_logged(const char *expected, enum log_level level, const char *event,
                          const struct log_field *fields, size_t n) {
    const int fd = capture_open();
    log_open(fd, LOG_TEXT, LOG_DEBUG);
    log_write(level, event, fields, n);
    assert_string_equal(after_time(capture_read(fd)), expected);
    (void)close(fd);
}

static void test_text_lines(void **state) {
    (void)state;
    const struct log_field fields[] = {
        log_int("job", 7),
        log_str("state", "succeeded"),
        log_dbl("loss", 0.125),
        log_str("none", NULL),
        log_str("dash", "-"),
        log_str("empty", ""),
        log_str("path", "/v1/a?b"),
        log_str("two", "a b"),
        log_strn("part", "abcd", 2),
        log_dbl("bad", (double)NAN),
        log_dbl("big", -(double)INFINITY),
        log_str("eq", "a=b"),
    };
    assert_logged("info job.finished job=7 state=succeeded loss=0.125 none=- dash=\"-\" empty=\"\" "
                  "path=/v1/a?b two=\"a b\" part=ab bad=nan big=-inf "
                  "eq=\"a=b\"\n",
                  LOG_INFO, "job.finished", fields, sizeof fields / sizeof fields[0]);
    assert_logged("error plain\n", LOG_ERROR, "plain", NULL, 0);
}

static void test_text_cannot_forge(void **state) {
    (void)state;
    static const struct {
        const char *text;     /* text from a client */
        const char *expected; /* the text in the line */
    } rows[] = {
        {"a\nb", "\"a\\nb\""},
        {"a\r\tb", "\"a\\r\\tb\""},
        {"x\" job=9 y=\"", "\"x\\\" job=9 y=\\\"\""},
        {"back\\slash", "\"back\\\\slash\""},
        {"\x1b[31mred", "\"\\u001b[31mred\""},
        {"\x7f", "\"\\u007f\""},
        {"\xC2\x85next line", "\"\\u0085next line\""},
        {"\xE2\x80\xA8", "\"\\u2028\""},
        {"\xE2\x80\xAE"
         "evil",
         "\"\\u202eevil\""},
        {"\xE2\x81\xA6", "\"\\u2066\""},
        {"caf\xC3\xA9 \xE2\x82\xAC", "\"caf\xC3\xA9 \xE2\x82\xAC\""},
        {"\xFF\xC3", "\"\\xff\\xc3\""},
        {"a\xE2\x82", "\"a\\xe2\\x82\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char expected[128];
        (void)snprintf(expected, sizeof expected, "warn e v=%s\n", rows[i].expected);
        const struct log_field field = log_str("v", rows[i].text);
        assert_logged(expected, LOG_WARN, "e", &field, 1);
    }
    const struct log_field nul = log_strn("v", "a\0b", 3);
    assert_logged("warn e v=\"a\\u0000b\"\n", LOG_WARN, "e", &nul, 1);
}

static json_t *log_json(const struct log_field *fields, size_t n) {
    const int fd = capture_open();
    log_open(fd, LOG_JSON, LOG_DEBUG);
    log_write(LOG_ERROR, "x.y", fields, n);
    const char *line = capture_read(fd);
    (void)close(fd);
    assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1); /* exactly one line */
    json_error_t error;
    json_t *root = json_loads(line, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL) {
        fail_msg("%s in %s", error.text, line);
    }
    return root;
}

static void test_json_lines(void **state) {
    (void)state;
    const struct log_field fields[] = {
        log_int("job", INT64_MIN), log_str("s", "a\"\\\n\t\x01\x7f\xE2\x80\xA8 caf\xC3\xA9"),
        log_dbl("d", 0.1),         log_dbl("nan", (double)NAN),
        log_str("none", NULL),     log_str("bad", "\xFFz"),
    };
    json_t *root = log_json(fields, sizeof fields / sizeof fields[0]);
    assert_int_equal(json_object_size(root), 9);
    assert_string_equal(json_string_value(json_object_get(root, "level")), "error");
    assert_string_equal(json_string_value(json_object_get(root, "event")), "x.y");
    assert_int_equal(json_string_length(json_object_get(root, "time")), 24);
    assert_int_equal(json_integer_value(json_object_get(root, "job")), INT64_MIN);
    assert_string_equal(json_string_value(json_object_get(root, "s")), fields[1].str);
    assert_true(json_real_value(json_object_get(root, "d")) == 0.1);
    assert_true(json_is_null(json_object_get(root, "nan")));
    assert_true(json_is_null(json_object_get(root, "none")));
    assert_string_equal(json_string_value(json_object_get(root, "bad")), "\xEF\xBF\xBDz");
    json_decref(root);
}

static void test_long_values_are_cut(void **state) {
    (void)state;
    static char text[100001];
    memset(text, 'x', 100000);
    memcpy(text + 1999, "\xC3\xA9", 2); /* truncation at 2,000 bytes would split this character */
    const struct log_field field = log_str("v", text);
    json_t *root = log_json(&field, 1);
    const json_t *v = json_object_get(root, "v");
    assert_int_equal(json_string_length(v), 1999 + 3);
    assert_string_equal(json_string_value(v) + 1999, "\xE2\x80\xA6");
    json_decref(root);
}

static void test_long_lines_stay_whole(void **state) {
    (void)state;
    char text[1901];
    memset(text, 1, 1900); /* each of these bytes becomes six */
    text[1900] = '\0';
    const struct log_field fields[] = {log_str("a", text), log_str("b", text), log_int("c", 5),
                                       log_str("d", text)};
    json_t *root = log_json(fields, 4);
    assert_string_equal(json_string_value(json_object_get(root, "a")), text);
    assert_null(json_object_get(root, "b")); /* the line has no room for it */
    assert_int_equal(json_integer_value(json_object_get(root, "c")), 5);
    assert_int_equal(json_integer_value(json_object_get(root, "truncated")), 1);
    json_decref(root);
    const int fd = capture_open();
    log_open(fd, LOG_TEXT, LOG_INFO);
    log_write(LOG_INFO, "e", fields, 4);
    const char *line = capture_read(fd);
    assert_non_null(strstr(line, " c=5 truncated=1\n"));
    assert_true(strlen(line) < 16384);
    (void)close(fd);
}

static void test_levels(void **state) {
    (void)state;
    const int fd = capture_open();
    log_open(fd, LOG_TEXT, LOG_WARN);
    assert_false(log_enabled(LOG_INFO));
    assert_true(log_enabled(LOG_WARN));
    log_debug("no", log_int("i", 1));
    log_info("no", log_int("i", 1));
    log_write(LOG_INFO, "no", NULL, 0);
    errno = 1234;
    log_warn("yes", log_int("i", 1), log_str("s", "t"));
    assert_int_equal(errno, 1234);
    assert_string_equal(after_time(capture_read(fd)), "warn yes i=1 s=t\n");
    (void)close(fd);
    log_error("nowhere", log_int("i", 1)); /* logging to a closed descriptor must not fail */
}

static void test_names(void **state) {
    (void)state;
    enum log_level level = LOG_ERROR;
    enum log_format format = LOG_JSON;
    assert_true(log_level_parse("debug", &level) && level == LOG_DEBUG);
    assert_true(log_level_parse("warn", &level) && level == LOG_WARN);
    assert_false(log_level_parse("Warn", &level));
    assert_false(log_level_parse("", &level));
    assert_true(level == LOG_WARN);
    assert_true(log_format_parse("text", &format) && format == LOG_TEXT);
    assert_true(log_format_parse("json", &format) && format == LOG_JSON);
    assert_false(log_format_parse("xml", &format));
}

enum { THREADS = 4, LINES = 500 };

static void *log_many(void *arg) {
    const char *text = arg;
    for (int i = 0; i < LINES; i++) {
        log_info("e", log_str("v", text), log_int("end", 1));
    }
    return NULL;
}

static void test_threads_write_whole_lines(void **state) {
    (void)state;
    const int fd = capture_open();
    log_open(fd, LOG_TEXT, LOG_INFO);
    pthread_t threads[THREADS];
    char texts[THREADS][301];
    for (size_t i = 0; i < THREADS; i++) {
        memset(texts[i], (int)('a' + i), 300);
        texts[i][300] = '\0';
        assert_int_equal(pthread_create(&threads[i], NULL, log_many, texts[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    size_t counts[THREADS] = {0}, lines = 0;
    (void)capture_read(fd);
    for (char *line = strtok(captured, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        const char *rest = after_time(line) + strlen("info e v=");
        const size_t who = (size_t)(rest[0] - 'a');
        assert_true(who < THREADS);
        assert_memory_equal(rest, texts[who], 300);
        assert_string_equal(rest + 300, " end=1");
        counts[who]++;
        lines++;
    }
    assert_int_equal(lines, THREADS * LINES);
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(counts[i], LINES);
    }
    (void)close(fd);
}

/* Numbers are formatted by several functions; each must write the usual text. */
static void test_numbers(void **state) {
    (void)state;
    const double others[] = {0.0005, 0.1 + 0.2, -0.25, 1e9,  999999999.999, 1e-3,      123456.7891,
                             1e300,  5e-324,    4.35,  0.57, -0.0,          1e15 + 0.5};
    for (size_t i = 0; i < 5000 + sizeof others / sizeof others[0]; i++) {
        const double v = i < 5000 ? (double)(i * i) / 1000 : others[i - 5000];
        char text[32], expected[64];
        (void)dn_number_format(v, text);
        (void)snprintf(expected, sizeof expected, "info e v=%s\n", text);
        const struct log_field field = log_dbl("v", v);
        if (i % 50 == 0 || i >= 4900) {
            assert_logged(expected, LOG_INFO, "e", &field, 1);
        }
    }
    const int64_t whole[] = {0, 7, -1, 1234567890, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
        char expected[64];
        (void)snprintf(expected, sizeof expected, "info e v=%" PRId64 "\n", whole[i]);
        const struct log_field field = log_int("v", whole[i]);
        assert_logged(expected, LOG_INFO, "e", &field, 1);
    }
}

static void *log_both(void *arg) {
    for (int i = 0; i < LINES; i++) {
        if (i % 10 == 9) {
            log_info("e", log_str("v", arg), log_int("n", i));
        } else {
            LOG_WRITE_LATER(LOG_INFO, "e", log_str("v", arg), log_int("n", i));
        }
    }
    return NULL;
}

/* Lines of a thread are in the order in which it logged them, whether they are gathered or not, and
 * none is lost. A line that is written at once is preceded by the gathered lines before it. */
static void test_gathered_lines_keep_their_order(void **state) {
    (void)state;
    const int fd = capture_open();
    log_open(fd, LOG_TEXT, LOG_INFO);
    assert_true(log_gather_start());
    LOG_WRITE_LATER(LOG_INFO, "first", log_int("n", 1));
    log_info("second", log_int("n", 2));
    const char *both = capture_read(fd);
    assert_non_null(strstr(both, "first n=1\n"));
    assert_non_null(strstr(both, "second n=2\n"));
    assert_true(strstr(both, "first") < strstr(both, "second"));
    LOG_WRITE_LATER(LOG_INFO, "third", log_int("n", 3));
    while (strstr(capture_read(fd), "third n=3\n") == NULL) { /* though no other line follows */
        (void)usleep(1000);
    }
    pthread_t threads[THREADS];
    char texts[THREADS][401]; /* long texts, which fill the buffers many times */
    for (size_t i = 0; i < THREADS; i++) {
        memset(texts[i], (int)('a' + i), 400);
        texts[i][400] = '\0';
        assert_int_equal(pthread_create(&threads[i], NULL, log_both, texts[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    LOG_WRITE_LATER(LOG_INFO, "last", log_int("n", 4));
    log_gather_stop();
    /* after the stop, lines are written at once again */
    LOG_WRITE_LATER(LOG_INFO, "after", log_int("n", 5));
    assert_non_null(strstr(capture_read(fd), "last n=4\n"));
    assert_non_null(strstr(captured, "after n=5\n"));
    int next[THREADS] = {0};
    for (char *line = strtok(captured, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        const char *rest = after_time(line);
        if (strncmp(rest, "info e v=", 9) != 0) {
            continue;
        }
        const size_t who = (size_t)(rest[9] - 'a');
        char expected[16];
        assert_true(who < THREADS);
        (void)snprintf(expected, sizeof expected, " n=%d", next[who]++);
        assert_string_equal(rest + 9 + 400, expected);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(next[i], LINES);
    }
    (void)close(fd);
}

/* A gathered line must be the same as a line that is written at once: with numbers, NULL, escaped
 * bytes, truncated values, a line that is too long, and values that are changed later. */
static void test_gathered_lines_are_the_same(void **state) {
    (void)state;
    char text[8][2100], changed[] = "before \n\x80";
    struct log_field fields[14] = {log_int("i", INT64_MIN),       log_dbl("d", 0.125),
                                   log_dbl("nan", (double)NAN),   log_str("null", NULL),
                                   log_strn("part", "abcdef", 3), log_str("s", changed)};
    for (size_t i = 0; i < 8; i++) { /* texts of about 2,000 bytes, the limit of a value; eight of
                                      * them exceed the limit of a line */
        memset(text[i], (int)('a' + i), sizeof text[i]);
        text[i][1999 + i] = '\0';
        fields[6 + i] = log_str("long", text[i]);
    }
    for (int format = LOG_TEXT; format <= LOG_JSON; format++) {
        for (size_t n = 0; n <= 14; n++) {
            const int fd = capture_open();
            log_open(fd, (enum log_format)format, LOG_INFO);
            log_write(LOG_INFO, "e", fields, n);
            assert_true(log_gather_start());
            log_write_later(LOG_INFO, "e", fields, n);
            changed[0] = 'B';
            log_gather_stop();
            changed[0] = 'b';
            const char *both = capture_read(fd), *second = strchr(both, '\n') + 1;
            /* number of bytes up to the end of the time */
            const size_t after = format == LOG_TEXT ? 24 : 34;
            const size_t size = strlen(both) / 2;
            assert_ptr_equal(second, both + size);
            assert_memory_equal(both + after, second + after, size - after);
            (void)close(fd);
        }
    }
}

/* A thread that reads the pipe until its writers have closed it. */
struct drain {
    int fd;
    char *bytes;
    size_t size;
};
static void *drain_main(void *arg) {
    struct drain *d = arg;
    ssize_t n;
    while ((n = read(d->fd, d->bytes + d->size, 65536)) > 0) {
        d->size += (size_t)n;
    }
    d->bytes[d->size] = '\0';
    return NULL;
}

/* A pipe that is not read: logging must not wait; lines without room are counted, and the count is
 * logged. */
static void test_a_blocked_log_drops_and_counts(void **state) {
    (void)state;
    enum { LINES_SENT = 20000 }; /* about 4 MB */
    int ends[2];
    pthread_t thread;
    char text[161] = "";
    memset(text, 'x', sizeof text - 1);
    assert_int_equal(pipe(ends), 0);
    log_open(ends[1], LOG_TEXT, LOG_INFO);
    const int64_t before = log_dropped();
    (void)alarm(60); /* ends the program if logging waits for the pipe */
    assert_true(log_gather_start());
    for (int i = 0; i < LINES_SENT; i++) {
        LOG_WRITE_LATER(LOG_INFO, "request", log_int("n", i), log_str("v", text));
    }
    const int64_t dropped = log_dropped() - before;
    assert_true(dropped > 0 && dropped < LINES_SENT);
    struct drain d = {.fd = ends[0], .bytes = calloc(1, 8 << 20)};
    assert_non_null(d.bytes);
    assert_int_equal(pthread_create(&thread, NULL, drain_main, &d), 0);
    log_gather_stop();
    (void)alarm(0);
    log_open(STDERR_FILENO, LOG_TEXT, LOG_INFO);
    (void)close(ends[1]);
    assert_int_equal(pthread_join(thread, NULL), 0);
    (void)close(ends[0]);
    int64_t written = 0, reported = 0, last = -1;
    for (char *line = strtok(d.bytes, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        const char *rest = after_time(line);
        int64_t n = 0;
        if (sscanf(rest, "info request n=%" SCNd64, &n) == 1) {
            assert_true(n > last); /* ascending */
            last = n;
            written++;
        } else {
            assert_int_equal(sscanf(rest, "warn log.dropped lines=%" SCNd64, &n), 1);
            reported += n;
        }
    }
    assert_int_equal(reported, dropped);
    assert_int_equal(written, LINES_SENT - dropped);
    free(d.bytes);
}

/* If a process aborts, its gathered lines are written. */
static void test_crash_writes_what_is_gathered(void **state) {
    (void)state;
    const int fd = capture_open();
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        (void)signal(SIGABRT, SIG_DFL); /* removes the handler of cmocka */
        log_open(fd, LOG_TEXT, LOG_INFO);
        if (log_gather_start()) {
            LOG_WRITE_LATER(LOG_INFO, "request", log_int("n", 1));
            LOG_WRITE_LATER(LOG_INFO, "request", log_int("n", 2));
            abort();
        }
        _exit(1);
    }
    int how = 0;
    assert_int_equal(waitpid(pid, &how, 0), pid);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGABRT);
    assert_non_null(strstr(capture_read(fd), "request n=1\n"));
    assert_non_null(strstr(captured, "request n=2\n"));
    (void)close(fd);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_lines),
        cmocka_unit_test(test_text_cannot_forge),
        cmocka_unit_test(test_json_lines),
        cmocka_unit_test(test_long_values_are_cut),
        cmocka_unit_test(test_long_lines_stay_whole),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_threads_write_whole_lines),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_gathered_lines_keep_their_order),
        cmocka_unit_test(test_gathered_lines_are_the_same),
        cmocka_unit_test(test_a_blocked_log_drops_and_counts),
        cmocka_unit_test(test_crash_writes_what_is_gathered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
