#include "jobs/ranks/mpi_command.h"

#include <discern/discern.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns whether it is a file that can be executed. */
static bool is_program(const char *path) {
    struct stat s;
    if (stat(path, &s) != 0) {
        return false;
    }
    errno = EACCES; /* a folder */
    return S_ISREG(s.st_mode) && access(path, X_OK) == 0;
}

/* Looks for a program like execvp. */
static bool find_program(const char *name) {
    if (strchr(name, '/') != NULL) {
        return is_program(name);
    }
    const char *path = getenv("PATH");
    for (const char *at = path != NULL ? path : "/usr/bin:/bin"; *at != '\0';) {
        char file[4096];
        const int n = (int)strcspn(at, ":");
        const int size = snprintf(file, sizeof file, "%.*s%s%s", n, at, n > 0 ? "/" : "", name);
        if (size > 0 && (size_t)size < sizeof file && is_program(file)) {
            return true;
        }
        at += n;
        at += *at == ':';
    }
    return false;
}

/* Sets the path of discern-train: it is in the folder of the running program. */
static bool find_train(struct mpi_command *command, struct problem *problem) {
    static const char name[] = "discern-train";
    char self[4096];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(self, '/');
    if (slash == NULL) {
        return problem_set(problem, PROBLEM_BAD_REQUEST,
                           "--mpi needs /proc, to find discern-train beside discernd");
    }
    slash[1] = '\0';
    const size_t size = strlen(self) + sizeof name;
    command->train = malloc(size);
    if (command->train == NULL) {
        return problem_no_memory(problem);
    }
    (void)snprintf(command->train, size, "%s%s", self, name);
    hash_sha256_file(command->train, command->build);
    return is_program(command->train) ||
           problem_set(problem, PROBLEM_BAD_REQUEST,
                       "--mpi needs discern-train beside discernd: %s: %s (it is built if Open MPI "
                       "is installed)",
                       command->train, strerror(errno));
}

static bool split(struct mpi_command *command, struct problem *problem) {
    char *rest = NULL;
    for (char *word = strtok_r(command->text, " \t\n", &rest); word != NULL;
         word = strtok_r(NULL, " \t\n", &rest)) {
        if (command->n_words == MPI_WORDS) {
            return problem_set(problem, PROBLEM_BAD_REQUEST, "--mpi must have at most %d words",
                               MPI_WORDS);
        }
        command->words[command->n_words++] = word;
    }
    return command->n_words > 0 ||
           problem_set(problem, PROBLEM_BAD_REQUEST, "--mpi must be a command, got \"\"");
}

/* Finds the number of ranks. */
static bool find_ranks(struct mpi_command *command, struct problem *problem) {
    char *end = NULL;
    for (size_t i = 1; i + 1 < command->n_words; i++) {
        if (strcmp(command->words[i], "-n") == 0 || strcmp(command->words[i], "-np") == 0) {
            if (command->ranks_at != 0) {
                return problem_set(problem, PROBLEM_BAD_REQUEST,
                                   "--mpi must have one -n N, the most ranks of a job; it has "
                                   "several");
            }
            command->ranks_at = ++i;
        }
    }
    if (command->ranks_at == 0) {
        return problem_set(problem, PROBLEM_BAD_REQUEST,
                           "--mpi must have -n N, the most ranks of a job: \"%s -n 4 …\"",
                           command->words[0]);
    }
    const char *word = command->words[command->ranks_at];
    command->ranks = strtoll(word, &end, 10);
    return (*end == '\0' && command->ranks >= 2 && command->ranks <= DN_MAX_RANKS) ||
           problem_set(problem, PROBLEM_BAD_REQUEST,
                       "--mpi: the number after %s must be an integer from 2 to %d, got \"%s\"",
                       command->words[command->ranks_at - 1], DN_MAX_RANKS, word);
}

bool mpi_command_read(const char *text, struct mpi_command *out, struct problem *problem) {
    *out = (struct mpi_command){.text = strdup(text)};
    if (out->text == NULL) {
        return problem_no_memory(problem);
    }
    return split(out, problem) &&
           (find_program(out->words[0]) ||
            problem_set(problem, PROBLEM_BAD_REQUEST, "--mpi: there is no program \"%s\"",
                        out->words[0])) &&
           find_ranks(out, problem) && find_train(out, problem);
}

void mpi_command_done(struct mpi_command *command) {
    free(command->text);
    free(command->train);
    *command = (struct mpi_command){0};
}
