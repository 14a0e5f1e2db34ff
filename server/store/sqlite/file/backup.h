/* The copy of a database before migrations change it. */
#ifndef STORE_BACKUP_H
#define STORE_BACKUP_H

#include "store/sqlite/engine/connection.h"

/* Copies the database to FILE.before-NUMBER, where NUMBER is the start of the migration's name
 * ("0003" of "0003_tags.sql"), with the file's permissions and synced to the disk. Replaces
 * a file of that name. Fails if the disk has too little room. Not to be called in a transaction. */
bool store_backup(struct store_connection *c, const char *migration, struct problem *problem);

#endif
