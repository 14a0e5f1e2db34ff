/* The view "Jobs". */
#include "ui/browser.h"

/* The clock of the browser is an hour fast: the time that a job has run is still that of the
 * daemon. */
static void test_a_wrong_clock_of_the_browser(void **state) {
    (void)state;
    browser_set_base(NULL);
    service_start(NULL);
    upload_file("digits", "digits.csv");
    const int64_t id = job_endless("endless");
    (void)job_wait_state(id, "running");
    browser_open("#/nowhere");
    browser_run("self.Date = class extends Date {"
                " constructor(...parts) {"
                "  super(...(parts.length ? parts : [Date.now() + 3600e3])); }"
                " static now() { return super.now() + 3600e3; } };"
                "location.hash = '#/jobs'",
                NULL);
    browser_wait(
        "[...document.querySelectorAll('.badge')].some((b) => b.textContent === 'running')",
        "a running job");
    browser_wait("/\\d(\\.\\d+)?\\ss\\b/.test(document.querySelector('main tbody').innerText) &&"
                 " !/\\d\\s(h|min)/.test(document.querySelector('main tbody').innerText)",
                 "seconds");
    status_check(call_empty("POST", "/v1/jobs/%lld/cancel", (long long)id), 202);
    (void)job_wait(id);
    browser_check();
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_a_wrong_clock_of_the_browser)};
    return BROWSER_RUN(tests);
}
