/* The callbacks of the library. */
#ifndef HTTP_DISPATCH_H
#define HTTP_DISPATCH_H

#include "http/server.h"

/* To be called before the first dispatch_start. Returns false if the library is linked statically.
 */
bool dispatch_init(void);
/* Starts one daemon of the library: a thread with its own epoll. The acceptor gives it connections.
 */
bool dispatch_start(struct io *io, struct problem *problem);
/* Answers a client that speaks HTTP where TLS is expected. On the I/O thread. */
void dispatch_spoke_plain(struct connection *c);

#endif
