/* Little-endian bytes: a writer that grows and a reader that never leaves its bounds. Both keep their first failure, so that callers write or read
 * a straight line and check once at the end. What the model format and the column chunks are made of. */
#ifndef DNI_BYTES_H
#define DNI_BYTES_H

#include <discern/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- writer ---- */
typedef struct dni_writer {
    unsigned char *bytes; /* malloc'ed, NULL while empty */
    size_t size;          /* written so far */
    size_t capacity;      /* of bytes */
    bool failed;          /* memory ran out: every later write does nothing */
} dni_writer;

void dni_writer_init(dni_writer *writer);
void dni_writer_done(dni_writer *writer); /* frees what was not taken */
/* Gives the bytes to the caller (malloc'ed, never NULL on success); the writer is empty afterwards. DN_ERR_MEMORY when a write failed. */
DN_MUST_USE dn_status dni_writer_take(dni_writer *writer, void **out, size_t *out_size,
                                      dn_error *err);

void dni_write_u8(dni_writer *writer, uint8_t value);
void dni_write_u16(dni_writer *writer, uint16_t value);
void dni_write_u32(dni_writer *writer, uint32_t value);
void dni_write_u64(dni_writer *writer, uint64_t value);
void dni_write_f64(dni_writer *writer,
                   double value); /* its IEEE 754 bits: NaN payloads and -0 survive */
void dni_write_f64s(dni_writer *writer, const double *values, size_t n);
void dni_write_u32s(dni_writer *writer, const uint32_t *values, size_t n);
void dni_write_bytes(dni_writer *writer, const void *bytes,
                     size_t size); /* as they are, no length */
void dni_write_text(dni_writer *writer, const char *text,
                    size_t length); /* a u64 length, then the bytes; no NUL */
/* Overwrites the four bytes at `at` (written before): lengths and checksums known only at the end. */
void dni_write_u32_at(dni_writer *writer, size_t at, uint32_t value);

/* ---- reader ---- */
typedef struct dni_reader {
    const unsigned char *next; /* the caller's memory */
    size_t left;               /* bytes from next to the end */
    bool
        failed; /* a read went past the end or a rule was broken: every later read gives 0 or NULL */
} dni_reader;

dni_reader dni_reader_of(const void *bytes, size_t size);
void dni_reader_fail(dni_reader *reader); /* for a caller who found a rule broken */
/* DN_OK when nothing failed and nothing is left, else DN_ERR_CORRUPT naming `what` ("model"). */
DN_MUST_USE dn_status dni_reader_end(const dni_reader *reader, const char *what, dn_error *err);

uint8_t dni_read_u8(dni_reader *reader);
uint16_t dni_read_u16(dni_reader *reader);
uint32_t dni_read_u32(dni_reader *reader);
uint64_t dni_read_u64(dni_reader *reader);
double dni_read_f64(dni_reader *reader);
/* A u64 that counts things of at least `element_size` bytes each that must still follow: fails when they could not, so that a caller may allocate by it. */
size_t dni_read_count(dni_reader *reader, size_t element_size);
/* The next `size` bytes, in place; NULL when there are not that many. size 0 gives a valid pointer. */
const void *dni_read_bytes(dni_reader *reader, size_t size);
/* What dni_write_text wrote, in place, not NUL-terminated; NULL on failure. */
const char *dni_read_text(dni_reader *reader, size_t *out_length);
/* n values; false (out untouched) when there are not that many. */
bool dni_read_f64s(dni_reader *reader, double *out, size_t n);
bool dni_read_u32s(dni_reader *reader, uint32_t *out, size_t n);

/* ---- single values at a place ---- */
uint32_t dni_get_u32(const unsigned char *at);
uint64_t dni_get_u64(const unsigned char *at);
/* n numbers out of their little-endian bytes, and back; at memory speed on a little-endian machine. */
void dni_get_u16s(const unsigned char *from, uint16_t *out, size_t n);
void dni_get_u32s(const unsigned char *from, uint32_t *out, size_t n);
void dni_get_f64s(const unsigned char *from, double *out, size_t n);
void dni_put_f64s(unsigned char *to, const double *values, size_t n);

#endif
