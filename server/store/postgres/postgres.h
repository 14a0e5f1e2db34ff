/* The engine for PostgreSQL: a database on a server, which several daemons may have open. */
#ifndef STORE_POSTGRES_H
#define STORE_POSTGRES_H

#include "store/internal.h"
#include "store/postgres/connection.h"

extern const struct store_engine store_postgres_engine;
/* What an open database has for several daemons. */
struct store_share;
struct store_share *store_postgres_share(struct store *store);

/* uri.c: whether the name of a database is a URI of PostgreSQL. */
bool store_postgres_names(const char *database);
/* Whether a name that is no URI begins as one with a mistake, or as a connection string. */
bool store_postgres_is_like(const char *database);
/* Whether an @ stands in the host or the name of the database. The user or the password then probably
 * has an @ or /, and libpq would quote a part of the password as a host or a port. */
bool store_postgres_is_ambiguous(const char *uri);
/* As the functions store_database_… of store.h. */
char *store_postgres_name(const char *uri);
bool store_postgres_has_password(const char *uri);
void store_postgres_reads(const char *uri, void (*read)(void *arg, const char *path), void *arg);

/* migrate.c: applies the missing migrations. Refuses a database that is newer, whose migrations were
 * changed, or that has tables of another program. */
bool store_postgres_migrate(struct store_connection *c, struct problem *problem);
/* Checks that the database has all migrations of this binary and no others. */
bool store_postgres_check_schema(struct store_connection *c, struct problem *problem);
/* copy_in.c: as put_blobs of struct store_engine. */
void store_postgres_put_blobs(struct store_tx *tx, int64_t first,
                              const struct store_new_blob *blobs, size_t n);
/* copies.c: the functions for whole databases. They refuse and name the programs of PostgreSQL. */
bool store_postgres_backs_up(struct problem *problem);
bool store_postgres_backup(struct store *store, const char *folder, const struct store_watch *watch,
                           struct store_backup **out, struct problem *problem);
bool store_postgres_backup_file(const char *database, const char *path, int64_t *bytes,
                                struct problem *problem);
bool store_postgres_check(const char *database, struct store_check *check, struct problem *problem);
bool store_postgres_restore(const char *backup, const char *database, bool replace,
                            struct store_check *check, int64_t *bytes, struct problem *problem);

#endif
