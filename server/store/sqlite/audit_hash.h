/* The SQL function audit_hash(previous, value, …): the hash of an entry of the audit, a blob of 32
 * bytes. It is BLAKE2b-256 of `previous`, the hash of the entry before (32 bytes), followed by the
 * values in the order of the columns, each as a byte for its type and its bytes:
 *
 *   0  null
 *   1  an integer: 8 bytes, two's complement, most significant byte first
 *   2  a text: its length as 8 bytes, most significant first, and its bytes in UTF-8
 *   3  any other value (which no entry has): as a text, with the bytes of SQLite's blob */
#ifndef STORE_AUDIT_HASH_H
#define STORE_AUDIT_HASH_H

#include <sqlite3.h>

/* Adds the function to a connection. Returns an SQLite result code. */
int store_audit_hash_add(sqlite3 *db);

#endif
