/* Every view fits into a window of any width. */
#include "ui/browser.h"
#include "ui/filled.h"

#include <stdio.h>

static void test_each_view_fits_into_its_window(void **state) {
    (void)state;
    static const int widths[] = {2560, 360};
    const char *found = "";
    browser_set_base(NULL);
    for (size_t k = 0; k < filled_words.n; k++) {
        filled_open(filled_words.word[k]);
        for (size_t i = 0; i < 2; i++) {
            browser_resize(widths[i], 900);
            browser_settle();
            const json_t *wide = browser_run("return document.documentElement.scrollWidth", NULL);
            if (json_integer_value(wide) > widths[i]) {
                found = text("%s%s is %lld pixels wide in a window of %d\n", found,
                             filled_words.word[k], (long long)json_integer_value(wide), widths[i]);
            }
        }
        found = filled_faults(filled_words.word[k], found);
    }
    if (found[0] != '\0') {
        browser_print(found);
        fail_msg("not every view fits, or there are faults");
    }
}

int main(void) {
    if (browser_skip()) {
        return 77;
    }
    const struct CMUnitTest tests[] = {TEST(test_each_view_fits_into_its_window)};
    return cmocka_run_group_tests(tests, filled_group_start, filled_group_end);
}
