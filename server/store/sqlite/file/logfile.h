/* The write-ahead log as a file. */
#ifndef STORE_LOGFILE_H
#define STORE_LOGFILE_H

#include "base/problem.h"
#include <stdbool.h>

/* Writes the bytes of the log again in their places and syncs them. After a failed fsync the kernel
 * may have bytes of the log in memory that are not on the disk; further fsyncs succeed and do not
 * write them. After this call the disk has what a read returns.
 *
 * Called while this process has no connection to the database. Has no effect if the log does not
 * exist or is empty. Fails with PROBLEM_UNAVAILABLE if another program has a connection, with
 * PROBLEM_STORAGE_FULL, or with PROBLEM_INTERNAL. Cost: the log is read and written once. */
bool store_logfile_rewrite(const char *log_path, struct problem *problem);

#endif
