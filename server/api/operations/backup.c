/* A backup of the database. The copy is made in the spool folder, in slices that let the calls of
 * other clients compute, and then sent. No path comes from the request. */
#include "api/access.h"
#include "api/handlers.h"
#include "api/support.h"
#include "base/log/log.h"
#include "base/process/clock.h"
#include "store/copies.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define TYPE "application/vnd.sqlite3"
enum { READ_BYTES = 256 * 1024 };

/* A backup that is sent. In the arena of the call. */
struct sending {
    struct store_backup *backup;
    int64_t sent;
};

static void sending_done(void *arg) {
    struct sending *s = arg;
    store_backup_free(s->backup);
}

static enum http_stream_state next_piece(struct http_call *call, struct buf *out, bool idle,
                                         bool draining) {
    struct sending *s = http_state(call);
    const int64_t size = store_backup_size(s->backup), left = size - s->sent,
                  n = left < READ_BYTES ? left : READ_BYTES;
    (void)idle;
    (void)draining; /* a request in flight may end within the time limit of the shutdown */
    if (!store_backup_read(s->backup, s->sent, (size_t)n, out)) {
        return HTTP_STREAM_ABORT;
    }
    s->sent += n;
    return s->sent < size ? HTTP_STREAM_MORE : HTTP_STREAM_END;
}

/* The answer to HEAD: a copy is not made, so its length is unknown. */
static enum http_stream_state no_piece(struct http_call *call, struct buf *out, bool idle,
                                       bool draining) {
    (void)call;
    (void)out;
    (void)idle;
    (void)draining;
    return HTTP_STREAM_END;
}

/* Names the file by the time: discern-20270131T120000Z.db. */
static void name_file(struct http_call *call) {
    char now[CLOCK_TEXT_SIZE], digits[CLOCK_TEXT_SIZE], value[100];
    size_t n = 0;
    clock_format(clock_real_ms(), now);
    for (const char *c = now; *c != '\0' && *c != '.' && *c != 'Z'; c++) {
        if (isalnum((unsigned char)*c)) {
            digits[n++] = *c;
        }
    }
    digits[n] = '\0';
    (void)snprintf(value, sizeof value, "attachment; filename=\"discern-%sZ.db\"", digits);
    http_reply_header(call, "Content-Disposition", value);
}

static bool go_on(void *arg) {
    return http_go_on(arg);
}

/* A backup goes on without its entry: it matters most when the disk fails. */
static void note_read(struct http_call *call) {
    const struct store_audit_new entry = {.by = api_actor(call),
                                          .action = "backup.read",
                                          .result = "done"};
    struct problem problem = {0};
    if (!store_audit_add(api_app_of(call)->store, &entry, &problem)) {
        log_warn("audit.failed", log_str("request", http_request_id(call)),
                 log_str("action", entry.action), log_str("problem", problem.detail));
    }
    problem_done(&problem);
}

void api_backup(struct http_call *call) {
    const struct api_app *app = api_app_of(call);
    const struct store_watch watch = {go_on, call};
    struct problem problem = {0};
    if (!api_may_see_all(call)) {
        return;
    }
    if (!store_backup_possible(app->store, &problem)) {
        http_reply_problem(call, &problem);
        return;
    }
    if (strcmp(http_method(call), "HEAD") == 0) {
        name_file(call);
        http_stream(call, 200, TYPE, 0, no_piece);
        return;
    }
    if (!http_takes(call, HTTP_LONG)) {
        http_defer(call, api_backup);
        return;
    }
    struct sending *s = arena_alloc(http_arena(call), sizeof *s);
    if (s == NULL) {
        http_fail(call, PROBLEM_UNAVAILABLE, "no memory for the backup");
        return;
    }
    *s = (struct sending){0};
    note_read(call);
    if (!store_backup_make(app->store, app->spool_dir, &watch, &s->backup, &problem)) {
        http_reply_problem(call, &problem);
        return;
    }
    http_set_state(call, s);
    http_on_done(call, sending_done);
    name_file(call);
    (void)http_takes(call, HTTP_SHORT); /* the stream reads a file */
    http_stream_sized(call, 200, TYPE, (uint64_t)store_backup_size(s->backup), next_piece);
}
