/* Hash functions of libraries: SHA-256 (GnuTLS), BLAKE2b and SipHash (libsodium), CRC-32 (zlib). */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_SHA256_TEXT 65
struct hash_sha256;                        /* heap object for one thread */
struct hash_sha256 *hash_sha256_new(void); /* NULL: out of memory */
void hash_sha256_add(struct hash_sha256 *h, const void *bytes, size_t n);
/* Writes the digest; after this the object can only be freed. */
void hash_sha256_hex(struct hash_sha256 *h, char out[HASH_SHA256_TEXT]);
void hash_sha256_free(struct hash_sha256 *h);
/* Computes the digest of a file; "" if it cannot be read, or memory is short. */
void hash_sha256_file(const char *path, char out[HASH_SHA256_TEXT]);

#define HASH_BLAKE2B_SIZE 32
#define HASH_BLAKE2B_TEXT 65
struct hash_blake2b; /* heap object for one thread */
struct hash_blake2b *hash_blake2b_new(void);
void hash_blake2b_add(struct hash_blake2b *h, const void *bytes, size_t n);
void hash_blake2b_end(struct hash_blake2b *h, uint8_t out[HASH_BLAKE2B_SIZE]);
void hash_blake2b_reset(struct hash_blake2b *h); /* sets the state of a new object */
void hash_blake2b_free(struct hash_blake2b *h);
/* Save the state as bytes, and load it. The bytes contain the library's state, its version and a
 * checksum of both. hash_blake2b_load returns false and leaves *h unchanged if the version is not
 * that of the library in use, or if the bytes are damaged. */
#define HASH_BLAKE2B_STATE 432
void hash_blake2b_save(const struct hash_blake2b *h, uint8_t out[HASH_BLAKE2B_STATE]);
bool hash_blake2b_load(struct hash_blake2b *h, const uint8_t saved[HASH_BLAKE2B_STATE]);
/* Computes the digest of bytes in memory. */
void hash_blake2b(const void *bytes, size_t n, uint8_t out[HASH_BLAKE2B_SIZE]);
/* Compares n bytes in a time that does not depend on their values. */
bool hash_equal(const uint8_t *a, const uint8_t *b, size_t n);
void hash_hex(const uint8_t *bytes, size_t n, char *out); /* writes 2 n digits and NUL */

uint32_t hash_crc32(const void *bytes, size_t n);

/* Hash for tables that contain texts of clients: SipHash-2-4 with a random key for each table, so
 * that nobody can construct texts that collide. Results must not depend on this hash. */
struct hash_key {
    uint8_t bytes[16];
};
void hash_key_make(struct hash_key *key); /* makes a random key */
uint64_t hash_keyed(const struct hash_key *key, const void *bytes, size_t n);
/* As hash_keyed, with 16 bytes: nobody can make the value without the key, so equal values mean
 * equal texts. */
#define HASH_KEYED_SIZE 16
void hash_keyed_long(const struct hash_key *key, const void *bytes, size_t n,
                     uint8_t out[HASH_KEYED_SIZE]);

#endif
