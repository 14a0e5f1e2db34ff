/* Tasks as blocks without rows: the run's sum spreads them, and adds up nothing. */
#include "base/tasks.h"

struct tasks {
    dni_task_fn fn;
    void *arg;
};

static dn_status no_rows(const dn_rows *rows, size_t i, size_t slot, dn_block *out, dn_error *err) {
    (void)rows;
    (void)slot;
    (void)err;
    *out = (dn_block){.first_row = i * DN_BLOCK_ROWS};
    return DN_OK;
}

static dn_status run_block(void *arg, const dn_block *block, size_t slot, double *out,
                           dn_error *err) {
    const struct tasks *tasks = arg;
    (void)out;
    return tasks->fn(tasks->arg, block->first_row / DN_BLOCK_ROWS, slot, err);
}

dn_status dni_tasks_run(const dn_run *run, size_t n, dni_task_fn fn, void *arg, dn_error *err) {
    struct tasks tasks = {fn, arg};
    const dn_rows rows = {.n_rows = n * DN_BLOCK_ROWS,
                          .n_blocks = n,
                          .n_slots = SIZE_MAX,
                          .block = no_rows};
    double nothing;
    return n == 0 ? DN_OK : dn_run_sum(run, &rows, run_block, &tasks, 0, &nothing, err);
}

dn_run dni_task_run(const dn_run *run) {
    dn_run inner = *run;
    inner.n_slots = 1;
    inner.sum = NULL;
    inner.progress = NULL;
    inner.snapshots = NULL;
    inner.n_snapshots = 0;
    return inner;
}
