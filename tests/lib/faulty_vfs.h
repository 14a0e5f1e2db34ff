/* A VFS of SQLite whose writes and fsyncs fail when a test asks for it, and which can simulate a
 * loss of power. It becomes the default VFS. Files and shared memory are those of the VFS "unix".
 *
 * After a failed fsync the file keeps the bytes that were written since the last fsync, but they
 * are not on the simulated disk, and no later fsync puts them there: as on Linux.
 *
 * The simulated disk of FILE is FILE.disk: what was there at the last fsync. FILE.unsynced has the
 * writes since. Both are kept only if `disk` is set. */
#ifndef TESTS_LIB_FAULTY_VFS_H
#define TESTS_LIB_FAULTY_VFS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum faulty_kind { FAULTY_READ = 1, FAULTY_WRITE = 2, FAULTY_SYNC = 4, FAULTY_TRUNCATE = 8 };
#define FAULTY_ANY 15

/* In memory that processes share after a fork. */
struct faulty {
    _Atomic int kinds; /* enum faulty_kind, added: the operations that are counted */
    /* at: the at-th operation of these kinds from now fails (1: the next one; 0: none);
     * times: so many operations fail from there */
    atomic_long at, times;
    _Atomic int error;  /* errno of the failure: EIO, ENOSPC or EFBIG; a write is cut short */
    atomic_long failed; /* number of operations that failed */
    atomic_bool disk;   /* keep FILE.disk and FILE.unsynced */
    atomic_bool damage; /* a failed fsync of a write-ahead log overwrites all its frames */
};

/* Registers the VFS, once. path: a file whose bytes are the struct, so that another process can set
 * it (faulty_map); NULL: the memory is shared after a fork. */
struct faulty *faulty_vfs(const char *path);
/* Maps the struct in a file, which is created if it does not exist. */
struct faulty *faulty_map(const char *path);
/* Lets the k-th operation of these kinds fail, and the `times` - 1 operations after it. */
void faulty_set(struct faulty *f, int kinds, long k, long times, int error);
/* Starts the simulated disk with the present contents of the database and its log. No connection
 * may be open. */
void faulty_disk_start(struct faulty *f, const char *path);
/* Simulates the return of power: the database and its log become what was on the disk and a random
 * part of the writes since the last fsync. No connection may be open. Returns how many writes were
 * dropped. */
long faulty_power_loss(struct faulty *f, const char *path, uint64_t seed);

#endif
