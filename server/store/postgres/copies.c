/* Whole databases: PostgreSQL has its own programs for their backup, check and restore. */
#include "store/postgres/postgres.h"

static bool refuse(const char *what, const char *program, struct problem *problem) {
    return problem_set_permanent(problem, PROBLEM_CONFLICT,
                                 "discernd does not %s a database of PostgreSQL: use %s", what,
                                 program);
}

bool store_postgres_backs_up(struct problem *problem) {
    return refuse("back up", "pg_dump", problem);
}

bool store_postgres_backup(struct store *store, const char *folder, const struct store_watch *watch,
                           struct store_backup **out, struct problem *problem) {
    (void)store;
    (void)folder;
    (void)watch;
    (void)out;
    return refuse("back up", "pg_dump", problem);
}

bool store_postgres_backup_file(const char *database, const char *path, int64_t *bytes,
                                struct problem *problem) {
    (void)database;
    (void)path;
    (void)bytes;
    return refuse("back up", "pg_dump", problem);
}

bool store_postgres_check(const char *database, struct store_check *check,
                          struct problem *problem) {
    (void)database;
    (void)check;
    return refuse("check", "pg_amcheck", problem);
}

bool store_postgres_restore(const char *backup, const char *database, bool replace,
                            struct store_check *check, int64_t *bytes, struct problem *problem) {
    (void)backup;
    (void)database;
    (void)replace;
    (void)check;
    (void)bytes;
    return refuse("restore", "pg_restore", problem);
}
