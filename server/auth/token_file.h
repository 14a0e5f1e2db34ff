/* Reads and replaces token files. */
#ifndef AUTH_TOKEN_FILE_H
#define AUTH_TOKEN_FILE_H

#include "base/memory/buf.h"
#include "base/problem.h"
#include <stdbool.h>
#include <sys/stat.h>

/* Reads the file. Fails if it is not a regular file, is longer than 1 MiB, or if its group or other
 * users may write it. info: the file that was read. */
bool token_file_read(const char *path, struct buf *out, struct stat *info, struct problem *problem);
/* Replaces the file by `text`, or creates it: writes a file beside it, syncs it and renames it. A
 * new file has the mode 0600 and, if the user is root, the owner of its folder. A file that is
 * replaced keeps its mode and its owner. */
bool token_file_replace(const char *path, const char *text, size_t n, struct problem *problem);
/* Locks the folder of the file against other writers of token files. Returns a descriptor to be
 * closed; -1 on failure. */
int token_file_lock(const char *path, struct problem *problem);

#endif
