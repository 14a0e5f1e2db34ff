/* The functions of a run: working memory, cancellation, clock, each; with defaults for members of
 * dn_run that are NULL. */
#include "base/run_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Before an allocation of at least this many bytes the stop function is polled: the operating
 * system may need 10 ms or more to provide so much memory. */
#define LARGE ((size_t)32 << 20)

void dn_run_init(dn_run *run, size_t struct_size) {
    const dn_run plain = {.struct_size = struct_size, .seed = 1, .n_slots = 1};
    memset(run, 0, struct_size);
    memcpy(run, &plain, struct_size < sizeof plain ? struct_size : sizeof plain);
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
                        "no memory for %s: %zu bytes are more than %s", what, bytes,
                        budgeted ? "is left of the budget" : "the system has");
}

/* Without an allocator, zeroed memory is allocated by calloc: pages of a large array that are
 * never accessed then cost nothing. */
static dn_status allocate(const dn_run *run, size_t count, size_t size, bool zeroed,
                          const char *what, void **out, dn_error *err) {
    if (size != 0 && count > SIZE_MAX / 2 / size) {
        return dn_error_set(err, DN_ERR_MEMORY,
                            "no memory for %s: %zu times %zu bytes are more than can be addressed",
                            what, count, size);
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

dn_status dn_run_charge(const dn_run *run, size_t bytes, const char *what, dn_error *err) {
    const dn_allocator *allocator = run == NULL ? NULL : run->allocator;
    const bool charged =
        allocator == NULL || allocator->charge == NULL || allocator->charge(allocator->ctx, bytes);
    return charged ? DN_OK : refused(allocator, what, bytes, err);
}

void dn_run_discharge(const dn_run *run, size_t bytes) {
    const dn_allocator *allocator = run == NULL ? NULL : run->allocator;
    if (allocator != NULL && allocator->charge != NULL) {
        allocator->discharge(allocator->ctx, bytes);
    }
}

dn_status dn_run_each_block(const dn_run *run, const dn_rows *rows, size_t i, size_t slot,
                            dn_each_fn fn, void *arg, dn_error *err) {
    for (size_t k = 0; k < dn_rows_n_pieces(rows, i); k++) {
        dn_block block;
        dn_status status = dn_run_stop(run, err);
        if (status != DN_OK) {
            return status;
        }
        status = dn_rows_piece(rows, i, k, slot, &block, err);
        if (status != DN_OK) {
            return status;
        }
        status = fn(arg, &block, slot, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

dn_status dn_run_each(const dn_run *run, const dn_rows *rows, dn_each_fn fn, void *arg,
                      dn_error *err) {
    if (run != NULL && run->each != NULL) {
        return run->each(run, rows, fn, arg, err);
    }
    for (size_t i = 0; i < rows->n_blocks; i++) {
        dn_status status = dn_run_each_block(run, rows, i, 0, fn, arg, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}
