/* A Chromium without a window that tests drive by WebDriver (W3C), through chromedriver. Both are
 * processes of the test program. Things are found by what a user reads: the text or the accessible
 * name of a button, the label of a field.
 *
 * Functions that look for something wait up to BROWSER_SECONDS for it, and fail the test with the
 * text of the page. The module has one browser, and one tab of it at a time. */
#ifndef TESTS_UI_BROWSER_H
#define TESTS_UI_BROWSER_H

#include "lib/api.h"

#define BROWSER_SECONDS 20

/* Returns NULL if Chromium and chromedriver are installed, otherwise why tests must be skipped. */
const char *browser_missing(void);
/* Starts the browser. */
void browser_start(void);
/* Ends the browser and removes its files; a browser that was not started is ignored. */
void browser_end(void);
const char *browser_downloads(void);
/* Fixtures of test programs: the browser, and at the end the_daemon. */
int browser_group_start(void **state);
int browser_group_end(void **state);
/* Runs a group of tests with these fixtures. Without a browser it prints why, and its value is the
 * exit status of a skipped program. */
#define BROWSER_RUN(tests)                                                                         \
    (browser_skip() ? 77 : cmocka_run_group_tests(tests, browser_group_start, browser_group_end))
/* Prints which program is missing. Returns false if none is. */
bool browser_skip(void);
/* The address that must be the host of all requests: that of the_daemon, or of a proxy. NULL: that
 * of the_daemon, which is the default. Forgets what the console has and what was allowed: a test
 * begins with this call. */
void browser_set_base(const char *url);

/* ---- the page ---- */
/* Opens a place of the page: "#/data". "": the page without a place. A page that is open is loaded
 * again. */
void browser_open(const char *place);
/* Opens any path of the daemon: "/docs". */
void browser_open_path(const char *path);
/* Opens a further tab, in which the functions below work from now on. browser_first_tab closes it
 * and returns to the first. */
void browser_new_tab(const char *place);
void browser_first_tab(void);
void browser_resize(int width, int height);
/* scheme: "light" or "dark". */
void browser_set_colours(const char *scheme);
/* Waits until the page has loaded what it shows, at most BROWSER_SECONDS: a page that draws live
 * data never settles. */
void browser_settle(void);
/* Writes the whole page as a PNG file. */
void browser_save_picture(const char *file);

/* ---- reading ---- */
/* Runs the body of a function in the page. Its arguments[0 …] are the strings, ending in NULL.
 * Returns the value that it returns; it lives until the test ends. */
json_t *browser_run(const char *script, const char *const *arguments);
#define ARGUMENTS(...) ((const char *const[]){__VA_ARGS__, NULL})
/* Returns the visible text of the page. */
const char *browser_text(void);
/* Returns the place, with '#'. */
const char *browser_place(void);
/* Waits until an expression of JavaScript is true. what: for the message of a failure. */
void browser_wait(const char *expression, const char *what);
/* Waits until the page shows a text (or no longer). Blanks and line ends count as one blank. */
void browser_wait_text(const char *text);
void browser_wait_no_text(const char *text);
/* Returns the value of the field with this label. */
const char *browser_value(const char *label);
/* Returns the accessible name or the text of the element that has the focus. */
const char *browser_focus(void);

/* ---- mouse and keyboard ---- */
/* Clicks the button, link, tab, box or summary with this name. */
void browser_click(const char *name);
/* As browser_click, for the nth of several with this name, from 0. */
void browser_click_nth(const char *name, int n);
/* Clicks a point of the first element of a CSS selector, by shares of its width and height. */
void browser_click_at(const char *selector, double x, double y);
/* Replaces the text of the field with this label. */
void browser_fill(const char *label, const char *value);
/* Chooses the option with this text in the list with this label. */
void browser_choose(const char *label, const char *option);
/* Sends keys to the focused element: text, and the constants below. */
void browser_press(const char *keys);
#define KEY_TAB "\xEE\x80\x84"
#define KEY_ENTER "\xEE\x80\x87"
#define KEY_ESCAPE "\xEE\x80\x8C"
#define KEY_SPACE " "
#define KEY_LEFT "\xEE\x80\x92"
#define KEY_RIGHT "\xEE\x80\x94"
/* Chooses a file in the file field with this label. */
void browser_choose_file(const char *label, const char *path);
/* Drops a file with this name and content from outside of the browser on the file field with this
 * label. */
void browser_drop(const char *label, const char *name, const char *content);

/* ---- checks ---- */
/* Lines of the console that contain this text are no errors from now on, until browser_check. */
void browser_allow(const char *text);
/* Permits the 404 with which the page learns that the name of a new table is free, until the next
 * check. */
void browser_allow_free_names(void);
/* Prints a message of any length, as print_error of cmocka does with a short one. */
void browser_print(const char *message);
/* Returns what went wrong since browser_set_base or the last call, one line each: errors of the
 * console (exceptions, failed loads, violations of the content security policy), and requests to
 * another host than the base. "": nothing. */
const char *browser_faults(void);
/* Fails the test if browser_faults() has a line. Forgets what it has read and what was allowed. */
void browser_check(void);

#endif
