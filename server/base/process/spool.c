/* A temporary file that is unlinked as soon as it is open. */
#include "base/process/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void spool_init(struct spool *s, const char *folder, int64_t limit) {
    *s = (struct spool){.folder = folder, .limit = limit, .fd = -1};
}

void spool_done(struct spool *s) {
    if (s->fd >= 0) {
        (void)close(s->fd);
    }
    s->fd = -1;
}

/* Creates a file and removes its name. Returns the descriptor; -1 on failure, and sets errno. */
static int open_nameless(const char *folder) {
    struct buf path = {0};
    buf_printf(&path, "%s/.discern-spool-XXXXXX", folder);
    char *name = buf_take(&path, NULL);
    int fd = -1;
    if (name == NULL) {
        buf_done(&path);
        errno = ENOMEM;
        return -1;
    }
    fd = mkstemp(name);
    int why = errno;
    if (fd >= 0) {
        (void)unlink(name);
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
    free(name);
    errno = why;
    return fd;
}

static bool failed(const struct spool *s, const char *what, struct problem *problem) {
    const int why = errno;
    if (why == ENOSPC || why == EDQUOT || why == EFBIG) {
        return problem_set(
            problem, PROBLEM_STORAGE_FULL,
            "the disk of %s, where long answers are kept until they are sent, is full", s->folder);
    }
    return problem_set(problem, PROBLEM_INTERNAL, "a file in %s %s: %s", s->folder, what,
                       strerror(why));
}

bool spool_write(struct spool *s, struct buf *bytes, struct problem *problem) {
    if (bytes->failed) {
        return problem_set(problem, PROBLEM_UNAVAILABLE, "no memory left for the answer");
    }
    if ((int64_t)bytes->size > s->limit - s->size) {
        problem->type = PROBLEM_ANSWER_TOO_LONG;
        return false;
    }
    if (s->fd < 0) {
        s->fd = open_nameless(s->folder);
    }
    if (s->fd < 0) {
        return failed(s, "cannot be created", problem);
    }
    for (size_t at = 0; at < bytes->size;) {
        const ssize_t n = write(s->fd, bytes->data + at, bytes->size - at);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return failed(s, "cannot be written", problem);
        }
        at += (size_t)n;
    }
    s->size += (int64_t)bytes->size;
    buf_clear(bytes);
    return true;
}

bool spool_read_file(int fd, int64_t size, int64_t offset, size_t n, struct buf *out) {
    if (!buf_reserve(out, n)) {
        return false;
    }
    while (n > 0 && offset < size) {
        const ssize_t got = pread(fd, out->data + out->size, n, (off_t)offset);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return false;
        }
        out->size += (size_t)got;
        offset += got;
        n -= (size_t)got;
    }
    return true;
}

bool spool_read(const struct spool *s, int64_t offset, size_t n, struct buf *out) {
    return spool_read_file(s->fd, s->size, offset, n, out);
}

bool spool_check(const char *folder, struct problem *problem) {
    const int fd = folder[0] != '\0' ? open_nameless(folder) : -1;
    if (fd >= 0) {
        (void)close(fd);
        return true;
    }
    if (folder[0] == '\0') {
        errno = ENOENT;
    }
    return problem_set(problem, PROBLEM_BAD_REQUEST,
                       "--spool-dir must be a folder where files can be created, got \"%s\": %s",
                       folder, strerror(errno));
}
