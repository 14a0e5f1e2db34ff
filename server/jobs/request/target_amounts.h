/* Targets whose values are numbers with signs or units, such as "12%", "$5" and "7 kg". */
#ifndef JOBS_TARGET_AMOUNTS_H
#define JOBS_TARGET_AMOUNTS_H

#include "jobs/request/job_request.h"

#define TARGET_AMOUNT_SIZE 48

struct target_amounts {
    bool fractions;                   /* some of the numbers are not whole */
    char example[TARGET_AMOUNT_SIZE]; /* the most frequent value, cut */
};

/* Returns true if the most frequent values of a categorical column of the dataset, all that its
 * summary lists, are numbers with signs or units. */
bool jobs_target_amounts(const struct jobs_request *r, size_t column, struct target_amounts *out);

#endif
