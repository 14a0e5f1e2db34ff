/* The library's callbacks: a call's way from the request line to the handler and to its end. */
#ifndef HTTP_DISPATCH_H
#define HTTP_DISPATCH_H

#include "http/server.h"

/* To be called before the first dispatch_start. Returns false if the library is linked statically. */
bool dispatch_init(void);
/* Starts one daemon of the library, a thread with an epoll of its own that waits for connections
 * from the acceptor. false: problem. */
bool dispatch_start(struct io *io, struct problem *problem);

#endif
