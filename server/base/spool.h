/* A spool: bytes on their way through a temporary file that has no name any more, so that whatever
 * becomes of the process nothing of it stays. One thread at a time. */
#ifndef BASE_SPOOL_H
#define BASE_SPOOL_H

#include "base/buf.h"
#include "base/problem.h"
#include <stdbool.h>
#include <stdint.h>

struct spool {
    const char *folder; /* where the file is made; the caller's */
    int64_t limit;      /* most bytes it may hold */
    int64_t size;       /* bytes in it */
    int fd;             /* -1: no file yet */
};

void spool_init(struct spool *s, const char *folder, int64_t limit);
void spool_done(struct spool *s); /* the file goes */
/* Appends what the buffer holds and empties it; makes the file first if there is none. May block
 * for the disk. false: PROBLEM_STORAGE_FULL, or PROBLEM_INTERNAL; PROBLEM_ANSWER_TOO_LONG without
 * a detail when the limit is passed: the caller knows what was too long. */
bool spool_write(struct spool *s, struct buf *bytes, struct problem *problem);
/* Appends up to n bytes from `offset` on to the buffer. false: they could not be read, or there is
 * no memory. */
bool spool_read(const struct spool *s, int64_t offset, size_t n, struct buf *out);
/* Can a file be made there? false: PROBLEM_BAD_REQUEST says why not. */
bool spool_check(const char *folder, struct problem *problem);

#endif
