/* Distances of names against the whole table of Levenshtein distances. */
#include "base/nearest.h"
#include "lib/cmocka.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static size_t whole_table(const char *a, size_t n, const char *b, size_t m) {
    static size_t d[70][70];
    for (size_t i = 0; i <= n; i++) {
        for (size_t j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            const size_t changed = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]),
                         less = (d[i - 1][j] < d[i][j - 1] ? d[i - 1][j] : d[i][j - 1]) + 1;
            d[i][j] = changed < less ? changed : less;
        }
    }
    return d[n][m];
}

static void random_names(void **state) {
    (void)state;
    uint32_t x = 1;
    size_t near = 0;
    for (int t = 0; t < 200000; t++) {
        char a[64], b[64];
        x = x * 1664525 + 1013904223;
        const size_t n = x >> 16 & 15, extra = x >> 24 & 3;
        size_t m = n + extra > 2 ? n + extra - 2 : 0;
        for (size_t i = 0; i < 64; i++) {
            x = x * 1664525 + 1013904223;
            a[i] = (char)('a' + (x >> 20 & 1));
            b[i] = (x >> 24 & 7) == 0 ? 'c' : a[i];
        }
        if ((x >> 28 & 1) != 0) { /* shifted by one */
            memmove(b + 1, b, 62);
        }
        const size_t expected = whole_table(a, n, b, m), shorter = n < m ? n : m;
        const bool is_near = expected <= 2 && expected < shorter;
        near += is_near;
        assert_int_equal(nearest_distance(a, n, b, m), is_near ? expected : SIZE_MAX);
    }
    assert_in_range(near, 20000, 180000);
}

static void long_names(void **state) {
    (void)state;
    char a[61];
    memset(a, 'a', sizeof a);
    assert_int_equal(nearest_distance(a, 60, a, 60), 0);
    assert_int_equal(nearest_distance(a, 60, a, 58), 2);
    assert_int_equal(nearest_distance(a, 60, a, 57), SIZE_MAX);
    assert_int_equal(nearest_distance(a, 61, a, 60), SIZE_MAX);
    assert_int_equal(nearest_distance(a, 0, a, 0), SIZE_MAX);
}

static const char *hint_for(const char *name, const char *const *names) {
    static struct nearest nearest;
    nearest = nearest_to(name, strlen(name));
    for (size_t i = 0; names[i] != NULL; i++) {
        nearest_offer(&nearest, names[i], strlen(names[i]));
    }
    return nearest.hint;
}

static void hints(void **state) {
    (void)state;
    static const char *const names[] = {"class", "petal_width", "petal_length", "Width", NULL};
    assert_string_equal(hint_for("clas", names), "; did you mean \"class\"?");
    assert_string_equal(hint_for("petal_lenght", names), "; did you mean \"petal_length\"?");
    assert_string_equal(hint_for("CLASS", names), "; did you mean \"class\"?");
    assert_string_equal(hint_for("width", names), "; did you mean \"Width\"?");
    assert_string_equal(hint_for("class", names), "");
    assert_string_equal(hint_for("sepal", names), "");
    assert_string_equal(hint_for("", names), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_names), cmocka_unit_test(long_names),
                                       cmocka_unit_test(hints)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
