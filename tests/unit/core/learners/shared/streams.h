/* A simulated stream of rows: each block is copied to the memory of its slot, and the next block of
 * the slot replaces the copy. */
#ifndef TESTS_CORE_STREAMS_H
#define TESTS_CORE_STREAMS_H

#include "unit/core/support.h"

enum { STREAM_SLOTS = 3 };

struct stream {
    dn_rows rows; /* first member: a dn_rows * is cast to struct stream * */
    const dn_rows *base;
    struct {
        double *values, *target, *weight;
        uint32_t *cols;
        size_t *start;
    } slot[STREAM_SLOTS];
};

/* Returns the rows of `base` as a stream. `base` must outlive the stream. */
dn_rows *stream_of(const dn_rows *base);

#endif
