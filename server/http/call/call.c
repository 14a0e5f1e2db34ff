/* A call's life, its way between the I/O thread and the pool. */
#include "http/call/call.h"
#include "base/clock.h"
#include "http/call/body.h"
#include "http/call/reply.h"
#include "http/call/stream.h"
#include "http/server.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define SPARE_MAX 64 /* calls an I/O thread keeps */

static void job_run(struct pool_job *job) {
    struct http_call *call =
        (struct http_call *)(void *)((char *)job - offsetof(struct http_call, job));
    call->job_run(call);
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
    atomic_init(&call->stage, STAGE_NEW);
    atomic_init(&call->refs, 1);
    call->started_ns = clock_monotonic_ns();
    call->client = connection->peer_text;
    call->client_address = connection->peer;
    call->content_type = "";
    call->reply.cache_control = "no-cache";
    call->job.run = job_run;
    call->target.raw_size = strlen(raw_target);
    call->target.raw = arena_strndup(&call->arena, raw_target, call->target.raw_size);
    if (call->target.raw == NULL) {
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
        call->on_done(call->state);
    }
    stream_free(call->stream);
    reply_done(&call->reply);
    body_forget(call);
    memory_hold_anyway(&call->server->memory, &call->reply_share, 0);
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
    struct reply_header *h = &call->kept_headers[call->n_kept];
    h->name = arena_strdup(&call->arena, name);
    h->value = value != NULL ? arena_strdup(&call->arena, value) : "";
    call->n_kept++;
    return h->name != NULL && h->value != NULL && call->n_kept < call->headers.n ? MHD_YES : MHD_NO;
}

bool call_keep_headers(struct http_call *call) {
    call->kept_headers =
        arena_alloc(&call->arena, (call->headers.n + 1) * sizeof *call->kept_headers);
    if (call->kept_headers == NULL) {
        return false;
    }
    (void)MHD_get_connection_values(call->mhd, MHD_HEADER_KIND, keep, call);
    for (size_t i = 0; i < call->n_kept; i++) {
        if (call->kept_headers[i].name == NULL || call->kept_headers[i].value == NULL) {
            return false;
        }
    }
    return true;
}

/* The count goes up before `stopping` is looked at, and http_stop sets `stopping` before it looks
 * at the count: one of the two sees the other. */
bool call_suspend(struct http_call *call) {
    atomic_fetch_add(&call->server->suspended, 1);
    if (atomic_load(&call->server->stopping)) {
        atomic_fetch_sub(&call->server->suspended, 1);
        return false;
    }
    MHD_suspend_connection(call->mhd);
    return true;
}

void call_resume(struct http_call *call) {
    struct http_server *server = call->server; /* the call may be over as soon as it is resumed */
    MHD_resume_connection(call->mhd);
    atomic_fetch_sub(&server->suspended, 1);
}

void call_push(struct http_call *call, void (*fn)(struct http_call *call)) {
    const struct http_route *route = call->match.route;
    call->job_run = fn;
    call->job.lasting = route != NULL && route->lasting;
    pool_push(route != NULL && route->where == HTTP_ON_OPERATIONS ? &call->server->operations
                                                                  : &call->server->pool,
              &call->job);
}

void call_answer(struct http_call *call) {
    if (call->reply.kind == REPLY_NONE) {
        http_fail(call, PROBLEM_INTERNAL, "the handler of %s gave no answer",
                  call->match.route != NULL ? call->match.route->operation : "?");
    }
    atomic_store(&call->stage, STAGE_ANSWER);
    call_resume(call);
}

bool http_gone(const struct http_call *call) {
    return atomic_load_explicit(&call->connection->gone, memory_order_relaxed) ||
           atomic_load_explicit(&call->server->stopping, memory_order_relaxed) ||
           atomic_load_explicit(&call->relay.abandoned, memory_order_relaxed);
}

bool call_is_head(const struct http_call *call) {
    return strcmp(call->method, "HEAD") == 0;
}
