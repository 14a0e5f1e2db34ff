#include "commands/copy_command.h"
#include "base/log/log.h"
#include "base/options/options.h"
#include "store/copies.h"
#include "store/store.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXIT_DAMAGED = 1, EXIT_REFUSED = 2 };

struct arguments {
    const char *from, *to;
    bool help;
};

#define AT(member) offsetof(struct arguments, member)
static const struct option_row option_rows[] = {
    {"from", OPTION_STRING, AT(from), NULL, 0, 0, NULL, "DATABASE", "", ""},
    {"to", OPTION_STRING, AT(to), NULL, 0, 0, NULL, "DATABASE", "", ""},
    {"help", OPTION_FLAG, AT(help), NULL, 0, 0, NULL, NULL, "", ""},
};
enum { N_ROWS = sizeof option_rows / sizeof option_rows[0] };

static const char help[] =
    "discernd copy --from DATABASE --to DATABASE\n"
    "\n"
    "Copies everything to a database that is empty or does not exist. A database is a file or\n"
    "postgresql://USER@HOST/NAME, one of each kind or two of one kind. The copy has the state of "
    "the\n"
    "database at one time, also if a daemon uses it; a daemon that goes on writes what the copy "
    "does "
    "not\n"
    "have. It is one transaction: it is read and compared before it is committed. The last line "
    "has a\n"
    "checksum of all rows, which is the same for equal databases of both kinds.\n"
    "\n"
    "Exits with 0; with 1 if the database is damaged; with 2 if something else failed.\n";

static int report(struct problem *problem) {
    const int status = problem->permanent ? EXIT_DAMAGED : EXIT_REFUSED;
    fprintf(stderr, "discernd: %s\n", problem->detail != NULL ? problem->detail : "out of memory");
    problem_done(problem);
    return status;
}

static void show_table(void *arg, const char *name, int64_t n_rows) {
    (void)arg;
    printf("%-20s %lld\n", name, (long long)n_rows);
}

static int copy(const struct arguments *arguments) {
    struct problem problem = {0};
    struct store_copied copied = {.table = show_table};
    if (!store_copy(arguments->from, arguments->to, &copied, &problem)) {
        return report(&problem);
    }
    char *name = store_database_name(arguments->to);
    printf("%s: %lld rows, checksum %s\n", name != NULL ? name : "", (long long)copied.n_rows,
           copied.digest);
    free(name);
    return EXIT_SUCCESS;
}

int copy_command_run(int argc, char **argv) {
    struct arguments arguments = {0};
    struct problem problem = {0};
    int status = EXIT_SUCCESS;
    if (!options_read_arguments(option_rows, N_ROWS, argc - 1, argv + 1, &arguments, &problem)) {
        return report(&problem);
    }
    if (arguments.help) {
        fputs(help, stdout);
    } else if (arguments.from == NULL || arguments.to == NULL || arguments.from[0] == '\0' ||
               arguments.to[0] == '\0') {
        fputs("discernd: --from and --to must name databases; discernd copy --help shows how\n",
              stderr);
        status = EXIT_REFUSED;
    } else if (!store_database_check("--from", arguments.from, &problem) ||
               !store_database_check("--to", arguments.to, &problem)) {
        status = report(&problem);
    } else {
        /* problems are reported in one line; the log of the store would repeat them */
        log_open(open("/dev/null", O_WRONLY | O_CLOEXEC), LOG_TEXT, LOG_ERROR);
        (void)signal(SIGXFSZ, SIG_IGN); /* a write beyond RLIMIT_FSIZE fails with EFBIG */
        status = copy(&arguments);
    }
    options_free(option_rows, N_ROWS, &arguments);
    return fflush(stdout) == 0 ? status : EXIT_REFUSED;
}
