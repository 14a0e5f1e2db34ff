#include "commands/database_commands.h"
#include "base/log/log.h"
#include "base/options/options.h"
#include "store/copies.h"
#include "store/store.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXIT_DAMAGED = 1, EXIT_REFUSED = 2 };
#define MIB (1024.0 * 1024.0)

struct arguments {
    const char *file; /* the word after the command; NULL: none */
    const char *database;
    bool force, help;
};

#define AT(member) offsetof(struct arguments, member)
static const struct option_row option_rows[] = {
    {"database", OPTION_STRING, AT(database), NULL, 0, 0, NULL, "FILE", "", ""},
    {"force", OPTION_FLAG, AT(force), NULL, 0, 0, NULL, NULL, "", ""},
    {"help", OPTION_FLAG, AT(help), NULL, 0, 0, NULL, NULL, "", ""},
};
enum { N_ROWS = sizeof option_rows / sizeof option_rows[0] };

#define DATABASE_HELP                                                                              \
    "  --database FILE      the database; default: the environment variable DISCERN_DATABASE,\n"   \
    "                       or discern.db\n"

static const char backup_help[] =
    "discernd backup FILE [--database FILE]\n"
    "\n"
    "Copies the database to a new file, while a daemon has it open or not. The copy has the state "
    "of\n"
    "the database at one time and the same permissions. It is written to FILE.part and renamed "
    "when "
    "it\n"
    "is on the disk. An existing file is not replaced.\n"
    "\n" DATABASE_HELP;

static const char check_help[] =
    "discernd check [--database FILE]\n"
    "\n"
    "Checks a database or a backup and changes nothing, while a daemon has it open or not: pages,\n"
    "references, migrations, the checksum of each row and blob, counts against chunks, the audit.\n"
    "Exits with 0 if there is no fault, with 1 after one line for each fault, with 2 if the file "
    "cannot\n"
    "be checked.\n"
    "\n" DATABASE_HELP;

static const char restore_help[] =
    "discernd restore BACKUP [--database FILE] [--force]\n"
    "\n"
    "Makes the database of a backup. The backup is checked first; a damaged one is refused (exit "
    "1)."
    "\n"
    "Stop the daemon before. After a crash the database is the old one or the restored one.\n"
    "\n" DATABASE_HELP "  --force              replace the database, if there is one\n";

struct command {
    const char *name, *help;
    const char *file; /* what the word after the command is; NULL: there is none */
    bool forces;      /* has --force */
    int (*run)(const struct arguments *arguments);
};

/* ---- the commands ---- */

static int report(struct problem *problem) {
    fprintf(stderr, "discernd: %s\n", problem->detail != NULL ? problem->detail : "out of memory");
    problem_done(problem);
    return EXIT_REFUSED;
}

static void show_passed(void *arg, const char *text) {
    (void)arg;
    printf("ok     %s\n", text);
}

static void show_fault(void *arg, const char *text) {
    (void)arg;
    printf("FAULT  %s\n", text);
}

static int run_backup(const struct arguments *arguments) {
    struct problem problem = {0};
    int64_t bytes = 0;
    if (!store_backup_file(arguments->database, arguments->file, &bytes, &problem)) {
        return report(&problem);
    }
    printf("%s: %.1f MiB\n", arguments->file, (double)bytes / MIB);
    return EXIT_SUCCESS;
}

static int run_check(const struct arguments *arguments) {
    struct problem problem = {0};
    struct store_check check = {.passed = show_passed, .fault = show_fault};
    if (!store_check_file(arguments->database, &check, &problem)) {
        return report(&problem);
    }
    if (check.n_faults > 0) {
        printf("%s: %lld faults\n", arguments->database, (long long)check.n_faults);
        return EXIT_DAMAGED;
    }
    printf("%s: no fault\n", arguments->database);
    return EXIT_SUCCESS;
}

static int run_restore(const struct arguments *arguments) {
    struct problem problem = {0};
    struct store_check check = {.passed = show_passed, .fault = show_fault};
    int64_t bytes = 0;
    if (!store_restore(arguments->file, arguments->database, arguments->force, &check, &bytes,
                       &problem)) {
        const int status = report(&problem);
        return check.n_faults > 0 ? EXIT_DAMAGED : status;
    }
    printf("%s: restored, %.1f MiB\n", arguments->database, (double)bytes / MIB);
    return EXIT_SUCCESS;
}

static const struct command command_backup = {"backup", backup_help, "FILE", false, run_backup};
static const struct command command_check = {"check", check_help, NULL, false, run_check};
static const struct command command_restore = {"restore", restore_help, "BACKUP", true,
                                               run_restore};

/* ---- the command line ---- */

static int refuse(const struct command *command, const char *why) {
    fprintf(stderr, "discernd: %s; discernd %s --help shows how\n", why, command->name);
    return EXIT_REFUSED;
}

static int run(const struct command *command, struct arguments *arguments) {
    if (arguments->database == NULL) {
        arguments->database = getenv("DISCERN_DATABASE");
    }
    if (arguments->database == NULL) {
        arguments->database = "discern.db";
    }
    if (arguments->help) {
        fputs(command->help, stdout);
        return EXIT_SUCCESS;
    }
    if (command->file != NULL && (arguments->file == NULL || arguments->file[0] == '\0')) {
        return refuse(command, "the name of the backup is missing");
    }
    struct problem problem = {0};
    if (!store_database_check("--database", arguments->database, &problem)) {
        const int status =
            refuse(command, problem.detail != NULL ? problem.detail : "out of memory");
        problem_done(&problem);
        return status;
    }
    if (arguments->force && !command->forces) {
        return refuse(command, "--force is an option of restore");
    }
    /* problems are reported in one line; the log of the store would repeat them */
    log_open(open("/dev/null", O_WRONLY | O_CLOEXEC), LOG_TEXT, LOG_ERROR);
    (void)signal(SIGXFSZ, SIG_IGN); /* a write beyond RLIMIT_FSIZE fails with EFBIG */
    return command->run(arguments);
}

static int command_line(const struct command *command, int argc, char **argv) {
    struct arguments arguments = {0};
    struct problem problem = {0};
    int used = 1; /* words before the options, without the program */
    if (command->file != NULL && argc > 2 && argv[2][0] != '-') {
        arguments.file = argv[2];
        used = 2;
    }
    const char *file = arguments.file;
    if (!options_read_arguments(option_rows, N_ROWS, argc - used, argv + used, &arguments,
                                &problem)) {
        const int status =
            refuse(command, problem.detail != NULL ? problem.detail : "out of memory");
        problem_done(&problem);
        return status;
    }
    arguments.file = file;
    const int status = run(command, &arguments);
    options_free(option_rows, N_ROWS, &arguments);
    return fflush(stdout) == 0 ? status : EXIT_REFUSED;
}

int backup_command_run(int argc, char **argv) {
    return command_line(&command_backup, argc, argv);
}

int check_command_run(int argc, char **argv) {
    return command_line(&command_check, argc, argv);
}

int restore_command_run(int argc, char **argv) {
    return command_line(&command_restore, argc, argv);
}
