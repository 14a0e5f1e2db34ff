/* The program of tests/bench/page: how long each view takes with large data, and what an upload
 * holds in the page. Prints a line of Markdown for each.
 *
 *   times URL FILE       URL: of a daemon with the datasets "wide" and "many" and models of these
 *                        names; FILE: a table to upload */
#include "ui/browser.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPEATS 3
#define MB 1e6

/* A place, and an expression of JavaScript that is true when its data is shown. */
static const struct {
    const char *place, *shown;
} views[] = {
    {"#/data", "flat(document.body.innerText).includes('wide')"},
    {"#/data/wide", "document.querySelectorAll('main svg, main table tbody tr').length > 10"},
    {"#/data/wide?tab=rows", "document.querySelectorAll('main tbody td').length > 50"},
    {"#/data/wide?tab=rows&offset=900000",
     "document.querySelectorAll('main tbody td').length > 50"},
    {"#/train?dataset=wide", "flat(document.body.innerText).includes('Ready to start')"},
    {"#/jobs", "document.querySelectorAll('main tbody tr').length > 0"},
    {"#/jobs/1", "flat(document.body.innerText).includes('succeeded')"},
    {"#/models", "document.querySelectorAll('main tbody tr').length > 0"},
    {"#/models/wide", "flat(document.body.innerText).includes('How it was made')"},
    {"#/models/wide?tab=inside", "document.querySelectorAll('main svg').length > 0"},
    {"#/models/many", "flat(document.body.innerText).includes('How it was made')"},
    {"#/models/many?tab=quality", "document.querySelectorAll('main tbody tr').length > 3"},
    {"#/models/many?tab=inside", "document.querySelectorAll('main svg').length > 0"},
    {"#/try/wide", "document.querySelectorAll('main svg, main output, main progress').length > 0"},
    {"#/try/many", "document.querySelectorAll('main svg, main output, main progress').length > 0"},
    {"#/boundaries/wide", "document.querySelectorAll('.plane-region').length > 0"},
    {"#/boundaries/many", "document.querySelectorAll('.plane-region').length > 0"},
};

static double number_of(const char *script) {
    return json_number_value(browser_run(script, NULL));
}

/* The time from a click on a link to the shown data, in ms. The page was loaded before. */
static double time_of(const char *place, const char *shown) {
    browser_open("#/nowhere");
    const char *const script =
        "const start = performance.now(); self.shownAt = 0;"
        "const ready = new Function('flat', 'return ' + arguments[1]);"
        "const look = () => { if (ready(flat)) { self.shownAt = performance.now() - start; }"
        " else { requestAnimationFrame(look); } };"
        "location.hash = arguments[0]; requestAnimationFrame(look)";
    browser_run(script, ARGUMENTS(place, shown));
    browser_wait("self.shownAt > 0", place);
    return number_of("return self.shownAt");
}

static void measure_views(void) {
    printf("| place | median of %d, ms |\n|---|---|\n", REPEATS);
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
        double t[REPEATS];
        for (size_t k = 0; k < REPEATS; k++) {
            t[k] = time_of(views[i].place, views[i].shown);
            for (size_t j = k; j > 0 && t[j] < t[j - 1]; j--) {
                const double swapped = t[j];
                t[j] = t[j - 1];
                t[j - 1] = swapped;
            }
        }
        printf("| `%s` | %.0f |\n", views[i].place, t[REPEATS / 2]);
        (void)fflush(stdout);
    }
}

/* Uploads a file, and prints the greatest size of the heap of the page meanwhile. */
static void measure_upload(const char *file) {
    browser_open("#/data");
    browser_choose_file("Drop a table here, or choose a file", file);
    browser_wait_text("Store this table");
    const char *const heap = "return performance.memory.usedJSHeapSize";
    const double before = number_of(heap), start = now();
    double most = before;
    size_t seen = 0; /* states of the bar that were seen */
    double last = -1;
    browser_click("Store this table");
    while (json_is_false(browser_run("return location.hash.startsWith('#/data/')", NULL))) {
        const double used = number_of(heap);
        const double share =
            number_of("const p = document.querySelector('main progress'); return p ? p.value : -1");
        most = used > most ? used : most;
        seen += share > last;
        last = share > last ? share : last;
        pause_ms(50);
    }
    printf("\nUpload of a file: %.1f s; the heap of the page was %.1f MB before and at most %.1f MB"
           " meanwhile; %zu states of the progress bar were seen.\n",
           now() - start, before / MB, most / MB, seen);
}

int main(int argc, char **argv) {
    if (argc != 3 || browser_missing() != NULL) {
        (void)fprintf(stderr, "times: it takes an URL and a file, and needs Chromium\n");
        return 2;
    }
    browser_start();
    browser_set_base(argv[1]);
    measure_views();
    measure_upload(argv[2]);
    browser_end();
    keep_free();
    return 0;
}
