/* Random identifiers, names of resources and references to versions. */
#include "base/ids.h"
#include "base/hash.h"

#include <sodium.h>
#include <string.h>

bool ids_init(void) {
    return sodium_init() >= 0;
}

void ids_request(char out[IDS_REQUEST_SIZE]) {
    uint8_t bytes[(IDS_REQUEST_SIZE - 1) / 2];
    randombytes_buf(bytes, sizeof bytes);
    hash_hex(bytes, sizeof bytes, out);
}

uint64_t ids_random(void) {
    uint64_t v;
    randombytes_buf(&v, sizeof v);
    return v;
}

void ids_random_bytes(void *out, size_t n) {
    randombytes_buf(out, n);
}

/* ASCII only: isalnum() depends on the locale. */
static bool is_alnum(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool ids_name_valid(const char *name, size_t length) {
    if (length == 0 || length > IDS_NAME_SIZE - 1 || !is_alnum(name[0])) {
        return false;
    }
    for (size_t i = 1; i < length; i++) {
        if (!is_alnum(name[i]) && name[i] != '.' && name[i] != '_' && name[i] != '-') {
            return false;
        }
    }
    return true;
}

bool ids_number_parse(const char *text, int64_t *out) {
    int64_t v = 0;
    if (text[0] < '1' || text[0] > '9') {
        return false;
    }
    for (; *text >= '0' && *text <= '9'; text++) {
        v = v * 10 + (*text - '0');
        if (v > IDS_NUMBER_MAX) {
            return false;
        }
    }
    if (*text != '\0') {
        return false;
    }
    *out = v;
    return true;
}

bool ids_reference_parse(const char *text, char name[IDS_NAME_SIZE], int64_t *version) {
    const char *at = strchr(text, '@');
    size_t n = at ? (size_t)(at - text) : strlen(text);
    int64_t v = 0;
    if (!ids_name_valid(text, n) || (at && !ids_number_parse(at + 1, &v))) {
        return false;
    }
    memcpy(name, text, n);
    name[n] = '\0';
    *version = v;
    return true;
}
