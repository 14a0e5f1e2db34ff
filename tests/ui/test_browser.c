/* The harness itself: a check of a page fails when it must. */
#include "ui/browser.h"

#include <stdio.h>
#include <string.h>

/* Runs a script and waits until browser_faults() has the text. */
static void expect_fault(const char *script, const char *reported) {
    const char *faults = browser_faults();
    browser_run(script, NULL);
    for (double until = now() + BROWSER_SECONDS; now() < until; pause_ms(50)) {
        faults = text("%s%s", faults, browser_faults());
        if (strstr(faults, reported) != NULL) {
            return;
        }
    }
    browser_print(faults);
    fail_msg("after %.300s no fault has \"%s\"", script, reported);
}

static void start(void) {
    browser_set_base(NULL);
    service_start(NULL);
}

static void test_faults_of_a_page(void **state) {
    (void)state;
    start();
    browser_open_path("/docs");
    assert_string_equal(browser_faults(), "");
    expect_fault("console.error('an error of the page')", "an error of the page");
    expect_fault("setTimeout(() => { throw new Error('thrown late') })", "thrown late");
    expect_fault("Promise.reject(new Error('not caught'))", "not caught");
    expect_fault("fetch('/v1/models/none')", "status of 404");
    expect_fault("const s = document.createElement('script'); s.textContent = '1';"
                 "document.head.append(s)",
                 "Content Security Policy");
    expect_fault("document.body.setAttribute('style', 'color: red')", "Content Security Policy");
    expect_fault("new Image().src = 'http://127.0.0.1:9/x.png'", "Content Security Policy");
}

static void test_an_allowed_fault(void **state) {
    (void)state;
    start();
    browser_open_path("/docs");
    browser_allow("an error of the page");
    browser_run("console.error('an error of the page')", NULL);
    browser_check();
    expect_fault("console.error('an error of the page')", "an error of the page");
}

/* The base is the manual alone, so the rest of the daemon is another host. */
static void test_requests_to_another_host(void **state) {
    (void)state;
    browser_set_base(text("%s/docs", the_daemon.url));
    browser_open_path("");
    assert_string_equal(browser_faults(), "");
    expect_fault("fetch('/healthz')", text("another host: %s/healthz", the_daemon.url));
}

static void test_files_are_dropped(void **state) {
    (void)state;
    start();
    browser_open_path("/docs");
    browser_run("const label = document.createElement('label'), input = "
                "document.createElement('input'); input.type = 'file';"
                "label.append('A file', input); document.body.prepend(label);"
                "label.ondragover = (e) => e.preventDefault();"
                "label.ondrop = async (e) => { e.preventDefault();"
                " const file = e.dataTransfer.files[0];"
                " label.append(` ${file.name}: ${await file.text()}`) }",
                NULL);
    browser_drop("A file", "a.csv", "x,y\n1,2\n");
    browser_wait_text("a.csv: x,y 1,2");
    browser_check();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_faults_of_a_page),
        TEST(test_an_allowed_fault),
        TEST(test_requests_to_another_host),
        TEST(test_files_are_dropped),
    };
    return BROWSER_RUN(tests);
}
