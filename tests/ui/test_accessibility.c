/* Every view in light and dark has no violation that axe-core finds: names of controls, contrast,
 * order of headings, landmarks, roles. */
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
    browser_run(axe, NULL);
    const char *found = json_string_value(browser_run(
        text("return axe.run(document, { resultTypes: ['violations'] %s }).then((found) =>"
             " found.violations.flatMap((v) => v.nodes.slice(0, 3).map((n) =>"
             " `${arguments[0]}: ${v.id} (${v.help}): ${n.target.join(' ')}:"
             " ${n.html.slice(0, 120)}: ${flat(n.failureSummary).slice(0, 200)}\\n`)).join(''))",
             rules),
        ARGUMENTS(place)));
    return found;
}

static void test_no_violation(void **state) {
    (void)state;
    const char *found = "";
    if (axe == NULL) {
        skip();
    }
    browser_set_base(NULL);
    browser_resize(1280, 900);
    for (size_t i = 0; i < filled_words.n; i++) {
        const char *place = filled_words.word[i];
        browser_set_colours("light");
        filled_open(place);
        found = text("%s%s", found, violations(place, ""));
        browser_set_colours("dark"); /* other colours of the same elements */
        found = text("%s%s", found,
                     violations(text("%s, dark", place), ", runOnly: ['color-contrast']"));
        found = filled_faults(place, found);
    }
    if (found[0] != '\0') {
        browser_print(found);
        fail_msg("there are violations or faults");
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
        TEST(test_no_violation),
    };
    const int failed = cmocka_run_group_tests(tests, filled_group_start, filled_group_end);
    free((void *)(uintptr_t)axe);
    return failed;
}
