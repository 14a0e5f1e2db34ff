/* Checks that bytes are UTF-8 without NUL, and recognises other formats by their first bytes. */
#include "formats/csv/csv_text.h"
#include "base/utf8.h"

#include <string.h>

/* Whether n bytes begin a UTF-8 sequence that more bytes may complete. A single byte needs the next
 * one before a fault can be described. */
static bool cut_sequence(const char *bytes, size_t n) {
    if (n == 1) {
        return true;
    }
    const unsigned char lead = (unsigned char)bytes[0];
    const size_t need = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 1;
    if (n >= need || lead > 0xF4) {
        return false;
    }
    for (size_t i = 1; i < n; i++) {
        if (((unsigned char)bytes[i] & 0xC0) != 0x80) {
            return false;
        }
    }
    return true;
}

/* In Latin-1 and Windows-1252 an accented letter is mostly between ASCII characters. After the
 * first byte of a damaged UTF-8 sequence a continuation byte follows. */
const char *csv_text_wrong(const char *bytes, size_t n) {
    const unsigned char c = (unsigned char)bytes[0], next = n > 1 ? (unsigned char)bytes[1] : 0;
    if ((next >= 0x80 && next < 0xC0) || c >= 0xFE) {
        return "invalid UTF-8";
    }
    return c >= 0xA0 ? "invalid UTF-8: the body looks like Latin-1, send it as UTF-8 (iconv -f "
                       "latin1 -t utf8)"
                     : "invalid UTF-8: the body looks like Windows-1252, send it as UTF-8 (iconv "
                       "-f cp1252 -t utf8)";
}

size_t csv_text_check(const char *bytes, size_t n, bool final, const char **wrong) {
    const char *nul = n > 0 ? memchr(bytes, '\0', n) : NULL;
    const size_t upto = nul != NULL ? (size_t)(nul - bytes) : n;
    const size_t valid = utf8_valid_prefix(bytes, upto);
    if (valid < upto) {
        if (nul != NULL || final || !cut_sequence(bytes + valid, upto - valid)) {
            *wrong = csv_text_wrong(bytes + valid, n - valid);
        }
    } else if (nul != NULL) {
        *wrong = "NUL byte";
    }
    return valid;
}

const char *csv_text_foreign(const char head[4]) {
    static const struct {
        const char *begins; /* at most four bytes */
        size_t n;
        const char *what;
    } known[] = {
        {"\xFF\xFE", 2, "the body is UTF-16: send it as UTF-8 (iconv -f utf-16 -t utf-8)"},
        {"\xFE\xFF", 2, "the body is UTF-16: send it as UTF-8 (iconv -f utf-16 -t utf-8)"},
        {"\x1F\x8B", 2,
         "the body is gzip-compressed: send its coding (-H 'Content-Encoding: gzip')"},
        {"\x78\x01", 2,
         "the body is zlib-compressed: send its coding (-H 'Content-Encoding: deflate')"},
        {"\x78\x9C", 2,
         "the body is zlib-compressed: send its coding (-H 'Content-Encoding: deflate')"},
        {"\x78\xDA", 2,
         "the body is zlib-compressed: send its coding (-H 'Content-Encoding: deflate')"},
        {"BZh", 3, "the body is bzip2-compressed: send it plain or with gzip"},
        {"\xFD"
         "7zX",
         4, "the body is xz-compressed: send it plain or with gzip"},
        {"\x28\xB5\x2F\xFD", 4, "the body is zstd-compressed: send it plain or with gzip"},
        {"PK\x03\x04", 4, "the body is a zip archive or a spreadsheet file: send it as CSV"},
        {"PAR1", 4, "the body is a Parquet file: send it as CSV"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (memcmp(head, known[i].begins, known[i].n) == 0) {
            return known[i].what;
        }
    }
    if (head[1] == '\0' && head[3] == '\0' && head[0] != '\0' && head[2] != '\0') {
        return "the body looks like UTF-16: send it as UTF-8 (iconv -f utf-16le -t utf-8)";
    }
    if (head[0] == '\0' && head[2] == '\0' && head[1] != '\0' && head[3] != '\0') {
        return "the body looks like UTF-16: send it as UTF-8 (iconv -f utf-16be -t utf-8)";
    }
    return NULL;
}
