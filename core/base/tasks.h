/* Parallel work that is divided into tasks instead of blocks of rows: tiles of a matrix, pairs of
 * classes, chunks of a table. */
#ifndef DNI_TASKS_H
#define DNI_TASKS_H

#include <discern/run.h>

/* Runs task i on the thread with this slot, 0 ... run->n_slots - 1; slot 0 is the thread that
 * called dni_tasks_run. Must not use the run's sum or each, nor tasks: their threads are busy with
 * tasks. */
typedef dn_status (*dni_task_fn)(void *arg, size_t i, size_t slot, dn_error *err);

/* Runs tasks 0 ... n - 1, each once, on the threads of run->each. Polls the run's stop before each.
 * The order and the thread of a task are undefined: the effect of a task must depend on i alone. If
 * a task fails, its status is returned, and tasks that have not begun are not run. */
DN_MUST_USE dn_status dni_tasks_run(const dn_run *run, size_t n, dni_task_fn fn, void *arg,
                                    dn_error *err);

/* The run for computations inside a task: the same memory, stop and seed, one thread, no
 * reports. */
dn_run dni_task_run(const dn_run *run);

/* Rows without columns: block i has first_row = i * DN_BLOCK_ROWS and no values. For sums whose
 * function needs only the number of the block. Not a heap object: never freed. */
dn_rows dni_numbered_rows(size_t n_blocks);

#endif
