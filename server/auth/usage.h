/* What the calls with a token use: requests and rows in a second, and heavy calls in progress. The
 * usage of a token survives reloads of the token file; it starts anew with the daemon. Thread
 * safe. */
#ifndef AUTH_USAGE_H
#define AUTH_USAGE_H

#include <stdbool.h>
#include <stdint.h>

/* Limits of a token; 0: none. */
struct auth_limits {
    double requests; /* in a second */
    double rows;     /* in a second: predicted, evaluated, transformed, uploaded */
    int64_t calls;   /* heavy calls at once */
    int64_t jobs;    /* queued and running at once */
    int64_t bytes;   /* stored datasets and models */
};

struct auth_usage;
struct auth_usage *auth_usage_new(void); /* NULL: out of memory. The caller has one reference */
void auth_usage_ref(struct auth_usage *u);
void auth_usage_unref(struct auth_usage *u); /* NULL is allowed */

/* A bucket holds what may be used at once, at most that of one second, and fills at the rate of the
 * limit. Returns 0 if there is room for a request, which is then counted, and no earlier rows have
 * to be waited for. Otherwise returns the seconds until a retry can succeed.
 *
 *   takes_rows  the request will use rows */
double auth_usage_request(struct auth_usage *u, const struct auth_limits *limits, bool takes_rows);
/* Counts rows. They are known only when the call has read them, so the bucket may fall below
 * empty; later calls wait until it is filled again. */
void auth_usage_rows(struct auth_usage *u, const struct auth_limits *limits, int64_t rows);
/* Counts a heavy call until auth_usage_leave. Returns false if the limit is reached. */
bool auth_usage_enter(struct auth_usage *u, const struct auth_limits *limits);
void auth_usage_leave(struct auth_usage *u);
int64_t auth_usage_calls(struct auth_usage *u);

#endif
