/* Writes and reads models with functions of the caller. */
#include "base/argument.h"
#include "base/bytes.h"
#include "model/model_bytes.h"
#include <discern/simple.h>

#include <stdlib.h>
#include <string.h>

/* Size in bytes of the first buffer, which is doubled when it is full. */
enum { FIRST_CAPACITY = 65536 };

dn_status dn_model_save(const dn_model *model, dn_write_fn write, void *ctx, dn_error *err) {
    dn_status status = dni_argument_not_null(model, "model", err);
    if (status != DN_OK) {
        return status;
    }
    if (write == NULL) {
        return dn_error_set(err, DN_ERR_ARGUMENT, "write must not be NULL");
    }
    void *bytes;
    size_t size;
    status = dn_model_write(model, &bytes, &size, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t done = 0; done < size && status == DN_OK;) {
        const ptrdiff_t n = write(ctx, (const char *)bytes + done, size - done);
        if (n <= 0 || (size_t)n > size - done) {
            status = dn_error_set(
                err, DN_ERR_SOURCE,
                "the model could not be written: the stream accepted only %zu of %zu bytes", done,
                size);
        } else {
            done += (size_t)n;
        }
    }
    free(bytes);
    return status;
}

/* The bytes of a model read so far. */
struct input {
    dn_read_fn read;
    void *ctx;
    unsigned char *bytes; /* [capacity] */
    size_t size, capacity;
};

/* Reads until in->size >= wanted. */
static dn_status read_up_to(struct input *in, uint64_t wanted, dn_error *err) {
    while (in->size < wanted) {
        if (in->size == in->capacity) {
            const size_t capacity = in->capacity == 0 ? FIRST_CAPACITY : 2 * in->capacity;
            unsigned char *bytes = capacity > in->capacity ? realloc(in->bytes, capacity) : NULL;
            if (bytes == NULL) {
                return dn_error_set(err, DN_ERR_MEMORY, "no memory for a model of %llu bytes",
                                    (unsigned long long)wanted);
            }
            in->bytes = bytes;
            in->capacity = capacity;
        }
        const size_t left = in->capacity - in->size,
                     size = wanted - in->size < left ? (size_t)wanted - in->size : left;
        const ptrdiff_t n = in->read(in->ctx, in->bytes + in->size, size);
        if (n < 0 || (n > 0 && (size_t)n > size)) {
            return dn_error_set(err, DN_ERR_SOURCE,
                                "the model could not be read: an error after %zu bytes", in->size);
        }
        if (n == 0) {
            return dn_error_set(
                err, DN_ERR_CORRUPT,
                "the model is missing or incomplete: the stream ends after %zu bytes", in->size);
        }
        in->size += (size_t)n;
    }
    return DN_OK;
}

dn_status dn_model_load(dn_read_fn read, void *ctx, dn_model **out, dn_error *err) {
    struct input in = {.read = read, .ctx = ctx};
    if (read == NULL) {
        return dn_error_set(err, DN_ERR_ARGUMENT, "read must not be NULL");
    }
    dn_status status = dni_argument_not_null(out, "out", err);
    if (status != DN_OK) {
        return status;
    }
    status = read_up_to(&in, DNI_MODEL_HEAD_SIZE, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    /* Without the magic number the size field is meaningless; dn_model_read then reports the
     * error. */
    if (memcmp(in.bytes, DNI_MODEL_MAGIC, sizeof DNI_MODEL_MAGIC - 1) == 0) {
        status = read_up_to(&in, dni_get_u64(in.bytes + DNI_MODEL_SIZE_AT), err);
        if (status != DN_OK) {
            goto cleanup;
        }
    }
    status = dn_model_read(in.bytes, in.size, out, err);
cleanup:
    free(in.bytes);
    return status;
}
