/* The command `discernd token add|list|revoke|rotate`, which changes a token file. */
#ifndef COMMANDS_TOKEN_COMMAND_H
#define COMMANDS_TOKEN_COMMAND_H

/* Runs the command. Writes to stdout and stderr. Returns the exit status of the process: 0, or
 * 2 after a line that says what is wrong. */
int token_command_run(int argc, char **argv);

#endif
