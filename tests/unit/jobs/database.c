#include "unit/jobs/database.h"

static void database_run_one(struct store_tx *tx, void *sql) {
    store_sqlite_exec(tx->connection, sql, tx->problem);
}

void database_run(struct fixture *f, const char *sql) {
    struct problem problem = {0};
    if (!store_write(f->store, database_run_one, (void *)(uintptr_t)sql, &problem)) {
        fail_msg("%s: %s", sql, problem.detail);
    }
}

void database_await_sweep(struct fixture *f, double before) {
    for (int i = 0; i < 12000 && metric_value(f->store->writer.swept_bytes) <= before; i++) {
        usleep(5000);
    }
    assert_true(metric_value(f->store->writer.swept_bytes) > before);
}
