/* Whole databases: backup, check, restore. A backup is a database without a write-ahead log, in one
 * file. Fallible functions return false and set the problem, as those of store.h do. */
#ifndef STORE_COPIES_H
#define STORE_COPIES_H

#include "base/hash.h"
#include "base/memory/buf.h"
#include "base/problem.h"
#include <stdbool.h>
#include <stdint.h>

struct store;

/* Asked every few milliseconds during long work. Returns false if the work must end; it then fails
 * with PROBLEM_UNAVAILABLE. go_on NULL: never. */
struct store_watch {
    bool (*go_on)(void *arg);
    void *arg;
};

/* ---- backup by the process that has the store open ---- */
/* A backup in a nameless file. */
struct store_backup;
/* Whether store_backup_make works for the kind of the database: otherwise PROBLEM_CONFLICT, with the
 * name of the program that makes backups. */
bool store_backup_possible(const struct store *store, struct problem *problem);
/* Makes a backup in the folder, with one read transaction: the state of the database at some time
 * during the call. Meanwhile transactions are committed, but the write-ahead log cannot restart:
 * beyond 40 MiB of it chunks wait, see sqlite/checkpoint.c. There is one backup of a store at a
 * time, until it is freed: otherwise PROBLEM_UNAVAILABLE. PROBLEM_STORAGE_FULL if the folder has no
 * room. Takes as long as reading and writing the database. */
bool store_backup_make(struct store *store, const char *folder, const struct store_watch *watch,
                       struct store_backup **out, struct problem *problem);
int64_t store_backup_size(const struct store_backup *b);
/* Appends n bytes from `offset` on. Returns false if they cannot be read or if out of memory. */
bool store_backup_read(const struct store_backup *b, int64_t offset, size_t n, struct buf *out);
void store_backup_free(struct store_backup *b); /* NULL is allowed */
/* Removes the files of backups in the folder that a crash has left. */
void store_backup_clean(const char *folder);

/* ---- files, which a daemon may have open ---- */
/* Copies a database to a new file with the permissions of the database. It is written to PATH.part
 * and renamed when it is on the disk. Fails if the file exists. *bytes: size of the copy. */
bool store_backup_file(const char *database, const char *path, int64_t *bytes,
                       struct problem *problem);

/* What a check reports. */
struct store_check {
    void (*passed)(void *arg, const char *text); /* one part of the check, with its counts */
    void (*fault)(void *arg, const char *text);  /* names the table and the row */
    void *arg;
    int64_t n_faults; /* in; out: counts the faults */
};
/* Checks a database and changes nothing: its pages, references, migrations, the checksum of each
 * row and blob, counts against chunks, the audit. Faults are no problem: they are reported. A
 * problem is set if the file cannot be checked: it does not exist, is not a Discern database, is
 * locked. */
bool store_check_file(const char *path, struct store_check *check, struct problem *problem);

/* What store_copy reports. */
struct store_copied {
    void (*table)(void *arg, const char *name, int64_t n_rows); /* after each table */
    void *arg;
    int64_t n_rows; /* out */
    char digest
        [HASH_BLAKE2B_TEXT]; /* out: BLAKE2b of all rows, which is the same in each database */
};
/* Copies a database, which a daemon may have open, to another one, which is empty or does not exist,
 * in one transaction: files and databases of PostgreSQL. The copy is read and compared before it is committed. Fails
 * at a damaged row. */
bool store_copy(const char *from, const char *to, struct store_copied *copied,
                struct problem *problem);

/* Makes the database `path` of a backup, which is checked first. Fails with faults in `check` and
 * nothing changed if the backup is damaged. Fails if a daemon or another program has the database
 * open. replace: the database may exist. After a crash, or if it fails, the database is complete:
 * the old one or the restored one. *bytes: its size. */
bool store_restore(const char *backup, const char *path, bool replace, struct store_check *check,
                   int64_t *bytes, struct problem *problem);

#endif
