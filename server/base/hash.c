/* Hash functions. Each is taken from the library with the fastest implementation among those that
 * the daemon uses anyway. */
#include "base/hash.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

_Static_assert(HASH_SHA256_TEXT == 2 * 32 + 1, "SHA-256 has 32 bytes");
_Static_assert(HASH_BLAKE2B_TEXT == 2 * HASH_BLAKE2B_SIZE + 1, "two digits a byte and NUL");

struct hash_sha256 {
    gnutls_hash_hd_t handle; /* NULL after the digest was taken */
};

struct hash_sha256 *hash_sha256_new(void) {
    struct hash_sha256 *h = malloc(sizeof *h);
    if (h != NULL && gnutls_hash_init(&h->handle, GNUTLS_DIG_SHA256) < 0) {
        free(h);
        return NULL;
    }
    return h;
}

void hash_sha256_add(struct hash_sha256 *h, const void *bytes, size_t n) {
    if (n > 0 && gnutls_hash(h->handle, bytes, n) < 0) {
        abort(); /* cannot fail for data in memory; a wrong digest must never be stored */
    }
}

void hash_sha256_hex(struct hash_sha256 *h, char out[HASH_SHA256_TEXT]) {
    uint8_t digest[32];
    gnutls_hash_deinit(h->handle, digest);
    h->handle = NULL;
    hash_hex(digest, sizeof digest, out);
}

void hash_sha256_free(struct hash_sha256 *h) {
    if (h != NULL) {
        if (h->handle != NULL) {
            gnutls_hash_deinit(h->handle, NULL);
        }
        free(h);
    }
}

void hash_sha256_file(const char *path, char out[HASH_SHA256_TEXT]) {
    char bytes[16384];
    struct hash_sha256 *h = hash_sha256_new();
    FILE *f = fopen(path, "re");
    out[0] = '\0';
    for (size_t n = 1; h != NULL && f != NULL && n > 0;) {
        n = fread(bytes, 1, sizeof bytes, f);
        hash_sha256_add(h, bytes, n);
    }
    if (h != NULL && f != NULL && !ferror(f)) {
        hash_sha256_hex(h, out);
    }
    hash_sha256_free(h);
    if (f != NULL) {
        (void)fclose(f);
    }
}

struct hash_blake2b {
    crypto_generichash_state state; /* aligned to 64 bytes */
};

struct hash_blake2b *hash_blake2b_new(void) {
    /* selects the code for this CPU; may be called again */
    if (sodium_init() < 0) {
        return NULL;
    }
    struct hash_blake2b *h = aligned_alloc(_Alignof(struct hash_blake2b), sizeof *h);
    if (h != NULL) {
        hash_blake2b_reset(h);
    }
    return h;
}

void hash_blake2b_add(struct hash_blake2b *h, const void *bytes, size_t n) {
    if (n > 0) {
        (void)crypto_generichash_update(&h->state, bytes, n);
    }
}

void hash_blake2b_end(struct hash_blake2b *h, uint8_t out[HASH_BLAKE2B_SIZE]) {
    (void)crypto_generichash_final(&h->state, out, HASH_BLAKE2B_SIZE);
}

void hash_blake2b_reset(struct hash_blake2b *h) {
    /* clears the padding at the end too, because hash_blake2b_save copies it */
    memset(&h->state, 0, sizeof h->state);
    (void)crypto_generichash_init(&h->state, NULL, 0, HASH_BLAKE2B_SIZE);
}

void hash_blake2b_free(struct hash_blake2b *h) {
    free(h);
}

/* The saved form: the library's version, its state, and the BLAKE2b digest of both. The digest is
 * checked before the state is used, because the library aborts the process if a state is
 * invalid. */
enum {
    SAVED_VERSION = 16,
    SAVED_STATE = HASH_BLAKE2B_STATE - SAVED_VERSION - HASH_BLAKE2B_SIZE,
    SAVED_CHECK = SAVED_VERSION + SAVED_STATE
};

static void saved_head(const struct hash_blake2b *h, uint8_t out[SAVED_CHECK]) {
    _Static_assert(sizeof h->state == SAVED_STATE, "the size of the library's state");
    const char *version = sodium_version_string();
    const size_t n = strlen(version);
    memset(out, 0, SAVED_VERSION);
    memcpy(out, version, n < SAVED_VERSION ? n : SAVED_VERSION);
    memcpy(out + SAVED_VERSION, &h->state, SAVED_STATE);
}

static void saved_check(const uint8_t head[SAVED_CHECK], uint8_t out[HASH_BLAKE2B_SIZE]) {
    (void)crypto_generichash(out, HASH_BLAKE2B_SIZE, head, SAVED_CHECK, NULL, 0);
}

void hash_blake2b_save(const struct hash_blake2b *h, uint8_t out[HASH_BLAKE2B_STATE]) {
    saved_head(h, out);
    saved_check(out, out + SAVED_CHECK);
}

bool hash_blake2b_load(struct hash_blake2b *h, const uint8_t saved[HASH_BLAKE2B_STATE]) {
    uint8_t own[SAVED_CHECK], check[HASH_BLAKE2B_SIZE];
    saved_head(h, own);
    saved_check(saved, check);
    if (memcmp(saved, own, SAVED_VERSION) != 0 ||
        memcmp(saved + SAVED_CHECK, check, sizeof check) != 0) {
        return false;
    }
    memcpy(&h->state, saved + SAVED_VERSION, SAVED_STATE);
    return true;
}

void hash_blake2b(const void *bytes, size_t n, uint8_t out[HASH_BLAKE2B_SIZE]) {
    (void)crypto_generichash(out, HASH_BLAKE2B_SIZE, bytes, n, NULL, 0);
}

bool hash_equal(const uint8_t *a, const uint8_t *b, size_t n) {
    return sodium_memcmp(a, b, n) == 0;
}

void hash_hex(const uint8_t *bytes, size_t n, char *out) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[2 * n] = '\0';
}

uint32_t hash_crc32(const void *bytes, size_t n) {
    return n == 0 ? 0 : (uint32_t)crc32_z(0, bytes, n);
}

void hash_key_make(struct hash_key *key) {
    _Static_assert(sizeof key->bytes == crypto_shorthash_siphash24_KEYBYTES, "the key of SipHash");
    randombytes_buf(key->bytes, sizeof key->bytes);
}

uint64_t hash_keyed(const struct hash_key *key, const void *bytes, size_t n) {
    uint64_t hash = 0;
    _Static_assert(sizeof hash == crypto_shorthash_siphash24_BYTES, "the size of SipHash");
    (void)crypto_shorthash_siphash24((unsigned char *)&hash, bytes, n, key->bytes);
    return hash;
}

void hash_keyed_long(const struct hash_key *key, const void *bytes, size_t n,
                     uint8_t out[HASH_KEYED_SIZE]) {
    _Static_assert(HASH_KEYED_SIZE == crypto_shorthash_siphashx24_BYTES, "the size of SipHash-128");
    (void)crypto_shorthash_siphashx24(out, bytes, n, key->bytes);
}
