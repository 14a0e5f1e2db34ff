/* A copy of a database in one file, made by VACUUM INTO. The file is written under a temporary
 * name, which is locked with flock while it is written, so that a file that a crash has left can be
 * told from one that is being written. */
#ifndef STORE_COPY_H
#define STORE_COPY_H

#include "store/copies.h"
#include "store/sqlite/connection.h"
#include <sys/types.h>

struct store_copy {
    char *path; /* temporary name; NULL: the file has none, or another one */
    int fd;     /* descriptor of the file, for reading and writing */
};

/* Returns the folder of a path, which the caller frees. NULL without memory. */
char *store_folder_of(const char *path);
/* Syncs a folder to the disk. */
bool store_folder_sync(const char *folder);
/* Whether a copy fits on the disk of the folder beside `more` bytes and a reserve. *bytes: size of
 * the copy. Sets PROBLEM_STORAGE_FULL with the bytes that are free and needed, and `advice`. */
bool store_copy_fits(struct store_connection *c, const char *folder, int64_t more,
                     const char *advice, int64_t *bytes, struct problem *problem);
/* Creates the file, or takes over the one that a crash has left, with these permissions. Fails with
 * PROBLEM_UNAVAILABLE if another process writes it. */
bool store_copy_begin(struct store_copy *copy, const char *path, mode_t mode,
                      struct problem *problem);
/* Creates a file with a name that begins with `prefix`, readable for the user only. */
bool store_copy_begin_unnamed(struct store_copy *copy, const char *prefix, struct problem *problem);
/* Writes the database into the file. Must not be called in a transaction. watch: NULL: none. */
bool store_copy_write(struct store_copy *copy, struct store_connection *c,
                      const struct store_watch *watch, struct problem *problem);
/* Syncs the file and gives it its name. replace: an existing file is replaced. */
bool store_copy_publish(struct store_copy *copy, const char *path, bool replace,
                        struct problem *problem);
/* SQLite writes a journal beside the file. It is left if the write fails or the process is
 * killed. */
#define STORE_COPY_JOURNAL "-journal"
/* Removes an unfinished copy and its journal. */
void store_copy_remove(const char *path);
/* Closes the file; removes it, unless it was published. {.fd = -1} is allowed. */
void store_copy_done(struct store_copy *copy);

#endif
