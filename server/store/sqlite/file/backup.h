/* Copies a database before migrations change it. */
#ifndef STORE_BACKUP_H
#define STORE_BACKUP_H

#include "store/sqlite/connection.h"

/* Copies the database to FILE.before-NUMBER, where NUMBER is the start of the migration's name
 * ("0003" of "0003_tags.sql"). The copy has the permissions of the file and is synced to the disk.
 * No file is replaced: if the last copy of this number has the same bytes, it is kept; otherwise
 * the new one gets the first free name of FILE.before-NUMBER.2, .3 and so on. Fails if the disk has
 * too little room. Must not be called in a transaction. */
bool store_backup_before(struct store_connection *c, const char *migration,
                         struct problem *problem);

#endif
