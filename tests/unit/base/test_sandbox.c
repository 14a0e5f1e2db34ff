/* Tests of the sandbox. A child process enters it, tries calls and reports what they returned; what
 * is restricted cannot be undone in this process. Without Landlock or seccomp the tests skip. */
#include "base/process/sandbox.h"
#include "lib/cmocka.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Results of the child, in shared memory: 0 or errno. */
struct tried {
    struct sandbox in_force;
    int make_inside, rename_inside, remove_inside, make_in_subfolder;
    int make_outside, write_outside, truncate_outside, remove_outside, read_outside;
    int read_allowed, write_allowed, read_open, read_libraries;
    int execute, set_clock, in_thread, execute_in_thread;
};

static char root[] = "/tmp/discern-sandbox-test-XXXXXX";
static char inside[64], outside[64], file[96], allowed[96];

static int setup(void **state) {
    (void)state;
    if (!mkdtemp(root)) {
        return -1;
    }
    (void)snprintf(inside, sizeof inside, "%s/in", root);
    (void)snprintf(outside, sizeof outside, "%s/out", root);
    (void)snprintf(file, sizeof file, "%s/file", outside);
    (void)snprintf(allowed, sizeof allowed, "%s/allowed", outside);
    const int a = open(root, O_RDONLY | O_DIRECTORY);
    const bool good = a >= 0 && mkdir(inside, 0700) == 0 && mkdir(outside, 0700) == 0 &&
                      mkdirat(a, "in/sub", 0700) == 0 &&
                      close(open(file, O_WRONLY | O_CREAT, 0600)) == 0 &&
                      close(open(allowed, O_WRONLY | O_CREAT, 0600)) == 0;
    return close(a) == 0 && good ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    char command[128];
    (void)snprintf(command, sizeof command, "rm -r %s", root);
    return system(command); /* NOLINT(cert-env33-c): the name is ours */
}

/* Opens and closes a file. */
static int try_open(const char *folder, const char *name, int flags) {
    char path[160];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    const int fd = open(path, flags, 0600);
    return fd < 0 ? errno : close(fd);
}

static int try_execute(void) {
    char *const arguments[] = {(char[]){"true"}, NULL};
    return execv("/bin/true", arguments) == 0 ? 0 : errno;
}

static void *thread_main(void *arg) {
    struct tried *t = arg;
    t->in_thread = try_open(outside, "of-thread", O_WRONLY | O_CREAT);
    t->execute_in_thread = try_execute();
    return NULL;
}

static void try_all(struct tried *t) {
    char from[96], to[96], byte;
    const char *const folders[] = {inside, "/no/such/folder"};
    const char *const readable[] = {allowed};
    const struct timespec now = {.tv_sec = 1};
    pthread_t thread;
    const int fd = open(file, O_RDONLY);
    t->in_force = sandbox_enter(folders, 2, readable, 1);
    (void)snprintf(from, sizeof from, "%s/a", inside);
    (void)snprintf(to, sizeof to, "%s/b", inside);
    t->make_inside = try_open(inside, "a", O_RDWR | O_CREAT | O_EXCL);
    t->rename_inside = rename(from, to) == 0 ? 0 : errno;
    t->remove_inside = unlink(to) == 0 ? 0 : errno;
    t->make_in_subfolder = try_open(inside, "sub/c", O_RDWR | O_CREAT);
    t->make_outside = try_open(outside, "a", O_WRONLY | O_CREAT);
    t->write_outside = try_open(outside, "file", O_WRONLY);
    t->truncate_outside = truncate(file, 0) == 0 ? 0 : errno;
    t->remove_outside = unlink(file) == 0 ? 0 : errno;
    t->read_outside = try_open(outside, "file", O_RDONLY);
    t->read_allowed = try_open(outside, "allowed", O_RDONLY);
    t->write_allowed = try_open(outside, "allowed", O_WRONLY);
    t->read_open = read(fd, &byte, 1) == 0 ? 0 : errno;
    t->read_libraries = try_open("/usr", "lib", O_RDONLY | O_DIRECTORY);
    t->execute = try_execute();
    t->set_clock = clock_settime(CLOCK_REALTIME, &now) == 0 ? 0 : errno;
    if (pthread_create(&thread, NULL, thread_main, t) == 0) {
        pthread_join(thread, NULL);
    }
}

/* Runs try_all in a child process. */
static struct tried tried(void) {
    struct tried *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(shared, MAP_FAILED);
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        try_all(shared);
        _exit(0);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_int_equal(status, 0);
    const struct tried t = *shared;
    munmap(shared, sizeof *shared);
    return t;
}

static void test_files(void **state) {
    (void)state;
    const struct tried t = tried();
    if (t.in_force.landlock == 0) {
        skip();
    }
    assert_int_equal(t.make_inside, 0);
    assert_int_equal(t.rename_inside, 0);
    assert_int_equal(t.remove_inside, 0);
    assert_int_equal(t.make_in_subfolder, 0);
    assert_int_equal(t.make_outside, EACCES);
    assert_int_equal(t.write_outside, EACCES);
    assert_int_equal(t.remove_outside, EACCES);
    assert_int_equal(t.read_outside, EACCES);
    assert_int_equal(t.read_allowed, 0);
    assert_int_equal(t.write_allowed, EACCES);
    assert_int_equal(t.read_open, 0);
    assert_int_equal(t.read_libraries, 0);
    assert_int_equal(t.in_thread, EACCES);
    if (t.in_force.landlock >= 3) {
        assert_int_equal(t.truncate_outside, EACCES);
    }
}

static void test_system_calls(void **state) {
    (void)state;
    const struct tried t = tried();
    if (!t.in_force.seccomp) {
        skip();
    }
    assert_int_equal(t.execute, EPERM);
    assert_int_equal(t.execute_in_thread, EPERM);
    assert_int_equal(t.set_clock, EPERM);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_system_calls),
    };
    return cmocka_run_group_tests_name("sandbox", tests, setup, teardown);
}
