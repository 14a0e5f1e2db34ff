/* GET /v1/jobs/{id}/events: Server-Sent Events. `id:` is the number of the job's stored event, so a client that reconnects (to this process or the next)
 * with Last-Event-ID misses nothing. `state` and `done` carry the job object as it is when they are sent, `progress` its progress member. */
#include "api/documents.h"
#include "api/handlers.h"
#include "api/support.h"
#include "base/clock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { KEEP_ALIVE_SECONDS = 15, EVENTS_AT_ONCE = 100 };

/* A stream. */
struct events {
    int64_t job;
    int64_t after; /* events up to this one were sent */
    bool begun;    /* "retry:" was sent */
    bool resumed;  /* Last-Event-ID was given: continue after it; otherwise begin with the present state */
    bool ended;    /* `done` was sent */
    int64_t sent;  /* monotonic ns of the last bytes: other jobs' changes wake us too, so `idle` alone would not tell a silence */
};

/* One step's work: the job as it is and where to write. */
struct step {
    struct events *stream;
    struct buf *out;
    const struct store_job *job;
    size_t n;   /* events written */
    bool newer; /* there are events that the job, as it was read, has not got yet */
};

/* One message. The data is one line in our own documents; a line break in it would end the field, so each line gets its own. */
static void put_message(struct buf *out, const char *event, int64_t id, const char *data, size_t n) {
    buf_printf(out, "id: %" PRId64 "\nevent: %s\ndata: ", id, event);
    for (const char *end = data + n, *line; data < end; data = line) {
        line = memchr(data, '\n', (size_t)(end - data));
        buf_append(out, data, (size_t)((line ? line : end) - data));
        if (!line)
            break;
        buf_puts(out, "\ndata: ");
        line++;
    }
    buf_puts(out, "\n\n");
}

static void put_job(struct buf *out, const char *event, int64_t id, const struct store_job *job) {
    struct buf data = {0};
    struct json_writer w;
    json_writer_init(&w, &data);
    api_job_write(job, &w);
    put_message(out, event, id, data.data, data.size);
    out->failed = out->failed || data.failed;
    buf_done(&data);
}

static bool add_event(void *arg, const struct store_event *e) {
    struct step *s = arg;
    if (e->seq > s->job->last_event) {
        s->newer = true;
        return false;
    }
    if (e->kind == STORE_EVENT_PROGRESS && e->progress)
        put_message(s->out, "progress", e->seq, e->progress, strlen(e->progress));
    else if (e->kind == STORE_EVENT_STATE)
        put_job(s->out, "state", e->seq, s->job);
    else if (e->kind == STORE_EVENT_DONE)
        put_job(s->out, "done", e->seq, s->job);
    s->stream->ended = e->kind == STORE_EVENT_DONE;
    s->stream->after = e->seq;
    s->n++;
    return !s->stream->ended;
}

/* Without Last-Event-ID: the present state. Of a job that has ended its last event, `done`, is yet to come, so this one bears the number before it. */
static void put_present(struct events *e, const struct store_job *job, struct buf *out) {
    e->after = store_job_ended(job->state) && job->last_event > 0 ? job->last_event - 1 : job->last_event;
    put_job(out, "state", e->after, job);
}

static enum http_stream_state events_next(struct http_call *call, struct buf *out, bool idle, bool draining) {
    struct events *e = http_state(call);
    struct store *store = api_app_of(call)->store;
    struct problem problem = {0};
    struct store_job job;
    if (draining)
        return HTTP_STREAM_END;
    /* The job is read first and bounds the events that are sent, so that no `done` carries an object that has not ended. */
    if (!store_job_get(store, e->job, &job, &problem)) {
        problem_done(&problem);
        return HTTP_STREAM_END; /* deleted meanwhile */
    }
    if (!e->begun) {
        buf_puts(out, "retry: 2000\n\n");
        if (e->after > job.last_event) /* an event that is not ours (any more): what it has missed cannot be known */
            e->resumed = false;
        if (!e->resumed)
            put_present(e, &job, out);
    }
    e->begun = true;
    struct step step = {.stream = e, .out = out, .job = &job};
    bool good = job.last_event <= e->after || store_job_events(store, e->job, e->after, EVENTS_AT_ONCE, add_event, &step, &problem);
    store_job_done(&job);
    problem_done(&problem);
    if (!good)
        return HTTP_STREAM_ABORT;
    if (e->ended)
        return HTTP_STREAM_END;
    int64_t now = clock_monotonic_ns();
    if (out->size == 0 && (idle || now - e->sent >= KEEP_ALIVE_SECONDS * INT64_C(1000000000)))
        buf_puts(out, ": still here\n\n");
    if (out->size > 0)
        e->sent = now;
    return step.newer || step.n == EVENTS_AT_ONCE ? HTTP_STREAM_MORE : HTTP_STREAM_WAIT;
}

void api_job_events(struct http_call *call) {
    static const char *const known[] = {NULL};
    const char *last = http_header(call, "Last-Event-ID");
    struct store_job job;
    int64_t after = 0;
    if (!api_query_known(call, known))
        return;
    if (last && strcmp(last, "0") != 0 && !api_number_parse(last, &after)) {
        http_fail(call, PROBLEM_BAD_REQUEST, "Last-Event-ID must be the number of an event, got \"%.100s\"", last);
        return;
    }
    if (!api_job_find(call, &job))
        return;
    bool seen = last && store_job_ended(job.state) && after >= job.last_event;
    int64_t id = job.id;
    store_job_done(&job);
    if (seen) {
        http_reply_empty(call, 204);
        return;
    }
    struct events *e = calloc(1, sizeof *e);
    if (!e) {
        http_fail(call, PROBLEM_UNAVAILABLE, "no memory for an event stream");
        return;
    }
    *e = (struct events){.job = id, .after = after, .resumed = last != NULL};
    http_set_state(call, e);
    http_on_done(call, free);
    http_reply_header(call, "X-Accel-Buffering", "no");
    http_stream(call, 200, "text/event-stream", KEEP_ALIVE_SECONDS, events_next);
}
