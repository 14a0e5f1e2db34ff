/* Work of a process that is killed, and the check of what it acknowledged. */
#ifndef UNIT_STORE_CRASH_WORK_H
#define UNIT_STORE_CRASH_WORK_H

#include "unit/store/fixture.h"

enum { CRASH_CHUNKS = 3, CRASH_COLUMNS = 2, CRASH_BLOB = 40000 };

/* A message of the child process after a function of the store has succeeded. */
enum crash_kind { CRASH_READY, CRASH_DATASET, CRASH_MODEL, CRASH_DELETED };
struct crash_acknowledged {
    int64_t kind; /* an enum crash_kind */
    int64_t id;   /* id of the version; READY and DELETED: unused */
    int64_t seed; /* seed of the contents, and number in the dataset's name */
};

/* In the child process: opens the store, then publishes, trains and deletes until the process is
 * killed. Each success is written to fd. may_fail: a call may fail, and the work goes on; otherwise
 * the process exits with 1. */
_Noreturn void crash_work(struct fixture *f, int fd, int64_t seed, bool may_fail);
/* Checks that everything that was acknowledged is in the store, which is open. */
void crash_check(struct fixture *f, const struct crash_acknowledged *all, size_t n);
/* Waits until only published parts with all their chunks are left. */
void crash_await_swept(struct fixture *f);

#endif
