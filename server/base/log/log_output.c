/* The output of the log. Lines that may be written later are gathered as records in one of two
 * buffers. A thread that writes exchanges the buffers, then formats and writes the lines of the
 * full one.
 *
 * There are two locks. `gather` guards the buffers and is a leaf. `writing` is held while a buffer
 * is written, so that lines are written in the order in which they were gathered. It is the only
 * lock of the server that is held during I/O. `gather` may be taken while `writing` is held. */
#include "base/log/log_output.h"
#include "base/log/log_record.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    BUFFER_SIZE = 1 << 20, /* bytes of records in a buffer */
    WAKE_SIZE = BUFFER_SIZE / 16,
    GATHER_MS = 20,
    TEXT_SIZE = 4 * LOG_LINE_MAX /* bytes of lines that are written with one write(2) */
};

/* Records of lines that are not written yet. */
struct gathered {
    /* number of bytes in use; atomic because on_crash reads it without the lock */
    _Atomic size_t size;
    _Alignas(8) char data[BUFFER_SIZE];
};

static struct {
    pthread_mutex_t writing;    /* held during write(2); guards `text` */
    char text[TEXT_SIZE];       /* the lines of several records, which are written together */
    pthread_mutex_t gather;     /* guards the members below */
    pthread_cond_t wake;        /* signalled when a record was gathered or `stop` was set */
    struct gathered buffers[2]; /* one is filled while the other is written */
    atomic_int filling;         /* index of the buffer that is being filled */
    bool asleep;                /* the thread waits for the first record */
    int64_t dropped;            /* lines for which the buffer had no room, since the start */
    /* number of dropped lines that the log has reported; used by the thread only */
    int64_t reported;
    bool stop; /* the thread must end */
    pthread_t thread;
} output = {.writing = PTHREAD_MUTEX_INITIALIZER, .gather = PTHREAD_MUTEX_INITIALIZER};
static atomic_int output_fd = STDERR_FILENO;
static atomic_int output_format = LOG_TEXT;
static atomic_bool gathering; /* the thread is running */

void log_output_open(int fd, enum log_format format) {
    atomic_store(&output_fd, fd);
    atomic_store(&output_format, (int)format);
}

static void write_all(const char *bytes, size_t size) {
    const int fd = atomic_load(&output_fd);
    while (size > 0) {
        const ssize_t n = write(fd, bytes, size);
        if (n > 0) {
            bytes += n;
            size -= (size_t)n;
        } else if (errno != EINTR) {
            /* there is no place to report that the log cannot be written */
            break;
        }
    }
}

/* Formats the lines of records[size] in text[room] and writes them. room: at least LOG_LINE_MAX. */
static void write_records(const char *records, size_t size, char *text, size_t room) {
    const enum log_format format = (enum log_format)atomic_load(&output_format);
    size_t filled = 0;
    for (size_t at = 0; at < size;) {
        struct log_line line = {.data = text + filled};
        at += log_record_line(records + at, format, &line);
        filled += line.size;
        if (room - filled < LOG_LINE_MAX || at == size) {
            write_all(text, filled);
            filled = 0;
        }
    }
}

/* Writes the gathered records. `writing` is held. */
static void write_gathered(void) {
    (void)pthread_mutex_lock(&output.gather);
    struct gathered *full = &output.buffers[atomic_load(&output.filling)];
    /* The other buffer is empty: it was written while `writing` was held. */
    atomic_store(&output.filling, !atomic_load(&output.filling));
    (void)pthread_mutex_unlock(&output.gather);
    write_records(full->data, atomic_load(&full->size), output.text, sizeof output.text);
    atomic_store(&full->size, 0);
}

void log_output_write(int64_t time_ms, enum log_level level, const char *event,
                      const struct log_field *fields, size_t n) {
    char text[LOG_LINE_MAX];
    struct log_line line = {.data = text};
    log_line_build(&line, (enum log_format)atomic_load(&output_format), time_ms, level, event,
                   fields, n);
    (void)pthread_mutex_lock(&output.writing);
    if (atomic_load(&gathering)) {
        write_gathered();
    }
    write_all(line.data, line.size);
    (void)pthread_mutex_unlock(&output.writing);
}

/* Gathers a line. Never waits for write(2): if there is no room, the line is counted and
 * dropped. */
static void gather(int64_t time_ms, enum log_level level, const char *event,
                   const struct log_field *fields, size_t n) {
    (void)pthread_mutex_lock(&output.gather);
    struct gathered *g =
        &output.buffers[atomic_load_explicit(&output.filling, memory_order_relaxed)];
    const size_t before = atomic_load_explicit(&g->size, memory_order_relaxed);
    const size_t size = log_record_pack(g->data + before, sizeof g->data - before, time_ms, level,
                                        event, fields, n);
    atomic_store_explicit(&g->size, before + size, memory_order_release);
    output.dropped += size == 0;
    const bool wake = output.asleep || (before < WAKE_SIZE && before + size >= WAKE_SIZE);
    output.asleep = false;
    (void)pthread_mutex_unlock(&output.gather);
    if (wake) {
        (void)pthread_cond_signal(&output.wake);
    }
}

int64_t log_dropped(void) {
    (void)pthread_mutex_lock(&output.gather);
    const int64_t n = output.dropped;
    (void)pthread_mutex_unlock(&output.gather);
    return n;
}

void log_output_later(int64_t time_ms, enum log_level level, const char *event,
                      const struct log_field *fields, size_t n) {
    if (atomic_load_explicit(&gathering, memory_order_relaxed)) {
        gather(time_ms, level, event, fields, n);
    } else {
        log_output_write(time_ms, level, event, fields, n);
    }
}

/* ---- the thread ---- */

/* Whether enough records were gathered to write them at once. */
static bool is_much(void) {
    return atomic_load(&output.buffers[atomic_load(&output.filling)].size) >= WAKE_SIZE;
}

/* Waits for the first record, then until GATHER_MS have passed or there are many records. `gather`
 * is held. Returns false if the thread must end. */
static bool wait_for_lines(void) {
    struct timespec until;
    while (!output.stop && atomic_load(&output.buffers[atomic_load(&output.filling)].size) == 0) {
        output.asleep = true;
        (void)pthread_cond_wait(&output.wake, &output.gather);
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += GATHER_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (!output.stop && !is_much() &&
           pthread_cond_timedwait(&output.wake, &output.gather, &until) == 0) {
        continue;
    }
    return !output.stop;
}

static void *gather_main(void *arg) {
    (void)arg;
    bool more = true;
    while (more) {
        (void)pthread_mutex_lock(&output.gather);
        more = wait_for_lines();
        (void)pthread_mutex_unlock(&output.gather);
        (void)pthread_mutex_lock(&output.writing);
        write_gathered();
        (void)pthread_mutex_unlock(&output.writing);
        const int64_t dropped = log_dropped();
        if (dropped > output.reported) {
            log_warn("log.dropped", log_int("lines", dropped - output.reported));
            output.reported = dropped;
        }
    }
    return NULL;
}

/* Handler of signals that end the process: writes the gathered records, without taking a lock.
 * Records that another thread is writing may be lost. SA_RESETHAND: when the handler returns, the
 * signal occurs again with its default action. */
static void on_crash(int sig) {
    (void)sig;
    static char text[LOG_LINE_MAX];
    const struct gathered *g = &output.buffers[atomic_load(&output.filling)];
    const int saved = errno;
    write_records(g->data, atomic_load_explicit(&g->size, memory_order_acquire), text, sizeof text);
    errno = saved;
}

static void catch_crashes(void) {
    static const int signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    struct sigaction take = {.sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND}, present;
    (void)sigemptyset(&take.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        if (sigaction(signals[i], NULL, &present) == 0 && present.sa_handler == SIG_DFL) {
            /* the handler of a sanitizer is not replaced */
            (void)sigaction(signals[i], &take, NULL);
        }
    }
}

bool log_gather_start(void) {
    pthread_condattr_t attr;
    bool good = pthread_condattr_init(&attr) == 0;
    if (!good) {
        return false;
    }
    good = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0 &&
           pthread_cond_init(&output.wake, &attr) == 0;
    (void)pthread_condattr_destroy(&attr);
    if (!good) {
        return false;
    }
    output.stop = false;
    output.reported = log_dropped(); /* lines that were dropped earlier are not reported */
    if (pthread_create(&output.thread, NULL, gather_main, NULL) != 0) {
        (void)pthread_cond_destroy(&output.wake);
        return false;
    }
    catch_crashes();
    atomic_store(&gathering, true);
    return true;
}

void log_gather_stop(void) {
    if (!atomic_load(&gathering)) {
        return;
    }
    (void)pthread_mutex_lock(&output.gather);
    output.stop = true;
    (void)pthread_cond_signal(&output.wake);
    (void)pthread_mutex_unlock(&output.gather);
    (void)pthread_join(output.thread, NULL);
    atomic_store(&gathering, false);
    (void)pthread_mutex_lock(&output.writing);
    write_gathered(); /* writes records that were gathered after the last round of the thread */
    (void)pthread_mutex_unlock(&output.writing);
    (void)pthread_cond_destroy(&output.wake);
}
