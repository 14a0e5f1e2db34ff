/* pthread_setattr_default_np is an extension of glibc and musl. */
#define _GNU_SOURCE
#include "base/process/threads.h"
#include <pthread.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif

void threads_set_stack(void) {
#if defined(__linux__) && !defined(SANITIZED)
    pthread_attr_t attr;
    if (pthread_attr_init(&attr) == 0) {
        if (pthread_attr_setstacksize(&attr, THREADS_STACK_BYTES) == 0) {
            (void)pthread_setattr_default_np(&attr);
        }
        (void)pthread_attr_destroy(&attr);
    }
#endif
}
