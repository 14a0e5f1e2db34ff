/* Tests of the metrics registry: exact sums of several threads, the text format, the limits. The
 * registry lives as long as the program, so each test uses its own names. */
#include "lib/cmocka.h"
#include "unit/base/alloc_fail.h"

#include "base/metrics/metrics.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the lines of a scrape that belong to `name`, in order. The caller frees them. */
static char *scrape(const char *name) {
    struct buf all = {0}, mine = {0};
    metrics_render(&all);
    assert_non_null(buf_cstr(&all));
    assert_true(all.size > 0 && all.data[all.size - 1] == '\n');
    for (const char *line = all.data; *line != '\0'; line = strchr(line, '\n') + 1) {
        const char *subject = line[0] == '#' ? line + 7 : line;
        if (strncmp(subject, name, strlen(name)) == 0) {
            buf_append(&mine, line, (size_t)(strchr(line, '\n') - line) + 1);
        }
    }
    char *out = buf_take(&mine, NULL);
    buf_done(&all);
    return out;
}

static void assert_scrape(const char *name, const char *expected) {
    char *text = scrape(name);
    assert_string_equal(text, expected);
    free(text);
}

static void test_counters(void **state) {
    (void)state;
    struct metrics_family *f =
        metrics_register(METRICS_COUNTER, "t_requests", "Requests by route.\nSecond \\ line.",
                         "route,status", NULL, 0);
    assert_ptr_equal(f, metrics_register(METRICS_COUNTER, "t_requests", "again", "route,status",
                                         NULL, 0));
    struct metric *a = metrics_series(f, "/v1/jobs", "200", NULL),
                  *b = metrics_series(f, "/v1/jobs", "404", NULL);
    assert_ptr_not_equal(a, b);
    assert_ptr_equal(a, metrics_series(f, "/v1/jobs", "200", NULL));
    metric_add(a, 1);
    metric_add(a, 2);
    metric_add(a, -5); /* a counter ignores negative values */
    metric_add(a, (double)NAN);
    metric_add(b, 0.5);
    assert_true(metric_value(a) == 3);
    assert_scrape(
        "t_requests",
        "# HELP t_requests Requests by route.\\nSecond \\\\ line.\n# TYPE t_requests counter\n"
        "t_requests{route=\"/v1/jobs\",status=\"200\"} "
        "3\nt_requests{route=\"/v1/jobs\",status=\"404\"} 0.5\n");
}

static void test_gauges_and_escapes(void **state) {
    (void)state;
    struct metrics_family *f = metrics_register(METRICS_GAUGE, "t_gauge", "G", "name", NULL, 0);
    metric_set(metrics_series(f, "a\"b\\c\nd", NULL), -2.5);
    metric_set(metrics_series(f, "\xFF", NULL), (double)INFINITY);
    metric_set(metrics_series(f, "", NULL), -(double)INFINITY);
    metric_set(metrics_series(f, "nan", NULL), (double)NAN);
    metric_add(metrics_series(f, "sum", NULL), 3);
    metric_add(metrics_series(f, "sum", NULL), -1e20);
    assert_scrape(
        "t_gauge",
        "# HELP t_gauge G\n# TYPE t_gauge gauge\nt_gauge{name=\"a\\\"b\\\\c\\nd\"} -2.5\n"
        "t_gauge{name=\"\xEF\xBF\xBD\"} +Inf\nt_gauge{name=\"\"} "
        "-Inf\nt_gauge{name=\"nan\"} NaN\nt_gauge{name=\"sum\"} -100000000000000000000\n");
    metric_set(metrics_series(metrics_register(METRICS_GAUGE, "t_bare", "B", "", NULL, 0), NULL),
               7);
    assert_scrape("t_bare", "# HELP t_bare B\n# TYPE t_bare gauge\nt_bare 7\n");
}

static void test_histograms(void **state) {
    (void)state;
    static const double bounds[] = {0.1, 1, 10};
    struct metrics_family *f =
        metrics_register(METRICS_HISTOGRAM, "t_seconds", "S", "route", bounds, 3);
    struct metric *m = metrics_series(f, "/a", NULL);
    /* a value equal to a bound belongs to the bucket of this bound */
    static const double values[] = {0.05, 0.1, 0.100001, 1, 5, 10, 11, 1e9};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        metric_observe(m, values[i]);
    }
    metric_observe(m, (double)NAN); /* must be ignored, or the sum would be NaN from now on */
    char *text = scrape("t_seconds");
    const char *expected =
        "# HELP t_seconds S\n# TYPE t_seconds histogram\n"
        "t_seconds_bucket{route=\"/a\",le=\"0.1\"} 2\nt_seconds_bucket{route=\"/a\",le=\"1\"} 4\n"
        "t_seconds_bucket{route=\"/a\",le=\"10\"} 6\nt_seconds_bucket{route=\"/a\",le=\"+Inf\"} 8\n"
        "t_seconds_sum{route=\"/a\"} ";
    assert_memory_equal(text, expected, strlen(expected));
    char *after = NULL;
    assert_true(fabs(strtod(text + strlen(expected), &after) - 1000000027.250001) < 1e-5);
    assert_string_equal(after, "\nt_seconds_count{route=\"/a\"} 8\n");
    free(text);
}

static void test_series_are_bounded(void **state) {
    (void)state;
    struct metrics_family *f = metrics_register(METRICS_COUNTER, "t_many", "M", "a,b", NULL, 0);
    char name[16];
    struct metric *first = NULL, *beyond = NULL;
    for (int i = 0; i < METRICS_MAX_SERIES + 500; i++) {
        (void)snprintf(name, sizeof name, "n%d", i);
        struct metric *m = metrics_series(f, name, "x", NULL);
        metric_add(m, 1);
        first = i == 0 ? m : first;
        if (i == METRICS_MAX_SERIES) {
            beyond = m;
        } else if (i > METRICS_MAX_SERIES) {
            assert_ptr_equal(m, beyond);
        }
    }
    assert_ptr_equal(metrics_series(f, "n0", "x", NULL),
                     first); /* the existing series can still be found */
    assert_true(metric_value(beyond) == 500);
    char *text = scrape("t_many{");
    size_t lines = 0;
    for (const char *p = text; (p = strchr(p, '\n')) != NULL; p++) {
        lines++;
    }
    assert_int_equal(lines, METRICS_MAX_SERIES + 1);
    assert_non_null(strstr(text, "t_many{a=\"other\",b=\"other\"} 500\n"));
    free(text);
}

static void test_long_label_values_are_not_kept(void **state) {
    (void)state;
    struct metrics_family *f = metrics_register(METRICS_COUNTER, "t_long", "L", "a", NULL, 0);
    char value[400];
    memset(value, 'x', sizeof value);
    value[399] = '\0';
    metric_add(metrics_series(f, value, NULL), 1);
    value[0] = 'y';
    metric_add(metrics_series(f, value, NULL), 1);
    assert_scrape("t_long{", "t_long{a=\"other\"} 2\n");
}

enum { THREADS = 4, ROUNDS = 20000 };

static void *update_many(void *arg) {
    static const double bounds[] = {1, 2};
    (void)arg;
    struct metrics_family *c = metrics_register(METRICS_COUNTER, "t_race_total", "C", "k", NULL, 0);
    struct metrics_family *h =
        metrics_register(METRICS_HISTOGRAM, "t_race_seconds", "H", "", bounds, 2);
    struct metric *histogram = metrics_series(h, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        metric_add(metrics_series(c, i % 2 == 0 ? "even" : "odd", NULL), 1);
        metric_observe(histogram, i % 4);
        if (i % 5000 == 0) {
            struct buf text = {0};
            metrics_render(&text);
            buf_done(&text);
        }
    }
    return NULL;
}

static void test_threads_lose_nothing(void **state) {
    (void)state;
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, update_many, NULL), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    struct metrics_family *c = metrics_register(METRICS_COUNTER, "t_race_total", "C", "k", NULL, 0);
    assert_true(metric_value(metrics_series(c, "even", NULL)) == THREADS * ROUNDS / 2);
    assert_true(metric_value(metrics_series(c, "odd", NULL)) == THREADS * ROUNDS / 2);
    assert_scrape("t_race_seconds_",
                  "t_race_seconds_bucket{le=\"1\"} 40000\nt_race_seconds_bucket{le=\"2\"} 60000\n"
                  "t_race_seconds_bucket{le=\"+Inf\"} 80000\nt_race_seconds_sum "
                  "120000\nt_race_seconds_count 80000\n");
}

static void collect(void *arg) {
    int *calls = arg;
    metric_set(metrics_series(metrics_register(METRICS_GAUGE, "t_collected", "C", "", NULL, 0),
                              NULL),
               ++*calls);
}

static void test_collectors(void **state) {
    (void)state;
    int calls = 0, others = 0;
    metrics_on_scrape(collect, &calls);
    metrics_on_scrape(collect, &others);
    metrics_forget_scrape(&others);
    /* the collector is called before the values are written */
    assert_scrape("t_collected", "# HELP t_collected C\n# TYPE t_collected gauge\nt_collected 1\n");
    assert_scrape("t_collected", "# HELP t_collected C\n# TYPE t_collected gauge\nt_collected 2\n");
    metrics_forget_scrape(&calls);
    assert_scrape("t_collected", "# HELP t_collected C\n# TYPE t_collected gauge\nt_collected 2\n");
    assert_int_equal(calls, 2);
    assert_int_equal(others, 0);
}

static void *scrape_many(void *arg) {
    (void)arg;
    for (int i = 0; i < 200; i++) {
        struct buf text = {0};
        metrics_render(&text);
        buf_done(&text);
    }
    return NULL;
}

/* After metrics_forget_scrape the argument may be freed, even if another thread scrapes. (Otherwise
 * a sanitizer reports it.) */
static void test_forgotten_collectors_are_not_called(void **state) {
    (void)state;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, scrape_many, NULL), 0);
    for (int i = 0; i < 200; i++) {
        int *calls = calloc(1, sizeof *calls);
        assert_non_null(calls);
        metrics_on_scrape(collect, calls);
        metrics_forget_scrape(calls);
        free(calls);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static int round_number;

static void make_and_update(void) {
    static const double bounds[] = {1};
    char name[32];
    (void)snprintf(name, sizeof name, "t_alloc_%d", round_number++);
    struct metrics_family *f = metrics_register(METRICS_HISTOGRAM, name, "A", "k,l", bounds, 1);
    struct metric *m = metrics_series(f, "a", "b", NULL);
    metric_observe(m, 1);
    const bool failed = atomic_load(&alloc_fail_at) == 0;
    /* the following allocations of the test must not fail */
    atomic_store(&alloc_fail_at, failed ? 0 : 1000000);
    char *text = scrape(name);
    assert_int_equal(strstr(text, "_count{k=\"a\",l=\"b\"} 1\n") != NULL, !failed);
    free(text);
}

static void test_every_allocation_may_fail(void **state) {
    (void)state;
    ALLOC_FAIL_EACH(make_and_update());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counters),
        cmocka_unit_test(test_gauges_and_escapes),
        cmocka_unit_test(test_histograms),
        cmocka_unit_test(test_series_are_bounded),
        cmocka_unit_test(test_long_label_values_are_not_kept),
        cmocka_unit_test(test_threads_lose_nothing),
        cmocka_unit_test(test_collectors),
        cmocka_unit_test(test_forgotten_collectors_are_not_called),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
