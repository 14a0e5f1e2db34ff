/* Tests of hashes: published test vectors; data in pieces give the same hash as in one piece. */
#include "lib/cmocka.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

static void sha256(const char *text, size_t n, size_t piece, char out[HASH_SHA256_TEXT]) {
    struct hash_sha256 *h = hash_sha256_new();
    assert_non_null(h);
    for (size_t i = 0; i < n; i += piece) {
        hash_sha256_add(h, text + i, n - i < piece ? n - i : piece);
    }
    hash_sha256_hex(h, out);
    hash_sha256_free(h);
}

static void test_sha256(void **state) {
    (void)state;
    char hex[HASH_SHA256_TEXT], again[HASH_SHA256_TEXT];
    sha256("", 0, 1, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    sha256("abc", 3, 3, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    char long_text[1000];
    memset(long_text, 'q', sizeof long_text);
    sha256(long_text, sizeof long_text, sizeof long_text, hex);
    for (size_t piece = 1; piece < 200; piece += 7) {
        sha256(long_text, sizeof long_text, piece, again);
        assert_string_equal(hex, again);
    }
    hash_sha256_free(hash_sha256_new()); /* freed before the hash was computed */
    hash_sha256_free(NULL);
}

static void test_blake2b(void **state) {
    (void)state;
    struct hash_blake2b *h = hash_blake2b_new();
    assert_non_null(h);
    uint8_t digest[HASH_BLAKE2B_SIZE];
    char hex[HASH_BLAKE2B_TEXT];
    for (int round = 0; round < 2; round++) { /* after a reset the hash must be the same */
        hash_blake2b_add(h, "a", 1);
        hash_blake2b_add(h, NULL, 0);
        hash_blake2b_add(h, "bc", 2);
        hash_blake2b_end(h, digest);
        hash_hex(digest, sizeof digest, hex);
        assert_string_equal(hex,
                            "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
        hash_blake2b_reset(h);
    }
    hash_blake2b_end(h, digest);
    hash_hex(digest, sizeof digest, hex);
    assert_string_equal(hex, "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
    hash_blake2b_free(h);
    hash_blake2b_free(NULL);
}

static void test_crc32(void **state) {
    (void)state;
    assert_int_equal(hash_crc32("123456789", 9), 0xCBF43926);
    assert_int_equal(hash_crc32("", 0), 0);
    assert_int_equal(hash_crc32(NULL, 0), 0);
}

static void test_hex(void **state) {
    (void)state;
    char out[9];
    hash_hex((const uint8_t[]){0x00, 0x0f, 0xa0, 0xff}, 4, out);
    assert_string_equal(out, "000fa0ff");
    hash_hex(NULL, 0, out);
    assert_string_equal(out, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha256),
        cmocka_unit_test(test_blake2b),
        cmocka_unit_test(test_crc32),
        cmocka_unit_test(test_hex),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
