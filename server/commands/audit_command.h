/* The command `discernd audit`: checks the audit of a database file. */
#ifndef COMMANDS_AUDIT_COMMAND_H
#define COMMANDS_AUDIT_COMMAND_H

/* Runs the command. Writes to stdout and stderr. Returns the exit status: 0: the chain is intact;
 * 1: it is not; 2: usage, or the file cannot be read. */
int audit_command_run(int argc, char **argv);

#endif
