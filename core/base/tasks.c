/* Tasks are implemented as blocks of rows without columns, which dn_run.each distributes to
 * threads. */
#include "base/tasks.h"

struct tasks {
    dni_task_fn fn;
    void *arg;
};

static dn_status numbered_block(const dn_rows *rows, size_t i, size_t slot, dn_block *out,
                                dn_error *err) {
    (void)rows;
    (void)slot;
    (void)err;
    *out = (dn_block){.first_row = i * DN_BLOCK_ROWS};
    return DN_OK;
}

dn_rows dni_numbered_rows(size_t n_blocks) {
    return (dn_rows){.n_rows = n_blocks * DN_BLOCK_ROWS,
                     .n_blocks = n_blocks,
                     .n_slots = SIZE_MAX,
                     .block = numbered_block};
}

static dn_status run_block(void *arg, const dn_block *block, size_t slot, dn_error *err) {
    const struct tasks *tasks = arg;
    return tasks->fn(tasks->arg, block->first_row / DN_BLOCK_ROWS, slot, err);
}

dn_status dni_tasks_run(const dn_run *run, size_t n, dni_task_fn fn, void *arg, dn_error *err) {
    struct tasks tasks = {fn, arg};
    const dn_rows rows = dni_numbered_rows(n);
    return dn_run_each(run, &rows, run_block, &tasks, err);
}

dn_run dni_task_run(const dn_run *run) {
    dn_run inner = *run;
    inner.n_slots = 1;
    inner.sum = NULL;
    inner.each = NULL;
    inner.group = NULL;
    inner.progress = NULL;
    inner.snapshots = NULL;
    inner.n_snapshots = 0;
    return inner;
}
