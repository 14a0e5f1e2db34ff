/* Work that is cut into tasks instead of blocks of rows: tiles of a matrix, pairs of classes. */
#ifndef DNI_TASKS_H
#define DNI_TASKS_H

#include <discern/run.h>

/* Task i, in the thread with this slot (0 … run->n_slots - 1). It must not use the run's sum, nor tasks: their threads are busy with tasks. Slot 0 is the thread that called dni_tasks_run. */
typedef dn_status (*dni_task_fn)(void *arg, size_t i, size_t slot, dn_error *err);

/* Tasks 0 … n - 1, each once, over the threads of the run's sum, which looks at the run's stop before each. Which thread takes which task and in what order is open: what a task leaves must depend on i alone.
 * The status of one that failed; tasks that have not begun by then are left out. */
DN_MUST_USE dn_status dni_tasks_run(const dn_run *run, size_t n, dni_task_fn fn, void *arg,
                                    dn_error *err);

/* The run for what goes on inside a task: the same memory, stop and seed, one thread, silent. */
dn_run dni_task_run(const dn_run *run);

#endif
