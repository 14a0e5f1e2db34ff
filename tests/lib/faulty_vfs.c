#include "lib/faulty_vfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A file of this VFS. The file of the VFS "unix" follows it in memory. */
struct file {
    sqlite3_file base;
    char *name; /* NULL: a temporary file */
    bool simulated;
    bool log;  /* a write-ahead log */
    int error; /* errno of the last operation that failed on purpose; 0: none */
};

/* A write since the last fsync; its bytes follow. */
struct record {
    int64_t at; /* offset; TRUNCATE: the new size */
    int64_t n;  /* number of bytes; -1: TRUNCATE */
};

static struct faulty *faults;
static sqlite3_vfs *unix_vfs;
static _Thread_local int last_error;

static sqlite3_file *under(sqlite3_file *f) {
    return (sqlite3_file *)((struct file *)f + 1);
}

static void must(bool good, const char *what) {
    if (!good) {
        fprintf(stderr, "faulty_vfs: %s: %s\n", what, strerror(errno));
        abort();
    }
}

/* Whether this operation fails. */
static bool fails(sqlite3_file *f, enum faulty_kind kind) {
    if ((atomic_load(&faults->kinds) & (int)kind) == 0 || atomic_load(&faults->at) <= 0) {
        return false;
    }
    if (atomic_load(&faults->at) > 1) {
        atomic_fetch_sub(&faults->at, 1);
        return false;
    }
    if (atomic_fetch_sub(&faults->times, 1) == 1) {
        atomic_store(&faults->at, 0);
    }
    atomic_fetch_add(&faults->failed, 1);
    last_error = ((struct file *)f)->error = atomic_load(&faults->error);
    return true;
}

/* ---- the simulated disk ---- */

static void beside(const char *name, const char *suffix, char out[PATH_MAX]) {
    const int n = snprintf(out, PATH_MAX, "%s%s", name, suffix);
    must(n > 0 && n < PATH_MAX, "a name is too long");
}

static int open_beside(const char *name, const char *suffix, int flags) {
    char path[PATH_MAX];
    beside(name, suffix, path);
    return open(path, flags | O_CLOEXEC, 0600);
}

static void remove_beside(const char *name, const char *suffix) {
    char path[PATH_MAX];
    beside(name, suffix, path);
    (void)unlink(path);
}

static bool is_simulated(const struct file *f) {
    return f->simulated && atomic_load(&faults->disk);
}

static void record(const struct file *f, int64_t at, const void *bytes, int64_t n) {
    if (!is_simulated(f)) {
        return;
    }
    const struct record r = {.at = at, .n = n};
    const int fd = open_beside(f->name, ".unsynced", O_WRONLY | O_APPEND | O_CREAT);
    must(fd >= 0 && write(fd, &r, sizeof r) == sizeof r, "record");
    must(n <= 0 || write(fd, bytes, (size_t)n) == n, "record");
    close(fd);
}

static uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* Applies the writes since the last fsync to the simulated disk: all of them, or a random part.
 * Returns how many were dropped. */
static long apply(const char *name, bool all, uint64_t seed) {
    const int from = open_beside(name, ".unsynced", O_RDONLY),
              to = open_beside(name, ".disk", O_RDWR | O_CREAT);
    struct record r;
    long dropped = 0;
    char *bytes = NULL;
    must(to >= 0, "open the simulated disk");
    const uint64_t share = next_random(&seed) % 9; /* eighths of the writes that are kept */
    while (from >= 0 && read(from, &r, sizeof r) == sizeof r) {
        const size_t n = r.n > 0 ? (size_t)r.n : 0;
        bytes = realloc(bytes, n + 1);
        if (bytes == NULL || (n > 0 && read(from, bytes, n) != r.n)) {
            break; /* the process was killed while it recorded this write */
        }
        const bool kept = all || next_random(&seed) % 8 < share;
        /* a part of a write is on the disk: a multiple of a sector */
        const size_t torn =
            !all && next_random(&seed) % 8 == 0 ? next_random(&seed) % (n + 1) & ~(size_t)511 : n;
        dropped += !kept || torn < n;
        if (kept && r.n < 0) {
            must(ftruncate(to, r.at) == 0, "truncate the simulated disk");
        } else if (kept) {
            must(pwrite(to, bytes, torn, r.at) == (ssize_t)torn, "write to the simulated disk");
        }
    }
    free(bytes);
    if (from >= 0) {
        close(from);
    }
    close(to);
    remove_beside(name, ".unsynced");
    return dropped;
}

static void copy(const char *from, const char *from_suffix, const char *to, const char *to_suffix) {
    static char piece[1 << 20];
    const int in = open_beside(from, from_suffix, O_RDONLY);
    if (in < 0) {
        remove_beside(to, to_suffix);
        return;
    }
    const int out = open_beside(to, to_suffix, O_WRONLY | O_CREAT | O_TRUNC);
    must(out >= 0, "copy");
    for (ssize_t n; (n = read(in, piece, sizeof piece)) > 0;) {
        must(write(out, piece, (size_t)n) == n, "copy");
    }
    close(in);
    close(out);
}

void faulty_disk_start(struct faulty *f, const char *path) {
    char names[2][PATH_MAX];
    beside(path, "", names[0]);
    beside(path, "-wal", names[1]);
    for (int i = 0; i < 2; i++) {
        copy(names[i], "", names[i], ".disk");
        remove_beside(names[i], ".unsynced");
    }
    atomic_store(&f->disk, true);
}

long faulty_power_loss(struct faulty *f, const char *path, uint64_t seed) {
    char names[2][PATH_MAX];
    long dropped = 0;
    beside(path, "", names[0]);
    beside(path, "-wal", names[1]);
    atomic_store(&f->disk, false);
    for (int i = 0; i < 2; i++) {
        dropped += apply(names[i], false, seed + (uint64_t)i * 7919);
        copy(names[i], ".disk", names[i], "");
        remove_beside(names[i], ".disk");
    }
    remove_beside(path, "-shm");
    return dropped;
}

/* ---- the methods of a file ---- */

static int do_close(sqlite3_file *f) {
    const int code = under(f)->pMethods->xClose(under(f));
    free(((struct file *)f)->name);
    return code;
}

static int do_read(sqlite3_file *f, void *out, int n, sqlite3_int64 at) {
    return fails(f, FAULTY_READ) ? SQLITE_IOERR_READ
                                 : under(f)->pMethods->xRead(under(f), out, n, at);
}

static int do_write(sqlite3_file *f, const void *bytes, int n, sqlite3_int64 at) {
    int code = SQLITE_OK, room = n;
    if (fails(f, FAULTY_WRITE)) {
        code = last_error == ENOSPC ? SQLITE_FULL : SQLITE_IOERR_WRITE;
        room = n / 2;
    }
    if (room > 0) {
        record((struct file *)f, at, bytes, room);
        const int written = under(f)->pMethods->xWrite(under(f), bytes, room, at);
        code = code != SQLITE_OK ? code : written;
    }
    return code;
}

static int do_truncate(sqlite3_file *f, sqlite3_int64 size) {
    if (fails(f, FAULTY_TRUNCATE)) {
        return SQLITE_IOERR_TRUNCATE;
    }
    record((struct file *)f, size, NULL, -1);
    return under(f)->pMethods->xTruncate(under(f), size);
}

/* Overwrites all frames of a write-ahead log. Its header has 32 bytes. */
static void damage(sqlite3_file *f) {
    sqlite3_int64 size = 0;
    must(under(f)->pMethods->xFileSize(under(f), &size) == SQLITE_OK, "size of a damaged file");
    for (sqlite3_int64 at = 32; at < size; at += 8) {
        must(under(f)->pMethods->xWrite(under(f), "damaged!", 8, at) == SQLITE_OK, "damage");
    }
}

static int do_sync(sqlite3_file *f, int flags) {
    const struct file *file = (struct file *)f;
    (void)flags; /* the machine that runs the tests does not lose power */
    if (fails(f, FAULTY_SYNC)) {
        if (file->log && atomic_load(&faults->damage)) {
            damage(f);
        }
        if (is_simulated(file)) {
            remove_beside(file->name, ".unsynced");
        }
        return SQLITE_IOERR_FSYNC;
    }
    if (is_simulated(file)) {
        apply(file->name, true, 0);
    }
    return SQLITE_OK;
}

static int do_size(sqlite3_file *f, sqlite3_int64 *out) {
    return under(f)->pMethods->xFileSize(under(f), out);
}
static int do_lock(sqlite3_file *f, int level) {
    return under(f)->pMethods->xLock(under(f), level);
}
static int do_unlock(sqlite3_file *f, int level) {
    return under(f)->pMethods->xUnlock(under(f), level);
}
static int do_check_lock(sqlite3_file *f, int *out) {
    return under(f)->pMethods->xCheckReservedLock(under(f), out);
}
static int do_control(sqlite3_file *f, int op, void *arg) {
    if (op == SQLITE_FCNTL_LAST_ERRNO && ((struct file *)f)->error != 0) {
        *(int *)arg = ((struct file *)f)->error;
        return SQLITE_OK;
    }
    return under(f)->pMethods->xFileControl(under(f), op, arg);
}
static int do_sector(sqlite3_file *f) {
    return under(f)->pMethods->xSectorSize(under(f));
}
static int do_device(sqlite3_file *f) {
    return under(f)->pMethods->xDeviceCharacteristics(under(f));
}
static int do_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out) {
    return under(f)->pMethods->xShmMap(under(f), page, size, extend, out);
}
static int do_shm_lock(sqlite3_file *f, int offset, int n, int flags) {
    return under(f)->pMethods->xShmLock(under(f), offset, n, flags);
}
static void do_shm_barrier(sqlite3_file *f) {
    under(f)->pMethods->xShmBarrier(under(f));
}
static int do_shm_unmap(sqlite3_file *f, int remove) {
    return under(f)->pMethods->xShmUnmap(under(f), remove);
}

static const sqlite3_io_methods methods = {.iVersion = 2,
                                           .xClose = do_close,
                                           .xRead = do_read,
                                           .xWrite = do_write,
                                           .xTruncate = do_truncate,
                                           .xSync = do_sync,
                                           .xFileSize = do_size,
                                           .xLock = do_lock,
                                           .xUnlock = do_unlock,
                                           .xCheckReservedLock = do_check_lock,
                                           .xFileControl = do_control,
                                           .xSectorSize = do_sector,
                                           .xDeviceCharacteristics = do_device,
                                           .xShmMap = do_shm_map,
                                           .xShmLock = do_shm_lock,
                                           .xShmBarrier = do_shm_barrier,
                                           .xShmUnmap = do_shm_unmap};

/* ---- the VFS ---- */

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *out, int flags, int *got) {
    struct file *f = (struct file *)out;
    (void)vfs;
    memset(f, 0, sizeof *f);
    const int code = unix_vfs->xOpen(unix_vfs, name, under(out), flags, got);
    if (code != SQLITE_OK) {
        return code;
    }
    f->simulated = name != NULL && (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)) != 0;
    f->log = (flags & SQLITE_OPEN_WAL) != 0;
    f->name = name != NULL ? strdup(name) : NULL;
    f->base.pMethods = &methods;
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync) {
    (void)vfs;
    if (atomic_load(&faults->disk)) {
        remove_beside(name, ".disk");
        remove_beside(name, ".unsynced");
    }
    return unix_vfs->xDelete(unix_vfs, name, sync);
}

static int vfs_last_error(sqlite3_vfs *vfs, int n, char *text) {
    const int error = last_error;
    (void)vfs;
    last_error = 0;
    return error != 0 ? error : unix_vfs->xGetLastError(unix_vfs, n, text);
}

struct faulty *faulty_map(const char *path) {
    const int fd = path != NULL ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    must(path == NULL || (fd >= 0 && ftruncate(fd, sizeof(struct faulty)) == 0), "map");
    void *memory = mmap(NULL, sizeof(struct faulty), PROT_READ | PROT_WRITE,
                        path != NULL ? MAP_SHARED : MAP_SHARED | MAP_ANONYMOUS, fd, 0);
    must(memory != MAP_FAILED, "map");
    if (fd >= 0) {
        close(fd);
    }
    return memory;
}

struct faulty *faulty_vfs(const char *path) {
    static sqlite3_vfs vfs;
    if (faults != NULL) {
        return faults;
    }
    faults = faulty_map(path);
    unix_vfs = sqlite3_vfs_find("unix");
    vfs = *unix_vfs;
    vfs.zName = "faulty";
    vfs.szOsFile += (int)sizeof(struct file);
    vfs.xOpen = vfs_open;
    vfs.xDelete = vfs_delete;
    vfs.xGetLastError = vfs_last_error;
    must(sqlite3_vfs_register(&vfs, 1) == SQLITE_OK, "register");
    return faults;
}

void faulty_set(struct faulty *f, int kinds, long k, long times, int error) {
    atomic_store(&f->at, 0);
    atomic_store(&f->kinds, kinds);
    atomic_store(&f->error, error);
    atomic_store(&f->times, times);
    atomic_store(&f->failed, 0);
    atomic_store(&f->at, k);
}
