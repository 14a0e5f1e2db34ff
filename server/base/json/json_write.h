/* The writer of JSON text. It writes commas itself; numbers are written in the shortest form that
 * gives the same double, non-finite numbers as null. Used by one thread at a time. */
#ifndef BASE_JSON_WRITE_H
#define BASE_JSON_WRITE_H

#include "base/memory/buf.h"
#include <discern/number.h>
#include <stdbool.h>
#include <stdint.h>

/* The depth is at most 60 (asserted). */
struct json_writer {
    struct buf *out;
    uint64_t comma; /* bit d is set if a value was written at depth d */
    unsigned depth; /* number of open objects and arrays */
    bool after_key; /* a key was written; its value must follow */
};
struct json_writer json_writer_of(struct buf *out); /* appends to `out` */
/* Appends further members to an object that has members already. */
struct json_writer json_writer_inside(struct buf *out);
void json_begin_object(struct json_writer *w);
void json_end_object(struct json_writer *w);
void json_begin_array(struct json_writer *w);
void json_end_array(struct json_writer *w);
void json_put_key(struct json_writer *w, const char *key);
/* NULL is written as null; invalid UTF-8 is replaced by U+FFFD. */
void json_put_string(struct json_writer *w, const char *s);
void json_put_stringn(struct json_writer *w, const char *s, size_t n);
/* Writes v as dn_number_format does, with ".0" after the digits of an integer of 2^63 or more:
 * parsers such as Jansson refuse integers beyond 64 bits. Returns the length of the text. */
size_t json_double_format(double v, char out[DN_NUMBER_SIZE]);
/* Appends the text of json_double_format. */
void json_double_write(double v, struct buf *out);
void json_put_double(struct json_writer *w, double v);
void json_put_int(struct json_writer *w, int64_t v);
void json_put_bool(struct json_writer *w, bool v);
void json_put_null(struct json_writer *w);
/* Writes a value that is JSON text already. */
void json_put_raw(struct json_writer *w, const char *json, size_t n);
/* Write a key and begin the object or array that is its value. */
void json_kv_begin_object(struct json_writer *w, const char *key);
void json_kv_begin_array(struct json_writer *w, const char *key);
/* Writes n numbers as an array. key NULL: as an item of the open array, or as the value of the key
 * that was written last. */
void json_put_vector(struct json_writer *w, const char *key, const double *v, size_t n);
/* Writes a matrix [n_rows × n_cols] as an array of arrays. key as in json_put_vector. */
void json_put_matrix(struct json_writer *w, const char *key, const double *m, size_t n_rows,
                     size_t n_cols);
/* Write a key and its value. */
void json_kv_string(struct json_writer *w, const char *key, const char *s);
void json_kv_double(struct json_writer *w, const char *key, double v);
void json_kv_int(struct json_writer *w, const char *key, int64_t v);
void json_kv_bool(struct json_writer *w, const char *key, bool v);
void json_kv_null(struct json_writer *w, const char *key);
/* json NULL is written as null */
void json_kv_raw(struct json_writer *w, const char *key, const char *json);
/* real_ms 0 is written as null */
void json_kv_time(struct json_writer *w, const char *key, int64_t real_ms);
/* writes the quoted string, without commas */
void json_escape(struct buf *out, const char *s, size_t n);

#endif
