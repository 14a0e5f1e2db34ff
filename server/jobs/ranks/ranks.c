#include "jobs/ranks/ranks.h"

#include "base/json/json.h"
#include "base/log/log.h"
#include "base/process/clock.h"
#include "jobs/documents.h"
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LOOK_MS = 100,                     /* between two looks at the mailbox and the clock */
    END_MS = LAUNCHER_GRACE_MS + 7000, /* longest wait for the end of the command */
    STOP_MS = 1000, /* longest wait for the reason of a command that SIGTERM has ended */
    READ_SIZE = 65536,
    ERRORS_SIZE = 16384 /* of standard error that are kept */
};
#define LINE_SIZE ((size_t)1 << 28)

/* ---- members of the lines ---- */
void ranks_put_progress(const dn_progress *p, struct json_writer *w) {
    json_kv_int(w, "fold", (int64_t)p->fold);
    json_kv_int(w, "iteration", (int64_t)p->iteration);
    json_kv_bool(w, "start", p->start);
    json_kv_int(w, "max_iterations", (int64_t)p->max_iterations);
    json_kv_double(w, "fraction", p->fraction);
    json_kv_double(w, "loss", p->loss);
    json_kv_double(w, "gradient_norm", p->gradient_norm);
    json_kv_double(w, "train_error", p->train_error);
    json_kv_double(w, "condition", p->condition);
    if (p->w != NULL) {
        json_kv_int(w, "n_scores", (int64_t)p->n_scores);
        json_kv_int(w, "n_features", (int64_t)p->n_features);
        json_put_vector(w, "w", p->w, p->n_scores * p->n_features);
        json_put_vector(w, "w0", p->w0, p->n_scores);
    }
}

void ranks_put_error(const dn_error *err, struct json_writer *w) {
    json_kv_begin_object(w, "error");
    json_kv_int(w, "code", (int64_t)err->code);
    json_kv_string(w, "message", err->message);
    json_kv_string(w, "field", err->field);
    json_kv_int(w, "row", err->row);
    json_end_object(w);
}

void ranks_put_problem(enum problem_type type, const char *detail, bool lost,
                       struct json_writer *w) {
    json_kv_begin_object(w, "problem");
    json_kv_string(w, "type", problem_name(type));
    json_kv_string(w, "detail", detail);
    json_kv_bool(w, "lost", lost);
    json_end_object(w);
}

void ranks_put_bytes(const void *bytes, size_t n, struct json_writer *w) {
    static const char digits[] = "0123456789abcdef";
    const unsigned char *from = bytes;
    char text[2 * RANKS_PIECE];
    for (size_t i = 0; i < n; i++) {
        text[2 * i] = digits[from[i] >> 4];
        text[2 * i + 1] = digits[from[i] & 15];
    }
    json_put_key(w, "bytes");
    json_put_stringn(w, text, 2 * n);
}

/* ---- reading ---- */
/* An attempt that runs. */
struct attempt {
    const struct ranks_training *t;
    struct launched run;
    struct buf output;      /* what is not yet a line */
    struct buf errors;      /* the first ERRORS_SIZE bytes */
    struct buf bytes;       /* of the result so far */
    dn_error error;         /* code DN_OK: none was written */
    struct problem problem; /* of a rank before the training */
    enum launched_state state;
    int status;          /* as of waitpid; LAUNCHED_ENDED */
    int64_t complete_ns; /* when the result was complete; 0: it is not */
    size_t n_ignored;    /* lines that are not of rank 0 */
    bool began, damaged;
    bool other_build; /* discern-train is not the one of the daemon's start */
    uint64_t exchanges, sent_bytes;
};

/* Returns a member that is a number; NaN for null and others. */
static double number_of(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static size_t count_of(const json_t *object, const char *key) {
    const double value = number_of(object, key);
    return value >= 0 && value < 9e15 ? (size_t)value : 0;
}

/* Reads an array of n numbers; NULL: it is none, or memory is short. */
static double *vector_of(const json_t *object, const char *key, size_t n) {
    const json_t *array = json_object_get(object, key);
    double *v =
        json_is_array(array) && json_array_size(array) == n && n > 0 ? malloc(n * sizeof *v) : NULL;
    for (size_t i = 0; v != NULL && i < n; i++) {
        const json_t *item = json_array_get(array, i);
        v[i] = json_is_number(item) ? json_number_value(item) : (double)NAN;
    }
    return v;
}

static void take_progress(const struct attempt *a, const json_t *line) {
    dn_progress p = {.fold = count_of(line, "fold"),
                     .iteration = count_of(line, "iteration"),
                     .start = json_is_true(json_object_get(line, "start")),
                     .max_iterations = count_of(line, "max_iterations"),
                     .fraction = number_of(line, "fraction"),
                     .loss = number_of(line, "loss"),
                     .gradient_norm = number_of(line, "gradient_norm"),
                     .train_error = number_of(line, "train_error"),
                     .n_scores = count_of(line, "n_scores"),
                     .n_features = count_of(line, "n_features"),
                     .row = SIZE_MAX,
                     .condition = number_of(line, "condition")};
    p.condition = isnan(p.condition) ? (double)INFINITY : p.condition;
    double *w = vector_of(line, "w", p.n_scores * p.n_features),
           *w0 = vector_of(line, "w0", p.n_scores);
    if (w != NULL && w0 != NULL) {
        p.w = w;
        p.w0 = w0;
    }
    mailbox_report(a->t->mailbox, &p, (double)(clock_monotonic_ns() - a->t->began_ns) * 1e-9);
    free(w);
    free(w0);
}

static void take_error(struct attempt *a, const json_t *error) {
    const char *message = json_string_value(json_object_get(error, "message")),
               *field = json_string_value(json_object_get(error, "field"));
    const double row = number_of(error, "row");
    const size_t code = count_of(error, "code");
    dn_error_clear(&a->error);
    (void)dn_error_set(&a->error, code == DN_OK ? DN_ERR_SOURCE : (dn_status)code, "%s",
                       message != NULL ? message : "");
    dn_error_set_field(&a->error, field != NULL ? field : "");
    dn_error_set_row(&a->error, row >= 0 && row < 9e15 ? (int64_t)row : -1);
}

static void take_problem(struct attempt *a, const json_t *from) {
    const char *name = json_string_value(json_object_get(from, "type")),
               *detail = json_string_value(json_object_get(from, "detail"));
    enum problem_type type = PROBLEM_INTERNAL;
    if (name != NULL) {
        (void)problem_find(name, &type);
    }
    problem_set(&a->problem, type, "%s", detail != NULL ? detail : "");
    a->problem.lost = json_is_true(json_object_get(from, "lost"));
}

static int digit_of(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void take_bytes(struct attempt *a, const json_t *text) {
    const char *from = json_string_value(text);
    const size_t n = json_string_length(text) / 2;
    if (!buf_reserve(&a->bytes, n)) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const int high = digit_of(from[2 * i]), low = digit_of(from[2 * i + 1]);
        a->damaged = a->damaged || high < 0 || low < 0;
        buf_putc(&a->bytes, (char)(unsigned char)((unsigned)high << 4 | (unsigned)low));
    }
}

static bool is_other_build(const struct attempt *a, const json_t *build) {
    const char *own = launcher_build(a->t->launcher), *other = json_string_value(build);
    return own[0] != '\0' && other != NULL && other[0] != '\0' && strcmp(own, other) != 0;
}

/* Lines that are no object of rank 0, such as what mpirun writes, are counted only. */
static void take_line(struct attempt *a, const char *text, size_t size) {
    struct problem ignored = {0};
    json_t *line = size > 0 && text[0] == '{' ? json_parse(text, size, &ignored) : NULL;
    problem_done(&ignored);
    if (json_object_get(line, "bytes") != NULL) {
        take_bytes(a, json_object_get(line, "bytes"));
    } else if (json_object_get(line, "iteration") != NULL) {
        take_progress(a, line);
    } else if (json_object_get(line, "error") != NULL) {
        take_error(a, json_object_get(line, "error"));
    } else if (json_object_get(line, "problem") != NULL) {
        take_problem(a, json_object_get(line, "problem"));
    } else if (json_object_get(line, "exchanges") != NULL) {
        a->complete_ns = clock_monotonic_ns();
        a->exchanges = count_of(line, "exchanges");
        a->sent_bytes = count_of(line, "sent_bytes");
    } else if (json_object_get(line, "ranks") != NULL) {
        a->began = true;
        a->other_build = a->other_build || is_other_build(a, json_object_get(line, "build"));
    } else {
        a->n_ignored++;
    }
    json_decref(line);
}

/* Takes the complete lines of the output. `seen`: its first bytes have no end of a line. */
static void take_lines(struct attempt *a, size_t seen) {
    size_t start = 0;
    while (a->output.size > seen) {
        const char *end = memchr(a->output.data + seen, '\n', a->output.size - seen);
        if (end == NULL) {
            break;
        }
        const size_t at = (size_t)(end - a->output.data);
        take_line(a, a->output.data + start, at - start);
        start = seen = at + 1;
    }
    if (start > 0) {
        memmove(a->output.data, a->output.data + start, a->output.size - start);
        a->output.size -= start;
    }
    a->damaged = a->damaged || a->output.size > LINE_SIZE || a->output.failed;
}

/* Reads what there is. Returns false at the end of the file. */
static bool read_some(int fd, struct buf *out) {
    if (!buf_reserve(out, READ_SIZE)) {
        return false;
    }
    const ssize_t n = read(fd, out->data + out->size, READ_SIZE);
    out->size += n > 0 ? (size_t)n : 0;
    return n > 0 || (n < 0 && errno == EINTR);
}

static bool read_output(struct attempt *a) {
    const size_t seen = a->output.size;
    const bool more = read_some(a->run.output, &a->output);
    take_lines(a, seen);
    return more && !a->damaged;
}

static bool read_errors(struct attempt *a) {
    const bool more = read_some(a->run.errors, &a->errors);
    if (a->errors.size > ERRORS_SIZE) {
        a->errors.size = ERRORS_SIZE;
    }
    a->damaged = a->damaged || a->errors.failed; /* a command whose pipe is full would wait */
    return more;
}

static bool is_late(const struct ranks_training *t) {
    return t->deadline_ns != 0 && clock_monotonic_ns() > t->deadline_ns;
}

/* Whether the command goes on for too long after a complete result. */
static bool is_over(const struct attempt *a) {
    return a->complete_ns != 0 && clock_monotonic_ns() - a->complete_ns > (int64_t)END_MS * 1000000;
}

static bool is_to_end(const struct attempt *a) {
    return a->damaged || a->other_build || is_over(a) || is_late(a->t) ||
           mailbox_stopped(a->t->mailbox) != STOP_NOT;
}

/* Reads to the end of both files. Returns false if the command is to end before that. */
static bool read_all(struct attempt *a) {
    struct pollfd files[] = {{.fd = a->run.output, .events = POLLIN},
                             {.fd = a->run.errors, .events = POLLIN},
                             {.fd = a->run.control, .events = POLLIN}};
    while (files[0].fd >= 0 || files[1].fd >= 0) {
        if (is_to_end(a)) {
            return false;
        }
        const int n = poll(files, 3, LOOK_MS);
        if (n == 0 && a->state != LAUNCHED_RUNS) {
            return true; /* a process that the keeper has not ended still has the files */
        }
        if (n <= 0) {
            continue;
        }
        if (files[0].revents != 0 && !read_output(a)) {
            files[0].fd = -1;
        }
        if (files[1].revents != 0 && !read_errors(a)) {
            files[1].fd = -1;
        }
        if (files[2].revents != 0) {
            a->state = launched_wait(&a->run, 0, &a->status);
            files[2].fd = -1;
        }
    }
    return !a->damaged && !a->other_build;
}

/* Waits for the end of the command, and asks for it if it does not come. */
static void wait_end(struct attempt *a, bool read) {
    if (read && a->state == LAUNCHED_RUNS) {
        a->state = launched_wait(&a->run, END_MS, &a->status);
    }
    if (a->state == LAUNCHED_RUNS) {
        launched_end(&a->run);
        a->state = launched_wait(&a->run, END_MS, &a->status);
    }
}

/* ---- what the command has written to standard error ---- */
/* Whether a line is decoration or empty. */
static bool is_blank(const char *line, size_t n) {
    return strspn(line, "-= \t\r") >= n;
}

/* Appends the line of discern-train. The rest, which is not for clients (names of hosts and paths),
 * goes to the log. Returns false if there is no line. *logged: there was a rest. */
static bool put_reason(struct attempt *a, struct buf *out, bool *logged) {
    static const char mark[] = "discern-train: ";
    const char *text = buf_cstr(&a->errors);
    const char *at = text != NULL ? strstr(text, mark) : NULL;
    struct buf rest = {0};
    for (const char *line = text; line != NULL && *line != '\0';) {
        const size_t n = strcspn(line, "\n");
        if (!is_blank(line, n)) {
            buf_puts(&rest, rest.size > 0 ? "\n" : "");
            buf_append(&rest, line, n);
        }
        line += n + (line[n] == '\n');
    }
    *logged = rest.size > 0;
    if (*logged) {
        log_warn("ranks.errors", log_int("job", a->t->job), log_str("text", buf_cstr(&rest)));
    }
    buf_done(&rest);
    if (at != NULL) {
        at += strlen(mark);
        buf_append(out, at, strcspn(at, "\n"));
    }
    return at != NULL;
}

static void put_status(const struct attempt *a, struct buf *out) {
    if (a->state == LAUNCHED_RUNS) {
        buf_puts(out, "it does not end");
    } else if (a->state == LAUNCHED_LOST) {
        buf_puts(out, "the process that waits for it was ended");
    } else if (WIFSIGNALED(a->status)) {
        buf_printf(out, "signal %d", WTERMSIG(a->status));
    } else {
        buf_printf(out, "exit status %d", WEXITSTATUS(a->status));
    }
}

/* Sets the problem of a command that has ended without a result. */
static void set_failure(struct attempt *a, struct ranks_result *out, struct problem *problem) {
    struct buf why = {0};
    const bool good =
        a->state == LAUNCHED_ENDED && WIFEXITED(a->status) && WEXITSTATUS(a->status) == 0;
    bool logged;
    if (!put_reason(a, &why, &logged)) {
        put_status(a, &why);
        buf_puts(&why, a->began ? "" : ", before the training began");
        if (good && a->n_ignored > 0) {
            buf_printf(&why, ", and %zu lines of standard output were not understood",
                       a->n_ignored);
        } else if (logged) {
            buf_puts(&why, "; the log of the daemon has what it wrote");
        }
    }
    out->lost = a->began || a->state == LAUNCHED_LOST;
    problem_set(problem, out->lost ? PROBLEM_JOB_CRASHED : PROBLEM_JOB_RANKS, "%s: %.400s",
                out->lost ? "a rank of the training has died" : "the command of --mpi has failed",
                buf_cstr(&why) != NULL ? why.data : "out of memory");
    buf_done(&why);
}

/* Whether SIGTERM has ended the command, which a service manager may send to all processes. */
static bool is_terminated(const struct attempt *a) {
    return a->state == LAUNCHED_ENDED &&
           ((WIFSIGNALED(a->status) && WTERMSIG(a->status) == SIGTERM) ||
            (WIFEXITED(a->status) && WEXITSTATUS(a->status) == 128 + SIGTERM));
}

/* Whether the mailbox has a reason to stop. If SIGTERM has ended the command, the one to the daemon
 * may still come. */
static bool is_stopped(const struct attempt *a) {
    for (int ms = 0; is_terminated(a) && ms < STOP_MS; ms += LOOK_MS) {
        if (mailbox_stopped(a->t->mailbox) != STOP_NOT) {
            break;
        }
        (void)poll(NULL, 0, LOOK_MS);
    }
    return mailbox_stopped(a->t->mailbox) != STOP_NOT;
}

/* ---- the whole ---- */
static bool take_result(struct attempt *a, struct ranks_result *out, struct problem *problem) {
    if (a->state != LAUNCHED_ENDED || !WIFEXITED(a->status) || WEXITSTATUS(a->status) != 0) {
        struct buf how = {0};
        put_status(a, &how);
        log_warn("ranks.end", log_int("job", a->t->job), log_str("detail", buf_cstr(&how)));
        buf_done(&how);
    }
    out->exchanges = a->exchanges;
    out->sent_bytes = a->sent_bytes;
    return handover_read(a->bytes.data, a->bytes.size, out->result, out->rows, problem);
}

/* Decides how the attempt has ended. A complete result is taken, however the command ends after
 * it. */
static bool take_end(struct attempt *a, bool read, struct ranks_result *out,
                     struct problem *problem) {
    wait_end(a, read);
    if (a->error.code != DN_OK) {
        jobs_problem_from_core(&a->error, a->t->request, problem);
        return false;
    }
    if (!read && mailbox_stopped(a->t->mailbox) != STOP_NOT) {
        return false;
    }
    if (a->other_build) {
        return problem_set(problem, PROBLEM_JOB_RANKS,
                           "discern-train is not the program that was there when the daemon "
                           "started: restart the daemon");
    }
    const bool no_memory = a->bytes.failed || a->output.failed || a->errors.failed;
    if (a->complete_ns != 0 && !a->damaged && !no_memory) {
        return take_result(a, out, problem);
    }
    if (!read && is_late(a->t)) {
        const dn_error late = {.code = DN_ERR_TIME, .row = -1};
        jobs_problem_from_core(&late, a->t->request, problem);
        return false;
    }
    if (no_memory) {
        return problem_no_memory(problem);
    }
    if (a->damaged) {
        return problem_set(problem, PROBLEM_JOB_RANKS,
                           "the command of --mpi has failed: what it writes to standard output is "
                           "not that of discern-train");
    }
    if (a->problem.type != PROBLEM_NONE) {
        problem_move(problem, &a->problem);
    } else if (!is_stopped(a)) {
        set_failure(a, out, problem);
    }
    return false;
}

bool ranks_train(const struct ranks_training *t, struct ranks_result *out,
                 struct problem *problem) {
    struct attempt a = {.t = t};
    dn_error_clear(&a.error);
    if (!launcher_run(t->launcher,
                      &(struct order){.job = t->job,
                                      .ranks = t->ranks,
                                      .memory_bytes = t->request->limits.memory_bytes,
                                      .threads = t->request->limits.threads},
                      &a.run, problem)) {
        return false;
    }
    log_info("job.ranks", log_int("job", t->job), log_int("ranks", t->ranks));
    const bool read = read_all(&a);
    (void)close(a.run.output); /* before the wait: a rank that writes must not wait */
    (void)close(a.run.errors);
    const bool good = take_end(&a, read, out, problem);
    (void)close(a.run.control);
    problem_done(&a.problem);
    buf_done(&a.output);
    buf_done(&a.errors);
    buf_done(&a.bytes);
    return good;
}
