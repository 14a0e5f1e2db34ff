/* Repairs of separated text (on_error=repair): counts, samples, warnings. */
#include "base/json/json_write.h"
#include "formats/formats.h"
#include "formats/table/table.h"

#include <inttypes.h>

static const struct {
    const char *name, *text;
} kinds[CSV_REPAIR_KINDS] = {
#define X(kind, name, text) [kind] = {name, text},
    CSV_REPAIRS(X)
#undef X
};

void table_repaired(struct table *t, enum csv_repair_kind kind, int64_t line, int64_t column,
                    const char *text) {
    if (t->repairs.n[kind]++ < TABLE_FAULTS_LISTED) {
        problem_add_line(&t->repairs.first[kind], PROBLEM_INVALID_DATASET, line, column, "%s",
                         text);
    }
}

void table_warn_of_repairs(struct table *t) {
    for (size_t i = 0; i < CSV_REPAIR_KINDS; i++) {
        const struct problem *first = &t->repairs.first[i];
        if (t->repairs.n[i] > 0 && first->n_errors > 0) {
            table_warn(t, "%s (%" PRId64 " time%s, first at line %" PRId64 ": %s)", kinds[i].text,
                       t->repairs.n[i], t->repairs.n[i] == 1 ? "" : "s", first->errors[0].line,
                       first->errors[0].detail != NULL ? first->errors[0].detail : "");
        }
    }
}

void table_write_repairs(const struct table *t, struct json_writer *w) {
    int64_t n = 0;
    for (size_t i = 0; i < CSV_REPAIR_KINDS; i++) {
        n += t->repairs.n[i];
    }
    if (n == 0) {
        return;
    }
    json_kv_begin_object(w, "repairs");
    for (size_t i = 0; i < CSV_REPAIR_KINDS; i++) {
        if (t->repairs.n[i] > 0) {
            json_kv_begin_object(w, kinds[i].name);
            json_kv_int(w, "count", t->repairs.n[i]);
            table_write_places(&t->repairs.first[i], w);
            json_end_object(w);
        }
    }
    json_end_object(w);
}

void table_repairs_done(struct table *t) {
    for (size_t i = 0; i < CSV_REPAIR_KINDS; i++) {
        problem_done(&t->repairs.first[i]);
    }
}
