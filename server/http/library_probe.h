/* Tests at start what the HTTP library does with ambiguous requests, and whether it calls the
 * replacements of library_quirks.c. */
#ifndef HTTP_LIBRARY_PROBE_H
#define HTTP_LIBRARY_PROBE_H

#include "base/problem.h"
#include <stdbool.h>

struct http_server;
struct io;

/* Sends requests to this I/O thread, which has no TLS, over socket pairs. If the library does not
 * behave as expected, logs one warning and sets server->close_all; where that could make it use
 * memory that is not its own, sets the problem and returns false. To be called before the acceptor
 * starts. */
bool library_probe(struct http_server *server, const struct io *io, struct problem *problem);

#endif
