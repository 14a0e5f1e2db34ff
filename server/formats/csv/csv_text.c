/* Checks that bytes are UTF-8 without NUL. */
#include "formats/csv/csv_text.h"
#include "base/utf8.h"

#include <string.h>

/* Whether n bytes are a UTF-8 sequence that further bytes may complete. It is true of some
 * sequences that none can complete (E0 80): their fault is found later. For a single byte the
 * result is true, because the next byte is needed to describe a fault. */
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

/* In Windows-1252 and Latin-1 a byte >= 0x80, an accented letter, is usually followed by an ASCII
 * character. In UTF-8 it is followed by a continuation byte, also in most damaged texts. */
const char *csv_text_wrong(const char *bytes, size_t n) {
    const unsigned char c = (unsigned char)bytes[0], next = n > 1 ? (unsigned char)bytes[1] : 0;
    if ((next >= 0x80 && next < 0xC0) || c >= 0xFE) {
        return "invalid UTF-8";
    }
    return "invalid UTF-8: if the body is Windows-1252 or Latin-1, add the parameter "
           "encoding=windows-1252";
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
