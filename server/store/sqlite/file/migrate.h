/* Migrations: numbered SQL texts, applied in order, each in one transaction and recorded with its
 * checksum. */
#ifndef STORE_MIGRATE_H
#define STORE_MIGRATE_H

#include "base/hash.h"
#include "store/sqlite/engine/connection.h"
#include <stddef.h>

struct store_migration {
    const char *name; /* file name: "0001_initial.sql" */
    const char *text; /* NUL-terminated */
    size_t size;      /* without the NUL */
};
/* The migrations of this binary. */
const struct store_migration *store_migrations(size_t *n);
/* Applies what is missing; `backup`: copies a database that has migrations before the first missing
 * one is applied (store/sqlite/file/backup.h). Foreign keys are not enforced while a migration
 * runs, so that it may drop and rebuild a table; they are checked before its COMMIT. Refuses a
 * database with migrations that are not in the list (it is newer) or whose text was another one
 * when it was applied. */
bool store_migrate(struct store_connection *c, const struct store_migration *list, size_t n,
                   bool backup, struct problem *problem);
/* The checksum of a migration: BLAKE2b of its SQL without comments and with white space only
 * between words. Quoted text counts as it stands. */
bool store_migration_checksum(const struct store_migration *m, char out[HASH_BLAKE2B_TEXT],
                              struct problem *problem);

#endif
