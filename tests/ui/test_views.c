/* Every view fits into a window of any width, and has no violation that axe-core finds, in light
 * and dark: names of controls, contrast, order of headings, landmarks, roles. */
#include "ui/browser.h"
#include "ui/filled.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *axe; /* the source of axe-core; NULL: it cannot be had */

/* Reads the line that tests/ui/axe prints. Returns whether it is the path of a file. */
static bool axe_find(char *line, int size) {
    FILE *out = popen("tests/ui/axe", "r");
    const bool read = out != NULL && fgets(line, size, out) != NULL;
    line[read ? strcspn(line, "\n") : 0] = '\0';
    return out != NULL && pclose(out) == 0 && read;
}

/* Returns the violations of these rules on the page, one line for each element. */
static const char *violations(const char *place, const char *rules) {
    return json_string_value(browser_run(
        text("return axe.run(document, { resultTypes: ['violations'] %s }).then((found) =>"
             " found.violations.flatMap((v) => v.nodes.slice(0, 3).map((n) =>"
             " `${arguments[0]}: ${v.id} (${v.help}): ${n.target.join(' ')}:"
             " ${n.html.slice(0, 120)}: ${flat(n.failureSummary).slice(0, 200)}\\n`)).join(''))",
             rules),
        ARGUMENTS(place)));
}

/* Appends the violations of an open place to a text. */
static const char *find_violations(const char *place, const char *found) {
    browser_run(text("if (!self.axe) { %s }", axe), NULL);
    found = text("%s%s", found, violations(place, ""));
    browser_set_colours("dark"); /* other colours of the same elements */
    found =
        text("%s%s", found, violations(text("%s, dark", place), ", runOnly: ['color-contrast']"));
    browser_set_colours("light");
    return found;
}

/* Goes to a place as a click on a link does: without a load of the page. */
static void go(const char *place) {
    if (place[0] == '/') {
        filled_open(place);
    } else {
        browser_run("location.hash = arguments[0]", ARGUMENTS(place));
        browser_settle();
    }
}

/* Returns the width of the content, after the frames in which plots are drawn for a new width. */
static json_int_t width_of_page(void) {
    return json_integer_value(
        browser_run("const frame = () => new Promise((done) => requestAnimationFrame(done));"
                    "return frame().then(frame).then(frame).then(frame)"
                    ".then(() => document.documentElement.scrollWidth)",
                    NULL));
}

static void test_each_view_fits_and_is_accessible(void **state) {
    (void)state;
    static const int widths[] = {2560, 360, 1280};
    const char *found = "";
    browser_set_base(NULL);
    browser_set_colours("light");
    browser_open("");
    for (size_t k = 0; k < filled_words.n; k++) {
        const char *place = filled_words.word[k];
        go(place);
        for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
            browser_resize(widths[i], 900);
            json_int_t wide = width_of_page();
            if (wide > widths[i]) {
                browser_settle(); /* something may still load */
                wide = width_of_page();
            }
            if (wide > widths[i]) {
                found = text("%s%s is %lld pixels wide in a window of %d\n", found, place,
                             (long long)wide, widths[i]);
            }
        }
        if (axe != NULL) {
            found = find_violations(place, found);
        }
        found = filled_faults(place, found);
    }
    if (found[0] != '\0') {
        browser_print(found);
        fail_msg("not every view fits and is accessible, or there are faults");
    }
}

static void test_axe_is_there(void **state) {
    (void)state;
    if (axe == NULL) {
        skip();
    }
}

int main(void) {
    char line[4096];
    if (browser_skip()) {
        return 77;
    }
    if (axe_find(line, sizeof line)) {
        axe = strdup(read_whole(line, NULL));
    } else {
        printf("# skip: %s\n", line);
    }
    const struct CMUnitTest tests[] = {
        TEST(test_each_view_fits_and_is_accessible),
        TEST(test_axe_is_there),
    };
    const int failed = cmocka_run_group_tests(tests, filled_group_start, filled_group_end);
    free((void *)(uintptr_t)axe);
    return failed;
}
