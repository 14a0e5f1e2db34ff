/* Room on the disk. Chunks leave a reserve: if the log could not grow, neither the end of a job nor
 * a DELETE could be committed, and the chunks of a refused upload could not be removed. */
#include "store/sqlite/sqlite.h"
#include <sys/stat.h>
#include <sys/statvfs.h>

enum {
    RESERVE_BYTES = 16 * 1024 * 1024,
    RESERVE_SHARE = 16 /* the reserve is at most 1/RESERVE_SHARE of the disk */,
    FRAME_HEADER = 24
};

static int64_t more_than_zero(int64_t n) {
    return n > 0 ? n : 0;
}

/* Returns the bytes by which the log and the file would grow, after their free space is used. */
static int64_t growth(struct store *store, int64_t bytes) {
    const struct store_file *file = store_file_of(store);
    const struct store_log *log = &file->log;
    struct problem ignored = {0};
    struct stat s;
    const int64_t log_size = stat(file->log_path, &s) == 0 ? s.st_size : 0;
    const int64_t log_free =
        more_than_zero(log_size - (int64_t)log->pages * (STORE_PAGE_SIZE + FRAME_HEADER));
    const int64_t pages_free =
        STORE_ASK(store->writer.connection, &ignored, 0, "PRAGMA freelist_count", STORE_NO_VALUES);
    /* All of these pages may be new pages of the file. */
    const int64_t uncopied = (int64_t)(log->pages - log->done) * STORE_PAGE_SIZE;
    problem_done(&ignored);
    return more_than_zero(bytes - log_free) +
           more_than_zero(uncopied + bytes - pages_free * STORE_PAGE_SIZE);
}

bool store_disk_has_room(struct store *store, size_t bytes, int64_t *lacking) {
    struct statvfs v;
    *lacking = 0;
    if (statvfs(store->name, &v) != 0) {
        /* if there is no room, the write will fail */
        return true;
    }
    const int64_t unit = (int64_t)v.f_frsize, total = (int64_t)v.f_blocks * unit;
    const int64_t reserve =
        total / RESERVE_SHARE < RESERVE_BYTES ? total / RESERVE_SHARE : RESERVE_BYTES;
    const int64_t room = (int64_t)v.f_bavail * unit - reserve;
    const int64_t most =
        2 * (int64_t)bytes + (int64_t)store_file_of(store)->log.pages * STORE_PAGE_SIZE;
    if (room < most) {
        *lacking = more_than_zero(growth(store, (int64_t)bytes) - room);
    }
    return *lacking == 0;
}
