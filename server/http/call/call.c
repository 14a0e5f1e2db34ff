/* Calls: their states, their references, and their jobs on the pool. */
#include "http/call/call.h"
#include "base/process/clock.h"
#include "http/body/body.h"
#include "http/call/reply.h"
#include "http/call/stream.h"
#include "http/server.h"
#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPARE_MAX 64 /* unused calls that an I/O thread keeps */

/* ---- states ---- */

#define FROM(state) (1u << (state))

/* For each state: the states that it may follow, and the phase that the connection enters with it.
 * PHASE_NONE: the phase does not change. */
static const struct {
    unsigned from;
    enum phase phase;
} STATES[] = {
    [CALL_HEADER] = {0, PHASE_NONE},
    [CALL_CHECK] = {FROM(CALL_HEADER), PHASE_WORK},
    [CALL_CHECKED] = {FROM(CALL_CHECK), PHASE_NONE},
    [CALL_BODY] = {FROM(CALL_HEADER) | FROM(CALL_CHECKED) | FROM(CALL_PAUSED), PHASE_BODY},
    [CALL_PAUSED] = {FROM(CALL_BODY), PHASE_WORK},
    [CALL_DISCARD] = {FROM(CALL_HEADER) | FROM(CALL_CHECKED) | FROM(CALL_BODY), PHASE_DISCARD},
    [CALL_WORK] = {FROM(CALL_BODY), PHASE_WORK},
    [CALL_ANSWER] = {FROM(CALL_WORK), PHASE_NONE},
    [CALL_SEND] = {FROM(CALL_BODY) | FROM(CALL_DISCARD) | FROM(CALL_ANSWER) | FROM(CALL_STARVED),
                   PHASE_SEND},
    [CALL_STARVED] = {FROM(CALL_SEND), PHASE_WORK},
    [CALL_CLOSED] = {~0u, PHASE_SEND},
};

enum call_state call_state(const struct http_call *call) {
    return (enum call_state)atomic_load(&call->state);
}

bool call_enter(struct http_call *call, enum call_state state) {
    assert((STATES[state].from & FROM(call_state(call))) != 0);
    atomic_store(&call->state, (int)state);
    const enum phase phase = STATES[state].phase;
    return phase == PHASE_NONE || connection_enter(call->connection, phase);
}

/* ---- life ---- */

static void job_run(struct pool_job *job) {
    struct http_call *call =
        (struct http_call *)(void *)((char *)job - offsetof(struct http_call, work.job));
    call->work.run(call);
}

static struct http_call *call_take(struct io *io) {
    struct http_call *call = io->spare;
    if (call == NULL) {
        call = calloc(1, sizeof *call);
        if (call != NULL) {
            arena_init(&call->arena, CALL_ARENA_LIMIT);
        }
        return call;
    }
    io->spare = call->next;
    io->n_spare--;
    struct arena arena = call->arena;
    memset(call, 0, sizeof *call);
    call->arena = arena;
    return call;
}

struct http_call *call_new(struct io *io, struct connection *connection, struct MHD_Connection *mhd,
                           const char *raw_target) {
    struct http_call *call = call_take(io);
    if (call == NULL) {
        return NULL;
    }
    call->io = io;
    call->server = io->server;
    call->connection = connection;
    call->mhd = mhd;
    atomic_init(&call->state, CALL_HEADER);
    atomic_init(&call->refs, 1);
    call->started_ns = clock_monotonic_ns();
    call->request.client = connection->peer_text;
    call->request.client_address = connection->peer;
    call->request.content_type = "";
    call->work.job.run = job_run;
    call->request.target.raw_size = strlen(raw_target);
    call->request.target.raw =
        arena_strndup(&call->arena, raw_target, call->request.target.raw_size);
    if (call->request.target.raw == NULL) {
        arena_done(&call->arena);
        free(call);
        return NULL;
    }
    return call;
}

void call_ref(struct http_call *call) {
    atomic_fetch_add(&call->refs, 1);
}

static bool call_end(struct http_call *call) {
    if (atomic_fetch_sub(&call->refs, 1) != 1) {
        return false;
    }
    if (call->on_done != NULL) {
        call->on_done(call->handler_state);
    }
    if (call->request.client_release != NULL) {
        call->request.client_release(call->request.client_known);
    }
    stream_free(call->reply.stream);
    reply_done(&call->reply);
    body_forget(call);
    memory_hold_anyway(&call->server->memory, &call->reply.share, 0);
    return true;
}

static void call_free(struct http_call *call) {
    arena_done(&call->arena);
    free(call);
}

void call_unref(struct http_call *call) {
    if (call_end(call)) {
        call_free(call);
    }
}

void call_unref_io(struct http_call *call) {
    if (!call_end(call)) {
        return;
    }
    struct io *io = call->io;
    if (io->n_spare >= SPARE_MAX || call->arena.total > CALL_ARENA_KEPT) {
        call_free(call);
        return;
    }
    arena_reset(&call->arena);
    call->next = io->spare;
    io->spare = call;
    io->n_spare++;
}

void call_spares_free(struct io *io) {
    while (io->spare != NULL) {
        struct http_call *call = io->spare;
        io->spare = call->next;
        call_free(call);
    }
    io->n_spare = 0;
}

static enum MHD_Result keep(void *cls, enum MHD_ValueKind kind, const char *name,
                            const char *value) {
    (void)kind;
    struct http_call *call = cls;
    struct header_field *h = &call->request.kept[call->request.n_kept];
    h->name = arena_strdup(&call->arena, name);
    h->value = value != NULL ? arena_strdup(&call->arena, value) : "";
    call->request.n_kept++;
    return h->name != NULL && h->value != NULL && call->request.n_kept < call->request.headers.n
               ? MHD_YES
               : MHD_NO;
}

bool call_keep_headers(struct http_call *call) {
    call->request.kept =
        arena_alloc(&call->arena, (call->request.headers.n + 1) * sizeof *call->request.kept);
    if (call->request.kept == NULL) {
        return false;
    }
    (void)MHD_get_connection_values(call->mhd, MHD_HEADER_KIND, keep, call);
    for (size_t i = 0; i < call->request.n_kept; i++) {
        if (call->request.kept[i].name == NULL || call->request.kept[i].value == NULL) {
            return false;
        }
    }
    return true;
}

/* The count is incremented before `stopping` is read, and http_stop sets `stopping` before it reads
 * the count: so either this function returns false, or http_stop waits for the resume. */
bool call_suspend(struct http_call *call, enum call_state state) {
    if (!call_enter(call, state)) {
        return false;
    }
    atomic_fetch_add(&call->server->suspended, 1);
    if (atomic_load(&call->server->stopping)) {
        atomic_fetch_sub(&call->server->suspended, 1);
        return false;
    }
    MHD_suspend_connection(call->mhd);
    return true;
}

void call_resume(struct http_call *call) {
    struct http_server *server = call->server; /* the call may end as soon as it is resumed */
    MHD_resume_connection(call->mhd);
    atomic_fetch_sub(&server->suspended, 1);
}

/* The key by which clients take turns: of the name that the application knows, otherwise of the
 * address (address_of_client). The seed is secret, so that nobody can choose to share the turns of
 * another client. */
static uint64_t client_key(const struct http_call *call) {
    const struct address a = address_of_client(&call->request.client_address);
    const char *name = call->request.client_name;
    const unsigned char *bytes = name != NULL ? (const unsigned char *)name : a.bytes;
    const size_t n = name != NULL ? strlen(name) : sizeof a.bytes;
    uint64_t h = call->server->seed ^ (name != NULL ? UINT8_MAX : a.family);
    for (size_t i = 0; i < n; i++) {
        h = (h ^ bytes[i]) * UINT64_C(1099511628211); /* FNV-1a */
    }
    return h ^ h >> 32;
}

/* Answers a long call that cannot wait in the queue. */
static void refuse_long(struct http_call *call, unsigned retry_s) {
    char text[16];
    (void)snprintf(text, sizeof text, "%u", retry_s);
    call->work.deferred = NULL;
    metric_add(call->server->metrics.refused_long, 1);
    http_reply_header(call, "Retry-After", text);
    http_fail(call, PROBLEM_UNAVAILABLE,
              "as many long calls are waiting as --max-waiting-calls allows, or a quarter of them "
              "of this client; try again");
    call_answer(call);
}

void call_push(struct http_call *call, void (*fn)(struct http_call *call)) {
    const struct http_route *route = call->request.match.route;
    struct call_work *work = &call->work;
    const bool begins = call_state(call) == CALL_WORK && call->body.sink == NULL &&
                        call->reply.kind == REPLY_NONE && work->granted < HTTP_LONG;
    work->run = fn;
    work->granted = work->load;
    work->job.client = client_key(call);
    if (route != NULL && route->where == HTTP_ON_OPERATIONS) {
        pool_push(&call->server->operations, &work->job, false);
    } else if (work->load < HTTP_LONG) {
        pool_push(&call->server->pool, &work->job, work->load == HTTP_LASTING);
    } else {
        const unsigned retry_s = long_push(&call->server->long_jobs, &work->job, begins);
        if (retry_s > 0) {
            refuse_long(call, retry_s);
        }
    }
}

bool http_takes(struct http_call *call, enum http_load load) {
    call->work.load = load;
    return load <= call->work.granted;
}

bool http_go_on(struct http_call *call) {
    long_yield(&call->server->long_jobs, &call->work.job);
    return !http_gone(call);
}

void call_answer(struct http_call *call) {
    if (call->reply.kind == REPLY_NONE) {
        http_fail(call, PROBLEM_INTERNAL, "the handler of %s gave no answer",
                  call->request.match.route != NULL ? call->request.match.route->operation : "?");
    }
    (void)call_enter(call, CALL_ANSWER);
    call_resume(call);
}

bool http_gone(const struct http_call *call) {
    return atomic_load_explicit(&call->connection->gone, memory_order_relaxed) ||
           atomic_load_explicit(&call->server->stopping, memory_order_relaxed) ||
           atomic_load_explicit(&call->body.relay.abandoned, memory_order_relaxed);
}

bool call_is_head(const struct http_call *call) {
    return strcmp(call->request.method, "HEAD") == 0;
}
