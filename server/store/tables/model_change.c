/* Publishes models (in the transaction that ends a job), changes and deletes them. */
#include "store/tables/audit.h"
#include <inttypes.h>

#define MODEL_DAMAGE STORE_DAMAGE_MODELS("models")
#define VERSION_INTACT STORE_INTACT_MODEL_VERSIONS("model_versions")
#define PART_INTACT STORE_INTACT_PARTS("parts")

/* The current state of a model. */
struct model_name {
    int64_t live; /* live version; 0: there is no version */
    int64_t revision;
    bool damaged; /* its row is damaged, so the other members may be wrong */
};

/* Looks up a model; {0} if there is none. deleting: a damaged row is accepted, so that it can be
 * deleted. */
static struct model_name find(struct store_tx *tx, const char *name, bool deleting) {
    struct model_name now = {0};
    struct store_query q;
    STORE_QUERY(&q, tx->connection, tx->problem,
                "SELECT live, revision, " MODEL_DAMAGE " FROM models WHERE name = ?",
                store_text(name));
    if (store_query_row(&q) && (deleting || store_query_intact(&q, 2))) {
        now.damaged = store_query_text(&q, 2) != NULL;
        now.live = store_query_int(&q, 0);
        now.revision = store_query_int(&q, 1);
    }
    store_query_end(&q);
    return now;
}

/* Like find; a model that does not exist is a problem. */
static struct model_name look_up(struct store_tx *tx, const char *name, bool deleting) {
    const struct model_name now = find(tx, name, deleting);
    if (!now.live && !now.damaged) {
        problem_set(tx->problem, PROBLEM_UNKNOWN_MODEL, "there is no model \"%s\"", name);
    }
    return now;
}

static void must_have(struct store_tx *tx, const char *name, int64_t version) {
    if (!STORE_ASK(tx->connection, tx->problem, 0,
                   "SELECT 1 FROM model_versions WHERE name = ? AND version = ?", store_text(name),
                   store_int(version))) {
        problem_set(tx->problem, PROBLEM_UNKNOWN_MODEL,
                    "there is no version %" PRId64 " of a model \"%s\"", version, name);
    }
}

static bool check(struct store_tx *tx, const struct store_condition *condition, const char *name,
                  int64_t version, const struct model_name *now) {
    char etag[64];
    store_etag(version, now->revision, etag);
    return store_condition_check(condition, etag, "model", name, tx->problem);
}

static void audit(struct store_tx *tx, const struct store_audit_new *entry) {
    struct store_audit_new e = *entry;
    e.kind = "model";
    e.result = "done";
    store_audit(tx, &e);
}

/* ---- publish ---- */

/* Runs `kill`, an SQL text that marks the parts of some versions as dead, then `remove`, which
 * deletes these versions. Parameters of both: ?1 name, ?2 a, ?3 b, ?4 the state "dead". Returns the
 * number of versions. */
static int64_t remove_versions(struct store_tx *tx, const char *kill, const char *remove,
                               const char *name, int64_t a, int64_t b) {
    STORE_RUN(tx->connection, tx->problem, kill, store_text(name), store_int(a), store_int(b),
              store_int(STORE_PART_DEAD));
    int64_t n = 0;
    STORE_RUN_COUNT(tx->connection, tx->problem, &n, remove, store_text(name), store_int(a),
                    store_int(b));
    return n;
}

static void prune(struct store_tx *tx, const char *name, int64_t keep, int64_t live) {
#define OLD                                                                                        \
    "name = ?1 AND version <> ?3 AND version NOT IN (SELECT version FROM model_versions WHERE "    \
    "name = ?1 ORDER BY version DESC LIMIT ?2) AND " VERSION_INTACT
    const int64_t n = remove_versions(
        tx,
        "UPDATE parts SET state = ?4 WHERE id IN (SELECT part FROM model_versions WHERE " OLD
        ") AND " PART_INTACT,
        "DELETE FROM model_versions WHERE " OLD, name, keep, live);
#undef OLD
    if (n > 0) {
        const struct store_audit_new entry = {.action = "model.prune", .name = name, .count = n};
        audit(tx, &entry);
    }
}

/* Returns whether the new version becomes live. */
static bool becomes_live(struct store_tx *tx, const struct store_model_new *m, int64_t live) {
    if (m->promotion == NULL) {
        return true;
    }
    if (live != m->promotion->live) {
        problem_set(tx->problem, PROBLEM_PRECONDITION_FAILED,
                    "version %" PRId64 " of model \"%s\" is live, not version %" PRId64, live,
                    m->name, m->promotion->live);
    }
    return m->promotion->promote || live == 0;
}

int64_t store_model_publish(struct store_tx *tx, const struct store_model_new *m,
                            const struct store_part_sum *staged) {
    int64_t live = find(tx, m->name, false).live;
    const bool promoted = becomes_live(tx, m, live);
    store_part_publish(tx, staged, -1, m->bytes + m->prediction_bytes);
    int64_t version = STORE_ASK(
        tx->connection, tx->problem, 0,
        "INSERT INTO models (name, last_version, live, newest, tags, "
        "revision, expires_at) SELECT ?1, last, last, last, '[]', 0, ?3 FROM (SELECT "
        "coalesce(max(version), 0) + 1 AS last FROM model_versions WHERE name = ?1) AS n WHERE true"
        " ON CONFLICT (name) DO UPDATE SET last_version = models.last_version + 1, live = CASE "
        "WHEN ?2 <> 0 THEN models.last_version + 1 ELSE models.live END, newest = "
        "models.last_version + 1, revision = models.revision + 1, expires_at = CASE WHEN "
        "models.live = 0 OR models.expires_at > 0 THEN ?3 ELSE 0 END RETURNING last_version",
        store_text(m->name), store_int(promoted), store_int(store_expiry(tx, m->expires_in)));
    live = promoted ? version : live;
    STORE_RUN(tx->connection, tx->problem,
              "INSERT INTO model_versions (name, version, created_at, bytes, info, part, format, "
              "submitted_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
              store_text(m->name), store_int(version), store_int(tx->now), store_int(m->bytes),
              store_text(m->info), store_int(m->part), store_int(STORE_DOCUMENT_FORMAT),
              store_text(m->submitted_by));
    if (m->keep > 0) {
        prune(tx, m->name, m->keep, live);
    }
    store_tx_model_change(tx, m->name, live,
                          m->keep > 0
                              ? STORE_ASK(tx->connection, tx->problem, 0,
                                          "SELECT min(version) FROM model_versions WHERE name = ?",
                                          store_text(m->name))
                              : 0,
                          0);
    return version;
}

/* ---- live, patch ---- */

struct change {
    const struct store_actor *by;
    const char *name;
    int64_t version; /* live: the new live version; delete: the version, 0: all */
    int64_t promote; /* delete: the version that becomes live; 0: none */
    bool expired;    /* delete: the name has expired */
    const struct store_patch *patch;
    const char *rule; /* rule: the new rule; NULL: none */
    const struct store_condition *condition;
    struct store_model *model; /* live, patch: the live version as it is committed */
};

/* detail: text before the version in the detail of the entry; version 0: there is no detail. */
static void audit_change(struct store_tx *tx, const struct change *c, const char *action,
                         const char *detail, int64_t version) {
    char text[64] = "";
    if (version != 0) {
        (void)snprintf(text, sizeof text, "%s %" PRId64, detail, version);
    }
    const struct store_audit_new entry = {.by = store_actor_of(c->by),
                                          .action = action,
                                          .name = c->name,
                                          .version = c->version,
                                          .detail = version != 0 ? text : NULL};
    audit(tx, &entry);
}

static void set_live(struct store_tx *tx, void *arg) {
    struct change *c = arg;
    struct model_name now = look_up(tx, c->name, false);
    must_have(tx, c->name, c->version);
    if (!check(tx, c->condition, c->name, now.live, &now)) {
        return;
    }
    if (now.live != c->version) {
        STORE_RUN(tx->connection, tx->problem,
                  "UPDATE models SET live = ?2, revision = revision + 1 WHERE name = ?1",
                  store_text(c->name), store_int(c->version));
        store_tx_model_change(tx, c->name, c->version, 0, 0);
        audit_change(tx, c, "model.live", "before: version", now.live);
    }
    store_model_find(tx, c->name, 0, c->model);
}

/* Runs a change and returns the live version in *model. */
static bool write(struct store *store, store_tx_fn run, struct change *c, struct store_model *model,
                  struct problem *problem) {
    struct store_model changed = {0};
    c->model = &changed;
    const bool good = store_write(store, run, c, problem);
    if (good && model != NULL) {
        *model = changed;
    } else {
        store_model_done(&changed);
    }
    return good;
}

bool store_model_set_live(struct store *store, const struct store_actor *by, const char *name,
                          int64_t version, const struct store_condition *condition,
                          struct store_model *model, struct problem *problem) {
    struct change c = {.by = by, .name = name, .version = version, .condition = condition};
    return write(store, set_live, &c, model, problem);
}

static void patch(struct store_tx *tx, void *arg) {
    struct change *c = arg;
    struct model_name now = look_up(tx, c->name, false);
    if (!check(tx, c->condition, c->name, now.live, &now)) {
        return;
    }
    STORE_RUN(tx->connection, tx->problem,
              "UPDATE models SET description = nullif(coalesce(?2, description), ''), tags = "
              "coalesce(?3, tags), expires_at = CASE WHEN ?4 <> 0 THEN ?5 ELSE expires_at END, "
              "revision = revision + 1 WHERE name = ?1",
              store_text(c->name), store_text(c->patch->description), store_text(c->patch->tags),
              store_int(c->patch->expires), store_int(store_expiry(tx, c->patch->expires_in)));
    store_tx_change(tx, STORE_CHANGE_MODEL_TEXT, c->name, 0);
    audit_change(tx, c, "model.patch", "", 0);
    store_model_find(tx, c->name, 0, c->model);
}

bool store_model_patch(struct store *store, const struct store_actor *by, const char *name,
                       const struct store_patch *to, const struct store_condition *condition,
                       struct store_model *model, struct problem *problem) {
    struct change c = {.by = by, .name = name, .patch = to, .condition = condition};
    return write(store, patch, &c, model, problem);
}

/* ---- rule ---- */

void store_model_put_rule(struct store_tx *tx, const char *name, int64_t version,
                          const char *rule) {
    STORE_RUN(
        tx->connection, tx->problem,
        "INSERT INTO model_rules (version, revision, rule, changed_at, crc) SELECT id, n, ?3, "
        "?4, " STORE_ROW_CRC(
            "id, n, ?3, ?4") " FROM (SELECT id, 1 + coalesce((SELECT revision FROM "
                             "model_rules r WHERE r.version = v.id), 0) AS n FROM model_versions v "
                             "WHERE name = ?1 "
                             "AND version = ?2) AS r WHERE true ON CONFLICT (version) DO UPDATE "
                             "SET revision = "
                             "excluded.revision, rule = excluded.rule, changed_at = "
                             "excluded.changed_at, crc = "
                             "excluded.crc",
        store_text(name), store_int(version), store_text(rule != NULL ? rule : "null"),
        store_int(tx->now));
}

static void set_rule(struct store_tx *tx, void *arg) {
    struct change *c = arg;
    struct model_name now = look_up(tx, c->name, false);
    must_have(tx, c->name, c->version);
    if (!check(tx, c->condition, c->name, c->version, &now)) {
        return;
    }
    store_model_put_rule(tx, c->name, c->version, c->rule);
    STORE_RUN(tx->connection, tx->problem,
              "UPDATE models SET revision = revision + 1 WHERE name = ?1", store_text(c->name));
    /* the copy in memory is dropped, so that the next call loads the version with its rule */
    store_tx_model_change(tx, c->name, now.live, 0, c->version);
    audit_change(tx, c, c->rule != NULL ? "model.decision" : "model.decision.delete", "", 0);
    store_model_find(tx, c->name, c->version, c->model);
}

bool store_model_set_rule(struct store *store, const struct store_actor *by, const char *name,
                          int64_t version, const char *rule,
                          const struct store_condition *condition, struct store_model *model,
                          struct problem *problem) {
    struct change c = {
        .by = by, .name = name, .version = version, .rule = rule, .condition = condition};
    return write(store, set_rule, &c, model, problem);
}

/* ---- delete ---- */

static void delete(struct store_tx *tx, void *arg) {
    struct change *c = arg;
    struct model_name now = look_up(tx, c->name, c->version == 0);
    if (c->version) {
        must_have(tx, c->name, c->version);
    }
    if (c->promote) {
        must_have(tx, c->name, c->promote);
    }
    if (!check(tx, c->condition, c->name, c->version ? c->version : now.live, &now)) {
        return;
    }
#define CHOSEN "name = ?1 AND (?2 = 0 OR version = ?2) AND version <> ?3"
    remove_versions(
        tx,
        /* the chunks of a damaged version stay: its row may name those of another version */
        "UPDATE parts SET state = ?4 WHERE id IN (SELECT part FROM model_versions WHERE " CHOSEN
        " AND " VERSION_INTACT ") AND " PART_INTACT,
        "DELETE FROM model_versions WHERE " CHOSEN, c->name, c->version, 0);
#undef CHOSEN
    const int64_t newest =
        STORE_ASK(tx->connection, tx->problem, 0,
                  "SELECT coalesce(max(version), 0) FROM model_versions WHERE name = ?",
                  store_text(c->name));
    const int64_t live = newest == 0 ? 0 : c->promote != 0 ? c->promote : now.live;
    if (newest != 0 && live == c->version) {
        problem_set(tx->problem, PROBLEM_CONFLICT,
                    "version %" PRId64
                    " of model \"%s\" is live: make another version live with PUT "
                    "/v1/models/%s/live first, or name it in ?promote=VERSION",
                    c->version, c->name, c->name);
    }
    if (now.damaged) {
        STORE_RUN(tx->connection, tx->problem,
                  STORE_NAME_ANEW("models", "model_versions", "live, ", "0, ", "model", "version"),
                  store_text(c->name), store_int(tx->now));
    } else if (newest != 0) {
        STORE_RUN(
            tx->connection, tx->problem,
            "UPDATE models SET newest = ?2, live = ?3, revision = revision + 1 WHERE name = ?1",
            store_text(c->name), store_int(newest), store_int(live));
    } else { /* the counters of a deleted name stay, so that no version number is used again, and
                expires_at, so that its jobs expire */
        STORE_RUN(tx->connection, tx->problem,
                  "UPDATE models SET newest = 0, live = 0, description = NULL, tags = '[]', "
                  "revision = revision + 1 WHERE name = ?",
                  store_text(c->name));
    }
    store_tx_model_change(tx, c->name, live, newest ? 0 : INT64_MAX, c->version);
    audit_change(tx, c, c->expired ? "model.expire" : "model.delete", "live version", c->promote);
}

bool store_model_expire(struct store_tx *tx) {
    char name[IDS_NAME_SIZE] = "";
    struct change c = {.name = name, .expired = true};
    bool live = false;
    struct store_query q;
    STORE_QUERY(&q, tx->connection, tx->problem,
                "SELECT name, live FROM models m WHERE expires_at > 0 AND expires_at <= ? AND NOT "
                "EXISTS (SELECT 1 FROM jobs j WHERE j.state IN (?, ?) AND j.model = m.name "
                "AND " STORE_INTACT_JOBS("j") ") AND " STORE_INTACT_MODELS("m") " LIMIT 1",
                store_int(tx->now), store_int(STORE_JOB_QUEUED), store_int(STORE_JOB_RUNNING));
    if (store_query_row(&q)) {
        store_query_copy(&q, 0, name, sizeof name);
        live = store_query_int(&q, 1) != 0;
    }
    store_query_end(&q);
    if (name[0] == '\0') {
        return false;
    }
    if (store_job_expire_of(tx, name)) {
        return true;
    }
    if (live) {
        delete (tx, &c);
    }
    STORE_RUN(tx->connection, tx->problem, "UPDATE models SET expires_at = 0 WHERE name = ?",
              store_text(name));
    return true;
}

bool store_model_delete(struct store *store, const struct store_actor *by, const char *name,
                        int64_t version, int64_t promote, const struct store_condition *condition,
                        struct problem *problem) {
    struct change c = {
        .by = by, .name = name, .version = version, .promote = promote, .condition = condition};
    if (!store_write(store, delete, &c, problem)) {
        return false;
    }
    store_writer_kick(store);
    return true;
}
