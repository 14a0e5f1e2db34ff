/* What the daemon finds out about libmicrohttpd at start. One that was linked with -Bsymbolic does
 * not call the replacements of the daemon. Version 0.9.75 would read freed memory then, so the
 * daemon refuses to start. */
#include "lib/api.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Stores the file name of the library that the_daemon uses. */
static bool find_library(char path[256]) {
    char name[64], line[512];
    bool found = false;
    (void)snprintf(name, sizeof name, "/proc/%d/maps", (int)the_daemon.pid);
    FILE *maps = fopen(name, "r");
    assert_non_null(maps);
    while (!found && fgets(line, sizeof line, maps) != NULL) {
        const char *at = strchr(line, '/');
        found = at != NULL && strstr(at, "/libmicrohttpd.so") != NULL &&
                sscanf(at, "%255[^\n]", path) == 1;
    }
    (void)fclose(maps);
    return found;
}

/* Sets DT_SYMBOLIC in the place of the first of several ends of the dynamic section. */
static bool make_symbolic(char *bytes) {
    Elf64_Ehdr header;
    memcpy(&header, bytes, sizeof header);
    for (size_t i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr part;
        memcpy(&part, bytes + header.e_phoff + i * sizeof part, sizeof part);
        for (size_t k = 0;
             part.p_type == PT_DYNAMIC && (k + 2) * sizeof(Elf64_Dyn) <= part.p_filesz; k++) {
            char *at = bytes + part.p_offset + k * sizeof(Elf64_Dyn);
            Elf64_Dyn entry;
            memcpy(&entry, at, sizeof entry);
            if (entry.d_tag == DT_NULL) {
                entry = (Elf64_Dyn){.d_tag = DT_SYMBOLIC};
                memcpy(at, &entry, sizeof entry);
                return true;
            }
        }
    }
    return false;
}

static void test_a_library_that_ignores_the_replacements(void **state) {
    (void)state;
    char path[256], copy[200];
    const char *out, *database;
    size_t size;
    service_start(NULL);
    if (sizeof(void *) != 8 || !find_library(path) || strstr(path, ".so.12.60.") == NULL) {
        service_end();
        skip(); /* the library is linked statically, or not 0.9.75 */
    }
    char *bytes = (char *)(uintptr_t)read_whole(path, &size);
    assert_true(make_symbolic(bytes));
    (void)snprintf(copy, sizeof copy, "%s/libmicrohttpd.so.12", the_daemon.dir);
    FILE *f = fopen(copy, "w");
    assert_true(f != NULL && fwrite(bytes, 1, size, f) == size && fclose(f) == 0);
    database = text("%s/other.db", the_daemon.dir);
    assert_int_equal(setenv("LD_LIBRARY_PATH", the_daemon.dir, 1), 0);
    const int status = discernd_run(FLAGS("--listen", "127.0.0.1:0", "--database", database), &out);
    unsetenv("LD_LIBRARY_PATH");
    assert_int_equal(status, 2);
    assert_non_null(strstr(out, "parser of cookies"));
    (void)unlink(copy);
    static const char *const ends[] = {"", "-wal", "-shm", ".lock"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        (void)unlink(text("%s%s", database, ends[i]));
    }
    service_end();
}

/* The versions of Debian 12 and 13. If one were judged wrongly, each connection would be closed
 * after one request. */
static void test_the_known_versions_are_as_expected(void **state) {
    (void)state;
    char path[256];
    service_start(NULL);
    const bool known = find_library(path) &&
                       (strstr(path, ".so.12.60.") != NULL || strstr(path, ".so.12.62.") != NULL);
    if (known) {
        assert_null(strstr(daemon_log(&the_daemon), "not_as_expected"));
        assert_non_null(strstr(daemon_log(&the_daemon), "listening"));
    }
    service_end();
    if (!known) {
        skip();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_a_library_that_ignores_the_replacements),
                                       TEST(test_the_known_versions_are_as_expected)};
    return RUN_WITHOUT_DAEMON(tests);
}
