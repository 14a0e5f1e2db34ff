#include "lib/database.h"

#include "lib/memory.h"
#include "lib/postgresql.h"
#include "lib/service.h"
#include "store/sqlite/row_crc.h"

#include <sqlite3.h>

/* Runs SQL, with or without triggers. */
static int run(const char *sql, int triggers) {
    sqlite3 *db = NULL;
    char *why = NULL;
    if (!triggers) {
        postgresql_skip("rows have no checksums");
    }
    if (postgresql_is_used()) {
        return postgresql_run(the_daemon.database, sql);
    }
    assert_int_equal(sqlite3_open_v2(the_daemon.database, &db, SQLITE_OPEN_READWRITE, NULL),
                     SQLITE_OK);
    assert_int_equal(store_row_crc_add(db), SQLITE_OK);
    assert_int_equal(sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, triggers, NULL),
                     SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK) {
        fail_msg("%s: %s", sql, why);
    }
    const int n = sqlite3_changes(db);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return n;
}

int database_change(const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int n = run(vtext(format, args), 1);
    va_end(args);
    return n;
}

int database_damage(const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int n = run(vtext(format, args), 0);
    va_end(args);
    return n;
}
