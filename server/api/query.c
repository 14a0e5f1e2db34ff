/* Query parameters: each known, given once, of the right form; a wrong one is 400 with its name,
 * its value and the rule. */
#include "api/support.h"

#include <discern/table.h>
#include <inttypes.h>
#include <string.h>

/* "a, b, c" in the call's arena. */
static const char *join(struct http_call *call, const char *const *known) {
    const char *text = "";
    for (size_t i = 0; known[i]; i++) {
        text = arena_printf(http_arena(call), "%s%s%s", text, i > 0 ? ", " : "", known[i]);
        if (!text) {
            return "";
        }
    }
    return text;
}

bool api_query_known(struct http_call *call, const char *const *known) {
    const char *name, *value;
    unsigned seen = 0; /* bit i: known[i] was there */
    for (size_t i = 0; i < http_query_count(call); i++) {
        size_t k = 0;
        http_query_at(call, i, &name, &value);
        while (known[k] && strcmp(known[k], name) != 0) {
            k++;
        }
        if (!known[k]) {
            if (known[0]) {
                http_fail(call, PROBLEM_BAD_REQUEST,
                          "unknown query parameter \"%.100s\"; known here: %s", name,
                          join(call, known));
            } else {
                http_fail(call, PROBLEM_BAD_REQUEST,
                          "unknown query parameter \"%.100s\": this call takes none", name);
            }
            return false;
        }
        if (seen & 1u << k) {
            http_fail(call, PROBLEM_BAD_REQUEST, "query parameter \"%s\" is given more than once",
                      name);
            return false;
        }
        seen |= 1u << k;
    }
    return true;
}

bool api_query_int(struct http_call *call, const char *name, int64_t minimum, int64_t maximum,
                   int64_t *out) {
    const char *text = http_query(call, name);
    int64_t v = 0;
    if (!text) {
        return true;
    }
    bool zero = strcmp(text, "0") == 0;
    if ((!zero && !api_number_parse(text, &v)) || v < minimum || v > maximum) {
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
