/* The view "Boundaries": its plane, with few and with many classes. */
#include "ui/browser.h"

#include <stdio.h>

static void start(void) {
    browser_set_base(NULL);
    service_start(NULL);
}

/* A module of the page. */
#define IMPORT(name)                                                                               \
    "import(new URL('" name "', document.querySelector('script[type=module]').src).href)"

static void test_regions_are_those_of_the_whole_grid(void **state) {
    (void)state;
    start();
    browser_open("#/nowhere");
    browser_wait_text("Discern");
    const json_t *same = browser_run(
        "return " IMPORT(
            "parts/contours.js") ".then(({ regionsOf, curveOf }) => {"
                                 "const n = 37, m = 23, values = (k) => Array.from({ length: k }, "
                                 "(_, i) => i);"
                                 "let seed = 7; const random = (k) =>"
                                 " Math.floor((seed = seed * 16807 % 2147483647) / 2147483647 * k);"
                                 "const labels = Array.from({ length: n * m }, (_, at) => at % 11 "
                                 "=== 0 ? null :"
                                 " Math.floor(at % n / 5) * 4 + Math.floor(at / n / 6) + "
                                 "(random(9) === 0 ? 1 : 0));"
                                 "const grid = { x: values(n), y: values(m), labels, classes: "
                                 "values(40), rule: 'native' };"
                                 "const whole = (k) => curveOf(grid, labels.map((label) => label "
                                 "=== k ? 1 : -1), 0);"
                                 /* the values of regions without scores are 1 and -1, too: 0 counts so */
                                 "const regions = regionsOf(grid);"
                                 "return regions.length > 20 && regions.every(({ k, curve }) =>"
                                 " JSON.stringify(curve.coordinates) === "
                                 "JSON.stringify(whole(k).coordinates)); })",
        NULL);
    assert_true(json_is_true(same));
    browser_check();
}

static void test_keys_of_points_are_listed_when_there_are_points(void **state) {
    (void)state;
    start();
    upload_file("iris", "iris.csv");
    job_train("{'model':'iris','dataset':'iris','target':'class','algorithm':'logistic'}");
    browser_open("#/boundaries/iris");
    browser_wait_text("Enter sets a point, +");
    browser_wait_no_text("Delete removes it");
    browser_wait("document.querySelectorAll('.plane-region').length > 1", "the regions");
    browser_click_at(".plane-ground", 0.5, 0.5);
    browser_wait_text("Enter sets a point or takes the one under the cross, Delete removes it");
    browser_check();
}

/* Returns a table of 70 classes, each with rows around its own centre. */
static const char *many_classes(void) {
    const char *csv = "x,y,class\n";
    for (int k = 0; k < 70; k++) {
        for (int i = 0; i < 4; i++) {
            csv = text("%s%d.%d,%d.%d,k%d\n", csv, k % 10, i, k / 10, i * 7 % 5, k);
        }
    }
    return csv;
}

static void test_many_classes_have_lines_of_the_largest_regions(void **state) {
    (void)state;
    start();
    status_check(call_upload("/v1/datasets/many", many_classes()), 201);
    job_train("{'model':'many','dataset':'many','target':'class','algorithm':'gaussian'}");
    browser_open("#/boundaries/many?show=regions.probability&x=x&y=y");
    browser_wait_text("of 70 classes, those with the largest regions in this part of the plane");
    browser_wait("document.querySelectorAll('.plane-level.probability').length === 5", "lines");
    browser_wait("[...document.querySelectorAll('select')].some((s) => s.options.length === 10 &&"
                 " [...s.options].every((o) => /^k\\d+$/.test(o.text)))",
                 "a choice of ten classes");
    browser_run("window.grids = () => performance.getEntriesByType('resource')"
                ".filter(({ name }) => name.includes('/evaluate_grid')).length",
                NULL);
    browser_wait("!document.querySelector('.plane.busy')", "the whole grid");
    const json_t *before =
        browser_run("return [grids(), field('Probability of').options[3].text]", NULL);
    browser_choose("Probability of", json_string_value(json_array_get(before, 1)));
    browser_wait("location.hash.includes('class=')", "the class in the URL");
    browser_wait("document.querySelectorAll('.plane-level.probability').length === 5", "lines");
    json_int_t n = json_integer_value(browser_run("return grids()", NULL));
    assert_int_equal(n, json_integer_value(json_array_get(before, 0)));
    browser_open("#/boundaries/many?show=regions.probability&x=x&y=y&class=99999");
    browser_wait_text("of 70 classes, those with the largest regions in this part of the plane");
    browser_wait("document.querySelectorAll('.plane-level.probability').length === 5", "lines");
    browser_wait_no_text("gives no probabilities");
    browser_check();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_regions_are_those_of_the_whole_grid),
        TEST(test_many_classes_have_lines_of_the_largest_regions),
        TEST(test_keys_of_points_are_listed_when_there_are_points),
    };
    return BROWSER_RUN(tests);
}
