/* The view "Models". */
#include "ui/browser.h"

#include <string.h>

static void start(void) {
    browser_set_base(NULL);
    service_start(NULL);
}

static void test_classes_are_ellipses_over_two_columns(void **state) {
    (void)state;
    start();
    upload_file("iris", "iris.csv");
    for (int i = 0; i < 3; i++) {
        static const char *const covariances[] = {"shared", "full", "diagonal"};
        job_train("{'model':'iris%d','dataset':'iris','target':'class','algorithm':'gaussian',"
                  "'params':{'covariance':'%s'}}",
                  i, covariances[i]);
        browser_open(text("#/models/iris%d?tab=inside", i));
        browser_wait("document.querySelectorAll('path.ellipse').length === 6",
                     "two ellipses for each of three classes");
    }
    browser_choose("Across", "sepal_length");
    browser_choose("Up", "sepal_width");
    browser_wait_text("The classes over “sepal_length” and “sepal_width”");
    browser_choose("Up", "sepal_length"); /* the axes change places */
    browser_wait_text("The classes over “sepal_width” and “sepal_length”");
    browser_check();
}

static void test_an_outlier_model_is_measured(void **state) {
    (void)state;
    start();
    const char *csv = "x,y,kind\n";
    for (int i = 0; i < 40; i++) {
        csv = text("%s%d,%d,%s\n", csv, i < 36 ? i % 5 : 50 + i, i * 3 % 5,
                   i < 36 ? "inlier" : "outlier");
    }
    status_check(call_upload("/v1/datasets/odd", csv), 201);
    job_train("{'model':'one','dataset':'odd','algorithm':'one_class_svm','features':"
              "{'exclude':['kind']},'params':{'nu':0.1}}");
    browser_open("#/models/one");
    browser_click("Quality");
    browser_choose("Evaluate on data", "odd (training data)");
    browser_choose("Column with the truth", "kind");
    browser_wait_text("Measured on 40 rows of odd");
    browser_wait_text("Where it is right and wrong");
    browser_check();
}

/* Large numbers have exponents on axes; dates, which are large numbers, do not. */
static void test_dates_on_axes_are_dates(void **state) {
    (void)state;
    start();
    browser_open("#/nowhere");
    browser_wait_text("Discern");
    const json_t *ticks = browser_run(
        "const at = (name) => import(new URL(name,"
        " document.querySelector('script[type=module]').src).href);"
        "return Promise.all([at('base/d3.js'), at('parts/axes.js')]).then(([{ d3 }, { xAxis }]) =>"
        " [d3.scaleUtc().domain([Date.UTC(2020, 0), Date.UTC(2023, 0)]),"
        "  d3.scaleLinear().domain([0, 3e7])].map((scale) => {"
        " const g = d3.create('svg').append('g');"
        " xAxis({ g, width: 400, height: 100 }, scale.range([0, 400]));"
        " return g.selectAll('.tick text').nodes().map((e) => e.textContent).join(' '); }))",
        NULL);
    assert_non_null(strstr(json_string_value(json_array_get(ticks, 0)), "2021"));
    assert_null(strstr(json_string_value(json_array_get(ticks, 0)), "e+"));
    assert_non_null(strstr(json_string_value(json_array_get(ticks, 1)), "1e+7"));
    browser_check();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_classes_are_ellipses_over_two_columns),
        TEST(test_dates_on_axes_are_dates),
        TEST(test_an_outlier_model_is_measured),
    };
    return BROWSER_RUN(tests);
}
