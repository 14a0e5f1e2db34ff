/* Parallel work that is divided into tasks instead of blocks of rows: tiles of a matrix, pairs of
 * classes, chunks of a table. */
#ifndef DNI_TASKS_H
#define DNI_TASKS_H

#include <discern/run.h>

/* Runs task i on the thread with this slot, 0 ... run->n_slots - 1; slot 0 is the thread that
 * called dni_tasks_run. A task must not use the run's sum or each, or run tasks, because the
 * threads are busy. */
typedef dn_status (*dni_task_fn)(void *arg, size_t i, size_t slot, dn_error *err);

/* Runs tasks 0 ... n - 1, each once, on the threads of run->each. Polls the run's stop function
 * before each task. The order and the thread of a task are undefined: the effect of a task must
 * depend only on i. If a task fails, its status is returned, and tasks that have not started are
 * not run. */
DN_MUST_USE dn_status dni_tasks_run(const dn_run *run, size_t n, dni_task_fn fn, void *arg,
                                    dn_error *err);

/* Returns the run for computations inside a task: the same memory, stop function and seed, one
 * thread, no progress reports. */
dn_run dni_task_run(const dn_run *run);

/* Returns rows without columns: block i has first_row = i * DN_BLOCK_ROWS and no values. For sums
 * whose function needs only the index of the block. The result is not a heap object and is never
 * freed. */
dn_rows dni_numbered_rows(size_t n_blocks);

#endif
