/* Lingering closes. */
#include "http/net/linger.h"
#include "base/process/clock.h"
#include "base/process/wake_pipe.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct lingering {
    size_t n;                          /* number of descriptors, without the pipe */
    struct pollfd fds[LINGER_MAX + 1]; /* [n + 1] the last is the pipe */
    int64_t until[LINGER_MAX];  /* [n] monotonic time in ns at which a descriptor is closed */
    int64_t silent[LINGER_MAX]; /* [n] monotonic time in ns at which it is closed unless more
                                   bytes arrive */
    char waste[65536];          /* receives bytes that are not used */
};

static void drop(struct lingering *l, size_t i) {
    (void)close(l->fds[i].fd);
    l->n--;
    l->fds[i] = l->fds[l->n];
    l->until[i] = l->until[l->n];
    l->silent[i] = l->silent[l->n];
}

static bool take_incoming(struct lingerer *linger, struct lingering *l) {
    wake_pipe_clear(linger->pipe);
    int64_t now = clock_monotonic_ns();
    (void)pthread_mutex_lock(&linger->lock);
    bool stop = linger->stop;
    for (size_t i = 0; i < linger->n_incoming; i++) {
        if (l->n == LINGER_MAX) {
            size_t oldest = 0;
            for (size_t k = 1; k < l->n; k++) {
                oldest = l->until[k] < l->until[oldest] ? k : oldest;
            }
            drop(l, oldest);
        }
        l->fds[l->n] = (struct pollfd){.fd = linger->incoming[i], .events = POLLIN};
        l->until[l->n] = now + LINGER_NS;
        l->silent[l->n] = now + LINGER_SILENT_NS;
        l->n++;
    }
    linger->n_incoming = 0;
    (void)pthread_mutex_unlock(&linger->lock);
    return !stop;
}

/* Reads and drops the bytes that have arrived, within a limit. Returns false if the descriptor can
 * be closed. */
static bool swallow(struct lingering *l, int fd) {
    for (int i = 0; i < 16; i++) {
        ssize_t n = recv(fd, l->waste, sizeof l->waste, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
            return false;
        }
        if (n < (ssize_t)sizeof l->waste) {
            return true;
        }
    }
    return true;
}

static void *linger_main(void *arg) {
    struct lingerer *linger = arg;
    struct lingering *l = linger->state;
    while (take_incoming(linger, l)) {
        l->fds[l->n] = (struct pollfd){.fd = linger->pipe[0], .events = POLLIN};
        if (poll(l->fds, (nfds_t)(l->n + 1), l->n > 0 ? 250 : -1) < 0 && errno != EINTR) {
            break;
        }
        int64_t now = clock_monotonic_ns();
        for (size_t i = l->n; i-- > 0;) {
            bool alive = true;
            if (l->fds[i].revents != 0) {
                alive = swallow(l, l->fds[i].fd);
                l->silent[i] = now + LINGER_SILENT_NS;
            }
            if (!alive || now > l->until[i] || now > l->silent[i]) {
                drop(l, i);
            }
        }
    }
    while (l->n > 0) {
        drop(l, l->n - 1);
    }
    return NULL;
}

bool linger_start(struct lingerer *linger) {
    memset(linger, 0, sizeof *linger);
    linger->state = calloc(1, sizeof *linger->state);
    if (linger->state != NULL && wake_pipe_open(linger->pipe) &&
        pthread_mutex_init(&linger->lock, NULL) == 0) {
        linger->started = pthread_create(&linger->thread, NULL, linger_main, linger) == 0;
        if (linger->started) {
            return true;
        }
        (void)pthread_mutex_destroy(&linger->lock);
    }
    wake_pipe_close(linger->pipe);
    free(linger->state);
    return false;
}

void linger_add(struct lingerer *linger, int fd) {
    (void)shutdown(fd, SHUT_WR);
    (void)pthread_mutex_lock(&linger->lock);
    bool taken = linger->n_incoming < LINGER_MAX && !linger->stop;
    if (taken) {
        linger->incoming[linger->n_incoming++] = fd;
    }
    (void)pthread_mutex_unlock(&linger->lock);
    if (taken) {
        wake_pipe_wake(linger->pipe);
    } else {
        (void)close(fd);
    }
}

void linger_stop(struct lingerer *linger) {
    if (!linger->started) {
        return;
    }
    (void)pthread_mutex_lock(&linger->lock);
    linger->stop = true;
    (void)pthread_mutex_unlock(&linger->lock);
    wake_pipe_wake(linger->pipe);
    (void)pthread_join(linger->thread, NULL);
    for (size_t i = 0; i < linger->n_incoming; i++) {
        (void)close(linger->incoming[i]);
    }
    (void)pthread_mutex_destroy(&linger->lock);
    wake_pipe_close(linger->pipe);
    free(linger->state);
    linger->started = false;
}
