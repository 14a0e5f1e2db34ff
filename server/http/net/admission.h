/* Which connections are admitted at the limits, and which are closed for them. */
#ifndef HTTP_ADMISSION_H
#define HTTP_ADMISSION_H

#include "base/metrics/metrics.h"
#include "http/http.h"
#include "http/net/connections.h"

/* A decision about a connection that was accepted. */
struct admission {
    bool admitted;
    enum connection_kind kind;
    bool counted;              /* the peer was counted in server->per_address */
    enum problem_type refusal; /* why the server is full; PROBLEM_NONE: it is not */
};

/* Decides about a connection of this peer. At a limit the connection that has been idle for the
 * longest time is closed for it; if there is none, the connection is reserved for health checks.
 * health: it was accepted at the address of --health-listen. The acceptor only. */
struct admission admission_decide(struct http_server *server, const struct address *peer,
                                  bool trusted, bool health);
/* Counts a connection that was admitted. The acceptor only. */
void admission_enter(struct http_server *server, struct connection *c,
                     const struct admission *admission);
/* Undoes what admission_decide and admission_enter counted, once. Any thread. */
void admission_leave(struct http_server *server, struct connection *c);
/* Returns false, with problem set, if the connection does not serve the route. */
bool admission_check_route(const struct connection *c, const struct http_route *route,
                           bool has_body, struct problem *problem);
/* The reason of a refusal, for clients. */
const char *admission_refusal(enum problem_type refusal);
/* The metric that counts it. */
struct metric *admission_metric(struct http_server *server, enum problem_type refusal);

#endif
