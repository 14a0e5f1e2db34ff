#include "ui/setting.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_FLAGS = 10 };

static struct {
    const char *proxy; /* NULL: directly */
    char address[64];  /* of the daemon: host and port */
    char dir[32];      /* contains the file of the tokens */
    char tokens[64];
    char secret[80]; /* of a token for all calls */
    const char *flags[MOST_FLAGS];
} setting;

/* Writes an address of the loopback interface whose port is free now. The port is below those that
 * the kernel gives to clients, so that none of them takes it while the daemon restarts. */
static void find_address(void) {
    for (unsigned i = 0; i < 100; i++) {
        const unsigned port = 20000 + ((unsigned)getpid() * 31 + i * 101) % 12000;
        const struct sockaddr_in a = {.sin_family = AF_INET,
                                      .sin_port = htons((uint16_t)port),
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        const bool is_free = bind(fd, (const struct sockaddr *)&a, sizeof a) == 0;
        close(fd);
        if (is_free) {
            (void)snprintf(setting.address, sizeof setting.address, "127.0.0.1:%u", port);
            return;
        }
    }
    fail_msg("there is no free port");
}

const char *setting_add_token_for(const char *name, const char *scope, const char *only) {
    const char *out;
    const int status = discernd_run(FLAGS("token", "add", name, "--scope", scope, "--only", only,
                                          "--tokens", setting.tokens),
                                    &out);
    const char *secret = strstr(out, "discern_");
    assert_int_equal(status, 0);
    assert_non_null(secret);
    return text("%.*s", (int)strcspn(secret, " \n"), secret);
}

const char *setting_add_token(const char *name, const char *scope) {
    return setting_add_token_for(name, scope, "*");
}

bool setting_is_short(void) {
    return getenv("PROXY_URL") != NULL && getenv("ALL_FLOWS") == NULL;
}

int setting_group_start(void **state) {
    const char *url = getenv("DISCERN_URL");
    setting.proxy = getenv("PROXY_URL");
    if (setting.proxy != NULL) {
        assert_non_null(url);
        (void)snprintf(setting.address, sizeof setting.address, "%s", url + strlen("http://"));
        unsetenv("DISCERN_URL"); /* discernd does not know this one */
    } else {
        find_address();
    }
    (void)snprintf(setting.dir, sizeof setting.dir, "/tmp/discern-tokens.XXXXXX");
    assert_non_null(mkdtemp(setting.dir));
    (void)snprintf(setting.tokens, sizeof setting.tokens, "%s/tokens", setting.dir);
    (void)snprintf(setting.secret, sizeof setting.secret, "%s", setting_add_token("all", "admin"));
    return browser_group_start(state);
}

int setting_group_end(void **state) {
    const int status = browser_group_end(state);
    unlink(setting.tokens);
    rmdir(setting.dir);
    return status;
}

static void start(bool locked) {
    size_t n = 0;
    const char **flags = setting.flags;
    flags[n++] = "--listen";
    flags[n++] = setting.address;
    if (setting.proxy != NULL) {
        flags[n++] = "--base-path";
        flags[n++] = strrchr(setting.proxy, '/');
        flags[n++] = "--trusted-proxy";
        flags[n++] = "127.0.0.1";
    }
    if (locked) {
        flags[n++] = "--tokens";
        flags[n++] = setting.tokens;
    }
    flags[n] = NULL;
    client_token = locked ? setting.secret : NULL;
    browser_set_base(setting.proxy);
    service_start(flags);
    browser_open_path("/docs");
    browser_run("sessionStorage.clear()", NULL);
}

void setting_start(void) {
    const bool locked = setting.proxy != NULL;
    start(locked);
    if (locked) {
        browser_open("#/data");
        setting_sign_in();
        browser_check();
    }
}

void setting_start_locked(void) {
    start(true);
}

void setting_sign_in(void) {
    if (client_token != NULL) {
        browser_allow("status of 401");
        browser_wait_text("a token is needed");
        browser_fill("Token", client_token);
        browser_press(KEY_ENTER);
        browser_wait("!document.querySelector('dialog[open]')", "the page without the dialog");
        browser_wait_no_text("a token is needed");
    }
}
