/* Little-endian bytes: the growing writer and the bounded reader. */
#include "base/bytes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && defined(__ORDER_LITTLE_ENDIAN__)
#define LITTLE_ENDIAN_HOST (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
#else
#define LITTLE_ENDIAN_HOST 0
#endif

static void put_u32(unsigned char *to, uint32_t value) {
    for (unsigned i = 0; i < 4; i++) {
        to[i] = (unsigned char)(value >> (8 * i));
    }
}

static void put_u64(unsigned char *to, uint64_t value) {
    for (unsigned i = 0; i < 8; i++) {
        to[i] = (unsigned char)(value >> (8 * i));
    }
}

uint32_t dni_get_u32(const unsigned char *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

uint64_t dni_get_u64(const unsigned char *at) {
    return (uint64_t)dni_get_u32(at) | (uint64_t)dni_get_u32(at + 4) << 32;
}

void dni_get_u16s(const unsigned char *from, uint16_t *out, size_t n) {
    if (LITTLE_ENDIAN_HOST && n > 0) {
        memcpy(out, from, n * sizeof *out);
    }
    for (size_t i = 0; !LITTLE_ENDIAN_HOST && i < n; i++) {
        out[i] = (uint16_t)(from[2 * i] | (unsigned)from[2 * i + 1] << 8);
    }
}

void dni_get_u32s(const unsigned char *from, uint32_t *out, size_t n) {
    if (LITTLE_ENDIAN_HOST && n > 0) {
        memcpy(out, from, n * sizeof *out);
    }
    for (size_t i = 0; !LITTLE_ENDIAN_HOST && i < n; i++) {
        out[i] = dni_get_u32(from + 4 * i);
    }
}

void dni_get_f64s(const unsigned char *from, double *out, size_t n) {
    if (n == 0) {
        return;
    }
    if (LITTLE_ENDIAN_HOST) {
        memcpy(out, from, n * sizeof *out);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = dni_get_u64(from + 8 * i);
        memcpy(&out[i], &bits, sizeof bits);
    }
}

void dni_put_f64s(unsigned char *to, const double *values, size_t n) {
    if (n == 0) {
        return;
    }
    if (LITTLE_ENDIAN_HOST) {
        memcpy(to, values, n * sizeof *values);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        put_u64(to + 8 * i, bits);
    }
}

/* ---- writer ---- */
void dni_writer_init(dni_writer *writer) {
    *writer = (dni_writer){0};
}

void dni_writer_done(dni_writer *writer) {
    free(writer->bytes);
    *writer = (dni_writer){0};
}

/* Appends `size` uninitialised bytes and returns their address; NULL if the writer has failed. */
static unsigned char *extend(dni_writer *writer, size_t size) {
    if (writer->failed) {
        return NULL;
    }
    if (size > SIZE_MAX / 2 || writer->size > SIZE_MAX / 2 - size) {
        writer->failed = true;
        return NULL;
    }
    size_t need = writer->size + size;
    if (need > writer->capacity || writer->bytes == NULL) {
        size_t capacity = writer->capacity + writer->capacity / 2;
        if (capacity < need) {
            capacity = need;
        }
        if (capacity < 256) {
            capacity = 256;
        }
        unsigned char *bytes = realloc(writer->bytes, capacity);
        if (bytes == NULL) {
            writer->failed = true;
            return NULL;
        }
        writer->bytes = bytes;
        writer->capacity = capacity;
    }
    unsigned char *at = writer->bytes + writer->size;
    writer->size = need;
    return at;
}

dn_status dni_writer_take(dni_writer *writer, void **out, size_t *out_size, dn_error *err) {
    if (!writer->failed && writer->bytes == NULL) {
        (void)extend(writer, 0);
    }
    if (writer->failed) {
        size_t size = writer->size;
        dni_writer_done(writer);
        return dn_error_set(err, DN_ERR_MEMORY, "out of memory after writing %zu bytes", size);
    }
    *out = writer->bytes;
    *out_size = writer->size;
    *writer = (dni_writer){0};
    return DN_OK;
}

void dni_write_u8(dni_writer *writer, uint8_t value) {
    unsigned char *at = extend(writer, 1);
    if (at != NULL) {
        at[0] = value;
    }
}

void dni_write_u16(dni_writer *writer, uint16_t value) {
    unsigned char *at = extend(writer, 2);
    if (at != NULL) {
        at[0] = (unsigned char)(value & 0xff);
        at[1] = (unsigned char)(value >> 8);
    }
}

void dni_write_u32(dni_writer *writer, uint32_t value) {
    unsigned char *at = extend(writer, 4);
    if (at != NULL) {
        put_u32(at, value);
    }
}

void dni_write_u64(dni_writer *writer, uint64_t value) {
    unsigned char *at = extend(writer, 8);
    if (at != NULL) {
        put_u64(at, value);
    }
}

void dni_write_f64(dni_writer *writer, double value) {
    dni_write_f64s(writer, &value, 1);
}

void dni_write_f64s(dni_writer *writer, const double *values, size_t n) {
    unsigned char *at = n > SIZE_MAX / 8 ? NULL : extend(writer, 8 * n);
    if (at != NULL) {
        dni_put_f64s(at, values, n);
    } else {
        writer->failed = true;
    }
}

void dni_write_u32s(dni_writer *writer, const uint32_t *values, size_t n) {
    unsigned char *at = n > SIZE_MAX / 4 ? NULL : extend(writer, 4 * n);
    if (at == NULL) {
        writer->failed = true;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        put_u32(at + 4 * i, values[i]);
    }
}

void dni_write_bytes(dni_writer *writer, const void *bytes, size_t size) {
    unsigned char *at = extend(writer, size);
    if (at != NULL && size > 0) {
        memcpy(at, bytes, size);
    }
}

void dni_write_text(dni_writer *writer, const char *text, size_t length) {
    dni_write_u64(writer, length);
    dni_write_bytes(writer, text, length);
}

void dni_write_u32_at(dni_writer *writer, size_t at, uint32_t value) {
    if (writer->failed) {
        return;
    }
    assert(at <= writer->size && writer->size - at >= 4);
    put_u32(writer->bytes + at, value);
}

/* ---- reader ---- */
dni_reader dni_reader_of(const void *bytes, size_t size) {
    static const unsigned char nothing[1] = {0};
    return (dni_reader){.next = bytes != NULL ? bytes : nothing, .left = bytes != NULL ? size : 0};
}

void dni_reader_fail(dni_reader *reader) {
    reader->failed = true;
}

dn_status dni_reader_end(const dni_reader *reader, const char *what, dn_error *err) {
    if (reader->failed) {
        return dn_error_set(err, DN_ERR_CORRUPT, "%s is damaged or cut short", what);
    }
    if (reader->left > 0) {
        return dn_error_set(err, DN_ERR_CORRUPT,
                            "%s is followed by %zu bytes that do not belong to it", what,
                            reader->left);
    }
    return DN_OK;
}

const void *dni_read_bytes(dni_reader *reader, size_t size) {
    if (reader->failed || size > reader->left) {
        reader->failed = true;
        return NULL;
    }
    const void *at = reader->next;
    reader->next += size;
    reader->left -= size;
    return at;
}

uint8_t dni_read_u8(dni_reader *reader) {
    const unsigned char *at = dni_read_bytes(reader, 1);
    return at == NULL ? 0 : at[0];
}

uint16_t dni_read_u16(dni_reader *reader) {
    const unsigned char *at = dni_read_bytes(reader, 2);
    return at == NULL ? 0 : (uint16_t)(at[0] | (unsigned)at[1] << 8);
}

uint32_t dni_read_u32(dni_reader *reader) {
    const unsigned char *at = dni_read_bytes(reader, 4);
    return at == NULL ? 0 : dni_get_u32(at);
}

uint64_t dni_read_u64(dni_reader *reader) {
    const unsigned char *at = dni_read_bytes(reader, 8);
    return at == NULL ? 0 : dni_get_u64(at);
}

double dni_read_f64(dni_reader *reader) {
    double value = 0;
    (void)dni_read_f64s(reader, &value, 1);
    return value;
}

size_t dni_read_count(dni_reader *reader, size_t element_size) {
    uint64_t count = dni_read_u64(reader);
    size_t most = element_size == 0 ? reader->left : reader->left / element_size;
    if (reader->failed || count > most) {
        reader->failed = true;
        return 0;
    }
    return (size_t)count;
}

const char *dni_read_text(dni_reader *reader, size_t *out_length) {
    size_t length = dni_read_count(reader, 1);
    const char *text = dni_read_bytes(reader, length);
    *out_length = text == NULL ? 0 : length;
    return text;
}

bool dni_read_f64s(dni_reader *reader, double *out, size_t n) {
    const unsigned char *at = n > SIZE_MAX / 8 ? NULL : dni_read_bytes(reader, 8 * n);
    if (at == NULL) {
        reader->failed = true;
        return false;
    }
    dni_get_f64s(at, out, n);
    return true;
}

bool dni_read_u32s(dni_reader *reader, uint32_t *out, size_t n) {
    const unsigned char *at = n > SIZE_MAX / 4 ? NULL : dni_read_bytes(reader, 4 * n);
    if (at == NULL) {
        reader->failed = true;
        return false;
    }
    dni_get_u32s(at, out, n);
    return true;
}
