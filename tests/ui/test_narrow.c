/* A window of 360 pixels, as that of a telephone. */
#include "ui/browser.h"

/* Names and values of a narrow plot are whole, a leaderboard needs no scrolling to the side, and tabs
 * are in one line. */
static void test_narrow_leaderboard_tabs_and_waterfall(void **state) {
    (void)state;
    browser_set_base(NULL);
    service_start(NULL);
    upload_file("iris", "iris.csv");
    upload_file("breast_cancer", "breast_cancer.csv");
    job_train("{'model':'cancer','dataset':'breast_cancer','target':'class',"
              "'algorithm':'logistic','params':{'max_iterations':5}}");
    job_train("{'model':'flowers','dataset':'iris','target':'class','search':{'candidates':["
              "{'algorithm':'gaussian'},{'algorithm':'knn'}],'folds':2}}");
    browser_resize(360, 900);
    browser_open("#/jobs/2");
    browser_wait("document.querySelectorAll('.leaderboard tbody tr').length > 1", "the trials");
    browser_settle();
    browser_wait("(() => { const box = document.querySelector('.leaderboard .table-scroll');"
                 "return box.scrollWidth <= box.clientWidth; })()",
                 "a leaderboard that fits");
    browser_wait("getComputedStyle(document.querySelector('.leaderboard tbody td'), '::before')"
                 ".content.includes('Candidate')",
                 "labels of the cells");
    /* tabs are in one line, which is scrolled to the chosen one */
    browser_open("#/models/cancer?tab=compare");
    browser_wait("(() => { const line = document.querySelector('.tabs ul');"
                 "const [box, tab] = [line, line.querySelector('[aria-current]')]"
                 ".map((e) => e.getBoundingClientRect());"
                 "return tab.left >= box.left && tab.right <= box.right && "
                 "box.height < 2 * tab.height && line.scrollLeft > 0; })()",
                 "the chosen tab");
    browser_open("#/try/cancer");
    browser_wait("document.querySelectorAll('[aria-label=Contributions] svg rect').length > 5",
                 "the contributions");
    browser_settle();
    browser_wait("(() => { const svg = document.querySelector('[aria-label=Contributions] svg');"
                 "const box = svg.getBoundingClientRect();"
                 "return [...svg.querySelectorAll('text')].every((t) => {"
                 "const at = t.getBoundingClientRect();"
                 "return at.left >= box.left - 1 && at.right <= box.right + 1; }); })()",
                 "whole labels");
    browser_wait("[...document.querySelectorAll('[aria-label=Contributions] svg text')]"
                 ".some((t) => t.textContent.length > 20 && !t.textContent.includes('…'))",
                 "a long name that is not cut");
    browser_check();
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_narrow_leaderboard_tabs_and_waterfall)};
    return BROWSER_RUN(tests);
}
