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
 *   text     JSON object: algorithm, params and features of the candidate; of a combination also
 *            its members, from trial_combination
 *   elapsed  seconds of all attempts of the search until the end of the trial */
void trial_write(const dn_trial *trial, const char *text, double elapsed, struct buf *out);
/* Appends the object that describes a combination of candidates, for `text`. */
void trial_combination(const dn_search_member *members, size_t n, const struct jobs_search *search,
                       struct buf *out);
/* Reads a document. Returns false if it is not one, or out of memory; then *out is untouched.
 *
 *   arena    of out->values and out->members; NULL: they are NULL, but their numbers are set
 *   elapsed  as for trial_write; may be NULL */
bool trial_read(const char *text, struct arena *arena, dn_trial *out, double *elapsed);
/* Whether a document is of the candidate with this number and description: another release may
 * number the candidates differently. */
bool trial_is_of(const char *document, size_t number, const char *text);
/* Appends the row of a leaderboard: a JSON object of the rank and the members of the document. */
void trial_write_row(const char *text, size_t rank, struct buf *out);

#endif
