/* Random identifiers, and the rule of resource names. */
#include "base/ids.h"
#include "base/hash.h"

#include <sodium.h>

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

/* ASCII only: isalnum() would ask the locale. */
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
