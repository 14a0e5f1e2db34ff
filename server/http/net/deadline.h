/* Deadlines of one connection: how long each phase may last. Pure functions of times and counters.
 */
#ifndef HTTP_DEADLINE_H
#define HTTP_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

enum phase {
    PHASE_NONE,      /* no connection */
    PHASE_HANDSHAKE, /* the handshake of TLS */
    PHASE_HEADER,    /* a request header is due */
    PHASE_IDLE,      /* between two requests */
    PHASE_BODY,      /* the body is being read */
    PHASE_DISCARD,   /* the body of a refused request is being discarded */
    PHASE_WORK,      /* a handler runs or waits: nothing is due from the client */
    PHASE_SEND,      /* the reply is being sent */
    PHASE_CUT        /* the sweeper has ended the connection */
};

enum verdict {
    VERDICT_KEEP,
    VERDICT_DROP,    /* close without a response */
    VERDICT_TIMEOUT, /* 408 and close: no reply was sent yet */
    VERDICT_ANSWER   /* the final response at once, then reading for DEADLINE_AFTER_NS at most */
};

struct deadline_limits {
    int64_t header_ns; /* also of a handshake */
    int64_t idle_ns, keep_alive_ns, discard_ns;
    double minimum_rate; /* bytes/s over DEADLINE_WINDOW_NS; 0: none */
};
#define DEADLINE_WINDOW_NS 30000000000
#define DEADLINE_AFTER_NS 5000000000

/* The counters of a connection at the time of a sweep. */
struct deadline_view {
    uint64_t epoch; /* changes with every change of phase */
    enum phase phase;
    uint64_t received; /* bytes that arrived, counted by the kernel; 0 if it does not count */
    uint64_t taken;    /* bytes of bodies that the server took */
    uint64_t sent; /* if `counted`: bytes that the client acknowledged; else a number that changes
                          when the client reads */
    bool counted;  /* received and sent are numbers of bytes */
};

struct deadline {
    uint64_t epoch;        /* the epoch that all members below belong to */
    int64_t since_ns;      /* time of the first sweep in this epoch */
    int64_t progress_ns;   /* time at which the counter last changed */
    int64_t window_ns;     /* beginning of the window over which the rate is measured */
    uint64_t window_bytes; /* counter at window_ns */
    uint64_t last;         /* counter at the last sweep */
    int64_t first_ns;      /* PHASE_IDLE: time of the first byte of the next request; 0: none yet */
};

/* Begins a new epoch. */
void deadline_open(struct deadline *d, uint64_t epoch, int64_t now_ns);
enum verdict deadline_check(struct deadline *d, const struct deadline_view *view,
                            const struct deadline_limits *limits, int64_t now_ns);

#endif
