/* Browsers: Host, Origin, CORS. */
#ifndef HTTP_ORIGIN_H
#define HTTP_ORIGIN_H

#include "http/call/call.h"

/* Host is one the server answers for. false: problem (421). */
bool origin_check_host(const struct http_call *call, struct problem *problem);
/* Takes note of an allowed foreign origin; refuses an unsafe request of any other. false: problem
 * (403). */
bool origin_check(struct http_call *call, struct problem *problem);
/* --allowed-host and --allow-origin: is each item something that a Host or an Origin can be? */
bool origin_check_lists(const struct option_list *hosts, const struct option_list *origins,
                        struct problem *problem);
/* "host:port" with the port always there, lower case, for comparison. false: malformed. */
bool origin_normalise(const char *host, size_t n, const char *default_port, char *out,
                      size_t out_size);

#endif
