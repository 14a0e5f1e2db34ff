/* The member "search" of a job: the candidates of a model search, and how they are compared. */
#ifndef JOBS_JOB_SEARCH_H
#define JOBS_JOB_SEARCH_H

#include "base/json/json_read.h"
#include "base/json/json_write.h"
#include "jobs/request/job_request.h"

/* Reads the options in "search", and sets parameters that stand for those of the candidates until
 * jobs_search_check. */
void jobs_search_read(struct jobs_request *r, const json_t *root);
/* Expands and checks the candidates, after everything else was read. Sets params and features of
 * the request to those of the candidate that needs the most memory. */
void jobs_search_check(struct jobs_request *r, const json_t *root);
/* Returns the candidates that suit the columns, as the JSON array that a client may send
 * (search_auto.c); NULL after setting the problem. */
const char *jobs_search_auto(struct jobs_request *r);

/* Writes "search" into the open object, with its defaults and the candidates as they were given;
 * "auto" is replaced. stored: also what jobs_search_read_stored needs */
void jobs_search_write(const struct jobs_request *r, bool stored, struct json_writer *w);
/* Reads what jobs_search_write has written, without the candidates. Returns false after setting the
 * problem. */
bool jobs_search_read_stored(const json_t *root, struct arena *arena, struct jobs_request *r,
                             struct problem *problem);
/* Expands the candidates of a stored search. The inputs of the request are set. Returns false after
 * setting the problem. */
bool jobs_search_expand(struct jobs_request *r, struct arena *arena, struct problem *problem);
/* Frees the parameters of the candidates, of which none is left; NULL is allowed. */
void jobs_search_done(struct jobs_search *search);

#endif
