/* An allocator with a budget: what a job may use, counted exactly, refused beyond. What becomes the
 * job's model is counted with it (dn_allocator.charge). */
#ifndef JOBS_BUDGET_H
#define JOBS_BUDGET_H

#include <discern/discern.h>
#include <stdatomic.h>
#include <stdint.h>

/* The caller's struct; its allocator's functions may be called from any thread. Must outlive what
 * was allocated. */
struct budget {
    dn_allocator allocator;
    int64_t limit;           /* bytes */
    _Atomic int64_t used;    /* bytes, headers included */
    _Atomic int64_t highest; /* most in use at once so far */
};
void budget_init(struct budget *b, int64_t limit);

#endif
