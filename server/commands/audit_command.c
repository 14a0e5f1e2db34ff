/* Reads the arguments of `discernd audit`, checks the file, and writes one line. */
#include "commands/audit_command.h"
#include "base/options/options.h"
#include "store/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_BROKEN = 1, EXIT_REFUSED = 2, HASH_DIGITS = 64 };

struct arguments {
    const char *head;
    bool help;
};

static const struct option_row option_rows[] = {
    {"head", OPTION_STRING, offsetof(struct arguments, head), NULL, 0, 0, NULL, "HASH", "", ""},
    {"help", OPTION_FLAG, offsetof(struct arguments, help), NULL, 0, 0, NULL, NULL, "", ""},
};

static const char help[] =
    "discernd audit verify FILE [--head HASH]\n"
    "\n"
    "Checks the audit of a database: each entry has the hash of itself and of the entry before.\n"
    "Changes nothing; a daemon may have the file open. Exit status 0: the audit is intact; 1: it\n"
    "is not; 2: the file cannot be read.\n"
    "\n"
    "  --head HASH   the hash of an entry that was noted earlier and must be there. Without it,\n"
    "                entries that were removed at the end are not noticed\n";

static int refuse(const char *why) {
    fprintf(stderr, "discernd: %s; discernd audit --help shows how\n", why);
    return EXIT_REFUSED;
}

static int verify(const char *path, const char *head) {
    struct store_audit_report report;
    struct problem problem = {0};
    if (!store_audit_verify(path, head, &report, &problem)) {
        fprintf(stderr, "discernd: %s\n", problem.detail != NULL ? problem.detail : "no memory");
        problem_done(&problem);
        return EXIT_REFUSED;
    }
    if (report.n_faults > 0) {
        printf("broken: %s (%" PRId64 " entries, %" PRId64 " faults)\n", report.fault,
               report.n_entries, report.n_faults);
    } else {
        printf("intact: %" PRId64 " entries, %" PRId64 " to %" PRId64 ", head %s\n",
               report.n_entries, report.head.first, report.head.seq, report.head.hash);
    }
    const bool written = fflush(stdout) == 0;
    return report.n_faults > 0 ? EXIT_BROKEN : written ? EXIT_SUCCESS : EXIT_REFUSED;
}

int audit_command_run(int argc, char **argv) {
    struct arguments arguments = {0};
    struct problem problem = {0};
    const bool verifies = argc > 2 && strcmp(argv[2], "verify") == 0;
    const char *path = verifies && argc > 3 && argv[3][0] != '-' ? argv[3] : NULL;
    const int used = path != NULL ? 3 : verifies ? 2 : 1; /* words before the options */
    if (!verifies && (argc < 3 || argv[2][0] != '-')) {
        return refuse("audit is followed by verify");
    }
    if (!options_read_arguments(option_rows, sizeof option_rows / sizeof *option_rows, argc - used,
                                argv + used, &arguments, &problem)) {
        const int status = refuse(problem.detail != NULL ? problem.detail : "out of memory");
        problem_done(&problem);
        return status;
    }
    if (arguments.help) {
        fputs(help, stdout);
        return EXIT_SUCCESS;
    }
    if (path == NULL) {
        return refuse("audit verify needs the FILE of a database");
    }
    if (!store_database_check("FILE", path, &problem)) {
        const int status = refuse(problem.detail != NULL ? problem.detail : "out of memory");
        problem_done(&problem);
        return status;
    }
    if (arguments.head != NULL &&
        (strlen(arguments.head) != HASH_DIGITS ||
         strspn(arguments.head, "0123456789abcdefABCDEF") != HASH_DIGITS)) {
        return refuse("--head must be 64 hexadecimal digits");
    }
    return verify(path, arguments.head);
}
