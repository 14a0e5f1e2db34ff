/* TCP_INFO, and its substitutes for local sockets. */
#include "http/net/tcp_progress.h"
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#ifdef __linux__
#include <linux/sockios.h>
#include <linux/tcp.h>
#endif

/* values of tcpi_state in the kernel; only <netinet/tcp.h> defines names for them */
#define CLOSED 7
#define CLOSE_WAIT 8

void tcp_progress_read(int fd, struct tcp_progress *out) {
    memset(out, 0, sizeof *out);
#ifdef __linux__
    struct tcp_info info;
    socklen_t size = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0) {
        if (size >=
            offsetof(struct tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received) {
            out->received = info.tcpi_bytes_received;
            out->sent = info.tcpi_bytes_acked;
            out->counted = true;
        }
        out->quiet_ms = info.tcpi_last_data_recv < info.tcpi_last_data_sent
                            ? info.tcpi_last_data_recv
                            : info.tcpi_last_data_sent;
        out->ended = info.tcpi_state == CLOSE_WAIT || info.tcpi_state == CLOSED;
        return;
    }
    char byte;
    out->ended = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
    int waiting = 0; /* local socket: bytes of kernel memory that the peer has not read yet */
    if (ioctl(fd, SIOCOUTQ, &waiting) == 0) {
        out->sent = (uint64_t)waiting;
    }
#else
    (void)fd;
#endif
}
