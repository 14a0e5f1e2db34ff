/* What the tests of the store share: a directory for each test, functions that stage and publish
 * data, and SQL on a second connection to the file. */
#ifndef UNIT_STORE_FIXTURE_H
#define UNIT_STORE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/log/log.h"
#include "store/store.h"
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct fixture {
    char directory[64];
    char path[96]; /* file name of the database */
    struct store *store;
    struct problem problem;
};

#define assert_ok(f, expression)                                                                   \
    do {                                                                                           \
        bool ok_ = (expression);                                                                   \
        if (!ok_) {                                                                                \
            print_error("%s: %s\n", #expression, (f)->problem.detail ? (f)->problem.detail : "?"); \
        }                                                                                          \
        assert_true(ok_);                                                                          \
        assert_int_equal((f)->problem.type, PROBLEM_NONE);                                         \
    } while (0)

/* The expression must be false, and the problem must have this type and a detail that contains the
 * text. */
#define assert_problem(f, expression, expected, text)                                              \
    do {                                                                                           \
        assert_false(expression);                                                                  \
        assert_int_equal((f)->problem.type, expected);                                             \
        assert_non_null((f)->problem.detail);                                                      \
        if (!strstr((f)->problem.detail, text)) {                                                  \
            fail_msg("\"%s\" does not contain \"%s\"", (f)->problem.detail, text);                 \
        }                                                                                          \
        problem_done(&(f)->problem);                                                               \
    } while (0)

bool fixture_open(struct fixture *f);

void fixture_close(struct fixture *f);

int fixture_directory(void **state);

int fixture_setup(void **state);

int fixture_teardown(void **state);

void fixture_begin(void);

/* ---- SQL on a second connection ---- */

int64_t sql_ask(const char *path, const char *sql);

void sql_run(const char *path, const char *sql);

void assert_intact(const char *path);

/* Repeats the query until its result is the expected one, for at most 20 s. */
void sql_await(const char *path, const char *sql, int64_t expected);

/* ---- staging ---- */

/* Returns bytes that depend on seed, chunk and column. */
void *pattern(int64_t seed, int64_t chunk, size_t column, size_t size);

/* Stages chunks of 10 rows, with n_cols columns of `size` bytes. Does not wait for room in the
 * queue. */
void stage_into(struct store *store, int64_t part, int64_t seed, int64_t n_chunks, size_t n_cols,
                size_t size);

int64_t stage(struct store *store, int64_t seed, int64_t n_chunks, size_t n_cols, size_t size);
/* Stages the bytes of a model: chunks without rows. */
int64_t stage_model(struct store *store, int64_t seed, int64_t n_chunks, size_t size);

struct store_dataset_new dataset_new(const char *name, int64_t part, const char *content,
                                     int64_t n_chunks, size_t n_cols);

/* Publishes a dataset of 2 chunks with 3 columns, whose content digest is the seed. */
struct store_dataset_published publish(struct fixture *f, const char *name, int64_t seed);

int64_t insert_job(struct fixture *f, const char *model, int64_t dataset_id);

int64_t claim_job(struct fixture *f, int64_t max_attempts);

/* Returns the latest claim of a job. */
struct store_claim claim_of(struct fixture *f, int64_t id);

/* Ends a claimed job with a model of n_chunks chunks of `size` bytes. Returns the version of the
 * model. */
int64_t succeed_job(struct fixture *f, int64_t id, int64_t seed, int64_t n_chunks, size_t size,
                    int64_t keep);

struct store_job get_job(struct fixture *f, int64_t id);

void assert_job_state(struct fixture *f, int64_t id, enum store_job_state state, int64_t attempts);

#endif
