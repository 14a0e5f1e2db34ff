/* Messages of the API in the words of the page. */
#include "ui/browser.h"

static void test_options_become_fields(void **state) {
    (void)state;
    static const char *const texts[][2] = {
        {"name it in missing=", "name it in “Words for missing”"},
        {"set decimal=, and thousands=.",
         "set “comma” in “Decimal mark” and “point” in “Between thousands”"},
        {"skip_rows=1 leaves it out", "“1” in “Lines to skip at the top” leaves it out"},
        {"types=age:numeric refuses", "“numeric” in “Type of age” refuses"},
        {"categorical (types=) to keep it", "categorical to keep it"},
        {"unless allow_type_change=true is set", "unless “Columns may change their types” is set"},
        {"feature \"label=a\" is constant", "feature \"label=a\" is constant"},
        {"column \"my label=a\" has types: set header=true",
         "column \"my label=a\" has types: set “has the names of the columns” in “First line”"},
        {"column \"a types=b:text (types=)\"", "column \"a types=b:text (types=)\""},
        {"strip=%&thousands=,&decimal=, reads them (a URL has %25 for %)",
         "“%” in “Signs around numbers” and “comma” in “Between thousands” and “comma” in “Decimal "
         "mark” reads them"},
        {"PUT /v1/datasets/a?label=b&decimal=,", "PUT /v1/datasets/a?label=b&decimal=,"},
    };
    browser_set_base(NULL);
    service_start(NULL);
    browser_open("#/nowhere");
    browser_wait_text("Discern");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const json_t *words =
            browser_run("return import(new URL('base/advice.js',"
                        " document.querySelector('script[type=module]').src).href)"
                        ".then(({ advice }) => advice(arguments[0]))",
                        ARGUMENTS(texts[i][0]));
        assert_string_equal(json_string_value(words), texts[i][1]);
    }
    const json_t *name = browser_run("return import(new URL('views/train/target.js',"
                                     " document.querySelector('script[type=module]').src).href)"
                                     ".then((m) => m.proposeModel('a', 'gekündigt?'))",
                                     NULL);
    assert_string_equal(json_string_value(name), "a-gekundigt");
    browser_check();
}

/* A table that the page cannot read as meant: the warning names the field that mends it. */
static void test_a_warning_names_a_field(void **state) {
    (void)state;
    browser_set_base(NULL);
    service_start(NULL);
    browser_open("#/data");
    browser_allow_free_names();
    browser_drop("Drop a table here, or choose a file", "zips.csv",
                 "zip,class\n01234,a\n01235,b\n01236,a\n");
    browser_wait_text("without its leading zeros");
    browser_wait_no_text("types=");
    browser_check();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_options_become_fields),
        TEST(test_a_warning_names_a_field),
    };
    return BROWSER_RUN(tests);
}
