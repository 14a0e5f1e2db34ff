/* Migrations: numbered SQL texts, applied in order, each in one transaction and recorded with its checksum. */
#ifndef STORE_MIGRATE_H
#define STORE_MIGRATE_H

#include "store/connection.h"
#include <stddef.h>

struct store_migration {
    const char *name; /* file name: "0001_initial.sql" */
    const char *text; /* NUL-terminated */
    size_t size;      /* without the NUL */
};
/* Those that are part of the binary. */
const struct store_migration *store_migrations(size_t *n);
/* Applies what is missing. Refuses a database with migrations that are not in the list (it is newer) or whose text was another one when it was applied. */
bool store_migrate(struct store_connection *c, const struct store_migration *list, size_t n,
                   struct problem *problem);

#endif
