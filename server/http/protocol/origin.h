/* Protection of browsers: Host, Origin, CORS. */
#ifndef HTTP_ORIGIN_H
#define HTTP_ORIGIN_H

#include "http/call/call.h"

/* Checks the form of Host. Returns false with a problem (400). */
bool origin_check_form(const struct http_call *call, struct problem *problem);
/* Checks that the server answers requests for this Host. Returns false with a problem (421). */
bool origin_check_host(const struct http_call *call, struct problem *problem);
/* Sets request.cross_origin if Origin is an allowed foreign origin. Returns false with a problem
 * (403) if another foreign origin sends a request of an unsafe method. */
bool origin_check(struct http_call *call, struct problem *problem);
/* Checks that each item of --allowed-host and --allow-origin has the form of a Host or an
 * Origin. */
bool origin_check_lists(const struct option_list *hosts, const struct option_list *origins,
                        struct problem *problem);
/* Writes "host:port" in lower case, with default_port if the host has none, for comparisons.
 * Returns false if the host is malformed. */
bool origin_normalise(const char *host, size_t n, const char *default_port, char *out,
                      size_t out_size);

#endif
