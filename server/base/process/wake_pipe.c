/* A pipe that wakes a thread from poll. */
#include "base/process/wake_pipe.h"
#include <fcntl.h>
#include <unistd.h>

bool descriptor_set_flags(int fd) {
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0 &&
           fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

bool wake_pipe_open(int fds[2]) {
    if (pipe(fds) != 0) {
        fds[0] = fds[1] = 0;
        return false;
    }
    if (descriptor_set_flags(fds[0]) && descriptor_set_flags(fds[1])) {
        return true;
    }
    wake_pipe_close(fds);
    return false;
}

void wake_pipe_wake(const int fds[2]) {
    ssize_t n = write(fds[1], "", 1); /* a full pipe wakes the thread too */
    (void)n;
}

void wake_pipe_clear(const int fds[2]) {
    char bytes[64];
    while (read(fds[0], bytes, sizeof bytes) > 0) {
        continue;
    }
}

void wake_pipe_close(int fds[2]) {
    for (int i = 0; i < 2; i++) {
        if (fds[i] > 0) {
            (void)close(fds[i]);
        }
        fds[i] = 0;
    }
}
