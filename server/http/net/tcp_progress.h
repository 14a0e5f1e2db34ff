/* What the kernel knows about a socket. A separate file, because <linux/tcp.h> and <netinet/tcp.h>
 * cannot both be included. */
#ifndef HTTP_TCP_PROGRESS_H
#define HTTP_TCP_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct tcp_progress {
    uint64_t received; /* bytes that arrived */
    uint64_t sent;     /* bytes that the peer acknowledged; not TCP: a number that changes when the
                          peer reads */
    int64_t quiet_ms;  /* since when bytes arrived or were sent last; not TCP: 0 */
    bool counted;      /* received and sent are numbers of bytes (TCP on Linux) */
    bool ended;        /* the peer has closed its side, or reset the connection */
};
void tcp_progress_read(int fd, struct tcp_progress *out);

#endif
