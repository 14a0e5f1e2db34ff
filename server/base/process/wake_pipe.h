/* A pipe that wakes a thread from poll. */
#ifndef BASE_WAKE_PIPE_H
#define BASE_WAKE_PIPE_H

#include <stdbool.h>

/* Makes a descriptor non-blocking and closed on exec. */
bool descriptor_set_flags(int fd);

/* Opens the pipe, whose end fds[0] becomes readable by wake_pipe_wake. Returns false if there is no
 * descriptor left. */
bool wake_pipe_open(int fds[2]);
void wake_pipe_wake(const int fds[2]);  /* any thread, does not block */
void wake_pipe_clear(const int fds[2]); /* by the thread that was woken */
void wake_pipe_close(int fds[2]);       /* may be called again */

#endif
