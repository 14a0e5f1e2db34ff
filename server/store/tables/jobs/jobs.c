/* Reads jobs. */
#include "store/tables/jobs/jobs.h"
#include "store/tables/page.h"
#include <inttypes.h>

static const char *const state_names[] = {"queued", "running", "succeeded", "failed", "cancelled"};
enum { N_STATES = sizeof state_names / sizeof state_names[0] };

const char *store_job_state_name(enum store_job_state state) {
    return state_names[state];
}

bool store_job_state_parse(const char *name, enum store_job_state *out) {
    for (int i = 0; i < N_STATES; i++) {
        if (strcmp(name, state_names[i]) == 0) {
            *out = (enum store_job_state)i;
            return true;
        }
    }
    return false;
}

void store_job_done(struct store_job *j) {
    if (j) {
        free(j->algorithm);
        free(j->request);
        free(j->spec);
        free(j->submitted_by);
        free(j->progress);
        free(j->warnings);
        free(j->error);
        free(j->result);
        *j = (struct store_job){0};
    }
}

bool store_job_load(struct store_query *q, void *item) {
    struct store_job *out = item;
    if (!store_query_intact(q, 20)) {
        *out = (struct store_job){0};
        return false;
    }
    *out = (struct store_job){.id = store_query_int(q, 0),
                              .state = (enum store_job_state)store_query_int(q, 1),
                              .algorithm = store_query_take(q, 3),
                              .dataset_version = store_query_int(q, 5),
                              .dataset_id = store_query_int(q, 6),
                              .spec = store_query_take(q, 7),
                              .created_at = store_query_int(q, 8),
                              .started_at = store_query_int(q, 9),
                              .finished_at = store_query_int(q, 10),
                              .attempts = store_query_int(q, 11),
                              .cancel_requested = store_query_int(q, 12) == STORE_CANCEL_JOB,
                              .search_cancelled = store_query_int(q, 12) == STORE_CANCEL_SEARCH,
                              .progress = store_query_take(q, 13),
                              .warnings = store_query_take(q, 14),
                              .error = store_query_take(q, 15),
                              .result = store_query_take(q, 16),
                              .version = store_query_int(q, 17),
                              .last_event = store_query_int(q, 18),
                              .token = store_query_int(q, 19),
                              .request = store_query_take(q, 21),
                              .submitted_by = store_query_take(q, 22)};
    store_query_copy(q, 2, out->model, sizeof out->model);
    store_query_copy(q, 4, out->dataset, sizeof out->dataset);
    store_etag(out->id, out->last_event, out->etag);
    if (q->problem->type) {
        store_job_done(out);
        return false;
    }
    return true;
}

bool store_job_find(struct store_connection *c, int64_t id, bool brief, struct store_job *out,
                    struct problem *problem) {
    struct store_query q;
    if (brief) {
        STORE_QUERY(&q, c, problem, STORE_JOB_SELECT_BRIEF "WHERE id = ?", store_int(id));
    } else {
        STORE_QUERY(&q, c, problem, STORE_JOB_SELECT "WHERE id = ?", store_int(id));
    }
    bool found = store_query_row(&q) && store_job_load(&q, out);
    store_query_end(&q);
    return found || problem_set(problem, PROBLEM_UNKNOWN_JOB, "there is no job %" PRId64, id);
}

void store_claim_check(struct store_tx *tx, const struct store_claim *claim) {
    if (!STORE_ASK(tx->connection, tx->problem, 0,
                   "SELECT 1 FROM jobs WHERE id = ? AND token = ? AND owner = ? AND state = ?",
                   store_int(claim->job), store_int(claim->token), store_text(tx->store->owner),
                   store_int(STORE_JOB_RUNNING))) {
        problem_set(tx->problem, PROBLEM_CONFLICT,
                    "job %" PRId64 " is no longer claimed by this worker", claim->job);
    }
}

bool store_job_get(struct store *store, int64_t id, struct store_job *out,
                   struct problem *problem) {
    struct store_read r;
    struct store_job j = {0};
    if (!store_read_begin(&r, store, problem)) {
        return false;
    }
    store_job_find(r.connection, id, false, &j, problem);
    if (!store_read_end(&r)) {
        store_job_done(&j);
        return false;
    }
    *out = j;
    return true;
}

int64_t store_job_state(struct store_connection *c, int64_t id, char etag[64],
                        struct problem *problem) {
    int64_t state = -1;
    struct store_query q;
    STORE_QUERY(&q, c, problem,
                "SELECT state, " STORE_DAMAGE_JOBS("jobs") ", last_event FROM jobs WHERE id = ?",
                store_int(id));
    if (!store_query_row(&q)) {
        problem_set(problem, PROBLEM_UNKNOWN_JOB, "there is no job %" PRId64, id);
    } else if (store_query_intact(&q, 1)) {
        state = store_query_int(&q, 0);
        if (etag != NULL) {
            store_etag(id, store_query_int(&q, 2), etag);
        }
    }
    store_query_end(&q);
    return state;
}

bool store_job_get_state(struct store *store, int64_t id, enum store_job_state *out,
                         struct problem *problem) {
    struct store_read r;
    if (!store_read_begin(&r, store, problem)) {
        return false;
    }
    const int64_t state = store_job_state(r.connection, id, NULL, problem);
    if (!store_read_end(&r)) {
        return false;
    }
    *out = (enum store_job_state)state;
    return true;
}

static void free_item(void *item) {
    store_job_done(item);
}
static const struct store_item job_item = {sizeof(struct store_job), store_job_load, free_item};

/* The job ends with its request's expires_in or with its model. */
#define JOB_EXPIRES                                                                                \
    "expires_in > 0 OR EXISTS (SELECT 1 FROM models m WHERE m.name = model AND m.expires_at > 0)"

/* The names that the caller may see are ?5. */
#define JOB_ONLY STORE_ONLY("model", "?5") " AND " STORE_ONLY("dataset", "?5")
#define JOB_EXPIRING STORE_EXPIRES(JOB_EXPIRES, "?6")
#define JOB_LISTED STORE_LISTED(STORE_DAMAGE_JOBS("jobs"))
#define JOB_LIST                                                                                   \
    STORE_JOB_SELECT_LISTED                                                                        \
    "WHERE (?1 < 0 OR state = ?1) AND (?2 IS NULL OR model = ?2) AND id < ?3 AND " JOB_ONLY        \
    " AND " JOB_EXPIRING " AND " JOB_LISTED " ORDER BY id DESC LIMIT ?4"

bool store_job_list(struct store *store, const struct store_job_filter *filter,
                    const struct store_limit *limit, struct store_page *out,
                    struct problem *problem) {
    struct store_read r;
    struct store_query q;
    if (!store_read_begin(&r, store, problem)) {
        return false;
    }
    STORE_QUERY(&q, r.connection, problem, JOB_LIST, store_int(filter->state),
                store_text(filter->model),
                store_int(filter->before > 0 ? filter->before : INT64_MAX), store_page_rows(limit),
                store_text(limit->only), store_int((int64_t)limit->expiring));
    return store_page_end(&r, &q, &job_item, limit, out);
}

bool store_job_counts(struct store *store, int64_t counts[5], struct problem *problem) {
    struct store_read r;
    struct store_query q;
    int64_t found[N_STATES] = {0};
    if (!store_read_begin(&r, store, problem)) {
        return false;
    }
    STORE_QUERY(&q, r.connection, problem,
                "SELECT state, count(*) FROM jobs WHERE state BETWEEN 0 AND 4 GROUP BY state",
                STORE_NO_VALUES);
    while (store_query_row(&q)) {
        int64_t state = store_query_int(&q, 0);
        if (state >= 0 && state < N_STATES) {
            found[state] = store_query_int(&q, 1);
        }
    }
    store_query_end(&q);
    if (!store_read_end(&r)) {
        return false;
    }
    memcpy(counts, found, sizeof found);
    return true;
}
