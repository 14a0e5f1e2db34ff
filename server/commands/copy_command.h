/* The command `discernd copy`, which moves a database from SQLite to PostgreSQL or back. Writes to
 * stdout and stderr. Returns the exit status of the process: 0; 1 if the database is damaged; 2 if
 * something else failed. */
#ifndef COMMANDS_COPY_COMMAND_H
#define COMMANDS_COPY_COMMAND_H

int copy_command_run(int argc, char **argv);

#endif
