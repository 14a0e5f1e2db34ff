#include "store/sqlite/row_crc.h"
#include "base/hash.h"
#include "base/log/log.h"
#include "base/process/clock.h"

#include <stdatomic.h>
#include <string.h>

enum { PART_SIZE = 16 };

/* Writes an integer as bytes that are the same on all machines. */
static void put(unsigned char *out, uint64_t value, size_t n) {
    for (size_t i = 0; i < n; i++) {
        out[i] = (unsigned char)(value >> 8 * i);
    }
}

/* Returns the CRC-32 of the values of a row. For each value, the CRC-32 of the values before, its
 * type and its integer, or the size and the CRC-32 of its bytes, are hashed. */
static void row_crc(sqlite3_context *context, int n, sqlite3_value **values) {
    uint32_t crc = 0;
    for (int i = 0; i < n; i++) {
        const int type = sqlite3_value_type(values[i]);
        unsigned char part[PART_SIZE] = {0};
        put(part, crc, 4);
        put(part + 4, (uint64_t)type, 4);
        if (type == SQLITE_INTEGER) {
            put(part + 8, (uint64_t)sqlite3_value_int64(values[i]), 8);
        } else if (type != SQLITE_NULL) {
            const void *bytes = sqlite3_value_blob(values[i]);
            const size_t size = (size_t)sqlite3_value_bytes(values[i]);
            if (bytes == NULL && size > 0) {
                sqlite3_result_error_nomem(context);
                return;
            }
            put(part + 8, size, 4);
            put(part + 12, size > 0 ? hash_crc32(bytes, size) : 0, 4);
        }
        crc = hash_crc32(part, sizeof part);
    }
    sqlite3_result_int(context, (int32_t)crc);
}

/* Whether a row belongs into a list. Its argument: NULL, or how the row is damaged. At most one
 * line is logged per second. */
static void row_listed(sqlite3_context *context, int n, sqlite3_value **values) {
    static _Atomic int64_t next_ns;
    const char *damage = n == 1 ? (const char *)sqlite3_value_text(values[0]) : NULL;
    const int64_t now = clock_monotonic_ns();
    int64_t next = atomic_load(&next_ns);
    if (damage != NULL && now >= next &&
        atomic_compare_exchange_strong(&next_ns, &next, now + INT64_C(1000000000))) {
        log_error("store.damaged", log_str("row", damage));
    }
    sqlite3_result_int(context, damage == NULL);
}

int store_row_crc_add(sqlite3 *db) {
    const int code =
        sqlite3_create_function_v2(db, "row_crc", -1,
                                   SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, NULL,
                                   row_crc, NULL, NULL, NULL);
    return code != SQLITE_OK ? code
                             : sqlite3_create_function_v2(db, "row_listed", 1, SQLITE_UTF8, NULL,
                                                          row_listed, NULL, NULL, NULL);
}
