/* Values of query parameters. A wrong one is answered 400 with its name, its value and the rule. */
#include "api/support.h"

#include <discern/table.h>
#include <inttypes.h>
#include <string.h>

bool api_query_int(struct http_call *call, const char *name, int64_t minimum, int64_t maximum,
                   int64_t *out) {
    const char *text = http_query(call, name);
    int64_t v = 0;
    if (!text) {
        return true;
    }
    bool zero = strcmp(text, "0") == 0;
    if ((!zero && !ids_number_parse(text, &v)) || v < minimum || v > maximum) {
        http_fail(call, PROBLEM_BAD_REQUEST,
                  "query parameter \"%s\" must be an integer from %" PRId64 " to %" PRId64
                  ", got \"%.100s\"",
                  name, minimum, maximum, text);
        return false;
    }
    *out = v;
    return true;
}

bool api_query_seconds(struct http_call *call, const char *name, double maximum, double *out) {
    const char *text = http_query(call, name);
    double v = 0;
    if (!text) {
        return true;
    }
    if (!dn_number_parse(text, strlen(text), &v) || !(v >= 0) || v > maximum) {
        http_fail(call, PROBLEM_BAD_REQUEST,
                  "query parameter \"%s\" must be a number of seconds from 0 to %g, got \"%.100s\"",
                  name, maximum, text);
        return false;
    }
    *out = v;
    return true;
}

bool api_query_bool(struct http_call *call, const char *name, bool *out) {
    const char *text = http_query(call, name);
    if (!text) {
        return true;
    }
    bool yes = strcmp(text, "true") == 0;
    if (!yes && strcmp(text, "false") != 0) {
        http_fail(call, PROBLEM_BAD_REQUEST,
                  "query parameter \"%s\" must be true or false, got \"%.100s\"", name, text);
        return false;
    }
    *out = yes;
    return true;
}

/* Escapes all but the unreserved characters of RFC 3986. */
void api_put_escaped(struct buf *out, const char *value) {
    for (; *value; value++) {
        const char c = *value;
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
            (c && strchr("-._~", c))) {
            buf_putc(out, c);
        } else {
            buf_printf(out, "%%%02X", (unsigned)(unsigned char)c);
        }
    }
}
