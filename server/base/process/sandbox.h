/* Restricts what the process may do from a call on: files by Landlock, system calls by seccomp.
 * What is open stays open. A restriction cannot be undone. Call it before the first thread starts:
 * Landlock restricts the calling thread and the threads that it starts later. */
#ifndef BASE_SANDBOX_H
#define BASE_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

/* What is in force after sandbox_enter. */
struct sandbox {
    int landlock; /* version of Landlock's interface; 0: the kernel has none, or refuses it */
    bool seccomp;
};

/* Files: below each of the n folders, files and sockets may be read, made, written and removed.
 * Below the libraries of the system and its files of names and time zones, and in the n_files
 * files and folders of `readable`, files may be read. A path that does not exist gives no right.
 * No file may be executed.
 *
 * System calls: those that start programs, trace processes, mount, load kernel modules, set the
 * clock, or reach files past Landlock (io_uring, handles of files) fail with EPERM, in all threads.
 *
 * Neither needs privileges; new privileges are given up (PR_SET_NO_NEW_PRIVS). */
struct sandbox sandbox_enter(const char *const *folders, size_t n, const char *const *readable,
                             size_t n_readable);

#endif
