/* Deadlines of one connection. The first sweep of an epoch only stores the counters, so a deadline
 * may be late by one sweep, but is never early. */
#include "http/net/deadline.h"
#include <string.h>

void deadline_open(struct deadline *d, uint64_t epoch, int64_t now_ns) {
    memset(d, 0, sizeof *d);
    d->epoch = epoch;
    d->since_ns = d->progress_ns = d->window_ns = now_ns;
}

static uint64_t counter_of(const struct deadline_view *view) {
    return view->phase == PHASE_BODY || view->phase == PHASE_DISCARD ? view->taken
           : view->phase == PHASE_SEND                               ? view->sent
                                                                     : view->received;
}

/* Returns true if the counter has not changed for idle_ns, or has not reached the minimum rate in
 * the last window. */
static bool too_slow(struct deadline *d, bool counted, const struct deadline_limits *limits,
                     int64_t now_ns) {
    if (now_ns - d->progress_ns > limits->idle_ns) {
        return true;
    }
    if (now_ns - d->window_ns < DEADLINE_WINDOW_NS) {
        return false;
    }
    double seconds = (double)(now_ns - d->window_ns) / 1e9;
    double bytes = (double)(d->last - d->window_bytes);
    d->window_ns = now_ns;
    d->window_bytes = d->last;
    return counted && bytes < limits->minimum_rate * seconds;
}

enum verdict deadline_check(struct deadline *d, const struct deadline_view *view,
                            const struct deadline_limits *limits, int64_t now_ns) {
    uint64_t counter = counter_of(view);
    if (view->epoch != d->epoch) {
        bool began = view->phase == PHASE_HEADER && view->epoch == d->epoch + 1 && d->first_ns != 0;
        int64_t since =
            began ? d->first_ns : now_ns; /* the header began with the first byte of its first
                                             line */
        deadline_open(d, view->epoch, since);
        d->last = d->window_bytes = counter;
        return VERDICT_KEEP;
    }
    bool moved = counter != d->last;
    d->last = counter;
    if (moved) {
        d->progress_ns = now_ns;
    }
    switch (view->phase) {
    case PHASE_HANDSHAKE:
        return now_ns - d->since_ns > limits->header_ns ? VERDICT_DROP : VERDICT_KEEP;
    case PHASE_HEADER:
        if (now_ns - d->since_ns <= limits->header_ns) {
            return VERDICT_KEEP;
        }
        /* no 408 without a byte: browsers open connections that they may never use */
        return view->received == 0 && view->counted ? VERDICT_DROP : VERDICT_TIMEOUT;
    case PHASE_IDLE:
        if (moved && d->first_ns == 0) {
            d->first_ns = now_ns;
        }
        if (d->first_ns != 0 && now_ns - d->first_ns > limits->header_ns) {
            return VERDICT_TIMEOUT;
        }
        return now_ns - d->since_ns > limits->keep_alive_ns ? VERDICT_DROP : VERDICT_KEEP;
    case PHASE_BODY:
        return too_slow(d, true, limits, now_ns) ? VERDICT_TIMEOUT : VERDICT_KEEP;
    case PHASE_SEND:
        return too_slow(d, view->counted, limits, now_ns) ? VERDICT_DROP : VERDICT_KEEP;
    case PHASE_DISCARD:
        return now_ns - d->since_ns > limits->discard_ns ||
                       now_ns - d->progress_ns > limits->idle_ns
                   ? VERDICT_ANSWER
                   : VERDICT_KEEP;
    case PHASE_CUT:
        return now_ns - d->since_ns > DEADLINE_AFTER_NS ? VERDICT_DROP : VERDICT_KEEP;
    case PHASE_NONE:
    case PHASE_WORK:
        break;
    }
    return VERDICT_KEEP;
}
