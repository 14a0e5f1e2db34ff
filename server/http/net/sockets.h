/* Listening sockets: addresses as the user writes them, systemd's sockets. */
#ifndef HTTP_SOCKETS_H
#define HTTP_SOCKETS_H

#include "http/net/listener.h"

/* Listens on an address: "127.0.0.1:8080", "[::]:8080", "localhost:0", "unix:PATH". */
bool sockets_listen(struct listener *listener, const char *address, struct problem *problem);
/* Whether systemd has passed sockets to this process. */
bool sockets_handed_over(void);
/* Takes the sockets that systemd has passed. *found: whether there are any. */
bool sockets_inherit(struct listener *listener, bool *found, struct problem *problem);

#endif
