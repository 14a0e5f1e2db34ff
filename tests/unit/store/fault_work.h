/* A series of calls of which any may fail, and the check of those that did not. */
#ifndef UNIT_STORE_FAULT_WORK_H
#define UNIT_STORE_FAULT_WORK_H

#include "unit/store/fixture.h"

/* What the calls of one series have acknowledged. */
struct fault_acknowledged {
    int64_t number;  /* number of the series */
    int64_t dataset; /* id of the published version; 0: the call failed */
    int64_t model;   /* id of the model's version */
    bool described, deleted;
};

/* Publishes, describes, deletes, trains and reads. A call that fails must fail with a problem of
 * the store or the memory. */
struct fault_acknowledged fault_work(struct fixture *f, int64_t number);
/* Waits until writes succeed, and checks what was acknowledged. */
void fault_check(struct fixture *f, const struct fault_acknowledged *a);
/* An environment variable as a number. */
int64_t fault_number(const char *name, int64_t otherwise);

/* Only allocations fail: a call that fails is a 503, never a 500. */
extern bool fault_of_memory;

#endif
