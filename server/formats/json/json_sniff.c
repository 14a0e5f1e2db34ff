/* Decides whether a body is one JSON document or NDJSON. The sample is read as NDJSON. */
#include "formats/json/json_sniff.h"
#include "formats/json/json_reader.h"

#include <string.h>

/* Returns the length of the byte order mark; 0 if there is none. */
static size_t mark(const char *bytes, size_t n) {
    return n >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

bool json_sniff_looks(const char *bytes, size_t n) {
    size_t i = mark(bytes, n);
    while (i < n && (bytes[i] == ' ' || bytes[i] == '\t' || bytes[i] == '\n' || bytes[i] == '\r')) {
        i++;
    }
    return i < n && (bytes[i] == '[' || bytes[i] == '{');
}

/* Whether the key is a member of a document with a table: an upload, or an answer of the server. */
static bool is_ours(const struct json_token *key) {
    static const char *const names[] = {"columns", "rows", "items"};
    bool is = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        is = is ||
             (key->length == strlen(names[i]) && memcmp(key->text, names[i], key->length) == 0);
    }
    return is;
}

/* Whether the line ends within its value and the next line does not begin with {, as in a document
 * that is formatted on several lines. */
static bool is_broken_up(const struct json_reader *r) {
    const char *p = r->at;
    if (p >= r->end || *p != '\n') {
        return false;
    }
    while (p < r->end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')) {
        p++;
    }
    return p == r->end || *p != '{';
}

/* Reads tokens until the format is known. A body is a document if its outermost array contains an
 * array, or if it has a member "columns", "rows" or "items" whose value is a container. Any other
 * nested value is a fault of a row. An object that begins with another key is a row: perhaps the
 * only one, or one with a fault. */
static enum json_sniff verdict(struct json_reader *r) {
    struct json_token token;
    bool lined = false, ours = false, in_array = false, is_row = false;
    for (;;) {
        const enum json_token_kind kind = json_reader_next(r, &token);
        const bool key = kind == JSON_TOKEN_KEY && r->depth == 1;
        if (kind == JSON_TOKEN_MORE) {
            return JSON_SNIFF_UNSURE;
        }
        if (kind == JSON_TOKEN_FAULT) {
            return r->fault_code == JSON_READER_NO_MEMORY  ? JSON_SNIFF_NO_MEMORY
                   : is_row && (lined || !is_broken_up(r)) ? JSON_SNIFF_LINES
                                                           : JSON_SNIFF_ONE;
        }
        if (kind == JSON_TOKEN_END) {
            return is_row ? JSON_SNIFF_LINES : JSON_SNIFF_ONE;
        }
        if (lined) {
            return json_token_begins(kind) || is_row ? JSON_SNIFF_LINES : JSON_SNIFF_ONE;
        }
        if (json_token_begins(kind) && r->depth > 1 && (in_array || ours)) {
            return JSON_SNIFF_ONE;
        }
        if (json_token_begins(kind) && r->depth == 1) {
            in_array = kind == JSON_TOKEN_BEGIN_ARRAY;
        }
        is_row =
            /* `ours`: the value of that member is not a container */
            is_row || ours || (key && !is_ours(&token));
        ours = key && is_ours(&token);
        lined = kind == JSON_TOKEN_END_LINE;
    }
}

enum json_sniff json_sniff_lines(const char *bytes, size_t n, bool whole) {
    struct json_reader r;
    const size_t skipped = mark(bytes, n);
    json_reader_init(&r);
    r.lines = true;
    json_reader_feed(&r, bytes + skipped, n - skipped);
    if (whole) {
        json_reader_close(&r);
    }
    const enum json_sniff found = verdict(&r);
    json_reader_done(&r);
    return found;
}
