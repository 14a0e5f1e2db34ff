/* Conversion of a text to characters, and the column and row of an error. */
#include "text/tokens.h"

#include <unistr.h>

#define REPLACEMENT 0xfffd

dn_status dni_characters(const char *text, size_t length, uint32_t *out, size_t *n, dn_error *err) {
    const uint8_t *at = (const uint8_t *)text;
    size_t count = 0;
    for (size_t left = length; left > 0; count++) {
        ucs4_t code = 0;
        const int bytes = u8_mbtoucr(&code, at, left);
        const size_t taken = bytes > 0 ? (size_t)bytes : 1;
        if (count == DN_MAX_CHARACTERS) {
            return dn_error_set(err, DN_ERR_DATA, "the text has more than %d characters",
                                DN_MAX_CHARACTERS);
        }
        if (out != NULL) {
            out[count] = bytes > 0 && code > 0 ? (uint32_t)code : REPLACEMENT;
        }
        at += taken;
        left -= taken;
    }
    *n = count;
    return DN_OK;
}

dn_status dni_text_error_at(dn_status status, const char *column, size_t row, dn_error *err) {
    if (status != DN_ERR_DATA || err == NULL) {
        return status;
    }
    const dn_error own = *err;
    dn_error_clear(err);
    dn_error_set(err, status, "column \"%.128s\", row %zu: %s", column, row, own.message);
    dn_error_set_field(err, column);
    dn_error_set_row(err, (int64_t)row);
    return status;
}
