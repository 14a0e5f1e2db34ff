#include "unit/http/toy.h"

#include "base/ids.h"
#include "base/log/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct toy *toy_of(const struct http_call *call) {
    return http_app(call);
}
static int64_t toy_limit(void *app) {
    return ((struct toy *)app)->limit;
}
static const struct http_limit TOY_LIMIT = {.bytes = toy_limit, .option = "--max-toy"};
static const struct http_limit TOY_LIMIT_ALONE = {.bytes = toy_limit};
static void toy_ok(struct http_call *call) {
    http_reply_static(call, 200, "text/plain", "ok\n", 3);
}
static void toy_echo(struct http_call *call) {
    size_t n = 0;
    const char *bytes = http_body_bytes(call, &n);
    struct buf out = {0};
    buf_append(&out, bytes, n);
    http_reply(call, 200, "text/plain", &out);
}
/* What the server understood of the request. */
static void toy_show(struct http_call *call) {
    struct buf out = {0};
    buf_printf(&out, "name=%s\nlink=%s\nclient=%s\ntype=%s\nn=%zu\n", http_path_param(call, "name"),
               http_link(call, "/v1/things/%d", 7), http_client_address(call),
               http_content_type(call), http_query_count(call));
    for (size_t i = 0; i < http_query_count(call) && i < 20; i++) {
        const char *name, *value;
        http_query_at(call, i, &name, &value);
        buf_printf(&out, "%s=%s\n", name, value);
    }
    static const char *const offered[] = {"application/json", "text/csv", NULL};
    buf_printf(&out, "accepts=%d\n", http_accepts(call, offered));
    http_reply(call, 200, "text/plain", &out);
}
static void toy_etag(struct http_call *call) {
    http_etag(call, "\"v1\"");
    if (http_query(call, "size") == NULL) {
        http_reply_static(call, 200, "text/plain", "version 1\n", 10);
        return;
    }
    struct buf out = {0};
    for (int i = 0; i < 5000; i++) {
        buf_puts(&out, "version 1\n");
    }
    http_reply(call, 200, "text/plain", &out);
}
static void toy_silent(struct http_call *call) {
    (void)call;
}
static void toy_created(struct http_call *call) {
    http_reply_header(call, "Location", http_link(call, "/v1/things/%s", "7"));
    http_reply_empty(call, 201);
}
static void toy_defer(struct http_call *call) {
    http_defer(call, toy_ok);
}
/* n bytes of answer: a pattern of which every position can be checked. */
char toy_byte(size_t i) {
    return (char)('a' + (i * 7 + i / 1000) % 26);
}
static void toy_big(struct http_call *call) {
    const char *text = http_query(call, "n");
    size_t n = text != NULL ? (size_t)strtoul(text, NULL, 10) : 0;
    struct buf out = {0};
    for (size_t i = 0; i < n; i++) {
        buf_putc(&out, toy_byte(i));
    }
    http_etag(call, "\"big\"");
    http_reply(call, 200, "text/plain", &out);
}
static bool toy_check(struct http_call *call, bool last) {
    const char *topic = http_query(call, "topic");
    atomic_fetch_add(&toy_of(call)->checks[topic != NULL && strtol(topic, NULL, 10) % 2 != 0], 1);
    int value = atomic_load(&toy_of(call)->value);
    if (value == 0 && !last) {
        return false;
    }
    struct buf out = {0};
    buf_printf(&out, "value=%d last=%d\n", value, last);
    http_reply(call, 200, "text/plain", &out);
    return true;
}
static void toy_wait(struct http_call *call) {
    const char *seconds = http_query(call, "seconds"), *topic = http_query(call, "topic");
    atomic_fetch_add(&toy_of(call)->waits, 1);
    http_set_topic(call, topic != NULL ? strtol(topic, NULL, 10) : 0);
    http_watch(call, seconds != NULL ? strtod(seconds, NULL) : 0, toy_check);
}

/* Works until nobody waits for it; /stuck: until it is released. */
static void toy_work(struct http_call *call, bool heeds) {
    struct toy *toy = toy_of(call);
    atomic_fetch_add(&toy->busy, 1);
    while (!atomic_load(&toy->release) && !(heeds && http_gone(call))) {
        usleep(1000);
    }
    atomic_fetch_sub(&toy->busy, 1);
}
static void toy_busy(struct http_call *call) {
    toy_work(call, true);
    toy_ok(call);
}
static void toy_given_up(struct http_call *call) {
    struct problem p = {0};
    toy_work(call, true);
    problem_set(&p, PROBLEM_UNAVAILABLE, "given up: the client has closed its side");
    http_reply_problem(call, &p);
    problem_done(&p);
}
static void toy_stuck(struct http_call *call) {
    toy_work(call, false);
    toy_ok(call);
}
static void toy_stuck_lasting(struct http_call *call) {
    if (http_takes(call, HTTP_LASTING)) {
        toy_stuck(call);
    } else {
        http_defer(call, toy_stuck_lasting);
    }
}
static void toy_stuck_long(struct http_call *call) {
    if (http_takes(call, HTTP_LONG)) {
        toy_stuck(call);
    } else {
        http_defer(call, toy_stuck_long);
    }
}
static void toy_change(struct http_call *call) {
    atomic_fetch_add(&toy_of(call)->changed, 1);
    toy_big(call);
}

/* ---- streams: the first `n` counted lines, `block` of them at a time, or a line whenever value
 * changes */
struct toy_stream {
    struct toy *toy;
    long n, at;
    int seen;
};
static void toy_stream_done(void *state) {
    struct toy_stream *s = state;
    atomic_fetch_sub(&s->toy->streams, 1);
    atomic_fetch_add(&s->toy->done, 1);
    free(s);
}
static enum http_stream_state toy_lines(struct http_call *call, struct buf *out, bool idle,
                                        bool draining) {
    struct toy_stream *s = http_state(call);
    (void)idle;
    (void)draining;
    const char *block = http_query(call, "block");
    for (long i = 0, most = block != NULL ? strtol(block, NULL, 10) : 1000;
         i < most && s->at < s->n; i++) {
        buf_printf(out, "%ld\n", s->at++);
    }
    return s->at < s->n                        ? HTTP_STREAM_MORE
           : http_query(call, "abort") != NULL ? HTTP_STREAM_ABORT
                                               : HTTP_STREAM_END;
}
static enum http_stream_state toy_events(struct http_call *call, struct buf *out, bool idle,
                                         bool draining) {
    struct toy_stream *s = http_state(call);
    int value = atomic_load(&s->toy->value);
    if (draining) {
        buf_puts(out, "bye\n");
        return HTTP_STREAM_END;
    }
    if (value != s->seen) {
        s->seen = value;
        buf_printf(out, "value %d agent %s\n", value, http_header(call, "User-Agent"));
    } else if (idle) {
        buf_puts(out, ":\n");
    }
    return value < 0 ? HTTP_STREAM_END : HTTP_STREAM_WAIT;
}
static void toy_stream_begin(struct http_call *call, double wait,
                             enum http_stream_state (*next)(struct http_call *, struct buf *, bool,
                                                            bool)) {
    struct toy_stream *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->toy = toy_of(call);
    const char *n = http_query(call, "n");
    s->n = n != NULL ? strtol(n, NULL, 10) : 0;
    atomic_fetch_add(&s->toy->streams, 1);
    http_set_state(call, s);
    http_on_done(call, toy_stream_done);
    http_stream(call, 200, "text/plain", wait, next);
}
static void toy_stream_lines(struct http_call *call) {
    toy_stream_begin(call, 60, toy_lines);
}
static void toy_stream_events(struct http_call *call) {
    const char *wait = http_query(call, "wait");
    toy_stream_begin(call, wait != NULL ? strtod(wait, NULL) : 60, toy_events);
}

/* ---- a sink that counts. ?pause: pauses at every slice; ?slow=N: takes N ms for each; ?refuse=N:
 * refuses after N bytes; ?begin=refuse; ?judge=refuse, ?judge=pass: on the pool, before the body */
struct toy_sink {
    struct toy *toy;
    struct http_call *call;
    size_t n, seen; /* bytes */
    unsigned sum, seen_sum;
    atomic_bool busy; /* a slice is being taken */
    bool refused;
};
static unsigned toy_sum(unsigned sum, const char *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        sum = sum * 31 + (unsigned char)bytes[i];
    }
    return sum;
}
static void toy_sink_done(void *state) {
    struct toy_sink *s = state;
    struct toy *toy = s->toy;
    pthread_mutex_lock(&toy->lock); /* a call that is over cannot be resumed any more */
    for (size_t i = toy->n_paused; i-- > 0;) {
        if (toy->paused[i] == s->call) {
            toy->paused[i] = toy->paused[--toy->n_paused];
        }
    }
    pthread_mutex_unlock(&toy->lock);
    free(s);
    atomic_fetch_add(&toy->done, 1);
}
static void toy_judge(struct http_call *call) {
    if (strcmp(http_query(call, "judge"), "refuse") == 0) {
        http_fail(call, PROBLEM_PRECONDITION_FAILED, "judged and refused");
    }
}
static bool toy_begin(struct http_call *call) {
    if (http_query(call, "begin") != NULL) {
        http_fail(call, PROBLEM_UNSUPPORTED_MEDIA_TYPE, "begin refuses");
        return false;
    }
    struct toy_sink *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->toy = toy_of(call);
    s->call = call;
    http_set_state(call, s);
    http_on_done(call, toy_sink_done);
    if (http_query(call, "judge") != NULL) {
        http_defer(call, toy_judge);
    }
    return true;
}
static void toy_seen(struct http_call *call, const char *bytes, size_t n) {
    struct toy_sink *s = http_state(call);
    s->seen += n;
    s->seen_sum = toy_sum(s->seen_sum, bytes, n);
}
static enum http_sink_state toy_take(struct http_call *call, const char *bytes, size_t n) {
    struct toy_sink *s = http_state(call);
    const char *slow = http_query(call, "slow");
    s->n += n;
    s->sum = toy_sum(s->sum, bytes, n);
    if (slow != NULL) {
        usleep((useconds_t)(1000 * strtoul(slow, NULL, 10)));
    }
    const char *refuse = http_query(call, "refuse");
    if (refuse != NULL && s->n > strtoul(refuse, NULL, 10)) {
        struct problem p = {0};
        problem_add_line(&p, PROBLEM_INVALID_DATASET, 3, 1, "ragged row");
        http_reply_problem(call, &p);
        return HTTP_SINK_REFUSED;
    }
    if (http_query(call, "early") != NULL) { /* resumed before it is paused */
        http_resume_body(call);
        return HTTP_SINK_PAUSE;
    }
    if (http_query(call, "pause") == NULL) {
        return HTTP_SINK_MORE;
    }
    pthread_mutex_lock(&s->toy->lock);
    assert_true(s->toy->n_paused < 256);
    s->toy->paused[s->toy->n_paused++] = call;
    pthread_cond_signal(&s->toy->wake);
    pthread_mutex_unlock(&s->toy->lock);
    return HTTP_SINK_PAUSE;
}
static enum http_sink_state toy_data(struct http_call *call, const char *bytes, size_t n) {
    struct toy_sink *s = http_state(call);
    atomic_fetch_add(&s->toy->sunk, (long)n);
    assert_true(
        n > 0 && !s->refused &&
        !atomic_exchange(&s->busy,
                         true)); /* never two at once, and none after one that was refused */
    const enum http_sink_state state = toy_take(call, bytes, n);
    s->refused = state == HTTP_SINK_REFUSED;
    atomic_store(&s->busy, false);
    return state;
}
static void toy_end(struct http_call *call) {
    struct toy_sink *s = http_state(call);
    assert_true(!atomic_load(&s->busy) && s->seen == s->n && s->seen_sum == s->sum);
    atomic_fetch_add(&s->toy->ends, 1);
    struct buf out = {0};
    buf_printf(&out, "n=%zu sum=%u\n", s->n, s->sum);
    http_reply(call, 201, "text/plain", &out);
}
static void toy_abort(struct http_call *call) {
    const struct toy_sink *s = http_state(call);
    assert_false(s->refused);
    atomic_fetch_add(&toy_of(call)->aborts, 1);
}
static void *toy_helper(void *arg) {
    struct toy *toy = arg;
    pthread_mutex_lock(&toy->lock);
    while (!toy->stop) {
        if (toy->n_paused == 0 || toy->hold) {
            pthread_cond_wait(&toy->wake, &toy->lock);
            continue;
        }
        struct http_call *call = toy->paused[--toy->n_paused];
        atomic_fetch_add(&toy->resumes, 1);
        http_resume_body(call);
    }
    pthread_mutex_unlock(&toy->lock);
    return NULL;
}

static const struct http_sink TOY_SINK = {.begin = toy_begin,
                                          .data = toy_data,
                                          .end = toy_end,
                                          .abort = toy_abort,
                                          .seen = toy_seen,
                                          .holds = TOY_READER};
const struct http_route TOY_ROUTES[] = {
    {.method = "GET", .path = "/ok", .operation = "ok", .handle = toy_ok, .quiet = true},
    {.method = "GET",
     .path = "/health",
     .operation = "health",
     .handle = toy_ok,
     .reach = HTTP_REACH_RESERVED},
    {.method = "POST", .path = "/ok", .operation = "okPost", .handle = toy_ok},
    {.method = "GET",
     .path = "/slow",
     .operation = "slow",
     .handle = toy_ok,
     .where = HTTP_ON_POOL},
    {.method = "GET", .path = "/defer", .operation = "defer", .handle = toy_defer},
    {.method = "GET", .path = "/silent", .operation = "silent", .handle = toy_silent},
    {.method = "GET",
     .path = "/silent-pool",
     .operation = "silentPool",
     .handle = toy_silent,
     .where = HTTP_ON_POOL},
    {.method = "GET",
     .path = "/etag",
     .operation = "etag",
     .handle = toy_etag,
     .conditions = HTTP_IF_NONE_MATCH},
    {.method = "GET",
     .path = "/big",
     .operation = "big",
     .handle = toy_big,
     .conditions = HTTP_IF_NONE_MATCH,
     .where = HTTP_ON_POOL},
    {.method = "GET",
     .path = "/given-up",
     .operation = "givenUp",
     .handle = toy_given_up,
     .where = HTTP_ON_POOL},
    {.method = "GET",
     .path = "/busy",
     .operation = "busy",
     .handle = toy_busy,
     .where = HTTP_ON_POOL},
    {.method = "GET",
     .path = "/stuck",
     .operation = "stuck",
     .handle = toy_stuck,
     .where = HTTP_ON_POOL},
    {.method = "GET",
     .path = "/stuck-long",
     .operation = "stuckLong",
     .handle = toy_stuck_lasting,
     .where = HTTP_ON_POOL},
    {.method = "GET",
     .path = "/stuck-very-long",
     .operation = "stuckVeryLong",
     .handle = toy_stuck_long,
     .where = HTTP_ON_POOL},
    {.method = "GET",
     .path = "/operations",
     .operation = "operations",
     .handle = toy_ok,
     .where = HTTP_ON_OPERATIONS},
    {.method = "POST",
     .path = "/change",
     .operation = "change",
     .handle = toy_change,
     .where = HTTP_ON_POOL,
     .changes = true},
    {.method = "GET",
     .path = "/wait",
     .operation = "wait",
     .handle = toy_wait,
     .where = HTTP_ON_POOL},
    {.method = "GET",
     .path = "/lines",
     .operation = "lines",
     .handle = toy_stream_lines,
     .where = HTTP_ON_POOL},
    {.method = "GET",
     .path = "/events",
     .operation = "events",
     .handle = toy_stream_events,
     .where = HTTP_ON_POOL},
    {.method = "GET", .path = "/v1/things", .operation = "things", .handle = toy_show},
    {.method = "POST",
     .path = "/v1/things",
     .operation = "newThing",
     .handle = toy_created,
     .where = HTTP_ON_POOL},
    {.method = "GET", .path = "/v1/things/{name}", .operation = "thing", .handle = toy_show},
    {.method = "DELETE", .path = "/v1/things/{name}", .operation = "dropThing", .handle = toy_ok},
    {.method = "POST", .path = "/v1/things/{name}:verb", .operation = "verb", .handle = toy_show},
    {.method = "POST",
     .path = "/echo",
     .operation = "echo",
     .body = HTTP_BODY_MEMORY,
     .handle = toy_echo,
     .limit = &TOY_LIMIT},
    {.method = "POST",
     .path = "/echo-pool",
     .operation = "echoPool",
     .body = HTTP_BODY_MEMORY,
     .where = HTTP_ON_POOL,
     .handle = toy_echo,
     .limit = &TOY_LIMIT_ALONE},
    {.method = "PUT",
     .path = "/sink/{name}",
     .operation = "sink",
     .body = HTTP_BODY_STREAM,
     .sink = &TOY_SINK,
     .limit = &TOY_LIMIT},
};
const size_t TOY_N_ROUTES = sizeof TOY_ROUTES / sizeof TOY_ROUTES[0];

void toy_start_exactly(struct toy *toy, struct http_settings settings) {
    memset(toy, 0, sizeof *toy);
    toy->limit = 100 << 20;
    static bool once;
    if (!once) {
        once = true;
        assert_true(ids_init());
        if (getenv("TOY_LOG") == NULL) {
            log_open(2, LOG_TEXT, LOG_ERROR);
        } else {
            log_open(2, LOG_TEXT, LOG_DEBUG);
        }
    }
    if (settings.listen == NULL) {
        settings.listen = "127.0.0.1:0";
    }
    pthread_mutex_init(&toy->lock, NULL);
    pthread_cond_init(&toy->wake, NULL);
    struct problem problem = {0};
    if (!http_start(&settings, TOY_ROUTES, TOY_N_ROUTES, toy, &toy->server, &problem)) {
        fail_msg("http_start: %s", problem.detail);
    }
    assert_int_equal(pthread_create(&toy->helper, NULL, toy_helper, toy), 0);
}

void toy_start(struct toy *toy, const struct http_settings *given) {
    struct http_settings settings = {0};
    if (given != NULL) {
        settings = *given;
    }
    if (settings.discard_limit == 0) {
        settings.discard_limit = 64 << 20;
    }
    if (settings.discard_time == 0) {
        settings.discard_time = 30;
    }
    if (settings.max_connections_per_address == 0) { /* all connections come from one address */
        settings.max_connections_per_address = 1 << 20;
    }
    toy_start_exactly(toy, settings);
}

void toy_stop(struct toy *toy) {
    atomic_store(&toy->release, true);
    assert_true(http_stop(toy->server));
    toy->server = NULL;
    pthread_mutex_lock(&toy->lock);
    toy->stop = true;
    pthread_cond_signal(&toy->wake);
    pthread_mutex_unlock(&toy->lock);
    pthread_join(toy->helper, NULL);
    pthread_cond_destroy(&toy->wake);
    pthread_mutex_destroy(&toy->lock);
}

void toy_expect(atomic_int *counter, int value) {
    for (int i = 0; i < 6000 && atomic_load(counter) != value; i++) {
        usleep(5000);
    }
    assert_int_equal(atomic_load(counter), value);
}
