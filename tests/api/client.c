/* Requests and answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client.h"
#include "lib/answer_schema.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TIMEOUT_SECONDS = 300 };

/* Bytes that grow. */
struct bytes {
    char *data;
    size_t size;
    size_t room; /* allocated */
};

static size_t collect(char *data, size_t one, size_t n, void *arg) {
    struct bytes *b = arg;
    (void)one;
    if (b->room < b->size + n + 1) {
        const size_t room = 2 * (b->size + n + 1);
        char *more = realloc(b->data, room);
        if (!more) {
            return 0;
        }
        b->data = more;
        b->room = room;
    }
    memcpy(b->data + b->size, data, n);
    b->size += n;
    b->data[b->size] = '\0';
    return n;
}

/* Header lines: those of an interim response (100) are forgotten when the next begins. */
static size_t collect_head(char *data, size_t one, size_t n, void *arg) {
    struct bytes *b = arg;
    if (n >= 5 && memcmp(data, "HTTP/", 5) == 0) {
        b->size = 0;
    }
    return collect(data, one, n, arg);
}

void answer_done(struct answer *a) {
    json_decref(a->json);
    free(a->body);
    free(a->head);
    *a = (struct answer){0};
}

const char *answer_header(const struct answer *a, const char *name) {
    static char found[8][2048];
    static size_t turn;
    const size_t n = strlen(name);
    for (const char *line = a->head; line && *line;
         line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if (strncasecmp(line, name, n) != 0 || line[n] != ':') {
            continue;
        }
        const char *value = line + n + 1;
        value += strspn(value, " \t");
        char *out = found[turn++ % 8];
        (void)snprintf(out, sizeof found[0], "%.*s", (int)strcspn(value, "\r\n"), value);
        return out;
    }
    return NULL;
}

/* ---- libcurl ---- */

static struct curl_slist *add_header(struct curl_slist *list, const char *line) {
    struct curl_slist *longer = curl_slist_append(list, line);
    assert_non_null(longer);
    return longer;
}

struct answer ask(const struct daemon *d, const char *method, const char *path,
                  const char *const *headers, const void *body, size_t size) {
    static CURL *curl; /* one handle for the process: connections are kept alive between requests */
    struct bytes got = {0}, head = {0};
    struct curl_slist *list = NULL;
    char url[8192];
    if (!curl) {
        curl = curl_easy_init();
    }
    assert_non_null(curl);
    curl_easy_reset(curl);
    (void)snprintf(url, sizeof url, "%s%s", d->url, path);
    for (size_t i = 0; headers && headers[i]; i++) {
        list = add_header(list, headers[i]);
    }
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)TIMEOUT_SECONDS);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, collect);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &got);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, collect_head);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, &head);
    if (body) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
    }
    if (strcmp(method, "HEAD") == 0) {
        curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    } else {
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
    }
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list);
    CURLcode code = curl_easy_perform(curl);
    struct answer a = {.body = got.data ? got.data : strdup(""),
                       .size = got.size,
                       .head = head.data};
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &a.status);
    curl_slist_free_all(list);
    if (code != CURLE_OK) {
        fail_msg("%s %.200s: %s", method, path, curl_easy_strerror(code));
    }
    const char *type = answer_header(&a, "Content-Type");
    if (type && strstr(type, "json") && !strstr(type, "ndjson")) {
        a.json = json_loadb(a.body, a.size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
    }
    answer_check(&(struct answer_seen){
        .method = method, .target = path, .status = a.status, .type = type, .json = a.json});
    return a;
}

struct answer get(const struct daemon *d, const char *path) {
    return ask(d, "GET", path, NULL, NULL, 0);
}

struct answer get_with(const struct daemon *d, const char *path, const char *header) {
    return ask(d, "GET", path, (const char *const[]){header, NULL}, NULL, 0);
}

struct answer send_text(const struct daemon *d, const char *method, const char *path,
                        const char *body) {
    return ask(d, method, path, NULL, body, strlen(body));
}

struct answer send_typed(const struct daemon *d, const char *method, const char *path,
                         const char *type, const char *body) {
    char header[256];
    (void)snprintf(header, sizeof header, "Content-Type: %s", type);
    return ask(d, method, path, (const char *const[]){header, NULL}, body, strlen(body));
}

struct answer put_text(const struct daemon *d, const char *path, const char *body) {
    return send_text(d, "PUT", path, body);
}

struct answer put_file(const struct daemon *d, const char *path, const char *file) {
    char name[512];
    struct bytes b = {0};
    char chunk[65536];
    size_t n;
    (void)snprintf(name, sizeof name, "%s%s", strchr(file, '/') ? "" : "tests/data/", file);
    FILE *f = fopen(name, "re");
    if (!f) {
        fail_msg("cannot open %s (run from the project's root)", name);
    }
    while (f && (n = fread(chunk, 1, sizeof chunk, f)) > 0) {
        collect(chunk, 1, n, &b);
    }
    fclose(f);
    struct answer a = ask(d, "PUT", path, NULL, b.data, b.size);
    free(b.data);
    return a;
}

/* ---- looking at JSON ---- */

json_t *at(const json_t *json, const char *path) {
    json_t *value = (json_t *)(uintptr_t)json;
    while (value && *path) {
        char key[128];
        size_t n = strcspn(path, ".");
        assert_true(n < sizeof key);
        memcpy(key, path, n);
        key[n] = '\0';
        if (json_is_array(value)) {
            long i = strtol(key, NULL, 10);
            value = json_array_get(value, i < 0 ? json_array_size(value) - (size_t)-i : (size_t)i);
        } else {
            value = json_object_get(value, key);
        }
        path += n + (path[n] == '.');
    }
    return value;
}

double number_at(const json_t *json, const char *path) {
    const json_t *value = at(json, path);
    if (!json_is_number(value)) {
        fail_msg("no number at %s", path);
    }
    return json_number_value(value);
}

const char *text_at(const json_t *json, const char *path) {
    const json_t *value = at(json, path);
    if (!json_is_string(value)) {
        fail_msg("no string at %s", path);
    }
    return json_string_value(value);
}

bool is_null_at(const json_t *json, const char *path) {
    return json_is_null(at(json, path));
}

/* ---- expectations ---- */

void expect_near(double value, double expected, double tolerance) {
    if (!(fabs(value - expected) <= tolerance)) {
        fail_msg("%.17g is not within %g of %.17g", value, tolerance, expected);
    }
}

static void show(const struct answer *a) {
    print_error("the answer was %ld:\n%s%.2000s\n", a->status, a->head ? a->head : "", a->body);
}

static void check_problem(const struct answer *a, long status, const char *name) {
    char type[128];
    const char *media = answer_header(a, "Content-Type");
    (void)snprintf(type, sizeof type, "/problems/%s", name);
    if (a->status != status || !a->json || !media ||
        strcmp(media, "application/problem+json") != 0 || !json_is_string(at(a->json, "type")) ||
        strcmp(text_at(a->json, "type"), type) != 0) {
        show(a);
        fail_msg("expected %ld %s", status, type);
    }
    assert_true(json_is_string(at(a->json, "title")));
    assert_true(json_is_string(at(a->json, "detail")));
    assert_int_equal((long)number_at(a->json, "status"), status);
    assert_string_equal(text_at(a->json, "request_id"), answer_header(a, "X-Request-Id"));
}

void expect_problem(struct answer a, long status, const char *name) {
    check_problem(&a, status, name);
    answer_done(&a);
}

void expect_fault(struct answer a, long status, const char *name, const char *pointer,
                  const char *words) {
    size_t i;
    json_t *error;
    bool found = false;
    check_problem(&a, status, name);
    json_array_foreach(at(a.json, "errors"), i, error) {
        const char *own = json_string_value(at(error, "pointer"));
        bool place =
            pointer ? own && strcmp(own, pointer) == 0 : json_is_integer(at(error, "line"));
        found = found || (place && strstr(text_at(error, "detail"), words));
    }
    if (!found) {
        show(&a);
        fail_msg("expected a fault at %s with \"%s\"", pointer ? pointer : "a line", words);
    }
    answer_done(&a);
}

void expect_status(struct answer a, long status) {
    if (a.status != status) {
        show(&a);
        fail_msg("expected %ld", status);
    }
    answer_done(&a);
}

void upload(const struct daemon *d, const char *name) {
    char path[128], file[128];
    (void)snprintf(path, sizeof path, "/v1/datasets/%s", name);
    (void)snprintf(file, sizeof file, "%s.csv", name);
    expect_status(put_file(d, path, file), 201);
}

json_t *train(const struct daemon *d, const char *body, const char *state) {
    char path[64];
    struct answer a = send_text(d, "POST", "/v1/jobs", body);
    if (a.status != 202) {
        show(&a);
    }
    assert_int_equal(a.status, 202);
    json_t *job = json_incref(a.json);
    answer_done(&a);
    for (int tries = 0; tries < 20; tries++) {
        (void)snprintf(path, sizeof path, "/v1/jobs/%.0f?wait=50", number_at(job, "id"));
        json_decref(job);
        a = get(d, path);
        assert_int_equal(a.status, 200);
        job = json_incref(a.json);
        const char *now = text_at(job, "state");
        if (strcmp(now, "queued") != 0 && strcmp(now, "running") != 0) {
            if (strcmp(now, state) != 0) {
                show(&a);
            }
            assert_string_equal(now, state);
            answer_done(&a);
            return job;
        }
        answer_done(&a);
    }
    fail_msg("the job does not end");
    return NULL;
}

/* ---- a bare connection ---- */

int bare_open(const struct daemon *d) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)d->port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

void bare_send(int fd, const void *bytes, size_t n) {
    const char *next = bytes;
    while (n > 0) {
        ssize_t sent = send(fd, next, n, MSG_NOSIGNAL);
        if (sent <= 0) {
            return;
        }
        next += sent;
        n -= (size_t)sent;
    }
}

void bare_text(int fd, const char *text) {
    bare_send(fd, text, strlen(text));
}

char *bare_read(int fd, long ms, bool *closed) {
    struct bytes b = {.data = strdup("")};
    char chunk[16384];
    *closed = false;
    assert_non_null(b.data);
    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (poll(&p, 1, (int)ms) <= 0) {
            return b.data;
        }
        ssize_t n = recv(fd, chunk, sizeof chunk, 0);
        if (n <= 0) {
            *closed = true;
            return b.data;
        }
        collect(chunk, 1, (size_t)n, &b);
    }
}

void bare_until(int fd, char *text, size_t size, const char *words) {
    size_t n = strlen(text);
    while (!strstr(text, words)) {
        assert_true(n + 1 < size);
        ssize_t got = recv(fd, text + n, size - 1 - n, 0);
        if (got <= 0) {
            fail_msg("the stream ended before \"%s\": %s", words, text);
        }
        n += (size_t)got;
        text[n] = '\0';
    }
}

int bare_status(const char *text) {
    if (strncmp(text, "HTTP/1.", 7) != 0 || strlen(text) < 12) {
        return 0;
    }
    return (int)strtol(text + 9, NULL, 10);
}

char *bare_exchange(const struct daemon *d, const char *request) {
    bool closed;
    int fd = bare_open(d);
    bare_text(fd, request);
    char *text = bare_read(fd, 60000, &closed);
    close(fd);
    if (!closed) {
        fail_msg("neither closed nor answered further within a minute; so far: %.500s", text);
    }
    return text;
}
