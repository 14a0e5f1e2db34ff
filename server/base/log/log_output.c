/* Lines on their way out. Those that may wait are gathered in one of two buffers; whoever has to
 * write takes it away and puts the other in its place.
 *
 * Two locks. `gather` guards the buffers and is a leaf. `writing` is held while a buffer is
 * written, so that lines come out in the order in which they were gathered: the one lock of the
 * server under which there is I/O, and `gather` is taken under it. */
#include "base/log/log_output.h"
#include "base/log/log.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER_SIZE = 64 * LOG_OUTPUT_LINE_MAX, WAKE_SIZE = BUFFER_SIZE / 16, GATHER_MS = 20 };

/* Lines that are not written yet. */
struct gathered {
    _Atomic size_t size; /* bytes in use; atomic for the handler of a crash alone */
    char data[BUFFER_SIZE];
};

static struct {
    pthread_mutex_t writing;    /* held over write(2) */
    pthread_mutex_t gather;     /* guards what follows */
    pthread_cond_t wake;        /* something was gathered, or stop */
    struct gathered buffers[2]; /* one is filled while the other is written */
    atomic_int filling;         /* which one is filled */
    bool asleep;                /* the thread waits to be woken */
    int64_t dropped;            /* lines that found both buffers full, since the start */
    int64_t reported;           /* of them those that the log says were dropped; of the thread */
    bool stop;                  /* the thread is to end */
    pthread_t thread;
} output = {.writing = PTHREAD_MUTEX_INITIALIZER, .gather = PTHREAD_MUTEX_INITIALIZER};
static atomic_int output_fd = STDERR_FILENO;
static atomic_bool gathering; /* the thread runs */

void log_output_open(int fd) {
    atomic_store(&output_fd, fd);
}

static void write_all(const char *bytes, size_t size) {
    const int fd = atomic_load(&output_fd);
    while (size > 0) {
        const ssize_t n = write(fd, bytes, size);
        if (n > 0) {
            bytes += n;
            size -= (size_t)n;
        } else if (errno != EINTR) {
            break; /* there is nowhere to report that the log cannot be written */
        }
    }
}

/* Called with `writing` held: writes what was gathered. */
static void write_gathered(void) {
    (void)pthread_mutex_lock(&output.gather);
    struct gathered *full = &output.buffers[atomic_load(&output.filling)];
    atomic_store(&output.filling, !atomic_load(&output.filling)); /* the other is empty, for whoever
                                                                     wrote it held `writing` */
    (void)pthread_mutex_unlock(&output.gather);
    write_all(full->data, atomic_load(&full->size));
    atomic_store(&full->size, 0);
}

void log_output_write(const char *line, size_t size) {
    (void)pthread_mutex_lock(&output.writing);
    if (atomic_load(&gathering)) {
        write_gathered();
    }
    write_all(line, size);
    (void)pthread_mutex_unlock(&output.writing);
}

/* Never waits for write(2): a line that finds no room is counted and dropped. */
static void gather(const char *line, size_t size) {
    (void)pthread_mutex_lock(&output.gather);
    struct gathered *g =
        &output.buffers[atomic_load_explicit(&output.filling, memory_order_relaxed)];
    const size_t before = atomic_load_explicit(&g->size, memory_order_relaxed);
    const bool room = size <= sizeof g->data - before;
    if (room) {
        memcpy(g->data + before, line, size);
        atomic_store_explicit(&g->size, before + size, memory_order_release);
    } else {
        output.dropped++;
    }
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

void log_output_later(const char *line, size_t size) {
    if (atomic_load_explicit(&gathering, memory_order_relaxed)) {
        gather(line, size);
    } else {
        log_output_write(line, size);
    }
}

/* ---- the thread ---- */

/* Whether so much was gathered that it is written without waiting longer. */
static bool is_much(void) {
    return atomic_load(&output.buffers[atomic_load(&output.filling)].size) >= WAKE_SIZE;
}

/* Lets lines gather from the first one on. Returns with `gather` held; false: the end. */
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

/* The process is about to die of a signal: what was gathered is written without asking for a lock,
 * perhaps with a line that is not whole. Returning from here, the signal comes again and does what
 * it always did. */
static void on_crash(int sig) {
    (void)sig;
    struct gathered *g = &output.buffers[atomic_load(&output.filling)];
    const int saved = errno;
    write_all(g->data, atomic_load_explicit(&g->size, memory_order_acquire));
    errno = saved;
}

static void catch_crashes(void) {
    static const int signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    struct sigaction take = {.sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND}, present;
    (void)sigemptyset(&take.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        if (sigaction(signals[i], NULL, &present) == 0 && present.sa_handler == SIG_DFL) {
            (void)sigaction(signals[i], &take, NULL); /* a sanitizer's own handler stays */
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
    output.reported = log_dropped(); /* before the thread runs: lines may be dropped until then */
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
    write_gathered(); /* what came after the thread's last look */
    (void)pthread_mutex_unlock(&output.writing);
    (void)pthread_cond_destroy(&output.wake);
}
