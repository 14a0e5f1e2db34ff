/* The stacks of threads. */
#ifndef BASE_THREADS_H
#define BASE_THREADS_H

#define THREADS_STACK_BYTES (2 << 20)

/* Sets the size of the stacks of threads that are started from now on, by the daemon and by
 * libraries. Without it the size would be the soft limit RLIMIT_STACK of the process. Does nothing
 * in builds with a sanitizer, whose code needs larger stacks. */
void threads_set_stack(void);

#endif
