#include "formats/json/json_string.h"
#include "base/json/json_lexical.h"
#include "base/utf8.h"
#include "formats/csv/csv_text.h"
#include "formats/text/scan.h"

#include <string.h>

const char *json_text_end(const char *p, const char *limit, bool *escaped, bool *decode) {
    bool skip = *escaped;
    while (p < limit) {
        if (!skip && limit - p >= 8) {
            const uint64_t w = scan_load(p);
            const uint64_t special = scan_equal(w, scan_repeat('"')) |
                                     scan_equal(w, scan_repeat('\\')) | scan_control(w);
            if (special == 0) {
                p += 8;
                continue;
            }
            p += scan_first(special);
        }
        const unsigned char c = (unsigned char)*p;
        if (c < 0x20 || (c == '"' && !skip)) {
            break;
        }
        skip = c == '\\' && !skip;
        *decode |= skip;
        p++;
    }
    *escaped = skip;
    return p;
}

const char *json_text_check_utf8(const char *text, size_t n, size_t *wrong) {
    const size_t valid = utf8_valid_prefix(text, n);
    if (valid == n) {
        return NULL;
    }
    *wrong = valid;
    return csv_text_wrong(text + valid, n - valid);
}

const char *json_text_unescape(char *text, size_t n, size_t *out_n, size_t *wrong) {
    const char *p = text, *end = text + n;
    char *out = text;
    while (p < end) {
        const char *slash = memchr(p, '\\', (size_t)(end - p));
        const size_t plain = (size_t)((slash != NULL ? slash : end) - p);
        const size_t valid = utf8_valid_prefix(p, plain);
        if (valid < plain) {
            *wrong = (size_t)(p - text) + valid;
            return csv_text_wrong(p + valid, plain - valid);
        }
        memmove(out, p, plain);
        out += plain;
        p += plain;
        if (slash == NULL) {
            break;
        }
        *wrong = (size_t)(p - text);
        const char *fault = json_unescape(&p, end, &out);
        if (fault != NULL) {
            return fault;
        }
    }
    *out_n = (size_t)(out - text);
    return NULL;
}
