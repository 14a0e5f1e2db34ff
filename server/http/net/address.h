/* Network addresses: text and back, lists of trusted ones, counts by address. */
#ifndef HTTP_ADDRESS_H
#define HTTP_ADDRESS_H

#include "base/options/options.h"
#include "base/problem.h"
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum address_family { ADDRESS_NONE, ADDRESS_UNIX, ADDRESS_V4, ADDRESS_V6 };
/* An IPv4 address mapped into IPv6 is always held as IPv4. */
struct address {
    uint8_t family;    /* enum address_family */
    uint8_t bytes[16]; /* network order; an IPv4 address has 4, the rest is 0 */
};
#define ADDRESS_TEXT_SIZE 48

struct address address_of_sockaddr(const struct sockaddr *sa);
/* Parses "10.0.0.1", "::1", "[::1]", "10.0.0.1:80" or "[::1]:80". The port is ignored. */
bool address_parse(const char *text, size_t n, struct address *out);
/* Writes the address as text; "unix" for a local socket. */
void address_format(const struct address *a, char out[ADDRESS_TEXT_SIZE]);
bool address_equal(const struct address *a, const struct address *b);
/* Returns what one client is counted and served by: the network of 64 bits of an IPv6 address, since
 * a host usually has all addresses of one; any other address itself. */
struct address address_of_client(const struct address *a);
bool address_is_loopback(const struct address *a);

/* Which addresses are trusted proxies. Immutable after address_rules_init; any thread. */
struct address_rules {
    size_t n;
    struct {
        struct address network; /* ADDRESS_UNIX: every peer on a local socket */
        unsigned prefix;        /* bits of `network` that are compared */
    } items[OPTION_LIST_MAX];   /* in the order given */
};
bool address_rules_init(struct address_rules *rules, const struct option_list *list,
                        struct problem *problem);
bool address_rules_match(const struct address_rules *rules, const struct address *a);

/* The current number of connections or calls of each client (address_of_client). Thread safe. */
struct address_counts {
    pthread_mutex_t lock;        /* guards all below */
    struct address_count *nodes; /* [capacity] */
    uint32_t *buckets;           /* n_buckets heads: index + 1 into nodes, 0: empty */
    size_t capacity, n_buckets;  /* n_buckets is a power of two */
    uint32_t unused;             /* head of the list of free nodes: index + 1 */
};
/* capacity: distinct clients at once */
bool address_counts_init(struct address_counts *c, size_t capacity);
void address_counts_done(struct address_counts *c);
/* Counts one more for the client of this address. Returns false, and counts nothing, if it has
 * `limit` already or if the table is full. */
bool address_counts_enter(struct address_counts *c, const struct address *a, int64_t limit);
void address_counts_leave(struct address_counts *c, const struct address *a);

#endif
