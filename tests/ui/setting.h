/* The setting in which tests of the page run: directly, without a token; or, with PROXY_URL and
 * DISCERN_URL of tests/ui/behind-nginx, at the proxy PROXY_URL, under its base path, with a token.
 * The_daemon has the same port in all tests of a program, so that a test can end it and start it
 * again below an open page. */
#ifndef TESTS_UI_SETTING_H
#define TESTS_UI_SETTING_H

#include "ui/browser.h"

/* Starts the_daemon on an empty database and prepares the browser. With a token the page has it
 * afterwards, typed into its dialog, and client_token too. */
void setting_start(void);
/* As setting_start, but requests need a token in both settings, and the page has none. */
void setting_start_locked(void);
/* Adds a token, which the_daemon knows from its next start on. Returns the secret. */
const char *setting_add_token(const char *name, const char *scope);
/* The same for the names that `only` (patterns) permits. */
const char *setting_add_token_for(const char *name, const char *scope, const char *only);
/* In a setting with a token: types it into the dialog of this tab, which asks for it. */
void setting_sign_in(void);

/* Whether only those tests run for which a proxy can make a difference: behind the proxy, unless the
 * environment has ALL_FLOWS. */
bool setting_is_short(void);
/* Runs a group of tests as BROWSER_RUN does; `some` of them if setting_is_short(). */
int setting_group_start(void **state);
int setting_group_end(void **state);
#define SETTING_RUN(tests, some)                                                                   \
    (browser_skip()       ? 77                                                                     \
     : setting_is_short() ? cmocka_run_group_tests(some, setting_group_start, setting_group_end)   \
                          : cmocka_run_group_tests(tests, setting_group_start, setting_group_end))

#endif
