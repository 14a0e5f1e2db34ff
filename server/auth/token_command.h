/* The command `discernd token add|list|revoke|rotate`, which changes a token file. */
#ifndef AUTH_TOKEN_COMMAND_H
#define AUTH_TOKEN_COMMAND_H

#include <stdbool.h>

/* Whether the command line is of this command: argv[1] is "token". */
bool token_command_is(int argc, char **argv);
/* Runs the command. Writes to stdout and stderr. Returns the exit status of the process: 0, or
 * 2 after a line that says what is wrong. */
int token_command_run(int argc, char **argv);

#endif
