/* A run's calls with their NULLs resolved: the serial sum, working memory, stop and clock. */
#include "base/run_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RANGES_PER_THREAD 4      /* small enough to bound memory, large enough to even out */
#define WIDE 65536               /* from so many numbers on a range a thread, for memory */
#define LARGE ((size_t)32 << 20) /* bytes that take the system some 10 ms */

dn_run dn_run_default(void) {
    return (dn_run){.seed = 1, .n_slots = 1};
}

dn_status dn_run_stop(const dn_run *run, dn_error *err) {
    dn_status status = run == NULL || run->stop == NULL ? DN_OK : run->stop(run);
    if (status == DN_ERR_STOPPED) {
        return dn_error_set(err, status, "stopped at the caller's request");
    }
    if (status == DN_ERR_TIME) {
        return dn_error_set(err, status, "the time limit ran out");
    }
    return status == DN_OK
               ? DN_OK
               : dn_error_set(err, status, "the run was ended: %s", dn_status_meaning(status));
}

double dn_run_elapsed(const dn_run *run) {
    return run == NULL || run->elapsed == NULL ? 0.0 : run->elapsed(run);
}

bool dn_run_wants_snapshot(const dn_run *run, size_t iteration) {
    for (size_t i = 0; run != NULL && run->progress != NULL && i < run->n_snapshots; i++) {
        if (run->snapshots[i] == iteration) {
            return true;
        }
    }
    return false;
}

static dn_status refused(const dn_allocator *allocator, const char *what, size_t bytes,
                         dn_error *err) {
    const bool budgeted = allocator != NULL && allocator->budgeted;
    return dn_error_set(err, budgeted ? DN_ERR_BUDGET : DN_ERR_MEMORY,
                        "%s need %zu bytes of memory, %s", what, bytes,
                        budgeted ? "more than is left of the budget"
                                 : "which the system does not have");
}

/* Zeroed memory comes from calloc where it can: untouched pages of a large array then cost nothing. */
static dn_status allocate(const dn_run *run, size_t count, size_t size, bool zeroed,
                          const char *what, void **out, dn_error *err) {
    if (size != 0 && count > SIZE_MAX / 2 / size) {
        return dn_error_set(err, DN_ERR_MEMORY,
                            "%s need %zu times %zu bytes, more than can be addressed", what, count,
                            size);
    }
    size_t bytes = count * size == 0 ? 1 : count * size;
    const dn_allocator *allocator = run == NULL ? NULL : run->allocator;
    void *memory = NULL;
    dn_status stopped = bytes >= LARGE ? dn_run_stop(run, err) : DN_OK;
    if (stopped != DN_OK) {
        return stopped;
    }
    if (allocator == NULL) {
        memory = zeroed ? calloc(1, bytes) : malloc(bytes);
    } else {
        memory = allocator->allocate(allocator->ctx, bytes);
        if (memory != NULL && zeroed) {
            memset(memory, 0, bytes);
        }
    }
    if (memory == NULL) {
        return refused(allocator, what, bytes, err);
    }
    *out = memory;
    return DN_OK;
}

dn_status dn_run_alloc(const dn_run *run, size_t count, size_t size, const char *what, void **out,
                       dn_error *err) {
    return allocate(run, count, size, true, what, out, err);
}

dn_status dni_run_alloc_raw(const dn_run *run, size_t count, size_t size, const char *what,
                            void **out, dn_error *err) {
    return allocate(run, count, size, false, what, out, err);
}

void dn_run_free(const dn_run *run, void *memory) {
    if (memory == NULL) {
        return;
    }
    const dn_allocator *allocator = run == NULL ? NULL : run->allocator;
    if (allocator == NULL) {
        free(memory);
    } else {
        allocator->release(allocator->ctx, memory);
    }
}

dn_status dn_run_hold(const dn_run *run, size_t bytes, const char *what, dn_error *err) {
    const dn_allocator *allocator = run == NULL ? NULL : run->allocator;
    const bool held =
        allocator == NULL || allocator->hold == NULL || allocator->hold(allocator->ctx, bytes);
    return held ? DN_OK : refused(allocator, what, bytes, err);
}

void dn_run_let_go(const dn_run *run, size_t bytes) {
    const dn_allocator *allocator = run == NULL ? NULL : run->allocator;
    if (allocator != NULL && allocator->hold != NULL) {
        allocator->let_go(allocator->ctx, bytes);
    }
}

unsigned dn_run_sum_level(size_t n_blocks, size_t n_slots, size_t n_out) {
    size_t most = n_slots * (n_out < WIDE && n_slots > 1 ? RANGES_PER_THREAD : 1);
    unsigned level = 0;
    while ((n_blocks - 1) >> level >= most) {
        level++;
    }
    return level;
}

double dn_run_sum_memory(size_t n_rows, size_t n_slots, double n_out) {
    size_t n_blocks = n_rows == 0 ? 1 : (n_rows - 1) / DN_BLOCK_ROWS + 1,
           slots = n_slots == 0 ? 1 : n_slots;
    unsigned level = dn_run_sum_level(n_blocks, slots, n_out < WIDE ? 0 : WIDE);
    double ranges = (double)(((n_blocks - 1) >> level) + 1);
    double vectors = ranges == 1 ? 2 + level : ranges + (double)slots * (2 + level);
    return 8 * vectors * n_out;
}

dn_status dn_run_sum_block(const dn_run *run, const dn_rows *rows, size_t i, size_t slot,
                           dn_block_fn fn, void *arg, double *out, dn_error *err) {
    dn_status status = DN_OK;
    for (size_t k = 0; status == DN_OK && k < dn_rows_n_pieces(rows, i); k++) {
        dn_block block;
        status = dn_run_stop(run, err);
        if (status == DN_OK) {
            status = dn_rows_piece(rows, i, k, slot, &block, err);
        }
        if (status == DN_OK) {
            status = fn(arg, &block, slot, out, err);
        }
    }
    return status;
}

static dn_status sum_serial(const dn_run *run, const dn_rows *rows, dn_block_fn fn, void *arg,
                            size_t n_out, double *out, dn_error *err) {
    void *partials = NULL;
    size_t room = dn_pairwise_room(rows->n_blocks, n_out);
    dn_status status = dn_run_alloc(run, room, sizeof(double), "the partial sums", &partials, err);
    if (status != DN_OK) {
        return status;
    }
    dn_pairwise sum;
    dn_pairwise_init(&sum, n_out, partials);
    for (size_t i = 0; i < rows->n_blocks; i++) {
        status = dn_run_sum_block(run, rows, i, 0, fn, arg, dn_pairwise_next(&sum), err);
        if (status != DN_OK) {
            goto cleanup;
        }
        dn_pairwise_push(&sum, 0);
    }
    dn_pairwise_total(&sum, out);
cleanup:
    dn_run_free(run, partials);
    return status;
}

dn_status dn_run_sum(const dn_run *run, const dn_rows *rows, dn_block_fn fn, void *arg,
                     size_t n_out, double *out, dn_error *err) {
    if (run == NULL || run->sum == NULL) {
        return sum_serial(run, rows, fn, arg, n_out, out, err);
    }
    return run->sum(run, rows, fn, arg, n_out, out, err);
}
