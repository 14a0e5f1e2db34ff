/* Fails chosen allocations of the whole program: defines malloc, calloc and realloc over glibc's
 * own. Sanitizers and valgrind bring theirs: there the tests that need this skip. Include in one
 * file of a program. */
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

/* The k-th allocation from now fails (k = 1 is the next); 0: none. Falls to 0 when it has happened.
 */
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

/* Is our malloc the one that is called? */
static int alloc_fail_works(void) {
    if (!ALLOC_FAIL_WORKS) {
        return 0;
    }
    void *(*volatile allocate)(size_t) = malloc; /* not inlined: valgrind redirects calls */
    atomic_store(&alloc_fail_at, 1);
    void *p = allocate(16);
    atomic_store(&alloc_fail_at, 0);
    const int works = p == NULL;
    free(p);
    return works;
}

/* Runs `statement` with the k-th allocation failing, k = 1, 2, … until it ran without a failure. */
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
