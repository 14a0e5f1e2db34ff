/* Entity tags of versions, and the evaluation of conditional requests. */
#include "base/etag.h"
#include "store/tables/tables.h"
#include <inttypes.h>

void store_etag(int64_t version, int64_t revision, char out[64]) {
    snprintf(out, 64, "\"%" PRId64 "-%" PRId64 "\"", version, revision);
}

bool store_condition_check_job(const struct store_condition *c, int64_t id, const char *etag,
                               struct problem *problem) {
    char name[24];
    snprintf(name, sizeof name, "%" PRId64, id);
    return store_condition_check(c, etag, "job", name, problem);
}

bool store_condition_check(const struct store_condition *c, const char *etag, const char *kind,
                           const char *name, struct problem *problem) {
    if (!c || problem->type) {
        return problem->type == PROBLEM_NONE;
    }
    if (c->if_match && !(etag && etag_list_names(c->if_match, etag, false))) {
        return problem_set(problem, PROBLEM_PRECONDITION_FAILED,
                           "If-Match does not hold: %s \"%s\" %s%s", kind, name,
                           etag ? "has the ETag " : "does not exist", etag ? etag : "");
    }
    if (c->if_none_match && etag && etag_list_names(c->if_none_match, etag, true)) {
        return problem_set(problem, PROBLEM_PRECONDITION_FAILED,
                           "If-None-Match does not hold: %s \"%s\" has the ETag %s", kind, name,
                           etag);
    }
    return true;
}

bool store_may_expire(const char *kind, const char *name, int64_t expires_at, int64_t expires_in,
                      struct problem *problem) {
    return expires_in == 0 || expires_at != 0 ||
           problem_set(problem, PROBLEM_CONFLICT,
                       "%s \"%s\" exists and does not expire: use another name, leave out "
                       "expires_in, or let all its versions expire with PATCH /v1/%ss/%s",
                       kind, name, kind, name);
}
