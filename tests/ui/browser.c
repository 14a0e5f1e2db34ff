#include "ui/browser.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TICK_MS 100
#define START_SECONDS 60
#define ELEMENT "element-6066-11e4-a52e-4f735466cecf" /* WebDriver, section 11 */
#define MOST_ALLOWED 16
#define ONLY_LOOPBACK "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"

static struct {
    pid_t driver; /* chromedriver; 0: none */
    char dir[64]; /* profile and downloads */
    char downloads[80];
    char url[64];     /* of chromedriver */
    char session[80]; /* its id; "": none */
    char base[128];   /* "": that of the_daemon */
    char *first_tab;
    char *allowed[MOST_ALLOWED];
    size_t n_allowed;
    bool free_names; /* the page may ask for a dataset that does not exist */
} browser;

/* ---- processes ---- */

const char *browser_missing(void) {
    static const char *const programs[] = {"chromium", "chromedriver"};
    for (size_t i = 0; i < 2; i++) {
        char command[64];
        (void)snprintf(command, sizeof command, "command -v %s >/dev/null", programs[i]);
        if (system(command) != 0) {
            return programs[i];
        }
    }
    return NULL;
}

static pid_t start_driver(int *out) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(ends[1], STDOUT_FILENO);
        int null = open("/dev/null", O_RDWR);
        dup2(null, STDIN_FILENO);
        dup2(null, STDERR_FILENO);
        close(ends[0]);
        setenv("HOME", browser.dir, 1); /* Chromium's files outside of the profile */
        setenv("XDG_CONFIG_HOME", browser.dir, 1);
        setenv("XDG_CACHE_HOME", browser.dir, 1);
        setenv("TZ", "UTC", 1);
        setenv("LANGUAGE", "en", 1);
        execlp("chromedriver", "chromedriver", "--port=0", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    assert_true(pid > 0);
    *out = ends[0];
    return pid;
}

/* Reads the port from "… was started successfully on port N." */
static int read_port(int fd) {
    char line[4096];
    size_t n = 0;
    ssize_t k;
    while (n < sizeof line - 1 && (k = read(fd, line + n, sizeof line - 1 - n)) > 0) {
        n += (size_t)k;
        line[n] = '\0';
        const char *at = strstr(line, "successfully on port ");
        if (at != NULL && strchr(at, '.') != NULL) {
            return (int)strtol(at + strlen("successfully on port "), NULL, 10);
        }
    }
    fail_msg("chromedriver did not start");
    return 0;
}

/* ---- WebDriver ---- */

/* Sends a command below the session, and returns the answer's value; NULL: the command failed. */
static json_t *command(const char *method, const char *path, json_t *body, const char **why) {
    const char *where = browser.session[0] == '\0' && strcmp(path, "") == 0
                            ? "/session"
                            : text("/session/%s%s", browser.session, path);
    char *sent = body != NULL ? json_dumps(body, 0) : NULL;
    json_decref(body);
    const struct response *r =
        call(&(struct request){.method = method,
                               .url = browser.url,
                               .path = where,
                               .headers = HEADERS("Content-Type: application/json"),
                               .body = sent,
                               .seconds = START_SECONDS});
    free(sent);
    if (r->status != 200) {
        const json_t *message = json_find(r->json, "/value/message");
        *why = message != NULL ? text("%.300s", json_string_value(message)) : "no answer";
        return NULL;
    }
    json_t *value = json_object_get(r->json, "value");
    return value != NULL ? value : json_null();
}

static json_t *command_or_fail(const char *method, const char *path, json_t *body) {
    const char *why = "";
    json_t *value = command(method, path, body, &why);
    if (value == NULL) {
        fail_msg("WebDriver: %s %s: %s", method, path, why);
    }
    return value;
}

static json_t *options_of(void) {
    static const char *const flags[] = {"--headless=new",
                                        "--no-sandbox", /* the tests may run as root */
                                        "--disable-gpu", "--disable-dev-shm-usage",
                                        "--no-first-run", "--no-proxy-server",
                                        "--disable-background-networking",
                                        "--disable-component-update", "--disable-sync",
                                        "--disable-extensions", "--disable-breakpad",
                                        /* a load uses the process of the page before, and less
                                           than half of the processor time */
                                        "--disable-features=BackForwardCache",
                                        "--force-color-profile=srgb", "--lang=en-US", ONLY_LOOPBACK,
                                        /* it ends when chromedriver ends */
                                        "--remote-debugging-pipe", "--window-size=1280,900"};
    json_t *arguments = json_array();
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        json_array_append_new(arguments, json_string(flags[i]));
    }
    json_array_append_new(arguments, json_string(text("--user-data-dir=%s/profile", browser.dir)));
    return json_pack("{s:{s:{s:s, s:b, s:{s:s, s:s}, s:{s:o, s:{s:s, s:b}}}}}", "capabilities",
                     "alwaysMatch", "browserName", "chrome", "acceptInsecureCerts", 1,
                     "goog:loggingPrefs", "browser", "ALL", "performance", "ALL",
                     "goog:chromeOptions", "args", arguments, "prefs", "download.default_directory",
                     browser.downloads, "download.prompt_for_download", 0);
}

void browser_start(void) {
    int out;
    const char *tmp = getenv("TMPDIR");
    (void)snprintf(browser.dir, sizeof browser.dir, "%s/discern-ui.XXXXXX",
                   tmp != NULL ? tmp : "/tmp");
    assert_non_null(mkdtemp(browser.dir));
    (void)snprintf(browser.downloads, sizeof browser.downloads, "%s/downloads", browser.dir);
    assert_int_equal(mkdir(browser.downloads, 0700), 0);
    browser.driver = start_driver(&out);
    (void)snprintf(browser.url, sizeof browser.url, "http://127.0.0.1:%d", read_port(out));
    json_t *session = command_or_fail("POST", "", options_of());
    (void)snprintf(browser.session, sizeof browser.session, "%s",
                   json_string_value(json_object_get(session, "sessionId")));
    browser.first_tab = strdup(json_string_value(command_or_fail("GET", "/window", NULL)));
    /* instead of the packager's start page, which is in the internet */
    (void)command_or_fail("POST", "/url", json_pack("{s:s}", "url", "about:blank"));
}

static void forget_allowed(void) {
    while (browser.n_allowed > 0) {
        free(browser.allowed[--browser.n_allowed]);
    }
    browser.free_names = false;
}

void browser_end(void) {
    const char *why;
    if (browser.session[0] != '\0') {
        (void)command("DELETE", "", NULL, &why);
    }
    if (browser.driver != 0) {
        kill(browser.driver, SIGTERM);
        waitpid(browser.driver, NULL, 0);
    }
    if (browser.dir[0] != '\0') {
        char remove[100];
        (void)snprintf(remove, sizeof remove, "rm -rf '%s'", browser.dir);
        (void)!system(remove);
    }
    forget_allowed();
    free(browser.first_tab);
    memset(&browser, 0, sizeof browser);
}

int browser_group_start(void **state) {
    (void)state;
    browser_start();
    return 0;
}

int browser_group_end(void **state) {
    browser_end();
    return group_end(state);
}

bool browser_skip(void) {
    const char *missing = browser_missing();
    if (missing != NULL) {
        printf("skip: %s is not installed\n", missing);
    }
    return missing != NULL;
}

const char *browser_downloads(void) {
    return browser.downloads;
}

static json_t *log_of(const char *type) {
    return command_or_fail("POST", "/se/log", json_pack("{s:s}", "type", type));
}

/* Leaves the page, so that it sends no more requests. */
static void browser_leave(void) {
    (void)command_or_fail("POST", "/url", json_pack("{s:s}", "url", "about:blank"));
}

void browser_set_base(const char *url) {
    browser_leave();
    (void)log_of("browser");
    (void)log_of("performance");
    forget_allowed();
    (void)snprintf(browser.base, sizeof browser.base, "%s", url != NULL ? url : "");
}

static const char *base(void) {
    return browser.base[0] != '\0' ? browser.base : the_daemon.url;
}

/* ---- the page ---- */

void browser_open_path(const char *path) {
    json_t *body = json_pack("{s:s}", "url", text("%s%s", base(), path));
    (void)command_or_fail("POST", "/url", json_pack("{s:s}", "url", "about:blank"));
    (void)command_or_fail("POST", "/url", body);
}

void browser_open(const char *place) {
    browser_open_path(text("/%s", place));
    browser_wait("document.querySelector('main h1')", "the heading of a view");
}

void browser_new_tab(const char *place) {
    json_t *tab = command_or_fail("POST", "/window/new", json_pack("{s:s}", "type", "tab"));
    (void)command_or_fail("POST", "/window",
                          json_pack("{s:O}", "handle", json_object_get(tab, "handle")));
    browser_open(place);
}

void browser_first_tab(void) {
    (void)command_or_fail("DELETE", "/window", NULL);
    (void)command_or_fail("POST", "/window", json_pack("{s:s}", "handle", browser.first_tab));
}

static void devtools(const char *name, json_t *parameters) {
    (void)command_or_fail("POST", "/goog/cdp/execute",
                          json_pack("{s:s, s:o}", "cmd", name, "params", parameters));
}

void browser_resize(int width, int height) {
    devtools("Emulation.setDeviceMetricsOverride",
             json_pack("{s:i, s:i, s:i, s:b}", "width", width, "height", height,
                       "deviceScaleFactor", 1, "mobile", 0));
}

void browser_set_colours(const char *scheme) {
    devtools("Emulation.setEmulatedMedia", json_pack("{s:[{s:s, s:s}]}", "features", "name",
                                                     "prefers-color-scheme", "value", scheme));
}

void browser_save_picture(const char *file) {
    int width = 0, height = 0;
    for (int i = 0; i < 4; i++) { /* plots are drawn again after a change of size */
        json_t *size = browser_run(
            "return [innerWidth, Math.min(document.documentElement.scrollHeight, 8000)]", NULL);
        const int before = height;
        width = (int)json_integer_value(json_array_get(size, 0));
        height = (int)json_integer_value(json_array_get(size, 1));
        if (height == before) {
            break;
        }
        browser_resize(width, height > 600 ? height : 600);
        pause_ms(300);
    }
    const char *coded = json_string_value(command_or_fail("GET", "/screenshot", NULL));
    FILE *pipe = popen(text("base64 -d > '%s'", file), "w");
    assert_non_null(pipe);
    assert_true(fputs(coded, pipe) >= 0);
    assert_int_equal(pclose(pipe), 0);
}

/* ---- reading ---- */

/* What scripts that look for something share. */
static const char finders[] =
    "const flat = (s) => (s || '').replace(/\\s+/g, ' ').trim();"
    "const visible = (e) => e.getClientRects().length > 0 &&"
    "  getComputedStyle(e).visibility !== 'hidden';"
    "const nameOf = (e) => flat(e.getAttribute('aria-label') ||"
    "  (e.labels && e.labels.length ? e.labels[0].textContent : e.textContent));"
    "const shown = () => document.querySelector('dialog[open]') || document;"
    "const field = (label) => [...shown().querySelectorAll('input, select, textarea')]"
    "  .filter((e) => nameOf(e) === label && (visible(e) || e.type === 'file'))[0];"
    "const control = (name, n) => [...shown().querySelectorAll("
    "  'button, a, summary, [role=button], [role=tab], input[type=checkbox], input[type=radio]')]"
    "  .filter((e) => visible(e) && !e.disabled &&"
    "  (nameOf(e) === name || flat(e.textContent) === name))[n];";

static json_t *run(const char *script, json_t *arguments, const char **why) {
    json_t *body =
        json_pack("{s:s, s:o}", "script", text("%s%s", finders, script), "args", arguments);
    return command("POST", "/execute/sync", body, why);
}

static json_t *list_of(const char *const *arguments) {
    json_t *list = json_array();
    for (size_t i = 0; arguments != NULL && arguments[i] != NULL; i++) {
        json_array_append_new(list, json_string(arguments[i]));
    }
    return list;
}

json_t *browser_run(const char *script, const char *const *arguments) {
    const char *why = "";
    json_t *value = run(script, list_of(arguments), &why);
    if (value == NULL) {
        fail_msg("the script failed: %s\n%s", why, script);
    }
    return value;
}

const char *browser_text(void) {
    return text("%s", json_string_value(browser_run("return document.body.innerText", NULL)));
}

const char *browser_place(void) {
    return text("%s", json_string_value(browser_run("return location.hash", NULL)));
}

void browser_print(const char *message) {
    const size_t most = 800; /* cmocka cuts a message at 1,024 bytes */
    for (size_t n; *message != '\0'; message += n) {
        n = strlen(message) < most ? strlen(message) : most;
        print_error("%.*s%s", (int)n, message, message[n] == '\0' ? "\n" : "");
    }
}

/* Runs a script until its value is neither false nor null. Returns the value. */
static json_t *await(const char *script, const char *const *arguments, const char *what) {
    const char *why = "";
    for (double end = now() + BROWSER_SECONDS; now() < end; pause_ms(TICK_MS)) {
        json_t *value = run(script, list_of(arguments), &why);
        if (value != NULL && !json_is_null(value) && !json_is_false(value)) {
            return value;
        }
    }
    browser_print(text("the page, which shows:\n%.3000s", browser_text()));
    fail_msg("the page did not show %s %.300s (%s)", what,
             arguments != NULL && arguments[0] != NULL ? arguments[0] : "", why);
    return NULL;
}

void browser_wait(const char *expression, const char *what) {
    (void)await(text("return !!(%s)", expression), NULL, what);
}

/* Two equal pictures of the page's text and size, 400 ms apart, without a sign of loading. */
void browser_settle(void) {
    const char *before = NULL;
    for (double end = now() + BROWSER_SECONDS; now() < end; pause_ms(400)) {
        json_t *seen = browser_run(
            "const all = [...document.querySelectorAll('.loading, .starting, [aria-busy=true]')];"
            "return all.some(visible) ? null : document.body.innerText +"
            " document.querySelectorAll('*').length",
            NULL);
        const char *after = json_string_value(seen);
        if (before != NULL && after != NULL && strcmp(before, after) == 0) {
            return;
        }
        before = after;
    }
}

void browser_wait_text(const char *words) {
    (void)await("return flat(document.body.innerText).includes(flat(arguments[0]))",
                ARGUMENTS(words), "the text");
}

void browser_wait_no_text(const char *words) {
    (void)await("return !flat(document.body.innerText).includes(flat(arguments[0]))",
                ARGUMENTS(words), "the page without the text");
}

const char *browser_value(const char *label) {
    json_t *value = await("const e = field(arguments[0]); return e ? [e.value] : null",
                          ARGUMENTS(label), "the field");
    return text("%s", json_string_value(json_array_get(value, 0)));
}

const char *browser_focus(void) {
    return text("%s",
                json_string_value(browser_run("return nameOf(document.activeElement)", NULL)));
}

/* ---- mouse and keyboard ---- */

static const char *id_of(const json_t *element) {
    const char *id = json_string_value(json_object_get(element, ELEMENT));
    assert_non_null(id);
    return id;
}

/* Clicks what the script finds. A drawing may replace the element meanwhile: it is then looked for
 * again. */
static void click_found(const char *script, const char *const *arguments, const char *what) {
    const char *why = "";
    for (double end = now() + BROWSER_SECONDS; now() < end; pause_ms(TICK_MS)) {
        const json_t *element = await(script, arguments, what);
        if (command("POST", text("/element/%s/click", id_of(element)), json_object(), &why) !=
            NULL) {
            return;
        }
    }
    fail_msg("cannot click %s %s: %s", what, arguments[0], why);
}

void browser_click_nth(const char *name, int n) {
    click_found("return control(arguments[0], Number(arguments[1])) || null",
                ARGUMENTS(name, text("%d", n)), "the button or link");
}

void browser_click(const char *name) {
    browser_click_nth(name, 0);
}

void browser_click_at(const char *selector, double x, double y) {
    json_t *box = await("const e = document.querySelector(arguments[0]); if (!e) return null;"
                        "e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect();"
                        "return [b.left, b.top, b.width, b.height]",
                        ARGUMENTS(selector), "the element");
    double at[4];
    for (size_t i = 0; i < 4; i++) {
        at[i] = json_number_value(json_array_get(box, i));
    }
    json_t *moves = json_pack("[{s:s, s:i, s:i, s:i, s:s}, {s:s, s:i}, {s:s, s:i}]", "type",
                              "pointerMove", "duration", 0, "x", (int)(at[0] + x * at[2]), "y",
                              (int)(at[1] + y * at[3]), "origin", "viewport", "type", "pointerDown",
                              "button", 0, "type", "pointerUp", "button", 0);
    (void)command_or_fail("POST", "/actions",
                          json_pack("{s:[{s:s, s:s, s:{s:s}, s:o}]}", "actions", "type", "pointer",
                                    "id", "mouse", "parameters", "pointerType", "mouse", "actions",
                                    moves));
}

static void send_keys(const json_t *element, const char *keys) {
    (void)command_or_fail("POST", text("/element/%s/value", id_of(element)),
                          json_pack("{s:s}", "text", keys));
}

void browser_fill(const char *label, const char *value) {
    json_t *element = await("const e = field(arguments[0]); if (!e || e.disabled) return null;"
                            "e.scrollIntoView({block: 'center'}); e.focus(); e.select(); return e",
                            ARGUMENTS(label), "the field");
    send_keys(element, value[0] != '\0' ? value : "\xEE\x80\x83" /* backspace */);
}

void browser_choose(const char *label, const char *option) {
    (void)await("const e = field(arguments[0]); if (!e) return null;"
                "const o = [...e.options].find((o) => flat(o.textContent) === arguments[1]);"
                "if (!o) return null; e.focus(); e.value = o.value;"
                "e.dispatchEvent(new Event('input', {bubbles: true}));"
                "e.dispatchEvent(new Event('change', {bubbles: true})); return true",
                ARGUMENTS(label, option), text("the option \"%s\" of the list", option));
}

void browser_press(const char *keys) {
    send_keys(command_or_fail("GET", "/element/active", NULL), keys);
}

void browser_choose_file(const char *label, const char *path) {
    char full[4096];
    assert_non_null(realpath(path, full));
    send_keys(await("return field(arguments[0]) || null", ARGUMENTS(label), "the file field"),
              full);
}

/* The page may still move while it loads: it must be at the same point twice. */
void browser_drop(const char *label, const char *name, const char *content) {
    const char *path = text("%s/%s", browser.dir, name);
    FILE *file = fopen(path, "wb");
    assert_true(file != NULL && fputs(content, file) >= 0 && fclose(file) == 0);
    json_t *at = await("const e = field(arguments[0]); if (!e) return null;"
                       "const b = e.parentElement; b.scrollIntoView({block: 'center'});"
                       "const r = b.getBoundingClientRect();"
                       "const at = [r.left + r.width / 2, r.top + r.height / 2];"
                       "const hit = document.elementFromPoint(...at), before = window.droppedAt;"
                       "window.droppedAt = at.join();"
                       "return b.contains(hit) && at.join() === before ? at : null",
                       ARGUMENTS(label), "the place for files");
    static const char *const events[] = {"dragEnter", "dragOver", "drop"};
    for (size_t i = 0; i < 3; i++) {
        devtools("Input.dispatchDragEvent",
                 json_pack("{s:s, s:f, s:f, s:{s:[], s:[s], s:i}}", "type", events[i], "x",
                           json_number_value(json_array_get(at, 0)), "y",
                           json_number_value(json_array_get(at, 1)), "data", "items", "files", path,
                           "dragOperationsMask", 1));
    }
}

/* ---- checks ---- */

void browser_allow(const char *words) {
    assert_true(browser.n_allowed < MOST_ALLOWED);
    browser.allowed[browser.n_allowed++] = strdup(words);
}

void browser_allow_free_names(void) {
    browser.free_names = true;
}

static bool is_allowed(const char *line) {
    for (size_t i = 0; i < browser.n_allowed; i++) {
        if (strstr(line, browser.allowed[i]) != NULL) {
            return true;
        }
    }
    return false;
}

/* Whether the page may have asked for a dataset that does not exist, and did. */
static bool is_free_name(const char *line) {
    return browser.free_names && strstr(line, "/v1/datasets/") != NULL &&
           strstr(line, "status of 404") != NULL;
}

/* Appends the errors of the console to a text. */
static const char *console_faults(const char *faults) {
    json_t *log = log_of("browser"), *line;
    size_t i;
    json_array_foreach(log, i, line) {
        const char *message = json_string_value(json_object_get(line, "message"));
        const char *level = json_string_value(json_object_get(line, "level"));
        const bool wrong =
            strcmp(level, "SEVERE") == 0 || strstr(message, "Content Security Policy") != NULL;
        if (wrong && !is_allowed(message) && !is_free_name(message)) {
            faults = text("%sthe console has: %s %.500s\n", faults, level, message);
        }
    }
    return faults;
}

/* Whether an address is the base, or is below it. */
static bool is_base(const char *url) {
    const size_t n = strlen(base());
    return strncmp(url, base(), n) == 0 && (url[n] == '\0' || strchr("/?#", url[n]) != NULL);
}

/* Appends the requests to the network that do not go to the base. */
static const char *request_faults(const char *faults) {
    json_t *log = log_of("performance"), *line;
    size_t i;
    json_array_foreach(log, i, line) {
        json_t *entry = json_loads(json_string_value(json_object_get(line, "message")), 0, NULL);
        const json_t *message = json_object_get(entry, "message");
        const char *method = json_string_value(json_object_get(message, "method"));
        const bool socket = method != NULL && strcmp(method, "Network.webSocketCreated") == 0;
        const bool request = method != NULL && strcmp(method, "Network.requestWillBeSent") == 0;
        const json_t *sent = json_find(message, socket ? "/params/url" : "/params/request/url");
        const char *url = (socket || request) && sent != NULL ? json_string_value(sent) : "";
        const bool network = strncmp(url, "http", 4) == 0 || strncmp(url, "ws", 2) == 0;
        if (network && !is_base(url)) {
            faults = text("%sa request went to another host: %.500s\n", faults, url);
        }
        json_decref(entry);
    }
    return faults;
}

const char *browser_faults(void) {
    return request_faults(console_faults(""));
}

void browser_check(void) {
    const char *faults = browser_faults();
    forget_allowed();
    if (faults[0] != '\0') {
        browser_print(faults);
        fail_msg("the page is not without faults");
    }
}
