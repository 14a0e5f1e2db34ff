/* Names that do not exist. */
#include "base/nearest.h"
#include "store/tables/tables.h"
#include <inttypes.h>

void store_unknown(struct store_connection *c, enum problem_type type, const char *noun,
                   const char *name, int64_t version, const char *damage, const char *names,
                   struct problem *problem) {
    if (damage != NULL && !STORE_CHECK(c, problem, damage, store_text(name), store_int(version))) {
        return;
    }
    struct nearest nearest = nearest_to(name, strlen(name));
    struct problem ignored = {0};
    struct store_query q;
    if (names != NULL) {
        STORE_QUERY(&q, c, &ignored, names, STORE_NO_VALUES);
        while (store_query_row(&q)) {
            const char *own = store_query_text(&q, 0);
            nearest_offer(&nearest, own != NULL ? own : "", own != NULL ? strlen(own) : 0);
        }
        store_query_end(&q);
        problem_done(&ignored);
    }
    if (version != 0) {
        problem_set(problem, type, "there is no version %" PRId64 " of a %s \"%s\"%s", version,
                    noun, name, nearest.hint);
    } else {
        problem_set(problem, type, "there is no %s \"%s\"%s", noun, name, nearest.hint);
    }
}
