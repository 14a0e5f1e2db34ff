/* A spool: a temporary file without a name, so that nothing of it is left if the process crashes.
 * Used by one thread at a time. */
#ifndef BASE_SPOOL_H
#define BASE_SPOOL_H

#include "base/memory/buf.h"
#include "base/problem.h"
#include <stdbool.h>
#include <stdint.h>

struct spool {
    const char *folder; /* folder in which the file is created; memory of the caller */
    int64_t limit;      /* limit of `size` */
    int64_t size;       /* bytes in the file */
    int fd;             /* descriptor; -1: no file yet */
};

void spool_init(struct spool *s, const char *folder, int64_t limit);
void spool_done(struct spool *s); /* closes and so removes the file */
/* Appends the contents of the buffer to the file and empties the buffer. Creates the file if there
 * is none. May block on the disk. Returns false after PROBLEM_STORAGE_FULL, PROBLEM_INTERNAL or
 * PROBLEM_UNAVAILABLE (no memory). If the limit is exceeded, sets PROBLEM_ANSWER_TOO_LONG without a
 * detail, which the caller must add. */
bool spool_write(struct spool *s, struct buf *bytes, struct problem *problem);
/* Appends up to n bytes of the file, from `offset` on, to the buffer. Returns false if they could
 * not be read or if out of memory. */
bool spool_read(const struct spool *s, int64_t offset, size_t n, struct buf *out);
/* Does the same for a descriptor of a file of `size` bytes. */
bool spool_read_file(int fd, int64_t size, int64_t offset, size_t n, struct buf *out);
/* Whether a file can be created in the folder. Returns false after setting PROBLEM_BAD_REQUEST with
 * the reason. */
bool spool_check(const char *folder, struct problem *problem);

#endif
