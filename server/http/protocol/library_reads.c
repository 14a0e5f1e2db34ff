/* The library takes the end of what a client sends for the end of the client: a read that gives 0
 * closes the connection, in whatever state it is. But a client that has shut down its sending side
 * behind a complete request still waits for the answer. Such a read happens when a connection is
 * resumed, and the call's work would be done and its answer lost. So it is told "nothing there"
 * instead while the whole request has arrived, and once after a paused body was let go on, for the
 * rest of the body may lie in the library's buffer. When the answer is sent, or the rest of the
 * body is taken and was not all, it reads again and finds the end. Resets are told as they are. It
 * calls recv by way of the dynamic linker and finds the function of that name here, as with
 * library_pages.c. */
#undef _FORTIFY_SOURCE /* its inline recv would be a second definition */
#define _GNU_SOURCE    /* RTLD_NEXT */
#include "http/protocol/library_reads.h"
#include "http/call/call.h"
#include "http/server.h"
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

typedef ssize_t (*recv_function)(int fd, void *out, size_t most, int flags);
static recv_function system_recv;              /* set once, before any I/O thread */
static _Thread_local struct http_server *here; /* of an I/O thread; NULL: any other thread */

bool library_reads_init(void) {
    if (system_recv != NULL) {
        return true;
    }
    void *symbol = dlsym(RTLD_NEXT, "recv");
    const recv_function ours = recv;
    void *found = dlsym(RTLD_DEFAULT, "recv"); /* what the library will find */
    if (symbol == NULL || memcmp(&found, &ours, sizeof found) != 0) {
        return false;
    }
    memcpy(&system_recv, &symbol,
           sizeof symbol); /* ISO C has no cast from an object pointer to a function pointer */
    return true;
}

void library_reads_enter(struct http_server *server) {
    here = server;
}

/* The call under way on a descriptor of this I/O thread. */
static struct http_call *call_on(int fd) {
    if (here == NULL || fd < 0 || (size_t)fd >= here->connections.n_slots) {
        return NULL;
    }
    return here->connections.slots[fd].call;
}

/* Has the end that was just read to wait? */
static bool end_waits(struct http_call *call) {
    if (call->arrived && atomic_load(&call->stage) != STAGE_CLOSED) {
        return true;
    }
    return atomic_exchange(&call->let_go, false);
}

ssize_t recv(int fd, void *out, size_t most, int flags) {
    if (system_recv == NULL) { /* a program that starts no server */
        struct iovec piece = {.iov_base = out, .iov_len = most};
        return recvmsg(fd, &(struct msghdr){.msg_iov = &piece, .msg_iovlen = 1}, flags);
    }
    ssize_t n = system_recv(fd, out, most, flags);
    struct http_call *call = n == 0 && most > 0 ? call_on(fd) : NULL;
    if (call == NULL || !end_waits(call)) {
        return n;
    }
    errno = EAGAIN;
    return -1;
}
