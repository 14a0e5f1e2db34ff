/* JSON text: the one writer. Puts commas itself; numbers are written shortest round-trip,
 * non-finite ones as null. One thread. */
#ifndef BASE_JSON_WRITE_H
#define BASE_JSON_WRITE_H

#include "base/buf.h"
#include <stdbool.h>
#include <stdint.h>

/* Depth at most 60 (asserted). */
struct json_writer {
    struct buf *out;
    uint64_t comma; /* bit d: a value has been written at depth d */
    unsigned depth; /* open objects and arrays */
    bool after_key; /* a key was written, its value is due */
};
void json_writer_init(struct json_writer *w, struct buf *out);
void json_begin_object(struct json_writer *w);
void json_end_object(struct json_writer *w);
void json_begin_array(struct json_writer *w);
void json_end_array(struct json_writer *w);
void json_put_key(struct json_writer *w, const char *key);
void json_put_string(struct json_writer *w,
                     const char *s); /* NULL → null; invalid UTF-8 is replaced by U+FFFD */
void json_put_stringn(struct json_writer *w, const char *s, size_t n);
void json_put_double(struct json_writer *w, double v);
void json_put_int(struct json_writer *w, int64_t v);
void json_put_bool(struct json_writer *w, bool v);
void json_put_null(struct json_writer *w);
void json_put_raw(struct json_writer *w, const char *json,
                  size_t n); /* a value that is JSON already */
/* key + value in one */
void json_kv_string(struct json_writer *w, const char *key, const char *s);
void json_kv_double(struct json_writer *w, const char *key, double v);
void json_kv_int(struct json_writer *w, const char *key, int64_t v);
void json_kv_bool(struct json_writer *w, const char *key, bool v);
void json_kv_null(struct json_writer *w, const char *key);
void json_kv_raw(struct json_writer *w, const char *key, const char *json); /* NULL → null */
void json_kv_time(struct json_writer *w, const char *key, int64_t real_ms); /* 0 → null */
void json_escape(struct buf *out, const char *s, size_t n); /* the quoted string alone */

#endif
