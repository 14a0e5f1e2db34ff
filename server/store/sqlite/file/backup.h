/* Copies a database before migrations change it. */
#ifndef STORE_BACKUP_H
#define STORE_BACKUP_H

#include "store/sqlite/engine/connection.h"

/* Copies the database to FILE.before-NUMBER, where NUMBER is the start of the migration's name
 * ("0003" of "0003_tags.sql"). The copy has the permissions of the file and is synced to the disk.
 * An existing file of that name is replaced. Fails if the disk has too little room. Must not be
 * called in a transaction. */
bool store_backup(struct store_connection *c, const char *migration, struct problem *problem);

#endif
