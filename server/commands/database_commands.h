/* The commands `discernd backup`, `check` and `restore`, which work on a database file beside a
 * daemon or without one. They write to stdout and stderr. They return the exit status of the
 * process: 0; 1 if the database or the backup is damaged; 2 if something else failed. */
#ifndef COMMANDS_DATABASE_COMMANDS_H
#define COMMANDS_DATABASE_COMMANDS_H

int backup_command_run(int argc, char **argv);
int check_command_run(int argc, char **argv);
int restore_command_run(int argc, char **argv);

#endif
