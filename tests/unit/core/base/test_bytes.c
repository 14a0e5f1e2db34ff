/* Little-endian bytes: the reader returns what the writer wrote, never reads beyond the end, and
 * keeps its first failure. */
#include "base/bytes.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double doubles[] = {1.5, -0.0, 1e-310};
static const uint32_t words[] = {1, 0xfffffffe};

static void write_all(dni_writer *writer) {
    dni_write_u8(writer, 0xab);
    dni_write_u16(writer, 0x1234);
    dni_write_u32(writer, 0);
    dni_write_u64(writer, UINT64_C(0x0123456789abcdef));
    dni_write_f64(writer, (double)NAN);
    dni_write_f64s(writer, doubles, 3);
    dni_write_u32s(writer, words, 2);
    dni_write_text(writer, "häuser", 7);
    dni_write_text(writer, NULL, 0);
    dni_write_bytes(writer, "xyz", 3);
    dni_write_u32_at(writer, 3, 0xdeadbeef);
}

/* True when all reads succeed and return the values that write_all() wrote. */
static bool read_all(dni_reader *reader) {
    double values[3], nan;
    uint32_t pair[2];
    size_t length = 99;
    bool right = dni_read_u8(reader) == 0xab;
    right &= dni_read_u16(reader) == 0x1234;
    right &= dni_read_u32(reader) == 0xdeadbeef;
    right &= dni_read_u64(reader) == UINT64_C(0x0123456789abcdef);
    nan = dni_read_f64(reader);
    right &= isnan(nan) != 0;
    right &= dni_read_f64s(reader, values, 3) && memcmp(values, doubles, sizeof doubles) == 0;
    right &= dni_read_u32s(reader, pair, 2) && memcmp(pair, words, sizeof words) == 0;
    const char *text = dni_read_text(reader, &length);
    right &= text != NULL && length == 7 && memcmp(text, "häuser", 7) == 0;
    text = dni_read_text(reader, &length);
    right &= text != NULL && length == 0;
    const char *rest = dni_read_bytes(reader, 3);
    return right && rest != NULL && memcmp(rest, "xyz", 3) == 0;
}

static void there_and_back(void **unused) {
    (void)unused;
    dni_writer writer;
    dni_writer_init(&writer);
    write_all(&writer);
    void *bytes = NULL;
    size_t size = 0;
    assert_int_equal(dni_writer_take(&writer, &bytes, &size, NULL), DN_OK);
    assert_int_equal(size, 1 + 2 + 4 + 8 + 8 + 24 + 8 + 15 + 8 + 3);
    static const unsigned char begin[] = {0xab, 0x34, 0x12, 0xef, 0xbe, 0xad, 0xde, 0xef,
                                          0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01};
    assert_memory_equal(bytes, begin, sizeof begin);
    dni_reader reader = dni_reader_of(bytes, size);
    assert_true(read_all(&reader));
    assert_int_equal(dni_reader_end(&reader, "it", NULL), DN_OK);
    for (size_t cut = 0; cut < size; cut++) { /* the copy has exactly `cut` bytes */
        void *copy = malloc(cut + (cut == 0));
        memcpy(copy, bytes, cut);
        reader = dni_reader_of(copy, cut);
        assert_false(read_all(&reader));
        assert_int_equal(dni_reader_end(&reader, "it", NULL), DN_ERR_CORRUPT);
        assert_int_equal(dni_read_u8(&reader), 0); /* stays failed */
        free(copy);
    }
    reader = dni_reader_of(bytes, size);
    (void)dni_read_u8(&reader);
    dn_error err;
    dn_error_clear(&err);
    assert_int_equal(dni_reader_end(&reader, "the model", &err), DN_ERR_CORRUPT);
    assert_non_null(strstr(err.message, "the model is followed by"));
    dni_reader_fail(&reader);
    assert_null(dni_read_bytes(&reader, 1));
    free(bytes);
}

static void counts_must_fit(void **unused) {
    (void)unused;
    unsigned char bytes[24] = {2};
    dni_reader reader = dni_reader_of(bytes, sizeof bytes);
    assert_int_equal(dni_read_count(&reader, 8), 2);
    reader = dni_reader_of(bytes, sizeof bytes);
    assert_int_equal(dni_read_count(&reader, 9), 0);
    assert_true(reader.failed);
    memset(bytes, 0xff, 8);
    reader = dni_reader_of(bytes, sizeof bytes);
    assert_int_equal(dni_read_count(&reader, 1), 0);
    assert_true(reader.failed);
    double value = 7;
    reader = dni_reader_of(bytes, sizeof bytes);
    assert_false(dni_read_f64s(&reader, &value, SIZE_MAX / 4));
    assert_true(value == 7);
    reader = dni_reader_of(NULL, 0);
    assert_non_null(dni_read_bytes(&reader, 0));
    assert_int_equal(dni_reader_end(&reader, "nothing", NULL), DN_OK);
}

static void empty_writer(void **unused) {
    (void)unused;
    dni_writer writer;
    dni_writer_init(&writer);
    void *bytes = NULL;
    size_t size = 9;
    assert_int_equal(dni_writer_take(&writer, &bytes, &size, NULL), DN_OK);
    assert_non_null(bytes);
    assert_int_equal(size, 0);
    free(bytes);
    write_all(&writer); /* the writer is empty and can be used again */
    dni_writer_done(&writer);
    dni_write_bytes(&writer, "x", SIZE_MAX);
    bytes = &size;
    assert_int_equal(dni_writer_take(&writer, &bytes, &size, NULL), DN_ERR_MEMORY);
    assert_ptr_equal(bytes, &size);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(counts_must_fit),
        cmocka_unit_test(empty_writer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
