/* The command of --mpi, which starts the ranks of a training: "mpirun -n 4 --hostfile hosts". */
#ifndef JOBS_MPI_COMMAND_H
#define JOBS_MPI_COMMAND_H

#include "base/hash.h"
#include "base/problem.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MPI_WORDS = 64 };

struct mpi_command {
    char *text;             /* holds the words; NULL: there is no command */
    char *words[MPI_WORDS]; /* [n_words] */
    size_t n_words;
    size_t ranks_at; /* index of the word after -n, which is replaced by the ranks of a job */
    int64_t ranks;   /* its value: the most ranks of a job, 2 to DN_MAX_RANKS */
    char *train;     /* path of discern-train, which is beside the running program */
    char build[HASH_SHA256_TEXT]; /* digest of discern-train; "": unknown */
};

/* Divides a command at its blanks. There are no quotes and no shell. Returns false, with a problem
 * about the option --mpi, if the program of the command or discern-train is not there, or if the
 * command does not have one -n N or -np N. Call mpi_command_done in any case. */
bool mpi_command_read(const char *text, struct mpi_command *out, struct problem *problem);
void mpi_command_done(struct mpi_command *command); /* {0} is allowed */

#endif
