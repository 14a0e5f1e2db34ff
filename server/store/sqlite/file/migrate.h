/* The migrations of a database file, migrations/sqlite. */
#ifndef STORE_MIGRATE_H
#define STORE_MIGRATE_H

#include "store/engine/migrations.h"
#include "store/sqlite/connection.h"

/* Returns the migrations of this binary. *n: their number. */
const struct store_migration *store_migrations(size_t *n);
/* Checks that the recorded migrations are the first migrations of the list, in the same order and
 * with the same checksums. *done: their number; 0 if there is no table of them. */
bool store_migrations_compare(struct store_connection *c, const struct store_migration *list,
                              size_t n, size_t *done, struct problem *problem);
/* Applies the missing migrations. backup: if the database has migrations, it is copied before the
 * first missing migration is applied (store/sqlite/file/backup.h). Foreign keys are not enforced
 * while a migration runs, so that it may drop and rebuild a table; they are checked before its
 * COMMIT. Refuses a database with migrations that are not in the list (the database is newer), or
 * with migrations whose text was changed after they were applied. */
bool store_migrate(struct store_connection *c, const struct store_migration *list, size_t n,
                   bool backup, struct problem *problem);

#endif
