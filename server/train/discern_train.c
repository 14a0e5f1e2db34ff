/* discern-train: one rank of a training over MPI.
 *
 *   mpirun -n 4 discern-train --database discern.db --job 7 --output model.dnm
 *
 * Every rank opens the database for reading, also while a daemon has it open, reads the stored
 * request of the job, and calls dn_train with the group of all ranks. Rank 0 writes a JSON object
 * for each iteration, and one for the result, a line each, to standard output, and the model to the
 * file --output. The limits of memory, time and threads of the job are those of each rank. With
 * --handover, for the daemon, it also writes the whole result (jobs/ranks/ranks.h).
 *
 * Exit status of rank 0: 0: the training succeeded; 1: it failed, or the model cannot be written;
 * 2: wrong arguments, or ranks of different builds. Rank 0 writes why as one line to standard
 * error. The other ranks end with 0: mpirun ends all ranks when one fails, and may lose what rank 0
 * has written. */
#include "base/hash.h"
#include "base/json/json_write.h"
#include "base/memory/arena.h"
#include "base/options/options.h"
#include "base/process/clock.h"
#include "jobs/budget.h"
#include "jobs/documents.h"
#include "jobs/ranks/handover.h"
#include "jobs/ranks/ranks.h"
#include "jobs/tables.h"
#include "jobs/team.h"
#include "train/mpi_group.h"

#include <cblas.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXIT_FAILED = 1, EXIT_WRONG = 2 };
enum { DETAIL_SIZE = 512 };
#define MAX_SECONDS 1e9 /* as in jobs/training.c */

struct arguments {
    const char *database, *output;
    int64_t job, ranks;                /* ranks 0: any number */
    int64_t most_memory, most_threads; /* 0: as the job asks for */
    bool handover, help;
};

#define AT(member) offsetof(struct arguments, member)
static const struct option_row option_rows[] = {
    {"database", OPTION_STRING, AT(database), "discern.db", 0, 0, NULL, "FILE",
     "The database of the job. It is only read.", "Options"},
    {"job", OPTION_INT, AT(job), NULL, 0, 9e15, NULL, "N",
     "The job whose request is trained, in any state.", "Options"},
    {"output", OPTION_STRING, AT(output), NULL, 0, 0, NULL, "FILE",
     "Receives the model, as a stored model has it.", "Options"},
    {"ranks", OPTION_INT, AT(ranks), "0", 0, DN_MAX_RANKS, NULL, "N",
     "End with status 2 if there are not so many ranks; 0: any number.", "Options"},
    {"most-memory", OPTION_SIZE, AT(most_memory), "0", 0, 1e15, NULL, "BYTES",
     "Lower limits.memory_mib of the job to this; 0: do not.", "Options"},
    {"most-threads", OPTION_INT, AT(most_threads), "0", 0, 1024, NULL, "N",
     "Lower limits.threads of the job to this; 0: do not.", "Options"},
    {"handover", OPTION_FLAG, AT(handover), NULL, 0, 0, NULL, NULL,
     "Write the whole result to standard output, for discernd.", "Options"},
    {"help", OPTION_FLAG, AT(help), NULL, 0, 0, NULL, NULL, "Print this.", "Options"},
};
enum { N_OPTIONS = sizeof option_rows / sizeof option_rows[0] };

/* The state of one rank; dn_run.ctx points to it. */
struct rank {
    struct arguments arguments;
    dn_group group;
    struct store *store;
    struct store_job job;
    struct arena arena;
    struct jobs_request request;
    struct jobs_tables tables;
    struct budget budget;
    struct team *team;
    dn_run run;
    dn_train_request train;
    char build[HASH_SHA256_TEXT];  /* digest of the executable; "": unknown */
    int64_t began_ns, deadline_ns; /* monotonic clock; deadline_ns 0: no time limit */
    double seconds_mpi;            /* from the begin until MPI was initialised */
};

/* ---- what all ranks must agree on ---- */
/* What a rank tells the others before the training. */
struct note {
    bool wrong;                   /* its arguments cannot be used; detail has the reason */
    char build[HASH_SHA256_TEXT]; /* digest of the executable; "": unknown */
    char spec[HASH_SHA256_TEXT];  /* digest of the request of the job */
    enum problem_type problem;    /* PROBLEM_NONE: it can begin */
    bool lost;                    /* as in struct problem */
    char detail[DETAIL_SIZE];
};

static void digest_of_text(const char *text, char out[HASH_SHA256_TEXT]) {
    struct hash_sha256 *h = hash_sha256_new();
    out[0] = '\0';
    if (h != NULL && text != NULL) {
        hash_sha256_add(h, text, strlen(text));
        hash_sha256_hex(h, out);
    }
    hash_sha256_free(h);
}

/* Writes a line; an error of standard output ends nothing. */
static void print_line(struct buf *line) {
    buf_append(line, "\n", 1);
    if (buf_cstr(line) != NULL) {
        (void)fputs(line->data, stdout);
        (void)fflush(stdout);
    }
    buf_done(line);
}

static void write_problem(const struct note *note) {
    struct buf line = {0};
    struct json_writer w = json_writer_of(&line);
    json_begin_object(&w);
    ranks_put_problem(note->problem, note->detail, note->lost, &w);
    json_end_object(&w);
    print_line(&line);
}

/* Returns the exit status with which all ranks end, or 0 to go on. Rank 0 prints why.
 *
 *   wrong    the arguments of this rank cannot be used
 *   problem  of this rank */
static int compare_ranks(struct rank *rank, bool wrong, const struct problem *problem) {
    const dn_group *group = &rank->group;
    struct note mine = {.wrong = wrong, .problem = problem->type, .lost = problem->lost};
    struct note *all = calloc(group->n_ranks, sizeof *all);
    size_t *size = calloc(group->n_ranks, sizeof *size);
    int status = 0;
    hash_sha256_file("/proc/self/exe", mine.build);
    memcpy(rank->build, mine.build, sizeof rank->build);
    digest_of_text(rank->job.spec, mine.spec);
    (void)snprintf(mine.detail, sizeof mine.detail, "%s",
                   problem->detail != NULL ? problem->detail : "out of memory");
    for (size_t r = 0; size != NULL && r < group->n_ranks; r++) {
        size[r] = sizeof mine;
    }
    if (all == NULL || size == NULL || !group->gather(group, &mine, size, all)) {
        mpi_group_abort(); /* the others would wait for this rank */
    }
    for (size_t r = 0; r < group->n_ranks && status == 0; r++) {
        const char *why = NULL;
        if (all[r].wrong) {
            why = all[r].detail;
            status = EXIT_WRONG;
        } else if (strcmp(all[r].build, all[0].build) != 0) {
            why = "runs another build of discern-train than rank 0";
            status = EXIT_WRONG;
        } else if (all[r].problem != PROBLEM_NONE) {
            why = all[r].detail;
            status = EXIT_FAILED;
            if (group->rank == 0 && rank->arguments.handover) {
                write_problem(&all[r]);
            }
        } else if (strcmp(all[r].spec, all[0].spec) != 0) {
            why = "has another request than rank 0: its --job or --database differs";
            status = EXIT_WRONG;
        }
        if (why != NULL && group->rank == 0 && all[r].wrong && r == 0) {
            (void)fprintf(stderr, "discern-train: %s\n", why);
        } else if (why != NULL && group->rank == 0) {
            (void)fprintf(stderr, "discern-train: rank %zu: %s\n", r, why);
        }
    }
    free(all);
    free(size);
    return status;
}

/* ---- the run ---- */
static double rank_elapsed(const dn_run *run) {
    const struct rank *rank = run->ctx;
    return (double)(clock_monotonic_ns() - rank->began_ns) * 1e-9;
}

static dn_status rank_stop(const dn_run *run) {
    const struct rank *rank = run->ctx;
    return rank->deadline_ns != 0 && clock_monotonic_ns() > rank->deadline_ns ? DN_ERR_TIME : DN_OK;
}

static dn_status rank_each(const dn_run *run, const dn_rows *rows, dn_each_fn fn, void *arg,
                           dn_error *err) {
    return team_each(((const struct rank *)run->ctx)->team, run, rows, fn, arg, err);
}

static void rank_progress(const dn_run *run, const dn_progress *progress) {
    struct buf line = {0};
    struct json_writer w = json_writer_of(&line);
    json_begin_object(&w);
    ranks_put_progress(progress, &w);
    json_kv_double(&w, "elapsed", rank_elapsed(run));
    json_end_object(&w);
    print_line(&line);
}

static void set_run(struct rank *rank) {
    const struct jobs_request *r = &rank->request;
    rank->run = dn_run_default();
    rank->run.seed = r->seed;
    rank->run.allocator = &rank->budget.allocator;
    rank->run.n_slots = team_size(rank->team);
    rank->run.each = rank_each;
    rank->run.stop = rank_stop;
    rank->run.elapsed = rank_elapsed;
    rank->run.progress = rank->group.rank == 0 ? rank_progress : NULL;
    rank->run.snapshots = r->snapshots;
    rank->run.n_snapshots = r->n_snapshots;
    rank->run.ctx = rank;
    rank->run.group = &rank->group;
}

/* Whether rank 0 will be able to write --output. Leaves no file. */
static bool check_output(const struct rank *rank, struct problem *problem) {
    const char *path = rank->arguments.output;
    struct stat there;
    if (rank->group.rank != 0 || path == NULL) {
        return true;
    }
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) {
        (void)close(fd);
        (void)unlink(path);
        return true;
    }
    if (errno == EEXIST) { /* a link to no file is there, too */
        if (stat(path, &there) != 0 || (!S_ISDIR(there.st_mode) && access(path, W_OK) == 0)) {
            return true;
        }
        errno = S_ISDIR(there.st_mode) ? EISDIR : errno;
    }
    return problem_set(problem, PROBLEM_BAD_REQUEST, "the model cannot be written to %s: %s", path,
                       strerror(errno));
}

/* Opens the database and the tables of the job. */
static bool prepare(struct rank *rank, struct problem *problem) {
    struct jobs_request *r = &rank->request;
    if (!store_database_check("--database", rank->arguments.database, problem) ||
        !check_output(rank, problem) ||
        !store_open_reader(rank->arguments.database, &rank->store, problem) ||
        !store_job_get(rank->store, rank->arguments.job, &rank->job, problem) ||
        !jobs_request_read_stored(rank->job.spec, &rank->arena, r, problem)) {
        return false;
    }
    jobs_limits_lower(&r->limits, &(struct jobs_limits){.memory_bytes = rank->arguments.most_memory,
                                                        .threads = rank->arguments.most_threads});
    const double seconds = r->limits.seconds;
    rank->deadline_ns =
        seconds > 0 ? rank->began_ns + (int64_t)(fmin(seconds, MAX_SECONDS) * 1e9) : 0;
    if (r->search != NULL || r->n_shares > 0) {
        return problem_set(problem, PROBLEM_INVALID,
                           "a search and a learning curve are not trained by several ranks");
    }
    budget_init(&rank->budget, jobs_training_memory(r->limits.memory_bytes));
    if (!team_start((size_t)r->limits.threads, &rank->team, problem)) {
        return false;
    }
    set_run(rank);
    return jobs_tables_open(rank->store, &rank->job, r, team_size(rank->team), &rank->run,
                            &rank->arena, &rank->tables, problem) &&
           jobs_tables_request(&rank->tables, r, &rank->run, &rank->arena, &rank->train, problem);
}

/* ---- the result, on rank 0 ---- */
static void write_ranks(const struct rank *rank) {
    struct buf line = {0};
    struct json_writer w = json_writer_of(&line);
    json_begin_object(&w);
    json_kv_int(&w, "ranks", (int64_t)rank->group.n_ranks);
    json_kv_string(&w, "build", rank->build);
    json_end_object(&w);
    print_line(&line);
}

static void write_error(const dn_error *err) {
    struct buf line = {0};
    struct json_writer w = json_writer_of(&line);
    json_begin_object(&w);
    ranks_put_error(err, &w);
    json_end_object(&w);
    print_line(&line);
}

/* Writes the whole result, in pieces. */
static bool write_handover(const dn_train_result *result, const dn_held_out *held_out) {
    struct buf bytes = {0};
    dn_error err;
    dn_error_clear(&err);
    const bool good = handover_write(result, held_out, &bytes, &err) == DN_OK;
    for (size_t at = 0; good && at < bytes.size; at += RANKS_PIECE) {
        const size_t left = bytes.size - at;
        struct buf line = {0};
        struct json_writer w = json_writer_of(&line);
        json_begin_object(&w);
        ranks_put_bytes(bytes.data + at, left < RANKS_PIECE ? left : RANKS_PIECE, &w);
        json_end_object(&w);
        print_line(&line);
    }
    if (!good) {
        (void)fprintf(stderr, "discern-train: %s\n", err.message);
    }
    buf_done(&bytes);
    return good;
}

static bool write_model(const struct rank *rank, const dn_model *model, size_t *size) {
    void *bytes = NULL;
    dn_error err;
    dn_error_clear(&err);
    if (dn_model_write(model, &bytes, size, &err) != DN_OK) {
        (void)fprintf(stderr, "discern-train: %s\n", err.message);
        return false;
    }
    FILE *f = fopen(rank->arguments.output, "we");
    bool good = f != NULL && fwrite(bytes, 1, *size, f) == *size;
    int error = errno;
    if (f != NULL && fclose(f) != 0) {
        error = good ? errno : error;
        good = false;
    }
    free(bytes);
    if (!good) {
        (void)fprintf(stderr, "discern-train: the model cannot be written to %s: %s\n",
                      rank->arguments.output, strerror(error));
    }
    return good;
}

static bool write_result(const struct rank *rank, const dn_train_result *result) {
    struct buf line = {0};
    struct json_writer w = json_writer_of(&line);
    size_t size = 0;
    if (rank->arguments.output != NULL && !write_model(rank, result->model, &size)) {
        return false;
    }
    json_begin_object(&w);
    json_kv_int(&w, "ranks", (int64_t)rank->group.n_ranks);
    json_kv_bool(&w, "converged", result->report.converged);
    json_kv_int(&w, "iterations", (int64_t)result->report.iterations);
    json_kv_double(&w, "seconds", rank_elapsed(&rank->run));
    json_kv_double(&w, "seconds_mpi", rank->seconds_mpi);
    json_kv_double(&w, "seconds_load", result->seconds_load);
    json_kv_double(&w, "seconds_encode", result->seconds_encode);
    json_kv_double(&w, "seconds_fit", result->seconds_fit);
    json_kv_double(&w, "seconds_evaluate", result->seconds_evaluate);
    json_kv_int(&w, "model_bytes", (int64_t)size);
    for (size_t i = 0; i < result->report.n_details; i++) {
        const dn_detail *detail = &result->report.details[i];
        if (strcmp(detail->name, "rows") == 0) {
            json_kv_string(&w, "rows", detail->text);
        }
    }
    json_kv_int(&w, "memory_bytes", rank->budget.highest);
    json_kv_int(&w, "exchanges", (int64_t)rank->group.n_exchanges);
    json_kv_int(&w, "sent_bytes", (int64_t)rank->group.n_bytes);
    if (result->validation != NULL) {
        json_kv_double(&w, "validation_error", result->validation->error);
    }
    json_end_object(&w);
    print_line(&line);
    return true;
}

static int train(struct rank *rank) {
    dn_train_result result;
    dn_held_out *held_out = NULL;
    struct problem problem = {0};
    dn_error err;
    dn_error_clear(&err);
    const bool handover = rank->arguments.handover;
    rank->train.held_out = handover && rank->request.held_out ? &held_out : NULL;
    if (handover && rank->group.rank == 0) {
        write_ranks(rank);
    }
    if (dn_train(&rank->train, &rank->run, &result, &err) != DN_OK) {
        jobs_problem_from_core(&err, &rank->request, &problem);
        if (rank->group.rank == 0) {
            (void)fprintf(stderr, "discern-train: %s\n", err.message);
        }
        if (rank->group.rank == 0 && handover && !rank->group.disconnected) {
            write_error(&err);
        }
        problem_done(&problem);
        if (rank->group.disconnected) {
            mpi_group_abort(); /* others may wait for this rank */
        }
        return EXIT_FAILED;
    }
    const bool good = rank->group.rank != 0 || ((!handover || write_handover(&result, held_out)) &&
                                                write_result(rank, &result));
    dn_held_out_free(held_out);
    dn_train_result_done(&result);
    return good ? EXIT_SUCCESS : EXIT_FAILED;
}

/* Whether the arguments can be used; problem: why they could not be read. */
static bool check_arguments(const struct rank *rank, struct problem *problem) {
    const int64_t wanted = rank->arguments.ranks;
    const size_t n = rank->group.n_ranks;
    if (problem->type != PROBLEM_NONE) {
        return false;
    }
    if (rank->arguments.job == 0) {
        return problem_set(problem, PROBLEM_BAD_REQUEST,
                           "--job is missing or 0: it is the number of a job");
    }
    return wanted == 0 || (size_t)wanted == n ||
           problem_set(problem, PROBLEM_BAD_REQUEST, "the command has started %zu rank%s, not %lld",
                       n, n == 1 ? "" : "s", (long long)wanted);
}

static void rank_done(struct rank *rank) {
    jobs_tables_close(&rank->tables);
    team_stop(rank->team);
    jobs_request_done(&rank->request);
    store_job_done(&rank->job);
    store_close_reader(rank->store);
    arena_done(&rank->arena);
}

int main(int argc, char **argv) {
    struct rank rank = {.began_ns = clock_monotonic_ns()};
    struct problem problem = {0};
    const bool read =
        options_read_arguments(option_rows, N_OPTIONS, argc, argv, &rank.arguments, &problem);
    if (read && rank.arguments.help) {
        options_help(
            option_rows, N_OPTIONS,
            "mpirun -n N discern-train --job N [--option VALUE]…\n\n"
            "Trains the request of a job by N processes, with the bytes that one process\n"
            "gives. Writes its progress and its result as lines of JSON to standard output.\n"
            "It stores nothing: --output receives the model.",
            stdout);
        return EXIT_SUCCESS;
    }
    openblas_set_num_threads(1);
    if (!mpi_group_init(&rank.group)) {
        return EXIT_FAILED;
    }
    rank.seconds_mpi = (double)(clock_monotonic_ns() - rank.began_ns) * 1e-9;
    arena_init(&rank.arena, 0);
    const bool wrong = !check_arguments(&rank, &problem);
    (void)(wrong || prepare(&rank, &problem));
    int status = compare_ranks(&rank, wrong, &problem);
    if (status == 0) {
        status = train(&rank);
    }
    problem_done(&problem);
    rank_done(&rank);
    mpi_group_done();
    return rank.group.rank == 0 ? status : EXIT_SUCCESS;
}
