/* What the kernel knows of a socket: bytes received and delivered, whether the peer has ended. A
 * file of its own: <linux/tcp.h> and <netinet/tcp.h> exclude each other. */
#ifndef HTTP_TCP_PROGRESS_H
#define HTTP_TCP_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct tcp_progress {
    uint64_t received; /* bytes that arrived */
    uint64_t sent; /* bytes the peer acknowledged; for a socket that is not TCP a number that moves
                      when the peer reads */
    bool counted;  /* both are counts of bytes (TCP on Linux) */
    bool ended;    /* the peer has closed its side, or reset the connection */
};
void tcp_progress_read(int fd, struct tcp_progress *out);

#endif
