/* Replaces heap_share (ld --wrap), the first function that main calls, in the daemon of
 * tests/api/test_failing_disk.c: the database is on a disk whose writes and fsyncs fail as the file
 * $TEST_FAULTS says. The file is mapped before the daemon confines itself. */
#include "base/memory/heap.h"
#include "lib/faulty_vfs.h"

#include <stdlib.h>

void __real_heap_share(void);
void __wrap_heap_share(void);

void __wrap_heap_share(void) {
    const char *path = getenv("TEST_FAULTS");
    if (path != NULL) {
        (void)faulty_vfs(path);
    }
    __real_heap_share();
}
