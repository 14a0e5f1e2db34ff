/* Opens a database file, which a daemon may have open, for a check of its audit. */
#include "store/engine/query.h"
#include "store/sqlite/sqlite.h"

struct store_connection *store_sqlite_inspect(const char *path, struct problem *problem) {
    struct store_connection *c = store_sqlite_connect(path, STORE_INSPECT, problem);
    if (c == NULL) {
        return NULL;
    }
    const bool good = STORE_ASK(c, problem, 0,
                                "SELECT count(*) FROM sqlite_schema WHERE name IN ('audit', "
                                "'audit_anchor')",
                                STORE_NO_VALUES) == 2;
    if (!good && problem->type == PROBLEM_NONE) {
        problem_set(problem, PROBLEM_INVALID,
                    "%.300s has no audit: it is no database of discernd, or an earlier release "
                    "wrote it",
                    path);
    }
    if (good) {
        return c;
    }
    store_sqlite_disconnect(c);
    return NULL;
}
