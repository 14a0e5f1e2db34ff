/* An allocator with a limit for one job. It counts every block and fails beyond the limit. The
 * memory of the model is counted too (dn_allocator.charge). */
#ifndef JOBS_BUDGET_H
#define JOBS_BUDGET_H

#include <discern/discern.h>
#include <stdatomic.h>
#include <stdint.h>

/* Must outlive all blocks. The functions of `allocator` are thread-safe. */
struct budget {
    dn_allocator allocator;
    int64_t limit;           /* bytes */
    _Atomic int64_t used;    /* bytes, headers included */
    _Atomic int64_t highest; /* maximum of `used` so far */
};
void budget_init(struct budget *b, int64_t limit);

#endif
