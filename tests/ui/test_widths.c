/* Every view fits into a window of any width. */
#include "ui/browser.h"
#include "ui/filled.h"

#include <stdio.h>

static struct words places;

static int begin(void **state) {
    (void)group_start(state);
    fill_daemon();
    filled_rest();
    browser_start();
    places = words_of(filled_places);
    return 0;
}

static int end(void **state) {
    browser_end();
    words_free(&places);
    return group_end(state);
}

static void test_each_view_fits_into_its_window(void **state) {
    (void)state;
    static const int widths[] = {2560, 360};
    const char *found = "";
    browser_set_base(NULL);
    for (size_t k = 0; k < places.n; k++) {
        filled_open(places.word[k]);
        for (size_t i = 0; i < 2; i++) {
            browser_resize(widths[i], 900);
            browser_settle();
            const json_t *wide = browser_run("return document.documentElement.scrollWidth", NULL);
            if (json_integer_value(wide) > widths[i]) {
                found = text("%s%s is %lld pixels wide in a window of %d\n", found, places.word[k],
                             (long long)json_integer_value(wide), widths[i]);
            }
        }
        found = filled_faults(places.word[k], found);
    }
    if (found[0] != '\0') {
        browser_print(found);
        fail_msg("not every view fits, or there are faults");
    }
}

int main(void) {
    const char *missing = browser_missing();
    if (missing != NULL) {
        printf("skip: %s is not installed\n", missing);
        return 77;
    }
    const struct CMUnitTest tests[] = {TEST(test_each_view_fits_into_its_window)};
    return cmocka_run_group_tests(tests, begin, end);
}
