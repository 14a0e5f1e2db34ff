/* The table of commands. */
#include "commands/commands.h"
#include "base/ids.h"
#include "base/nearest.h"
#include "commands/audit_command.h"
#include "commands/copy_command.h"
#include "commands/database_commands.h"
#include "commands/token_command.h"

#include <string.h>

enum { EXIT_REFUSED = 2 };

static const struct {
    const char *name;
    const char *words; /* what follows the name */
    const char *help;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"audit", "verify FILE", "checks the audit of a database", audit_command_run},
    {"backup", "FILE", "copies the database to a new file", backup_command_run},
    {"check", "", "checks a database or a backup", check_command_run},
    {"copy", "--from DATABASE --to DATABASE", "copies a database to PostgreSQL, or from it",
     copy_command_run},
    {"restore", "BACKUP", "makes the database of a backup", restore_command_run},
    {"token", "add|list|revoke|rotate …", "changes the token file", token_command_run},
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

bool commands_run(int argc, char **argv, int *status) {
    for (size_t i = 0; argc > 1 && i < N_COMMANDS; i++) {
        if (strcmp(argv[1], commands[i].name) == 0) {
            if (!ids_init()) {
                fputs("discernd: there is no source of random bytes\n", stderr);
                *status = EXIT_REFUSED;
                return true;
            }
            *status = commands[i].run(argc, argv);
            return true;
        }
    }
    if (argc < 2 || argv[1][0] == '-' || argv[1][0] == '\0') {
        return false;
    }
    struct nearest nearest = nearest_to(argv[1], strlen(argv[1]));
    for (size_t i = 0; i < N_COMMANDS; i++) {
        nearest_offer(&nearest, commands[i].name, strlen(commands[i].name));
    }
    fprintf(stderr, "discernd: unknown command \"%.100s\"%s%s\n", argv[1], nearest.hint,
            nearest.hint[0] != '\0' ? "" : "; discernd --help lists commands and options");
    *status = EXIT_REFUSED;
    return true;
}

void commands_help(FILE *out) {
    fputs("\nCommands; discernd COMMAND --help shows more:\n", out);
    for (size_t i = 0; i < N_COMMANDS; i++) {
        fprintf(out, "  discernd %s%s%s\n      %s\n", commands[i].name,
                commands[i].words[0] != 0 ? " " : "", commands[i].words, commands[i].help);
    }
}
