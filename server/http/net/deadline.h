/* Deadlines of one connection: what it may take for the phase it is in. Pure: time and counters
 * come in, a verdict goes out. */
#ifndef HTTP_DEADLINE_H
#define HTTP_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

enum phase {
    PHASE_NONE,    /* no connection */
    PHASE_HEADER,  /* a request header is due */
    PHASE_IDLE,    /* between two requests */
    PHASE_BODY,    /* the body is being read */
    PHASE_DISCARD, /* the body of a refused request is being thrown away */
    PHASE_WORK,    /* it is our turn: nothing is due from the client */
    PHASE_SEND,    /* the answer is being written */
    PHASE_CUT      /* the sweeper has ended it */
};

enum verdict {
    VERDICT_KEEP,
    VERDICT_DROP,    /* close without a word */
    VERDICT_TIMEOUT, /* 408 and close: nothing was answered yet */
    VERDICT_ANSWER   /* the answer at once, then reading for DEADLINE_AFTER_NS at most */
};

struct deadline_limits {
    int64_t header_ns, idle_ns, keep_alive_ns, discard_ns;
    double minimum_rate; /* bytes/s over DEADLINE_WINDOW_NS; 0: none */
};
#define DEADLINE_WINDOW_NS 30000000000
#define DEADLINE_AFTER_NS 5000000000

/* What a sweep sees. */
struct deadline_view {
    uint64_t epoch; /* changes with every change of phase */
    enum phase phase;
    uint64_t received; /* bytes that came, the kernel's count; 0 where it keeps none */
    uint64_t taken;    /* bytes of bodies the server took */
    uint64_t sent; /* any number that changes when the client takes some of the answer; the count of
                      bytes where counted is true */
    bool counted;  /* received and sent are counts of bytes */
};

struct deadline {
    uint64_t epoch;        /* the rest belongs to this epoch */
    int64_t since_ns;      /* when it was first seen */
    int64_t progress_ns;   /* when a byte last moved */
    int64_t window_ns;     /* start of the window of the rate */
    uint64_t window_bytes; /* counter at its start */
    uint64_t last;         /* counter at the last sweep */
    int64_t first_ns;      /* PHASE_IDLE: when the next request began to come; 0: not yet */
};

/* A new connection, accepted now. */
void deadline_open(struct deadline *d, uint64_t epoch, int64_t now_ns);
enum verdict deadline_judge(struct deadline *d, const struct deadline_view *view,
                            const struct deadline_limits *limits, int64_t now_ns);

#endif
