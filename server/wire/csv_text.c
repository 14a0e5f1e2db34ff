/* Is it text: NUL, UTF-8, and the first bytes of what people send by mistake. */
#include "wire/csv_text.h"
#include "base/utf8.h"

#include <string.h>

/* Whether n bytes begin a sequence that more bytes could complete. */
static bool cut_sequence(const char *bytes, size_t n) {
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

size_t csv_text_check(const char *bytes, size_t n, bool final, const char **wrong) {
    const char *nul = n > 0 ? memchr(bytes, '\0', n) : NULL;
    const size_t upto = nul != NULL ? (size_t)(nul - bytes) : n;
    const size_t valid = utf8_valid_prefix(bytes, upto);
    if (valid < upto) {
        if (nul != NULL || final || !cut_sequence(bytes + valid, upto - valid)) {
            *wrong = "invalid UTF-8";
        }
    } else if (nul != NULL) {
        *wrong = "NUL byte";
    }
    return valid;
}

const char *csv_text_foreign(const char head[4]) {
    if (memcmp(head, "\xFF\xFE", 2) == 0 || memcmp(head, "\xFE\xFF", 2) == 0) {
        return "the body is UTF-16: send it as UTF-8";
    }
    if (memcmp(head, "\x1F\x8B", 2) == 0) {
        return "the body is gzip-compressed";
    }
    if (memcmp(head, "PK\x03\x04", 4) == 0) {
        return "the body is a zip archive or a spreadsheet file: send it as CSV";
    }
    if (memcmp(head, "PAR1", 4) == 0) {
        return "the body is a Parquet file: send it as CSV";
    }
    return NULL;
}
