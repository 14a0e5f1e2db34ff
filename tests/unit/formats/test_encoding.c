/* Tests of the conversion to UTF-8 in pieces, and of formats that are recognised by their first
 * bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory/buf.h"
#include "formats/text/encoding.h"
#include "formats/text/foreign.h"

#include <string.h>

static bool append(void *arg, const char *bytes, size_t n) {
    buf_append(arg, bytes, n);
    return true;
}

/* Converts the text in pieces of `piece` bytes. Compares the converted text and the result at the
 * end. */
static void check_pieces(const char *name, const char *text, size_t n, size_t piece,
                         enum encoding_end expected, const char *utf8) {
    struct encoding e;
    struct buf out = {0};
    enum encoding_end end = ENCODING_WELL;
    encoding_init(&e, name != NULL ? encoding_find(name, strlen(name)) : NULL);
    for (size_t at = 0; at < n && end == ENCODING_WELL; at += piece) {
        end = encoding_feed(&e, text + at, n - at < piece ? n - at : piece, false, append, &out);
    }
    if (end == ENCODING_WELL) {
        end = encoding_feed(&e, "", 0, true, append, &out);
    }
    assert_int_equal(end, expected);
    assert_string_equal(buf_cstr(&out), utf8);
    buf_done(&out);
    encoding_done(&e);
}

static void check(const char *name, const char *text, size_t n, enum encoding_end end,
                  const char *utf8) {
    for (size_t piece = 1; piece <= n + 1; piece++) {
        check_pieces(name, text, n, piece, end, utf8);
    }
}
#define CHECK(name, text, utf8) check(name, text, sizeof text - 1, ENCODING_WELL, utf8)
#define CHECK_INVALID(name, text, utf8) check(name, text, sizeof text - 1, ENCODING_INVALID, utf8)

static void test_encodings(void **state) {
    (void)state;
    CHECK(NULL, "", "");
    CHECK(NULL, "a", "a");
    /* the converter accepts invalid UTF-8, which the readers reject */
    CHECK(NULL, "a\xC3\xA9\xFF", "a\xC3\xA9\xFF");
    CHECK("UTF-8", "caf\xC3\xA9", "caf\xC3\xA9");
    CHECK("windows-1252", "a", "a");
    CHECK("windows-1252", "\x80,caf\xE9", "\xE2\x82\xAC,caf\xC3\xA9");
    CHECK("Latin1", "caf\xE9\x93", "caf\xC3\xA9\xE2\x80\x9C");
    CHECK("iso-8859-15", "\xA4", "\xE2\x82\xAC");
    CHECK("windows-1251", "\xC4\xE0", "\xD0\x94\xD0\xB0");
    CHECK("shift_jis", "\x93\xFA\x96\x7B", "\xE6\x97\xA5\xE6\x9C\xAC");
    CHECK(NULL,
          "\xFF\xFE"
          "a\0\xE9\0\n\0",
          "a\xC3\xA9\n");
    CHECK(NULL, "\xFE\xFF\0a\0\xE9\0\n", "a\xC3\xA9\n");
    CHECK(NULL, "\xFF\xFE\x3D\xD8\x00\xDE", "\xF0\x9F\x98\x80"); /* a surrogate pair */
    CHECK("utf-16", "a\0b\0", "ab");
    CHECK("utf-16be", "\0a\0b", "ab");
    CHECK("utf-16", "\xFE\xFF\0a", "a");
    CHECK(NULL, "\xFF\xFE\0\0a\0\0\0\xE9\0\0\0", "a\xC3\xA9");
    CHECK(NULL, "\0\0\xFE\xFF\0\0\0a\0\x01\xF6\0", "a\xF0\x9F\x98\x80");
    CHECK("utf-32", "a\0\0\0", "a");
    CHECK("utf-32be", "\0\0\0a", "a");
    CHECK_INVALID("windows-1252", "a\n\xE9\x81z", "a\n\xC3\xA9");
    CHECK_INVALID("utf-16le", "a\0b", "a");
    CHECK_INVALID("shift_jis", "a\x93", "a");
    CHECK(NULL, "\xFF", "\xFF");
}

static void test_place_of_a_fault(void **state) {
    (void)state;
    struct encoding e;
    struct buf out = {0};
    char text[ENCODING_FAULT];
    int64_t line = 0, column = 0;
    encoding_init(&e, encoding_find("cp1252", 6));
    assert_int_equal(encoding_feed(&e, "a,b\n1,\xE9\x81", 8, true, append, &out), ENCODING_INVALID);
    encoding_fault(&e, text, &line, &column);
    assert_int_equal(line, 2);
    assert_int_equal(column, 5); /* counts the second byte of the character before it */
    assert_string_equal(text, "byte 0x81 is not a character of the body's encoding");
    encoding_done(&e);
    buf_done(&out);
}

static void test_names(void **state) {
    (void)state;
    assert_string_equal(encoding_find("UTF8", 4), "");
    assert_string_equal(encoding_find("US-ASCII", 8), "");
    assert_string_equal(encoding_find("Windows-1252", 12), "CP1252");
    /* the name is not NUL-terminated */
    assert_string_equal(encoding_find("windows-1252x", 12), "CP1252");
    assert_null(encoding_find("windows-1252x", 13));
    assert_string_equal(encoding_find("latin-1", 7), "CP1252");
    assert_string_equal(encoding_find("ISO_8859-15", 11), "ISO-8859-15");
    assert_string_equal(encoding_find("utf_16_le", 9), "UTF-16LE");
    assert_string_equal(encoding_find("sjis", 4), "CP932");
    assert_null(encoding_find("latin-", 6));
    assert_null(encoding_find("--", 2));
    assert_null(encoding_find("", 0));
    assert_null(encoding_find("utf-7", 5));
    assert_null(encoding_find("utf-8//TRANSLIT", 15));
}

static bool stop_at_once(void *arg, const char *bytes, size_t n) {
    (void)bytes, (void)n;
    ++*(int *)arg;
    return false;
}

static void test_a_reader_that_stops(void **state) {
    (void)state;
    struct encoding e;
    int calls = 0;
    encoding_init(&e, encoding_find("latin1", 6));
    assert_int_equal(encoding_feed(&e, "abc", 3, true, stop_at_once, &calls), ENCODING_STOPPED);
    encoding_done(&e);
    encoding_init(&e, NULL);
    assert_int_equal(encoding_feed(&e, "abc", 3, true, stop_at_once, &calls), ENCODING_STOPPED);
    encoding_done(&e);
    assert_int_equal(calls, 2);
}

#define FOREIGN(bytes, says)                                                                       \
    do {                                                                                           \
        const char *text_ = foreign_body(bytes, sizeof bytes - 1);                                 \
        assert_non_null(text_);                                                                    \
        assert_non_null(strstr(text_, says));                                                      \
    } while (0)

static void test_foreign(void **state) {
    (void)state;
    char tar[512] = "data.csv";
    memcpy(tar + 257, "ustar", 5);
    FOREIGN("\x1F\x8B\x08\0", "Content-Encoding: gzip");
    FOREIGN("\x1F\x9D\x90\x80", "gzip -d");
    FOREIGN("\x78\x9C\x4B\xFF\xFF\xFF", "Content-Encoding: deflate");
    FOREIGN("BZh91AY\xFF\xFF\xFF\xFF", "bunzip2");
    FOREIGN("\xFD\x37zXZ\0", "unxz");
    FOREIGN("\x28\xB5\x2F\xFD\x04", "unzstd");
    FOREIGN("PK\x03\x04\x14\0\0\0data.csv", "unzip");
    FOREIGN("PK\x03\x04\x14\0[Content_Types].xml", "Excel");
    FOREIGN("PK\x03\x04\x14\0arr_0.npy", "npz");
    FOREIGN("\xD0\xCF\x11\xE0\xA1\xB1", "Excel");
    FOREIGN("PAR1\x15\x04\0\0", "Parquet");
    FOREIGN("\x93NUMPY\x01\0", "npy");
    FOREIGN("a\0,\0b\0", "encoding=utf-16le");
    FOREIGN("\0a\0,\0b", "encoding=utf-16be");
    FOREIGN("a\0\0\0,\0\0\0b\0\0\0", "encoding=utf-32le");
    FOREIGN("\0\0\0a\0\0\0,\0\0\0b", "encoding=utf-32be");
    FOREIGN("7z\xBC\xAF\x27\x1C\0\x04", "7z x");
    FOREIGN("Rar!\x1A\x07\x01\0", "unrar");
    FOREIGN("\x04\x22\x4D\x18\x64\x40\xA7", "unlz4");
    FOREIGN("\x80\x04\x95\x10\0\0", "pickle");
    FOREIGN("\x89PNG\r\n\x1A\n\0", "picture");
    FOREIGN("\xFF\xD8\xFF\xE0\0", "picture");
    FOREIGN("Obj\x01\x04\x14", "Avro");
    FOREIGN("$FL2@(#) SPSS DATA FILE\x02\0", "SPSS");
    FOREIGN("<stata_dta><header><release>118", "Stata");
    FOREIGN("<!DOCTYPE html>\n<html>", "HTML");
    FOREIGN("\xEF\xBB\xBF\n <HTML lang=en>", "HTML");
    FOREIGN("<?xml version=\"1.0\"?>", "XML");
    FOREIGN("%PDF-1.7\n1 0 obj", "PDF");
    assert_non_null(strstr(foreign_body(tar, sizeof tar), "tar -xf"));
    /* texts that only begin like these formats */
    assert_null(foreign_body("BZh,b\n1,2\n", 10));
    assert_null(foreign_body("PAR1,b\n1,2\n", 11));
    assert_null(foreign_body("PK\x03\x04,b\n", 7));
    assert_null(foreign_body("%PDF-,b\n", 8));
    assert_null(foreign_body("<html_tag,b\n1,2\n", 16));
    assert_null(foreign_body("ORC,b\n1,2\n", 10));
    assert_null(foreign_body("", 0));
    /* not UTF-8, but not a known format either */
    assert_null(foreign_body("a,b\ncaf\xE9,1\n", 12));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_encodings), cmocka_unit_test(test_place_of_a_fault),
        cmocka_unit_test(test_names),     cmocka_unit_test(test_a_reader_that_stops),
        cmocka_unit_test(test_foreign),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
