/* The table of connections. */
#include "http/net/connections.h"
#include "base/process/clock.h"
#include <stdlib.h>
#include <string.h>

bool connections_init(struct connections *table, size_t n_slots) {
    memset(table, 0, sizeof *table);
    table->slots = calloc(n_slots, sizeof *table->slots); /* most pages are never touched */
    if (table->slots == NULL) {
        return false;
    }
    table->n_slots = n_slots;
    return true;
}

void connections_done(struct connections *table) {
    for (size_t i = 0; i < atomic_load(&table->high); i++) {
        free(table->slots[i].final_response);
        (void)pthread_mutex_destroy(&table->slots[i].lock);
    }
    free(table->slots);
    table->slots = NULL;
}

struct connection *connections_open(struct connections *table, int fd, bool *stale) {
    *stale = false;
    if (fd < 0 || (size_t)fd >= table->n_slots) {
        return NULL;
    }
    size_t high = atomic_load(&table->high); /* only this thread, the acceptor, writes it */
    for (size_t i = high; i <= (size_t)fd; i++) {
        if (pthread_mutex_init(&table->slots[i].lock, NULL) != 0) {
            return NULL;
        }
        table->slots[i].fd = -1;
        atomic_store(&table->high, i + 1);
    }
    struct connection *c = &table->slots[fd];
    (void)pthread_mutex_lock(&c->lock);
    *stale = c->fd >= 0;
    c->fd = fd;
    c->call = NULL;
    c->linger = false;
    c->secure = false;
    c->tls = NULL;
    c->host[0] = '\0';
    atomic_store(&c->body, 0);
    atomic_store(&c->pulled, 0);
    atomic_store(&c->handshake, 0);
    atomic_store(&c->sent, 0);
    atomic_store(&c->gone, false);
    atomic_store(&c->state, ((atomic_load(&c->state) >> 8) + 1) << 8 | PHASE_NONE);
    (void)pthread_mutex_unlock(&c->lock);
    return c;
}

void connections_publish(struct connection *c) {
    (void)pthread_mutex_lock(&c->lock);
    uint64_t epoch = (atomic_load(&c->state) >> 8) + 1;
    deadline_open(&c->deadline, epoch, clock_monotonic_ns());
    atomic_store(&c->state, epoch << 8 | (c->secure ? PHASE_HANDSHAKE : PHASE_HEADER));
    (void)pthread_mutex_unlock(&c->lock);
}

void connections_close(struct connection *c) {
    (void)pthread_mutex_lock(&c->lock);
    c->fd = -1;
    free(c->final_response);
    c->final_response = NULL;
    uint64_t epoch = (atomic_load(&c->state) >> 8) + 1;
    atomic_store(&c->state, epoch << 8 | PHASE_NONE);
    (void)pthread_mutex_unlock(&c->lock);
}

void connection_final_response(struct connection *c, char *text, size_t size) {
    (void)pthread_mutex_lock(&c->lock);
    free(c->final_response);
    c->final_response = text;
    c->final_response_size = size;
    (void)pthread_mutex_unlock(&c->lock);
}

bool connection_enter(struct connection *c, enum phase phase) {
    uint64_t state = atomic_load_explicit(&c->state, memory_order_relaxed);
    do {
        if ((state & 0xff) == PHASE_CUT) {
            return false;
        }
    } while (!atomic_compare_exchange_weak(&c->state, &state, ((state >> 8) + 1) << 8 | phase));
    return true;
}

enum phase connection_phase(const struct connection *c) {
    return (enum phase)(atomic_load(&c->state) & 0xff);
}

void connection_progress(const struct connection *c, struct tcp_progress *out) {
    tcp_progress_read(c->fd, out);
    const uint64_t handshake = atomic_load(&c->handshake);
    out->received -= out->received < handshake ? out->received : handshake;
}
