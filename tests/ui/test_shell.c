/* The frame of the page: navigation, token, lost connection, tabs, places. With PROXY_URL the page
 * behind that proxy; the tests that need a daemon of their own are then left out. */
#include "ui/browser.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *const views[] = {"Data",   "Train",      "Jobs",      "Models",
                                    "Try it", "Boundaries", "Playground"};
enum { N_VIEWS = sizeof views / sizeof views[0] };

/* Starts a daemon, unless the page is that behind a proxy. */
static void start(const char *const *flags) {
    const char *proxy = getenv("PROXY_URL");
    browser_set_base(proxy);
    if (proxy == NULL) {
        service_start(flags);
    }
}

static void test_each_view_opens_by_its_link(void **state) {
    (void)state;
    start(NULL);
    browser_open("");
    for (size_t i = 0; i < N_VIEWS; i++) {
        browser_click(views[i]);
        browser_wait(text("document.querySelector('nav [aria-current=page]').textContent === '%s'",
                          views[i]),
                     views[i]);
        browser_wait("document.querySelector('main h1')", "a heading");
        browser_wait(text("document.title.includes('%s')", views[i]), "the title");
    }
    /* back and forward in the history of the browser */
    browser_run("history.back()", NULL);
    browser_wait("location.hash === '#/boundaries'", "the view before");
    browser_wait("document.querySelector('nav [aria-current=page]').textContent === 'Boundaries'",
                 "the view before");
    browser_check();
}

static void test_the_keyboard_reaches_everything(void **state) {
    (void)state;
    start(NULL);
    browser_open("#/data");
    browser_press(KEY_TAB);
    assert_string_equal(browser_focus(), "Skip to the content");
    browser_press(KEY_ENTER);
    browser_wait("document.activeElement.id === 'main'", "the focus in the content");
    browser_open("#/data");
    browser_press(KEY_TAB KEY_TAB);
    assert_string_equal(browser_focus(), "Discern");
    for (size_t i = 0; i < 3; i++) {
        browser_press(KEY_TAB);
        assert_string_equal(browser_focus(), views[i]);
    }
    browser_press(KEY_ENTER);
    browser_wait("location.hash === '#/jobs'", "the view of the focused link");
    browser_wait("document.activeElement.id === 'main'", "the focus in the new view");
    browser_check();
}

static void test_an_unknown_place_leads_on(void **state) {
    (void)state;
    start(NULL);
    browser_open("#/nowhere/%E0%A4%A");
    browser_open("#/constructor");
    browser_wait_text("There is no view");
    browser_click("To the data");
    browser_wait("location.hash === '#/data'", "the data");
    browser_check();
}

static void test_the_manual_opens(void **state) {
    (void)state;
    start(NULL);
    browser_open("");
    browser_click("Manual");
    browser_wait_text("Discern: the manual");
    browser_click("The page");
    browser_wait_text("in a browser opens a page");
    browser_check();
}

/* Makes a token. Returns its secret. */
static const char *token_add(const char *name, const char *scope, const char *file) {
    const char *out;
    assert_int_equal(discernd_run(FLAGS("token", "add", name, "--scope", scope, "--tokens", file),
                                  &out),
                     0);
    const char *secret = strstr(out, "discern_");
    assert_non_null(secret);
    return text("%.*s", (int)strcspn(secret, " \n"), secret);
}

static void test_a_token_is_asked_for_and_kept_in_the_tab(void **state) {
    (void)state;
    char dir[] = "/tmp/discern-tokens.XXXXXX";
    assert_non_null(mkdtemp(dir));
    const char *file = text("%s/tokens", dir);
    const char *other = token_add("asker", "predict", file);
    const char *secret = token_add("reader", "read", file);
    browser_set_base(NULL);
    service_start(FLAGS("--tokens", file));
    browser_allow("status of 401");
    browser_open("#/jobs");
    browser_wait_text("a token is needed");
    browser_fill("Token", "discern_wrong");
    browser_press(KEY_ENTER);
    browser_wait_text("the token is not known");
    browser_fill("Token", secret);
    browser_click("Use this token");
    browser_wait("!document.querySelector('dialog[open]')", "no dialog");
    browser_wait_no_text("Loading");
    assert_null(strstr(browser_text(), "token is needed"));
    /* it is kept when the page is loaded again, and is nowhere but in this tab */
    browser_open("#/models");
    browser_wait_no_text("Loading");
    assert_null(strstr(browser_text(), "token is needed"));
    assert_true(
        json_is_true(browser_run("return localStorage.length === 0 && document.cookie === ''"
                                 " && !location.href.includes('discern_')",
                                 NULL)));
    browser_new_tab("#/models");
    browser_wait_text("a token is needed");
    browser_first_tab();
    /* what the token may not do is disabled, and the page says why */
    browser_open("#/playground");
    browser_wait_text("Token “reader” has no scope write: use another token.");
    browser_wait("[...document.querySelectorAll('main button')].some((b) => "
                 "b.textContent === 'Train' && b.disabled && b.title.includes('no scope'))",
                 "a disabled button");
    browser_allow("status of 403");
    browser_allow("status of 404");
    browser_click("Token ✓");
    browser_fill("Token", other);
    browser_click("Use this token");
    browser_open("#/try");
    browser_fill("Name of the model", "iris");
    browser_click("Try this model");
    browser_wait_text("there is no model");
    browser_open("#/jobs");
    browser_click("Use another token");
    browser_fill("Token", secret);
    browser_click("Use this token");
    browser_wait_no_text("Use another token");
    browser_click("Token ✓");
    browser_click("Forget the token");
    browser_wait_text("a token is needed");
    browser_check();
    service_stop();
    unlink(file);
    assert_int_equal(rmdir(dir), 0);
}

/* The page offers no link that a token with the scope predict may not follow. */
static void test_a_token_that_predicts_has_no_links_to_models(void **state) {
    (void)state;
    char dir[] = "/tmp/discern-tokens.XXXXXX";
    assert_non_null(mkdtemp(dir));
    const char *file = text("%s/tokens", dir);
    const char *asker = token_add("asker", "predict", file);
    const char *admin = token_add("all", "admin", file);
    browser_set_base(NULL);
    service_start(FLAGS("--tokens", file));
    client_token = admin;
    upload_file("iris", "iris.csv");
    job_train("{'model':'iris','dataset':'iris','target':'class','algorithm':'logistic'}");
    client_token = NULL;
    browser_allow("status of 401");
    browser_open("#/try/iris");
    browser_fill("Token", admin);
    browser_click("Use this token");
    browser_wait_text("See its boundaries");
    browser_click("Token ✓");
    browser_fill("Token", asker);
    browser_click("Use this token");
    browser_wait_no_text("See its boundaries");
    browser_wait_text("version 1, live");
    assert_null(strstr(browser_text(), "Open the model"));
    browser_check();
    service_stop();
    unlink(file);
    assert_int_equal(rmdir(dir), 0);
}

/* An answer that arrives after the token has changed says nothing about the new token. */
static void test_late_rights_are_dropped(void **state) {
    (void)state;
    browser_set_base(NULL);
    service_start(NULL);
    browser_open("#/nowhere");
    browser_wait_text("Discern");
    const json_t *value =
        browser_run("const at = (name) => import(new URL(name,"
                    " document.querySelector('script[type=module]').src).href);"
                    "const real = window.fetch, waiting = [];"
                    "window.fetch = (url, ...rest) => String(url).includes('/v1/limits')"
                    " ? new Promise((answer) => waiting.push((name, scope) => answer(new Response("
                    "JSON.stringify({ token: { name, scopes: [scope] } }),"
                    " { headers: { 'Content-Type': 'application/json' } })))) : real(url, ...rest);"
                    "const answered = () => new Promise((done) => setTimeout(done, 50));"
                    "return Promise.all([at('base/rights.js'), at('base/session.js')])"
                    ".then(async ([{ lacks, loadRights }, { setToken }]) => {"
                    " setToken('a'); setToken('b'); loadRights(); loadRights();"
                    " const n = waiting.length; waiting[1]('b', 'read'); await answered();"
                    " waiting[0]('a', 'train'); await answered(); await loadRights();"
                    " const found = [n, lacks('read'), lacks('train').includes('“b”')];"
                    " window.fetch = real; setToken(''); return found; })",
                    NULL);
    assert_int_equal(json_integer_value(json_array_get(value, 0)), 2);
    assert_string_equal(json_string_value(json_array_get(value, 1)), "");
    assert_true(json_is_true(json_array_get(value, 2)));
    browser_check();
}

/* Returns a port of the loopback interface that is free now. */
static int free_port(void) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, n), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &n), 0);
    close(fd);
    return ntohs(a.sin_port);
}

static void test_a_lost_daemon_is_shown_and_found_again(void **state) {
    (void)state;
    char address[32];
    (void)snprintf(address, sizeof address, "127.0.0.1:%d", free_port());
    browser_set_base(NULL);
    service_start(FLAGS("--listen", address));
    upload_file("iris", "iris.csv");
    browser_open("#/data");
    browser_wait_text("iris");
    service_stop();
    browser_allow("ERR_CONNECTION_REFUSED");
    browser_allow("ERR_CONNECTION_RESET");
    browser_allow("ERR_EMPTY_RESPONSE");
    browser_click("Jobs");
    browser_wait_text("The daemon does not answer");
    daemon_start(&the_daemon);
    browser_wait_no_text("The daemon does not answer");
    browser_wait_no_text("Try again");
    browser_click("Data");
    browser_wait_text("iris");
    browser_check();
}

int main(void) {
    const struct CMUnitTest everywhere[] = {
        TEST(test_each_view_opens_by_its_link),
        TEST(test_the_keyboard_reaches_everything),
        TEST(test_an_unknown_place_leads_on),
        TEST(test_the_manual_opens),
    };
    const struct CMUnitTest direct[] = {
        TEST(test_each_view_opens_by_its_link),
        TEST(test_the_keyboard_reaches_everything),
        TEST(test_an_unknown_place_leads_on),
        TEST(test_the_manual_opens),
        TEST(test_a_token_is_asked_for_and_kept_in_the_tab),
        TEST(test_a_token_that_predicts_has_no_links_to_models),
        TEST(test_late_rights_are_dropped),
        TEST(test_a_lost_daemon_is_shown_and_found_again),
    };
    return getenv("PROXY_URL") != NULL ? BROWSER_RUN(everywhere) : BROWSER_RUN(direct);
}
