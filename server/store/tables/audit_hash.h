/* The hash of an entry of the audit: BLAKE2b-256 of the hash of the entry before (32 bytes),
 * followed by the values of the entry in the order of its columns, each as a byte for its type and
 * its bytes:
 *
 *   0  null
 *   1  an integer: 8 bytes, two's complement, most significant byte first
 *   2  a text: its length as 8 bytes, most significant first, and its bytes in UTF-8
 *   3  any other value (which no entry has): as a text, with the bytes of SQLite's blob */
#ifndef STORE_AUDIT_HASH_H
#define STORE_AUDIT_HASH_H

#include "base/hash.h"
#include "base/memory/buf.h"
#include "store/engine/query.h"

/* The bytes that are hashed; {0} to begin. */
struct store_audit_hash {
    struct buf bytes;
};
/* The hash of the entry before. It has another size if that entry is damaged. */
void store_audit_hash_previous(struct store_audit_hash *h, const void *hash, size_t size);
void store_audit_hash_int(struct store_audit_hash *h, int64_t value);
void store_audit_hash_text(struct store_audit_hash *h, const char *text); /* NULL: null */
/* The value of a column, of any type. */
void store_audit_hash_column(struct store_audit_hash *h, struct store_query *q, int column);
/* Ends the hash and frees the bytes. Returns false if there was no memory. */
bool store_audit_hash_end(struct store_audit_hash *h, uint8_t out[HASH_BLAKE2B_SIZE]);

#endif
