/* Sends generated requests, most of them mutated, on raw sockets. Each must be answered, or its
 * connection closed, within a time limit. Answers must be well-formed HTTP/1.1 and conform to the
 * OpenAPI document; no status above 499 but 501, 503, 505 and 507; errors are problem documents. At
 * the end the daemon must answer, and have as many descriptors as before.
 *
 *   FUZZ_REQUESTS   number of requests (1500)
 *   FUZZ_SEED       the first request (1): request i depends on FUZZ_SEED + i only
 *
 * The output names the number of a failed request: FUZZ_SEED=number FUZZ_REQUESTS=1 repeats it. */
#include "base/memory/buf.h"
#include "http/protocol/coding.h"
#include "lib/answer_schema.h"
#include "lib/api.h"
#include "mutated_request.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    N_THREADS = 6,
    QUIET_MS = 60,       /* without an answer: the request is incomplete, the client half-closes */
    LIMIT_SECONDS = 120, /* an answer or a close must have arrived */
    MAX_ANSWER = 16 << 20, /* bytes */
    TYPE_SIZE = 100
};

/* ---- an answer ---- */

struct answer {
    int status;
    char type[TYPE_SIZE]; /* "": none */
    const char *body;     /* [size] as sent; chunks are joined in `joined` */
    size_t size, end;     /* end: bytes of the whole answer */
    bool gzip, deflate, until_close, complete;
    bool last; /* Connection: close */
    struct buf joined;
};

static bool wrong(char *fault, const char *what) {
    (void)snprintf(fault, 200, "%s", what);
    return false;
}

/* Finds the next CR LF. Returns its offset; SIZE_MAX: there is none. */
static size_t line_end(const char *bytes, size_t at, size_t size) {
    for (; at + 1 < size; at++) {
        if (bytes[at] == '\r' && bytes[at + 1] == '\n') {
            return at;
        }
    }
    return SIZE_MAX;
}

/* Reads the chunks from `at` on. a->complete: the last chunk has arrived. */
static bool read_chunks(struct answer *a, const char *bytes, size_t at, size_t size, char *fault) {
    for (;;) {
        const size_t end = line_end(bytes, at, size);
        if (end == SIZE_MAX) {
            return true;
        }
        char *stop = NULL;
        const unsigned long long n = strtoull(bytes + at, &stop, 16);
        if (stop != bytes + end || end == at || !isxdigit((unsigned char)bytes[at])) {
            return wrong(fault, "a chunk line of the answer is malformed");
        }
        at = end + 2;
        if (size - at < n + 2) {
            return true;
        }
        buf_append(&a->joined, bytes + at, (size_t)n);
        at += (size_t)n;
        if (memcmp(bytes + at, "\r\n", 2) != 0) {
            return wrong(fault, "a chunk of the answer does not end with CR LF");
        }
        at += 2;
        if (n == 0) {
            a->complete = true;
            a->end = at;
            a->body = a->joined.size > 0 ? a->joined.data : "";
            a->size = a->joined.size;
            return true;
        }
    }
}

/* Reads one line of the header. *length: the value of Content-Length. */
static bool read_field(struct answer *a, const char *line, size_t n, int64_t *length, bool *chunked,
                       char *fault) {
    const char *colon = memchr(line, ':', n);
    if (colon == NULL || colon == line) {
        return wrong(fault, "a line of the answer's header has no name");
    }
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)line[i];
        if ((c < ' ' && c != '\t') || c == 0x7f || (line + i < colon && (c <= ' ' || c >= 0x7f))) {
            return wrong(fault, "a line of the answer's header has a control character");
        }
    }
    char value[TYPE_SIZE];
    const char *text = colon + 1 + (colon + 1 < line + n && colon[1] == ' ');
    (void)snprintf(value, sizeof value, "%.*s", (int)(line + n - text), text);
    const size_t name = (size_t)(colon - line);
    if (name == 14 && strncasecmp(line, "Content-Length", 14) == 0) {
        if (*length >= 0) {
            return wrong(fault, "the answer has two Content-Length");
        }
        *length = strtoll(value, NULL, 10);
    } else if (name == 17 && strncasecmp(line, "Transfer-Encoding", 17) == 0) {
        *chunked = true;
    } else if (name == 10 && strncasecmp(line, "Connection", 10) == 0) {
        a->last = strcasecmp(value, "close") == 0;
    } else if (name == 12 && strncasecmp(line, "Content-Type", 12) == 0) {
        memcpy(a->type, value, sizeof value);
    } else if (name == 16 && strncasecmp(line, "Content-Encoding", 16) == 0) {
        a->gzip = strcmp(value, "gzip") == 0;
        a->deflate = strcmp(value, "deflate") == 0;
    }
    return true;
}

/* Parses the answer that bytes[size] begins with. closed: no more bytes follow. a->complete: it has
 * arrived as a whole. Returns false with `fault` if it is malformed. */
static bool answer_read(struct answer *a, const char *bytes, size_t size, bool head, bool closed,
                        char *fault) {
    int64_t length = -1;
    bool chunked = false;
    size_t at = 0, end = line_end(bytes, 0, size);
    *a = (struct answer){.body = ""};
    if (end == SIZE_MAX) {
        return !closed || size == 0 || wrong(fault, "the answer ends within its first line");
    }
    if (end < 13 || strncmp(bytes, "HTTP/1.", 7) != 0 || bytes[8] != ' ' ||
        !isdigit((unsigned char)bytes[9]) || bytes[12] != ' ') {
        return wrong(fault, "the answer has no status line");
    }
    const int status = (int)strtol(bytes + 9, NULL, 10);
    for (at = end + 2; (end = line_end(bytes, at, size)) != at; at = end + 2) {
        if (end == SIZE_MAX) {
            return !closed || wrong(fault, "the answer ends within its header");
        }
        if (!read_field(a, bytes + at, end - at, &length, &chunked, fault)) {
            return false;
        }
    }
    at += 2;
    a->status = status;
    /* The library answers malformed requests before it knows their method, with a body. */
    const bool library = head && size > at && bytes[at] == '{';
    if (status < 200 || status == 204 || status == 304 || (head && !library)) {
        a->complete = true;
        a->end = at;
        return true;
    }
    if (chunked && length >= 0) {
        return wrong(fault, "the answer has Content-Length and Transfer-Encoding");
    }
    if (chunked) {
        return read_chunks(a, bytes, at, size, fault);
    }
    a->until_close = length < 0;
    a->complete = a->until_close ? closed : size - at >= (size_t)length;
    a->body = bytes + at;
    a->size = a->complete && !a->until_close ? (size_t)length : size - at;
    a->end = at + a->size;
    return true;
}

/* ---- what an answer must be ---- */

static bool decode(const struct answer *a, struct buf *out) {
    struct decoder *decoder = decoder_new(a->gzip ? CODING_GZIP : CODING_DEFLATE);
    char *room = malloc(DECODER_ROOM);
    enum decoder_state state = DECODER_MORE;
    for (size_t at = 0; at < a->size && state == DECODER_MORE;) {
        size_t taken = 0, n = 0;
        state = decoder_step(decoder, a->body + at, a->size - at, &taken, room, &n);
        buf_append(out, room, n);
        at += taken;
    }
    const bool well = state == DECODER_MORE && decoder_fault(decoder) == NULL;
    free(room);
    decoder_free(decoder);
    return well;
}

static bool check_document(const struct answer *a, const json_t *json, char *fault) {
    if (strcmp(a->type, "application/problem+json") != 0) {
        return wrong(fault, "an error is not a problem document");
    }
    if (json == NULL || !json_is_string(json_object_get(json, "type")) ||
        !json_is_string(json_object_get(json, "title")) ||
        json_integer_value(json_object_get(json, "status")) != a->status) {
        return wrong(fault, "a problem document lacks a member");
    }
    return true;
}

static bool check_answer(const struct mutated_request *r, const struct answer *a, bool first,
                         char *fault) {
    if (a->status >= 500 && a->status != 501 && a->status != 503 && a->status != 505 &&
        a->status != 507) {
        return wrong(fault, "an answer has a status that no request may cause");
    }
    if (a->status < 200 || (first && strcmp(r->method, "HEAD") == 0)) {
        return true;
    }
    struct buf plain = {0};
    if ((a->gzip || a->deflate) && !decode(a, &plain)) {
        buf_done(&plain);
        return wrong(fault, "the body of the answer is not in its content coding");
    }
    const char *body = a->gzip || a->deflate ? plain.data : a->body;
    const size_t size = a->gzip || a->deflate ? plain.size : a->size;
    json_t *json = strstr(a->type, "json") != NULL && strstr(a->type, "ndjson") == NULL
                       ? json_loadb(body, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL)
                       : NULL;
    bool well = true;
    if (strstr(a->type, "json") != NULL && strstr(a->type, "ndjson") == NULL && json == NULL) {
        well = wrong(fault, "the body of the answer is not JSON");
    } else if (a->status >= 400 && a->size > 0 && strcmp(a->type, "application/json") != 0) {
        well = check_document(a, json, fault);
    }
    if (well && first && r->plain) {
        char why[200];
        well = answer_conforms(&(struct answer_seen){r->method, r->target.data, a->status,
                                                     a->type[0] != '\0' ? a->type : NULL, json,
                                                     body, size},
                               why, sizeof why);
        if (!well) {
            (void)snprintf(fault, 200, "the answer contradicts openapi.json: %.150s", why);
        }
    }
    json_decref(json);
    buf_done(&plain);
    return well;
}

/* ---- a connection ---- */

struct talk {
    int fd;
    struct buf got;
    bool closed;
    size_t at;        /* of the next answer in `got` */
    unsigned n_final; /* answers that are complete, without 1xx */
    bool last;        /* one of them was the last */
    int statuses[8];
};

/* Waits until bytes arrive or the connection is closed. Returns false if neither happens. */
static bool receive(struct talk *t, int milliseconds) {
    char chunk[16384];
    struct pollfd p = {.fd = t->fd, .events = POLLIN};
    if (poll(&p, 1, milliseconds) <= 0) {
        return false;
    }
    const ssize_t n = recv(t->fd, chunk, sizeof chunk, MSG_DONTWAIT);
    if (n > 0) {
        buf_append(&t->got, chunk, (size_t)n);
    } else if (n == 0 || errno != EAGAIN) {
        t->closed = true;
    }
    return true;
}

/* Checks the answers that have arrived. */
static bool take_answers(struct talk *t, const struct mutated_request *r, char *fault) {
    for (;;) {
        struct answer a;
        const bool first = t->n_final == 0;
        if (t->last) {
            return t->got.size == t->at || wrong(fault, "bytes follow the last answer");
        }
        bool well = answer_read(&a, buf_cstr(&t->got) + t->at, t->got.size - t->at,
                                first && strcmp(r->method, "HEAD") == 0, t->closed, fault);
        const bool take = well && a.complete && (t->got.size > t->at);
        well = well && (!take || check_answer(r, &a, first, fault));
        if (take && well) {
            t->at += a.end;
            if (a.status >= 200) {
                t->statuses[t->n_final % 8] = a.status;
                t->n_final++;
                t->last = a.last;
            }
        }
        buf_done(&a.joined);
        if (!take || !well) {
            return well;
        }
    }
}

static bool send_pieces(struct talk *t, const struct mutated_request *r, char *fault) {
    for (size_t i = 0, from = 0; i <= r->n_cuts; i++) {
        const size_t to = i < r->n_cuts ? r->cuts[i] : r->bytes.size;
        while (from < to) {
            const ssize_t n =
                send(t->fd, r->bytes.data + from, to - from, MSG_NOSIGNAL | MSG_DONTWAIT);
            if (n < 0 && errno != EAGAIN) {
                return true; /* the daemon has closed the connection */
            }
            from += n > 0 ? (size_t)n : 0;
            struct pollfd p = {.fd = t->fd, .events = POLLOUT};
            if (n < 0 && poll(&p, 1, 1000) == 0 && !receive(t, 1)) {
                continue;
            }
        }
        if (i < r->n_cuts) {
            (void)receive(t, 1);
            if (!take_answers(t, r, fault)) {
                return false;
            }
        }
    }
    return true;
}

/* Sends the request and reads until the daemon closes the connection. A client whose request may be
 * incomplete closes its own side after a while. */
static bool talk(struct talk *t, const struct mutated_request *r, char *fault) {
    bool half = false;
    if (!send_pieces(t, r, fault)) {
        return false;
    }
    for (double end = now() + LIMIT_SECONDS; !r->early_close && now() < end;) {
        const bool some = receive(t, half || r->plain ? 1000 : QUIET_MS);
        if (!take_answers(t, r, fault)) {
            return false;
        }
        if (t->closed || t->got.size > MAX_ANSWER || (r->is_stream && t->got.size > 0)) {
            break;
        }
        if (!some && !half && !r->plain) {
            half = true;
            (void)shutdown(t->fd, SHUT_WR);
        }
        if (now() >= end - 1) {
            return wrong(fault, "no answer and no close in time");
        }
    }
    if (r->plain && !r->early_close && !r->is_stream && t->n_final != r->n_requests &&
        !(t->last && t->n_final > 0)) {
        (void)snprintf(fault, 200, "%u answers, expected %u", t->n_final, r->n_requests);
        return false;
    }
    return true;
}

/* ---- the run ---- */

static _Atomic uint64_t next_number;
static uint64_t last_number;
static _Atomic int n_failed;
static _Atomic uint64_t n_by_status[600], n_closed, n_plain;

static void report(uint64_t number, const struct mutated_request *r, const struct talk *t,
                   const char *fault) {
    struct buf out = {0};
    buf_printf(&out, "# request %llu: %s\n# sent:\n", (unsigned long long)number, fault);
    const struct buf *parts[] = {&r->bytes, &t->got};
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < parts[k]->size && i < 3000; i++) {
            const unsigned char c = (unsigned char)parts[k]->data[i];
            buf_printf(&out, c == '\n' ? "\\n\n" : c < ' ' || c >= 0x7f ? "\\x%02x" : "%c", c);
        }
        buf_puts(&out, k == 0 ? "\n# received:\n" : "\n");
    }
    (void)fputs(buf_cstr(&out), stderr);
    buf_done(&out);
}

static void run_one(uint64_t number) {
    struct mutated_request r;
    struct talk t = {.fd = raw_open()};
    char fault[200] = "";
    const int one = 1;
    mutated_request_make(number, &r);
    bool well = t.fd >= 0;
    if (well) {
        (void)setsockopt(t.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        well = talk(&t, &r, fault);
    } else {
        (void)wrong(fault, "no connection");
    }
    if (!well) {
        atomic_fetch_add(&n_failed, 1);
        report(number, &r, &t, fault);
    }
    for (unsigned i = 0; i < t.n_final && i < 8; i++) {
        atomic_fetch_add(&n_by_status[t.statuses[i] % 600], 1);
    }
    atomic_fetch_add(&n_closed, t.n_final == 0);
    atomic_fetch_add(&n_plain, r.plain);
    if (t.fd >= 0) {
        close(t.fd);
    }
    buf_done(&t.got);
    mutated_request_done(&r);
}

static void *run_some(void *arg) {
    (void)arg;
    uint64_t number;
    while ((number = atomic_fetch_add(&next_number, 1)) <= last_number &&
           atomic_load(&n_failed) < 5) {
        run_one(number);
    }
    return NULL;
}

static void run_all(uint64_t first, uint64_t n) {
    pthread_t threads[N_THREADS];
    atomic_store(&next_number, first);
    last_number = first + n - 1;
    for (size_t i = 0; i < N_THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, run_some, NULL), 0);
    }
    for (size_t i = 0; i < N_THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
}

/* ---- the daemon ---- */

static size_t count_descriptors(void) {
    DIR *dir = opendir(text("/proc/%d/fd", (int)the_daemon.pid));
    size_t n = 0;
    assert_non_null(dir);
    while (readdir(dir) != NULL) {
        n++;
    }
    closedir(dir);
    return n;
}

static double resident_mb(void) {
    const char *status = read_whole(text("/proc/%d/status", (int)the_daemon.pid), NULL),
               *line = strstr(status, "VmRSS:");
    return line != NULL ? strtod(line + 6, NULL) / 1024 : 0;
}

/* Trains the model m, so that most predictions are answered. */
static void prepare(void) {
    upload_file("iris", "iris.csv");
    const struct response *r = call_post(
        "/v1/jobs",
        "{'model':'m','dataset':'iris','target':'class','algorithm':'logistic','seed':1}");
    status_check(r, 202);
    r = call_get("/v1/jobs/%d?wait=50", (int)whole_at(r, "/id"));
    assert_string_equal(string_at(r, "/state"), "succeeded");
}

static uint64_t number_of(const char *variable, uint64_t fallback) {
    const char *value = getenv(variable);
    return value != NULL ? strtoull(value, NULL, 10) : fallback;
}

static void test_requests(void **state) {
    (void)state;
    const uint64_t seed = number_of("FUZZ_SEED", 1), n = number_of("FUZZ_REQUESTS", 1500),
                   half = n / 2;
    service_start(FLAGS("--workers", "1", "--trusted-proxy", "127.0.0.1", "--keep-jobs", "50",
                        "--keep-versions", "5", "--log-level", "warn"));
    prepare();
    const size_t descriptors = count_descriptors();
    run_all(seed, n - half);
    const double middle = resident_mb();
    run_all(seed + n - half, half);
    const double last = resident_mb();
    for (size_t i = 100; i < 600; i++) {
        if (atomic_load(&n_by_status[i]) > 0) {
            print_message("# status %zu: %llu\n", i, (unsigned long long)n_by_status[i]);
        }
    }
    print_message("# %llu requests, %llu plain, %llu closed without an answer; %.0f MB, %.0f MB\n",
                  (unsigned long long)n, (unsigned long long)n_plain, (unsigned long long)n_closed,
                  middle, last);
    assert_int_equal(atomic_load(&n_failed), 0);
    status_check(call_get("/healthz"), 200);
    size_t left = count_descriptors();
    for (double end = now() + 30; left > descriptors + 8 && now() < end; pause_ms(100)) {
        left = count_descriptors();
    }
    if (left > descriptors + 8) {
        fail_msg("the daemon has %zu descriptors, %zu at the start", left, descriptors);
    }
    if (!daemon_is_sanitized() && last > middle * 1.2 + 64) {
        fail_msg("the daemon has %.0f MB, %.0f MB after half of the requests", last, middle);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_requests)};
    return RUN_WITHOUT_DAEMON(tests);
}
