/* The frame of the page: navigation, token, lost connection, tabs, places; in each setting of
 * ui/setting.h. */
#include "ui/setting.h"

#include <stdio.h>
#include <string.h>

static const char *const views[] = {"Data",   "Train",      "Jobs",      "Models",
                                    "Try it", "Boundaries", "Playground"};
enum { N_VIEWS = sizeof views / sizeof views[0] };

static void test_each_view_opens_by_its_link(void **state) {
    (void)state;
    setting_start();
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
    setting_start();
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
    setting_start();
    browser_open("#/nowhere/%E0%A4%A");
    browser_open("#/constructor");
    browser_wait_text("There is no view");
    browser_click("To the data");
    browser_wait("location.hash === '#/data'", "the data");
    browser_check();
}

/* A view whose data are not there has a heading, too, for which browser_open waits, and leads on. */
static void test_an_unknown_name_has_a_heading(void **state) {
    (void)state;
    static const char *const places[] = {"#/data/none", "#/jobs/999", "#/models/none",
                                         "#/boundaries/none", "#/try/none"};
    setting_start();
    browser_allow("status of 404");
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        browser_open(places[i]);
        browser_wait_no_text("Loading");
        browser_wait("document.querySelector('main h1')", "a heading");
        browser_wait_text("It may have been deleted.");
        browser_click("Choose another one");
        browser_wait("document.querySelector('main h1')", "the list");
        browser_wait_no_text("It may have been deleted.");
    }
    browser_check();
}

static void test_the_manual_opens(void **state) {
    (void)state;
    setting_start();
    browser_open("");
    browser_click("Manual");
    browser_wait_text("Discern: the manual");
    browser_click("The page");
    browser_wait_text("in a browser opens a page");
    browser_check();
}

static void test_a_token_is_asked_for_and_kept_in_the_tab(void **state) {
    (void)state;
    const char *other = setting_add_token("asker", "predict");
    const char *secret = setting_add_token("reader", "read");
    setting_start_locked();
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
    browser_wait_text("There is no model");
    browser_open("#/jobs");
    browser_click("Use another token");
    browser_fill("Token", secret);
    browser_click("Use this token");
    browser_wait_no_text("Use another token");
    browser_click("Token ✓");
    browser_click("Forget the token");
    browser_wait_text("a token is needed");
    browser_check();
}

/* The page offers no link that a token with the scope predict may not follow. */
static void test_a_token_that_predicts_has_no_links_to_models(void **state) {
    (void)state;
    const char *asker = setting_add_token("caller", "predict");
    const char *admin = setting_add_token("owner", "admin");
    setting_start_locked();
    upload_file("iris", "iris.csv");
    job_train("{'model':'iris','dataset':'iris','target':'class','algorithm':'logistic'}");
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
}

/* Two tabs do not disturb each other: what another has written is replaced only by a second click. */
static void test_a_description_of_another_tab_is_kept(void **state) {
    (void)state;
    static const char *const places[] = {"datasets", "models"};
    setting_start();
    upload_file("iris", "iris.csv");
    job_train("{'model':'iris','dataset':'iris','target':'class','algorithm':'logistic'}");
    browser_allow("status of 412");
    for (size_t i = 0; i < 2; i++) {
        const char *resource = text("/v1/%s/iris", places[i]);
        browser_open(i == 0 ? "#/data/iris" : "#/models/iris");
        browser_click(i == 0 ? "Add a description or tags" : "Edit description and tags");
        browser_fill("Description", "of this tab");
        browser_fill("Tags", "one, two, one");
        status_check(call_json("PATCH", resource, "{'description':'of another tab'}"), 200);
        browser_click("Save");
        browser_wait_text("somebody else has changed it");
        const struct response *kept = status_check(call_get("%s", resource), 200);
        assert_string_equal(json_string_value(json_find(kept->json, "/description")),
                            "of another tab");
        browser_wait_text("of another tab"); /* the new state, behind the dialog */
        browser_click("Save");
        browser_wait("!document.querySelector('dialog')", "the page without the dialog");
        browser_wait_text("of this tab");
        browser_wait_text("two");
    }
    browser_check();
}

/* Whether a button is disabled, with a reason that contains `reason`. */
static void wait_disabled(const char *button, const char *reason) {
    browser_wait(text("[...document.querySelectorAll('main button')].some((b) => b.textContent "
                      "=== '%s' && b.disabled && b.title.includes('%s'))",
                      button, reason),
                 button);
}

static void wait_enabled(const char *button) {
    browser_wait(text("[...document.querySelectorAll('main button')].some((b) => b.textContent "
                      "=== '%s' && !b.disabled)",
                      button),
                 button);
}

static void use_token(const char *secret) {
    browser_fill("Token", secret);
    browser_click("Use this token");
    browser_wait("!document.querySelector('dialog[open]')", "no dialog");
}

static void test_what_the_scopes_lack_is_disabled(void **state) {
    (void)state;
    const char *secret = setting_add_token("viewer", "read");
    setting_start_locked();
    upload_file("iris", "iris.csv");
    for (int i = 1; i <= 2; i++) {
        status_check(call_post("/v1/jobs", "{'model':'iris','dataset':'iris','target':'class',"
                                           "'algorithm':'logistic','expires_in':3600}"),
                     202);
        (void)job_wait(i);
    }
    status_check(call_patch("/v1/datasets/iris", "{'expires_in':3600}"), 200);
    browser_allow("status of 401");
    /* the offer to undo a change by a token of more scopes */
    browser_open("#/models/iris");
    use_token(client_token);
    browser_click("Make live");
    browser_wait_text("Undo");
    browser_click("Token ✓");
    use_token(secret);
    browser_wait("[...document.querySelectorAll('.toast button')].some((b) => b.textContent === "
                 "'Undo' && b.disabled && b.title.includes('has no scope write'))",
                 "a disabled Undo");
    status_check(call_put("/v1/models/iris/decision", "{'reject':0.2}"), 200);
    static const struct {
        const char *place, *button, *scope;
    } found[] = {
        {"#/data", "Paste or type a table", "write"},
        {"#/data/iris", "Add a description or tags", "write"},
        {"#/data/iris", "Keep it", "write"},
        {"#/models/iris", "Edit description and tags", "write"},
        {"#/models/iris", "Keep the model", "write"},
        {"#/models/iris?tab=decision", "Remove the rule", "write"},
        {"#/models/iris?tab=compare", "Compare", "predict"},
        {"#/models/iris?tab=importance", "Measure", "predict"},
    };
    for (size_t i = 0; i < sizeof found / sizeof found[0]; i++) {
        if (i == 0 || strcmp(found[i].place, found[i - 1].place) != 0) {
            browser_open(found[i].place);
        }
        wait_disabled(found[i].button, text("has no scope %s", found[i].scope));
    }
    browser_open("#/data");
    browser_wait("document.querySelector('main input[type=file]').disabled", "no choice of a file");
    browser_wait_text("Token “viewer” has no scope write: use another token.");
    browser_check();
}

static void test_what_the_names_exclude_is_disabled(void **state) {
    (void)state;
    const char *secret = setting_add_token_for("narrow", "read,write,train,predict", "iris*,a.b");
    setting_start_locked();
    upload_file("iris", "iris.csv");
    browser_allow("status of 401");
    browser_allow("status of 403");
    browser_allow_free_names();
    browser_open("#/data");
    use_token(secret);
    browser_drop("Drop a table here, or choose a file", "other.csv", "x,y\n1,a\n2,b\n");
    wait_disabled("Store this table", "is for iris*, a.b only, not for “other”: use another token");
    browser_fill("Name of the table", "a+b");
    wait_disabled("Store this table", "");
    browser_fill("Name of the table", "axb");
    wait_disabled("Store this table", "not for “axb”");
    browser_fill("Name of the table", "a.b");
    wait_enabled("Store this table");
    browser_fill("Name of the table", "iris-2");
    wait_enabled("Store this table");
    browser_click("Discard");
    browser_open("#/train?dataset=iris&algorithm=logistic");
    wait_enabled("Start the training");
    browser_fill("Name of the model", "other");
    wait_disabled("Start the training", "not for “other”");
    browser_open("#/playground");
    wait_disabled("Train", "not for “playground-");
    browser_check();
}

/* An answer that arrives after the token has changed says nothing about the new token. */
static void test_late_rights_are_dropped(void **state) {
    (void)state;
    setting_start();
    browser_allow("status of 401"); /* with a token: those of this test are not known */
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

/* Console errors of the requests that find no daemon, directly and through the proxy. */
static void allow_no_answer(void) {
    browser_allow("ERR_CONNECTION_REFUSED");
    browser_allow("ERR_CONNECTION_RESET");
    browser_allow("ERR_EMPTY_RESPONSE");
    browser_allow("ERR_INCOMPLETE_CHUNKED_ENCODING");
    browser_allow("status of 502");
}

static void test_a_lost_daemon_is_shown_and_found_again(void **state) {
    (void)state;
    setting_start();
    upload_file("iris", "iris.csv");
    browser_open("#/data");
    browser_wait_text("iris");
    service_stop();
    allow_no_answer();
    browser_click("Jobs");
    browser_wait_text("The daemon does not answer");
    browser_click("Playground");
    browser_wait("document.querySelectorAll('main .problem').length === 1", "one error");
    daemon_start(&the_daemon);
    browser_wait_no_text("The daemon does not answer");
    browser_wait_no_text("Try again");
    browser_click("Data");
    browser_wait_text("iris");
    browser_check();
}

/* The stream of a job's events breaks, and is opened again. */
static void test_a_job_is_followed_again_after_a_lost_daemon(void **state) {
    (void)state;
    setting_start();
    upload_file("digits", "digits.csv");
    const int64_t id = job_endless("endless");
    job_wait_state(id, "running");
    browser_open(text("#/jobs/%lld", (long long)id));
    browser_wait_text("running");
    service_stop();
    allow_no_answer();
    browser_wait_text("The daemon does not answer");
    daemon_start(&the_daemon);
    browser_wait_no_text("The daemon does not answer");
    browser_click("Cancel");
    browser_click("Cancel the job");
    browser_wait_text("cancelled");
    browser_check();
}

/* A proxy that ends its wait is no sign that the daemon is away. */
static void test_a_long_call_behind_a_proxy_is_no_lost_connection(void **state) {
    (void)state;
    browser_set_base(NULL);
    service_start(NULL);
    browser_open("#/nowhere");
    browser_wait_text("Discern");
    const json_t *errors = browser_run(
        "const real = window.fetch;"
        "return import(new URL('base/api.js', document.querySelector('script[type=module]').src)"
        ".href).then(async ({ get }) => {"
        " window.fetch = () => Promise.resolve(new Response('<html>', { status: 504 }));"
        " const error = await get('/v1/jobs').catch((e) => e);"
        " window.fetch = real; return [error.status, error.message]; })",
        NULL);
    assert_int_equal(json_integer_value(json_array_get(errors, 0)), 504);
    assert_non_null(strstr(json_string_value(json_array_get(errors, 1)), "the proxy has ended"));
    browser_check();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_each_view_opens_by_its_link),
        TEST(test_the_keyboard_reaches_everything),
        TEST(test_an_unknown_place_leads_on),
        TEST(test_an_unknown_name_has_a_heading),
        TEST(test_the_manual_opens),
        TEST(test_a_token_is_asked_for_and_kept_in_the_tab),
        TEST(test_a_token_that_predicts_has_no_links_to_models),
        TEST(test_a_description_of_another_tab_is_kept),
        TEST(test_what_the_scopes_lack_is_disabled),
        TEST(test_what_the_names_exclude_is_disabled),
        TEST(test_late_rights_are_dropped),
        TEST(test_a_long_call_behind_a_proxy_is_no_lost_connection),
        TEST(test_a_lost_daemon_is_shown_and_found_again),
        TEST(test_a_job_is_followed_again_after_a_lost_daemon),
    };
    const struct CMUnitTest some[] = {
        TEST(test_each_view_opens_by_its_link),
        TEST(test_the_manual_opens),
        TEST(test_a_lost_daemon_is_shown_and_found_again),
        TEST(test_a_job_is_followed_again_after_a_lost_daemon),
    };
    return SETTING_RUN(tests, some);
}
