/* Makes chosen allocations of the whole program fail: defines malloc, calloc and realloc, which
 * call those of glibc. Sanitizers and valgrind replace these functions, so the tests that need
 * failures are skipped there. Only one file of a program may include this header. */
#ifndef TESTS_ALLOC_FAIL_H
#define TESTS_ALLOC_FAIL_H

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ALLOC_FAIL_WORKS 0
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ALLOC_FAIL_WORKS 0
#endif
#ifndef ALLOC_FAIL_WORKS
#define ALLOC_FAIL_WORKS 1
#endif

/* k: the k-th allocation from now fails (k = 1: the next one); 0: none. Each allocation decrements
 * it down to 0. */
static atomic_long alloc_fail_at;

#if ALLOC_FAIL_WORKS
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *malloc(size_t size);
void *calloc(size_t n, size_t size);
void *realloc(void *p, size_t size);

static int alloc_fails_now(void) {
    if (atomic_load(&alloc_fail_at) > 0 && atomic_fetch_sub(&alloc_fail_at, 1) == 1) {
        errno = ENOMEM;
        return 1;
    }
    return 0;
}

void *malloc(size_t size) {
    return alloc_fails_now() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size) {
    return alloc_fails_now() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size) {
    return alloc_fails_now() ? NULL : __libc_realloc(p, size);
}
#endif

/* Whether calls of malloc reach the function above. */
static int alloc_fail_works(void) {
    if (!ALLOC_FAIL_WORKS) {
        return 0;
    }
    /* volatile, so that the compiler does not inline or remove the call: valgrind redirects
     * calls */
    void *(*volatile allocate)(size_t) = malloc;
    atomic_store(&alloc_fail_at, 1);
    void *p = allocate(16);
    atomic_store(&alloc_fail_at, 0);
    const int works = p == NULL;
    free(p);
    return works;
}

/* Runs `statement` with a failure of the k-th allocation, for k = 1, 2, …, until no allocation
 * failed. */
#define ALLOC_FAIL_EACH(statement)                                                                 \
    do {                                                                                           \
        if (!alloc_fail_works()) {                                                                 \
            skip();                                                                                \
        }                                                                                          \
        long n_failed_ = 0;                                                                        \
        for (long k_ = 1, hit_ = 1; hit_; k_++) {                                                  \
            atomic_store(&alloc_fail_at, k_);                                                      \
            statement;                                                                             \
            hit_ = atomic_load(&alloc_fail_at) == 0;                                               \
            atomic_store(&alloc_fail_at, 0);                                                       \
            n_failed_ += hit_;                                                                     \
        }                                                                                          \
        assert_true(n_failed_ > 0);                                                                \
    } while (0)

#endif
