/* The document of a trial of a search: the JSON object that is stored when the trial ends. Later
 * attempts of the job and the leaderboard read it. */
#ifndef JOBS_TRIAL_H
#define JOBS_TRIAL_H

#include "base/memory/arena.h"
#include "base/memory/buf.h"
#include "jobs/request/job_request.h"
#include <discern/search.h>

/* The line of names of a leaderboard without rows as a table. */
#define TRIAL_NAMES "rank,candidate,algorithm,share,mean,standard_error\n"

/* Appends the document.
 *
 *   elapsed  seconds of all attempts of the search until the end of the trial */
void trial_write(const dn_trial *trial, const struct jobs_candidate *candidate, double elapsed,
                 struct buf *out);
/* Reads a document. Returns false if it is not one, or out of memory; then *out is untouched.
 *
 *   arena    of out->values; NULL: out->values is NULL, out->n_values is set
 *   elapsed  as for trial_write; may be NULL */
bool trial_read(const char *text, struct arena *arena, dn_trial *out, double *elapsed);
/* Whether a document is of this candidate with the number: another release may number the
 * candidates differently. */
bool trial_is_of(const char *text, size_t number, const struct jobs_candidate *candidate);
/* Appends the row of a leaderboard: a JSON object of the rank and the members of the document. */
void trial_write_row(const char *text, size_t rank, struct buf *out);

#endif
