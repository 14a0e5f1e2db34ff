#include "store/tables/audit_hash.h"
#include <string.h>

enum { IS_NULL, IS_INTEGER, IS_TEXT, IS_OTHER };

static void put_integer(struct buf *out, uint64_t value) {
    char bytes[8];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (char)(value >> (56 - 8 * i));
    }
    buf_append(out, bytes, sizeof bytes);
}

static void put_bytes(struct buf *out, char type, const void *bytes, size_t size) {
    buf_putc(out, type);
    put_integer(out, size);
    if (size > 0 && bytes == NULL) {
        out->failed = true;
    } else if (size > 0) {
        buf_append(out, bytes, size);
    }
}

void store_audit_hash_previous(struct store_audit_hash *h, const void *hash, size_t size) {
    if (hash != NULL && size > 0) {
        buf_append(&h->bytes, hash, size);
    }
}

void store_audit_hash_int(struct store_audit_hash *h, int64_t value) {
    buf_putc(&h->bytes, IS_INTEGER);
    put_integer(&h->bytes, (uint64_t)value);
}

void store_audit_hash_text(struct store_audit_hash *h, const char *text) {
    if (text == NULL) {
        buf_putc(&h->bytes, IS_NULL);
    } else {
        put_bytes(&h->bytes, IS_TEXT, text, strlen(text));
    }
}

void store_audit_hash_column(struct store_audit_hash *h, struct store_query *q, int column) {
    const enum store_kind kind = store_query_kind(q, column);
    if (kind == STORE_NULL) {
        buf_putc(&h->bytes, IS_NULL);
    } else if (kind == STORE_INTEGER) {
        store_audit_hash_int(h, store_query_int(q, column));
    } else {
        size_t size;
        const void *bytes = store_query_bytes(q, column, &size);
        put_bytes(&h->bytes, kind == STORE_TEXT ? IS_TEXT : IS_OTHER, bytes, size);
    }
}

bool store_audit_hash_end(struct store_audit_hash *h, uint8_t out[HASH_BLAKE2B_SIZE]) {
    const bool good = !h->bytes.failed;
    if (good) {
        hash_blake2b(h->bytes.data, h->bytes.size, out);
    }
    buf_done(&h->bytes);
    return good;
}
