/* A store in a temporary directory with a small dataset in it: two numeric columns, one categorical
 * input, a target of two classes. */
#ifndef TESTS_JOBS_SUPPORT_H
#define TESTS_JOBS_SUPPORT_H

#include "base/ids.h"
#include "jobs/request/job_request.h"
#include "store/store.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    char dir[64];
    char path[96];
    struct store *store;
    int64_t dataset; /* id of the version */
};

void jobs_fixture_open(struct fixture *f);

void fixture_init(struct fixture *f);

void fixture_done(struct fixture *f);

/* Waits for `n` done callbacks. */
struct fixture_wait {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    int left;
};

/* Publishes n rows as dataset `name` in chunks of chunk_rows. */
int64_t fixture_dataset(struct fixture *f, const char *name, size_t n, size_t chunk_rows);

static const struct jobs_column fixture_inputs[] = {{.index = 0, .name = "x1", .type = DN_NUMERIC},
                                                    {.index = 1, .name = "x2", .type = DN_NUMERIC},
                                                    {.index = 2,
                                                     .name = "color",
                                                     .type = DN_CATEGORICAL}};

/* A specification for the fixture's dataset; params are the caller's to free. */
struct jobs_request fixture_spec(const char *model, const char *solver);

int64_t fixture_job(struct fixture *f, const struct jobs_request *spec);

struct store_job fixture_get(struct fixture *f, int64_t id);

/* The job once it has ended (or `state` is reached), looked at every few milliseconds for at most
 * 60 s. */
struct store_job fixture_await(struct fixture *f, int64_t id, enum store_job_state state);

#endif
