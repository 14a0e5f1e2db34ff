/* GET /v1/jobs/{id}/events: Server-Sent Events. `id:` is the number of the stored event, so that a
 * client that reconnects with Last-Event-ID misses no event, also after a restart of the daemon.
 * The data of `state` and `done` is the job document at that event; that of `progress` is the
 * member "progress" of the job. */
#include "api/documents.h"
#include "api/handlers.h"
#include "api/support.h"
#include "base/process/clock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { KEEP_ALIVE_SECONDS = 15, EVENTS_AT_ONCE = 100 };

/* The state of one event stream. */
struct events {
    int64_t job;
    const char *base_path; /* prefix of links */
    int64_t after;         /* events up to this one were sent */
    bool begun;            /* "retry:" was sent */
    bool resumed; /* Last-Event-ID was given: continue after it; otherwise send the current state
                     first */
    bool ended;   /* `done` was sent */
    int64_t sent; /* monotonic time in ns of the last bytes sent; changes of other jobs wake the
                     stream too */
};

/* The state of writing one batch of events. */
struct step {
    struct events *stream;
    struct buf *out;
    const struct store_job *job; /* current row; NULL: not read */
    bool behind;                 /* more events are stored than were read */
    bool more;                   /* the next event needs the current row of the job */
};

/* Writes one message. Its data is a JSON document, in which line ends are white space: they are
 * replaced by spaces, so that the message has one "data:" field. */
static void put_message(struct buf *out, const char *event, int64_t id, const char *data,
                        size_t n) {
    buf_printf(out, "id: %" PRId64 "\nevent: %s\ndata: ", id, event);
    for (size_t i = 0; i < n; i++) {
        buf_putc(out, data[i] == '\n' || data[i] == '\r' ? ' ' : data[i]);
    }
    buf_puts(out, "\n\n");
}

static void put_job(struct buf *out, const struct events *e, const char *event, int64_t id,
                    const struct store_job *job) {
    struct buf data = {0};
    struct json_writer w = json_writer_of(&data);
    api_job_write(job, e->base_path, true, &w);
    put_message(out, event, id, data.data, data.size);
    out->failed = out->failed || data.failed;
    buf_done(&data);
}

/* Returns the job at the time of a `state` event. Members that the event does not store never
 * change, or are absent before the end of the job. */
static struct store_job job_at(const struct store_job *now, const struct store_event *e) {
    struct store_job then = *now;
    then.state = e->state;
    then.attempts = e->attempts;
    then.started_at = e->started_at;
    then.warnings = e->warnings;
    if (!store_job_ended(e->state)) {
        then.finished_at = 0;
        then.progress = then.error = then.result = NULL;
    }
    return then;
}

/* Writes an event. Returns false if it needs the current row of the job, which was not read. */
static bool put_event(struct step *s, const struct store_event *e) {
    s->more = e->kind == STORE_EVENT_PROGRESS ? false : !s->job || e->seq > s->job->last_event;
    if (s->more) {
        return false;
    }
    if (e->kind == STORE_EVENT_PROGRESS && e->progress) {
        put_message(s->out, "progress", e->seq, e->progress, strlen(e->progress));
    } else if (e->kind != STORE_EVENT_PROGRESS) {
        const struct store_job then = job_at(s->job, e);
        put_job(s->out, s->stream, e->kind == STORE_EVENT_STATE ? "state" : "done", e->seq, &then);
    }
    s->stream->ended = e->kind == STORE_EVENT_DONE;
    s->stream->after = e->seq;
    return !s->stream->ended;
}

/* Writes the events after the last one that was written. */
static bool put_events(struct events *e, struct store *store, struct step *step,
                       struct problem *problem) {
    const struct store_limit limit = {.items = EVENTS_AT_ONCE, .bytes = API_PAGE_BYTES};
    struct store_page page = {0};
    if (!store_job_events(store, e->job, e->after, &limit, &page, problem)) {
        return false;
    }
    const struct store_event *events = page.items;
    for (size_t i = 0; i < page.n && put_event(step, &events[i]); i++) {
    }
    step->behind = page.more;
    store_page_done(&page);
    return true;
}

/* Without Last-Event-ID: writes the current state. If the job has ended, `done` follows as the last
 * event, so this message gets the number before that of `done`. */
static void put_present(struct events *e, const struct store_job *job, struct buf *out) {
    e->after =
        store_job_ended(job->state) && job->last_event > 0 ? job->last_event - 1 : job->last_event;
    put_job(out, e, "state", e->after, job);
}

/* Reads the job before the events, so that the document of `done` has the end of the job. */
static bool put_with_job(struct events *e, struct store *store, struct step *step,
                         struct problem *problem) {
    struct store_job job;
    if (!store_job_get(store, e->job, &job, problem)) {
        return false;
    }
    if (!e->begun) {
        buf_puts(step->out, "retry: 2000\n\n");
        if (e->after > job.last_event) { /* not an event of this job: it is unknown which events
                                            were missed */
            e->resumed = false;
        }
        if (!e->resumed) {
            put_present(e, &job, step->out);
        }
    }
    e->begun = true;
    step->job = &job;
    bool good = job.last_event <= e->after || put_events(e, store, step, problem);
    store_job_done(&job);
    step->job = NULL;
    return good;
}

/* Writes the events since the last call. Many streams may wait for one job, so the job itself is
 * read only if an event needs it. */
static bool put_news(struct events *e, struct store *store, struct step *step,
                     struct problem *problem) {
    if (e->begun) {
        if (!put_events(e, store, step, problem)) {
            return false;
        }
        if (!step->more) {
            return true;
        }
        step->more = false;
    }
    return put_with_job(e, store, step, problem);
}

static enum http_stream_state events_next(struct http_call *call, struct buf *out, bool idle,
                                          bool draining) {
    struct events *e = http_state(call);
    struct problem problem = {0};
    struct step step = {.stream = e, .out = out};
    if (draining) {
        return HTTP_STREAM_END;
    }
    bool good = put_news(e, api_app_of(call)->store, &step, &problem);
    bool deleted = problem.type == PROBLEM_UNKNOWN_JOB;
    problem_done(&problem);
    if (e->ended || deleted) {
        return HTTP_STREAM_END;
    }
    if (!good) {
        return HTTP_STREAM_ABORT;
    }
    int64_t now = clock_monotonic_ns();
    if (out->size == 0 && (idle || now - e->sent >= KEEP_ALIVE_SECONDS * INT64_C(1000000000))) {
        buf_puts(out, ": still here\n\n");
    }
    if (out->size > 0) {
        e->sent = now;
    }
    return step.more || step.behind ? HTTP_STREAM_MORE : HTTP_STREAM_WAIT;
}

void api_job_events(struct http_call *call) {
    const char *last = http_header(call, "Last-Event-ID");
    struct store_job job;
    int64_t after = 0;
    if (last && strcmp(last, "0") != 0 && !ids_number_parse(last, &after)) {
        http_fail(call, PROBLEM_BAD_REQUEST,
                  "Last-Event-ID must be the number of an event, got \"%.100s\"", last);
        return;
    }
    if (!api_job_find(call, &job)) {
        return;
    }
    bool seen = last && store_job_ended(job.state) && after == job.last_event;
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
    *e = (struct events){.job = id,
                         .base_path = api_app_of(call)->base_path,
                         .after = after,
                         .resumed = last != NULL};
    http_set_state(call, e);
    http_on_done(call, free);
    http_reply_header(call, "X-Accel-Buffering", "no");
    http_set_topic(call, id);
    http_stream(call, 200, "text/event-stream", KEEP_ALIVE_SECONDS, events_next);
}
