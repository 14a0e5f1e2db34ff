/* The engine for SQLite: a database in one file, which one process has open. */
#ifndef STORE_SQLITE_H
#define STORE_SQLITE_H

#include "store/internal.h"
#include "store/sqlite/checkpoint.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/file/lockfile.h"

extern const struct store_engine store_sqlite_engine;

/* The file of an open store, store->own. */
struct store_file {
    char *log_path; /* path of the write-ahead log */
    struct store_lock lock;
    struct store_log log;
    /* only the writer thread uses the members below; see reopen.h */
    bool in_log;      /* the log may have the frames of a transaction that failed */
    bool superseding; /* these frames are being overwritten */
};
static inline struct store_file *store_file_of(struct store *store) {
    return store->own;
}

/* copies/audit_file.c: the function `inspect` of the engine. */
struct store_connection *store_sqlite_inspect(const char *path, struct problem *problem);
/* copies/: the functions `backup`, `backup_file`, `check` and `restore` of the engine. */
bool store_sqlite_backup(struct store *store, const char *folder, const struct store_watch *watch,
                         struct store_backup **out, struct problem *problem);
bool store_sqlite_backup_file(const char *database, const char *path, int64_t *bytes,
                              struct problem *problem);
bool store_sqlite_check(const char *path, struct store_check *check, struct problem *problem);
bool store_sqlite_restore(const char *backup, const char *path, bool replace,
                          struct store_check *check, int64_t *bytes, struct problem *problem);
/* file/disk.c, on the writer thread: returns true if the reserve for other writes remains after a
 * chunk of `bytes` bytes is written. *lacking: number of missing bytes. Cost: a system call. */
bool store_disk_has_room(struct store *store, size_t bytes, int64_t *lacking);

#endif
