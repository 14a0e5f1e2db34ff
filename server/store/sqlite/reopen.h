/* Opening the database again after a failed write or fsync.
 *
 * The kernel reports a failed write to the disk once, by the next fsync. It then drops the bytes or
 * keeps them in memory as if they were written; later fsyncs succeed and do not write them. The
 * bytes may belong to any transaction since the last successful fsync of the file: to the one that
 * asked for the fsync, which fails, and to staged chunks, whose commits (synchronous=NORMAL) made
 * no fsync. What was acknowledged as durable was synced before. So after the failure
 *
 *   1. All staged parts that have chunks fail (parts.h). Their callers stage the data again.
 *   2. The frames of the failed transaction are overwritten, so that step 5 does not find them.
 *      This is done before its callers are answered, and again if it fails.
 *   3. All connections are closed without a checkpoint. Reads wait.
 *   4. The log is written again and synced (logfile.h). If this fails, too, nothing is lost: reads
 *      go on, transactions are refused, and the attempt is repeated each second.
 *   5. A new connection recovers the log: SQLite checks the checksum of each frame. The log must
 *      have all frames that were synced. If it is shorter, or the file is not a database any more,
 *      the disk has lost acknowledged data, and the process exits with STORE_EXIT_LOST.
 *   6. A checkpoint copies all frames into the file: SQLite has forgotten which of them were there
 *      before, and a failed fsync of the file may have dropped those.
 *
 * The next start of a process that was killed in between does steps 4 and 5 (store_open). */
#ifndef STORE_REOPEN_H
#define STORE_REOPEN_H

#include "store/sqlite/sqlite.h"

/* Does step 2 on the writer thread: a transaction that changes nothing overwrites the frames of the
 * failed one, which have a commit mark. If it fails, store_file.in_log stays true, and recovery may
 * find the failed transaction as a committed one, although its caller was told that it failed. */
void store_sqlite_retract(struct store *store);

/* Does steps 2 to 6 on the writer thread. Returns false if the disk still fails or a read does not
 * end: call it again later. */
bool store_sqlite_reopen(struct store *store);

#endif
