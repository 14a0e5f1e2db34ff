/* The size of the stacks of threads. */
#define _GNU_SOURCE /* pthread_getattr_np */
#include "base/process/threads.h"

#include "lib/cmocka.h"
#include <pthread.h>
#include <sys/resource.h>

static void *read_size(void *out) {
    pthread_attr_t attr;
    assert_int_equal(pthread_getattr_np(pthread_self(), &attr), 0);
    assert_int_equal(pthread_attr_getstacksize(&attr, out), 0);
    (void)pthread_attr_destroy(&attr);
    return NULL;
}

static size_t size_of_a_stack(void) {
    pthread_t thread;
    size_t size = 0;
    assert_int_equal(pthread_create(&thread, NULL, read_size, &size), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return size;
}

static void stacks_have_a_set_size(void **state) {
    (void)state;
    const size_t before = size_of_a_stack();
    threads_set_stack();
    const size_t after = size_of_a_stack();
    assert_true(after == THREADS_STACK_BYTES || after == before /* a sanitizer */);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(stacks_have_a_set_size)};
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
