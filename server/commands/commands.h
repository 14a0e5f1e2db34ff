/* The commands of the program: `discernd COMMAND …`. Without a command the program is the
 * daemon. */
#ifndef COMMANDS_COMMANDS_H
#define COMMANDS_COMMANDS_H

#include <stdbool.h>
#include <stdio.h>

/* Runs the command that argv[1] names, and sets *status to the exit status of the process. An
 * unknown name is refused. Returns false if there are no arguments or argv[1] is an option. */
bool commands_run(int argc, char **argv, int *status);
/* Writes one line for each command. */
void commands_help(FILE *out);

#endif
