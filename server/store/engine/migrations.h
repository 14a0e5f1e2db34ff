/* Migrations: numbered SQL texts, applied in order, each in one transaction and recorded in the table
 * `migrations` with its checksum. */
#ifndef STORE_MIGRATIONS_H
#define STORE_MIGRATIONS_H

#include "base/hash.h"
#include "store/engine/engine.h"

struct store_migration {
    const char *name; /* file name: "0001_initial.sql" */
    const char *text; /* SQL text, NUL-terminated */
    size_t size;      /* length of the text without the NUL */
};
/* Checks that the recorded migrations are the first migrations of the list, in the same order and
 * with the same checksums. After all of them, there may be others that are recorded as compatible: a
 * binary that does not have them may use the database. *done: their number without those. The table must exist. */
bool store_migrations_compare_recorded(struct store_connection *c,
                                       const struct store_migration *list, size_t n, size_t *done,
                                       struct problem *problem);
/* Records a migration that was applied, in its transaction. */
bool store_migration_record(struct store_connection *c, const struct store_migration *m,
                            size_t number, struct problem *problem);
/* Computes the checksum of a migration: BLAKE2b of its SQL without comments and with white space
 * only between words. Quoted text is not changed. */
bool store_migration_checksum(const struct store_migration *m, char out[HASH_BLAKE2B_TEXT],
                              struct problem *problem);

#endif
