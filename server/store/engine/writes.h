/* Whether writes succeed, for the writer thread.
 *
 * After a failed write the state is FAILING or FULL. It becomes OK when a probe succeeds: a small
 * durable commit, made at most once a second. FULL needs room for the chunk that was refused last,
 * too. If bytes of earlier transactions may be lost (STORE_FAILURE_LOST), transactions are refused
 * until the engine has opened the database again. */
#ifndef STORE_WRITES_H
#define STORE_WRITES_H

#include "store/engine/writer.h"

void store_writes_register(struct store_writer *w);
/* Takes the failure of the connection into the state. Called after transactions and checkpoints,
 * before the next transaction and before the callers learn of the failure. */
void store_writes_note(struct store *store);
/* Notes that bytes of earlier transactions may be lost: fails the staged parts; transactions are
 * refused until the database was opened again. full: for lack of room. */
void store_writes_lose(struct store *store, bool full);
/* Notes that a chunk was refused because the disk has no room for it. */
void store_writes_refused(struct store *store, size_t bytes);
/* Returns false after setting the problem if transactions are refused. */
bool store_writes_allowed(struct store *store, struct problem *problem);
/* Commits a transaction that changes nothing but writes something. durable: with an fsync. */
bool store_writes_try(struct store *store, bool durable);
/* Opens the database again, also before its time, after bytes may have been lost. Returns false if
 * that is not possible now. */
bool store_writes_reopen(struct store *store);
/* Opens the database again or probes it if that is due. now: also checks the room on the disk. */
void store_writes_probe(struct store *store, bool now);

#endif
