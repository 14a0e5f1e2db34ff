/* Small files that the daemon reads at the start and again when they change: tokens,
 * certificates. */
#ifndef BASE_CONFIG_FILE_H
#define BASE_CONFIG_FILE_H

#include "base/memory/buf.h"
#include "base/problem.h"
#include <stdbool.h>
#include <sys/stat.h>

/* The permissions that a file must not have. The message is "PATH <fault> (mode 0666),
 * <advice>". */
struct config_file_rule {
    mode_t forbidden; /* bits, S_IWGRP … */
    const char *fault;
    const char *advice; /* "who could …; chmod 600 it" */
};

/* Reads a regular file of at most 1 MiB, and sets *info. Symbolic links are followed. rule NULL:
 * any permissions. */
bool config_file_read(const char *path, const struct config_file_rule *rule, struct buf *out,
                      struct stat *info, struct problem *problem);
/* Whether the file may differ from the one that `seen` describes. st_ino 0: it was not read. True
 * also if it has just changed: a second change may leave its size and time. */
bool config_file_changed(const char *path, const struct stat *seen);

#endif
