/* Checks the audit of a database file, which a daemon may have open. */
#include "store/sqlite/connection.h"
#include "store/tables/audit.h"

bool store_audit_verify(const char *path, const char *known, struct store_audit_report *out,
                        struct problem *problem) {
    struct store_connection *c = store_sqlite_connect(path, STORE_INSPECT, problem);
    if (c == NULL) {
        return false;
    }
    bool good = STORE_ASK(c, problem, 0,
                          "SELECT count(*) FROM sqlite_schema WHERE name IN ('audit', "
                          "'audit_anchor')",
                          STORE_NO_VALUES) == 2;
    if (!good && problem->type == PROBLEM_NONE) {
        problem_set(problem, PROBLEM_INVALID,
                    "%.300s has no audit: it is no database of discernd, or an earlier release "
                    "wrote it",
                    path);
    }
    good = good && store_audit_check(c, known, NULL, out, problem);
    store_sqlite_disconnect(c);
    return good;
}
