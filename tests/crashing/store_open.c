/* Replaces store_open (ld --wrap) in the daemon of tests/api/test_failing_disk.c: the database is on
 * a disk whose writes and fsyncs fail as the file $TEST_FAULTS says. */
#include "lib/faulty_vfs.h"
#include "store/store.h"

#include <stdlib.h>

bool __real_store_open(const struct store_settings *settings, struct store **out,
                       struct problem *problem);
bool __wrap_store_open(const struct store_settings *settings, struct store **out,
                       struct problem *problem);

bool __wrap_store_open(const struct store_settings *settings, struct store **out,
                       struct problem *problem) {
    const char *path = getenv("TEST_FAULTS");
    if (path != NULL) {
        (void)faulty_vfs(path);
    }
    return __real_store_open(settings, out, problem);
}
