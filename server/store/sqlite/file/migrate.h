/* Migrations: numbered SQL texts, applied in order, each in one transaction and recorded with its
 * checksum. */
#ifndef STORE_MIGRATE_H
#define STORE_MIGRATE_H

#include "base/hash.h"
#include "store/sqlite/connection.h"
#include <stddef.h>

struct store_migration {
    const char *name; /* file name: "0001_initial.sql" */
    const char *text; /* SQL text, NUL-terminated */
    size_t size;      /* length of the text without the NUL */
};
/* Returns the migrations of this binary. *n: their number. */
const struct store_migration *store_migrations(size_t *n);
/* Checks that the recorded migrations are the first migrations of the list, in the same order and
 * with the same checksums. *done: their number. */
bool store_migrations_compare(struct store_connection *c, const struct store_migration *list,
                              size_t n, size_t *done, struct problem *problem);
/* Applies the missing migrations. backup: if the database has migrations, it is copied before the
 * first missing migration is applied (store/sqlite/file/backup.h). Foreign keys are not enforced
 * while a migration runs, so that it may drop and rebuild a table; they are checked before its
 * COMMIT. Refuses a database with migrations that are not in the list (the database is newer), or
 * with migrations whose text was changed after they were applied. */
bool store_migrate(struct store_connection *c, const struct store_migration *list, size_t n,
                   bool backup, struct problem *problem);
/* Computes the checksum of a migration: BLAKE2b of its SQL without comments and with white space
 * only between words. Quoted text is not changed. */
bool store_migration_checksum(const struct store_migration *m, char out[HASH_BLAKE2B_TEXT],
                              struct problem *problem);

#endif
