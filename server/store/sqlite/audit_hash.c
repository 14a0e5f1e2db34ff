/* The hash of an entry of the audit, as an SQL function. */
#include "store/sqlite/audit_hash.h"
#include "base/hash.h"
#include "base/memory/buf.h"

#include <stdint.h>

enum { IS_NULL, IS_INTEGER, IS_TEXT, IS_OTHER };

static void put_integer(struct buf *out, uint64_t value) {
    char bytes[8];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (char)(value >> (56 - 8 * i));
    }
    buf_append(out, bytes, sizeof bytes);
}

static void put_value(struct buf *out, sqlite3_value *value) {
    const int type = sqlite3_value_type(value);
    if (type == SQLITE_NULL) {
        buf_putc(out, IS_NULL);
        return;
    }
    if (type == SQLITE_INTEGER) {
        buf_putc(out, IS_INTEGER);
        put_integer(out, (uint64_t)sqlite3_value_int64(value));
        return;
    }
    const void *bytes = sqlite3_value_blob(value);
    const size_t size = (size_t)sqlite3_value_bytes(value);
    buf_putc(out, type == SQLITE_TEXT ? IS_TEXT : IS_OTHER);
    put_integer(out, size);
    if (size > 0 && bytes == NULL) {
        out->failed = true;
    } else if (size > 0) {
        buf_append(out, bytes, size);
    }
}

static void audit_hash(sqlite3_context *context, int n, sqlite3_value **values) {
    struct buf text = {0};
    uint8_t hash[HASH_BLAKE2B_SIZE];
    const void *previous = n > 0 ? sqlite3_value_blob(values[0]) : NULL;
    if (previous != NULL) {
        buf_append(&text, previous, (size_t)sqlite3_value_bytes(values[0]));
    }
    for (int i = 1; i < n; i++) {
        put_value(&text, values[i]);
    }
    if (text.failed) {
        sqlite3_result_error_nomem(context);
    } else {
        hash_blake2b(text.data, text.size, hash);
        sqlite3_result_blob(context, hash, sizeof hash, SQLITE_TRANSIENT);
    }
    buf_done(&text);
}

int store_audit_hash_add(sqlite3 *db) {
    return sqlite3_create_function_v2(db, "audit_hash", -1,
                                      SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, NULL,
                                      audit_hash, NULL, NULL, NULL);
}
