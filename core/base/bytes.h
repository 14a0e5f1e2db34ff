/* Little-endian bytes of models and column chunks: a growing writer and a bounds-checked reader.
 * After a failure each sets `failed`, so that callers check for errors once, at the end. */
#ifndef DNI_BYTES_H
#define DNI_BYTES_H

#include <discern/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- writer ---- */
typedef struct dni_writer {
    unsigned char *bytes; /* malloc'ed, NULL while empty */
    size_t size;          /* number of bytes written */
    size_t capacity;      /* allocated size of `bytes` */
    bool failed;          /* true: an allocation failed; all later writes do nothing */
} dni_writer;

void dni_writer_init(dni_writer *writer);
/* Frees the bytes that dni_writer_take has not transferred. */
void dni_writer_done(dni_writer *writer);
/* Transfers the bytes to the caller, who frees them with free(); *out is never NULL on success. The
 * writer is empty afterwards. DN_ERR_MEMORY if a write failed. */
DN_MUST_USE dn_status dni_writer_take(dni_writer *writer, void **out, size_t *out_size,
                                      dn_error *err);

void dni_write_u8(dni_writer *writer, uint8_t value);
void dni_write_u16(dni_writer *writer, uint16_t value);
void dni_write_u32(dni_writer *writer, uint32_t value);
void dni_write_u64(dni_writer *writer, uint64_t value);
/* Writes the IEEE 754 bits of the value; NaN payloads and -0 are preserved. */
void dni_write_f64(dni_writer *writer, double value);
void dni_write_f64s(dni_writer *writer, const double *values, size_t n);
void dni_write_u32s(dni_writer *writer, const uint32_t *values, size_t n);
void dni_write_bytes(dni_writer *writer, const void *bytes, size_t size); /* writes no length */
/* Writes a u64 length and the bytes, without a terminating NUL. */
void dni_write_text(dni_writer *writer, const char *text, size_t length);
/* Overwrites the four bytes at offset `at`, which must have been written before. For lengths and
 * checksums that are computed after the data are written. */
void dni_write_u32_at(dni_writer *writer, size_t at, uint32_t value);

/* ---- reader ---- */
typedef struct dni_reader {
    const unsigned char *next; /* next byte to read, in the caller's memory */
    size_t left;               /* number of bytes from `next` to the end */
    bool failed; /* true: a read exceeded the end, or dni_reader_fail was called; later reads
                  * return 0 or NULL */
} dni_reader;

dni_reader dni_reader_of(const void *bytes, size_t size);
void dni_reader_fail(dni_reader *reader); /* marks the bytes as invalid */
/* Returns DN_OK if no read has failed and no byte is left; otherwise DN_ERR_CORRUPT with a message
 * about `what`, such as "model". */
DN_MUST_USE dn_status dni_reader_end(const dni_reader *reader, const char *what, dn_error *err);

uint8_t dni_read_u8(dni_reader *reader);
uint16_t dni_read_u16(dni_reader *reader);
uint32_t dni_read_u32(dni_reader *reader);
uint64_t dni_read_u64(dni_reader *reader);
double dni_read_f64(dni_reader *reader);
/* Reads a u64 number of elements that follow. Fails if fewer than count * element_size bytes are
 * left, so that the caller can allocate that many elements. */
size_t dni_read_count(dni_reader *reader, size_t element_size);
/* Returns the address of the next `size` bytes and advances past them. Returns NULL if fewer bytes
 * are left, and after any earlier failure of the reader. Never returns NULL on success, also not
 * with size 0. */
const void *dni_read_bytes(dni_reader *reader, size_t size);
/* Returns the address of a text written by dni_write_text, without terminating NUL, or NULL on
 * failure. */
const char *dni_read_text(dni_reader *reader, size_t *out_length);
/* Read n values to `out`. If fewer are left, return false and do not change `out`. */
bool dni_read_f64s(dni_reader *reader, double *out, size_t n);
bool dni_read_u32s(dni_reader *reader, uint32_t *out, size_t n);

/* ---- values at an address ---- */
uint32_t dni_get_u32(const unsigned char *at);
uint64_t dni_get_u64(const unsigned char *at);
/* Convert n numbers from little-endian bytes, or to little-endian bytes. On a little-endian
 * machine this is a copy. */
void dni_get_u16s(const unsigned char *from, uint16_t *out, size_t n);
void dni_get_u32s(const unsigned char *from, uint32_t *out, size_t n);
void dni_get_f64s(const unsigned char *from, double *out, size_t n);
void dni_put_f64s(unsigned char *to, const double *values, size_t n);

#endif
