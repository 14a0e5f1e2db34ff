/* Publishes, describes and deletes datasets. */
#include "store/tables/audit.h"
#include "store/tables/datasets.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DATASET_DAMAGE STORE_DAMAGE_DATASETS("d")
#define VERSION_INTACT STORE_INTACT_DATASET_VERSIONS("dataset_versions")
#define PLACE_INTACT STORE_INTACT_DATASET_PARTS("dataset_parts")

/* The current state of a dataset. */
struct dataset_name {
    int64_t newest; /* newest version; 0: there is no version */
    int64_t id;     /* id of the newest version */
    int64_t revision;
    int64_t expires_at;
    char etag[64]; /* etag of the newest version; "": there is no version */
    bool damaged;  /* its row is damaged, so the other members may be wrong */
};

/* Looks up a dataset; {0} if there is none. deleting: a damaged row is accepted, so that it can be
 * deleted. */
static struct dataset_name look_up(struct store_tx *tx, const char *name, bool deleting) {
    struct dataset_name now = {0};
    struct store_query q;
    STORE_QUERY(&q, tx->connection, tx->problem,
                "SELECT d.newest, d.revision, coalesce(v.id, 0), " DATASET_DAMAGE
                ", d.expires_at FROM datasets d LEFT JOIN dataset_versions v ON v.name = d.name "
                "AND v.version = "
                "d.newest WHERE d.name = ?",
                store_text(name));
    if (store_query_row(&q) && (deleting || store_query_intact(&q, 3))) {
        now.damaged = store_query_text(&q, 3) != NULL;
        now.newest = store_query_int(&q, 0);
        now.revision = store_query_int(&q, 1);
        now.id = store_query_int(&q, 2);
        now.expires_at = store_query_int(&q, 4);
        if (now.newest) {
            store_etag(now.newest, now.revision, now.etag);
        }
    }
    store_query_end(&q);
    return now;
}

static bool must_exist(struct store_tx *tx, const char *name, const struct dataset_name *now) {
    if (!now->newest && !now->damaged) {
        store_unknown(tx->connection, PROBLEM_UNKNOWN_DATASET, "dataset", name, 0,
                      STORE_DATASET_HIDDEN, NULL, tx->problem);
    }
    return tx->problem->type == PROBLEM_NONE;
}

static void audit(struct store_tx *tx, const struct store_actor *by, const char *action,
                  const char *name, int64_t version) {
    const struct store_audit_new entry = {.by = store_actor_of(by),
                                          .action = action,
                                          .kind = "dataset",
                                          .name = name,
                                          .version = version,
                                          .result = "done"};
    store_audit(tx, &entry);
}

/* ---- publish ---- */

struct publish {
    const struct store_dataset_new *d;
    struct store_part_sum staged;
    int64_t expires_at;
    int64_t kept; /* number of leading parts of `onto` that the new version shares with it */
    struct store_dataset_published out;
    struct store_dataset *dataset; /* the version as it is committed; NULL: not needed */
};

/* Returns the id of the newest version if its content and options equal those of d; 0 if they
 * differ. */
static int64_t find_same(struct store_tx *tx, const struct store_dataset_new *d, int64_t newest) {
    return STORE_ASK(tx->connection, tx->problem, 0,
                     "SELECT id FROM dataset_versions WHERE name = ? AND version = ? AND content = "
                     "? AND options IN (?, ?) AND n_rows = ? AND n_cols = ? AND " VERSION_INTACT,
                     store_text(d->name), store_int(newest), store_text(d->content),
                     store_text(d->options ? d->options : ""), store_text(d->options_format_1),
                     store_int(d->n_rows), store_int(d->n_cols));
}

/* Deletes the summaries of the version with the id `before` (0: none) and saves the summaries of
 * the version with the id `id`. Only the newest version needs summaries, because rows are appended
 * to no other. */
static void replace_summaries(struct store_tx *tx, const struct store_dataset_new *d,
                              int64_t before, int64_t id) {
    STORE_RUN(tx->connection, tx->problem, "DELETE FROM dataset_summaries WHERE version = ?",
              store_int(before));
    for (size_t i = 0; i < d->n_summaries && !tx->problem->type; i++) {
        STORE_RUN(tx->connection, tx->problem,
                  "INSERT INTO dataset_summaries (version, \"column\", state, crc) VALUES (?1, ?2, "
                  "?3, " STORE_ROW_CRC("?1, ?2, ?3") ")",
                  store_int(id), store_int((int64_t)i),
                  store_bytes(d->summaries[i].bytes, d->summaries[i].size));
    }
}

/* Lets the new version share the first parts of `onto`. */
static void share_parts(struct store_tx *tx, const struct publish *p, int64_t id) {
    const struct store_dataset_new *d = p->d;
    int64_t shared = 0;
    STORE_RUN_COUNT(tx->connection, tx->problem, &shared,
                    "INSERT INTO dataset_parts (version, seq, part) SELECT ?1, seq, part FROM "
                    "dataset_parts WHERE version = ?2 AND seq < ?3 AND part IN (SELECT id FROM "
                    "parts) AND " PLACE_INTACT,
                    store_int(id), store_int(d->onto), store_int(p->kept));
    if (shared != p->kept) {
        problem_set_permanent(tx->problem, PROBLEM_INTERNAL,
                              "stored data is damaged: dataset_parts, rows %" PRId64
                              "/0 to %" PRId64 "/%" PRId64
                              ": a row is damaged, or refers to a part that is missing",
                              d->onto, d->onto, p->kept - 1);
    }
}

static void insert_version(struct store_tx *tx, struct publish *p, int64_t before) {
    const struct store_dataset_new *d = p->d;
    int64_t version =
        STORE_ASK(tx->connection, tx->problem, 0,
                  "INSERT INTO datasets (name, last_version, newest, tags, revision, expires_at) "
                  "SELECT ?1, last, last, '[]', 0, ?2 FROM (SELECT coalesce(max(version), 0) + 1 "
                  "AS last FROM dataset_versions WHERE name = ?1) AS n WHERE true"
                  " ON CONFLICT (name) DO UPDATE SET last_version = datasets.last_version + 1, "
                  "newest = datasets.last_version + 1, revision = CASE datasets.expires_at WHEN ?2 "
                  "THEN datasets.revision ELSE datasets.revision + 1 END, "
                  "expires_at = ?2 RETURNING last_version",
                  store_text(d->name), store_int(p->expires_at));
    int64_t id =
        STORE_ASK(tx->connection, tx->problem, 0,
                  "INSERT INTO dataset_versions (name, version, n_rows, n_cols, bytes, "
                  "created_at, sha256, content, options, columns, notes, format, submitted_by)"
                  " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
                  store_text(d->name), store_int(version), store_int(d->n_rows),
                  store_int(d->n_cols), store_int(d->bytes), store_int(tx->now),
                  store_text(d->sha256), store_text(d->content),
                  store_text(d->options ? d->options : ""), store_text(d->columns),
                  store_text(d->notes), store_int(STORE_DOCUMENT_FORMAT),
                  store_text(d->quota.owner));
    if (d->onto != 0) {
        share_parts(tx, p, id);
    }
    STORE_RUN(tx->connection, tx->problem,
              "INSERT INTO dataset_parts (version, seq, part) SELECT ?1, coalesce(max(seq) + 1, "
              "0), ?2 FROM dataset_parts WHERE version = ?1",
              store_int(id), store_int(d->part));
    replace_summaries(tx, d, before, id);
    p->out.id = id;
    p->out.version = version;
}

/* Returns the number of rows of the shared parts of `onto`; 0 if no rows are appended. Sets
 * PROBLEM_CONFLICT if `onto` is not the newest version. */
static int64_t rows_before(struct store_tx *tx, struct publish *p, const struct dataset_name *now) {
    const struct store_dataset_new *d = p->d;
    if (d->onto == 0) {
        return 0;
    }
    if (must_exist(tx, d->name, now) && now->id != d->onto) {
        problem_set(tx->problem, PROBLEM_CONFLICT,
                    "dataset \"%s\" was changed while the rows were read: send them again",
                    d->name);
    }
    p->kept = STORE_ASK(tx->connection, tx->problem, 0,
                        "SELECT count(*) - ?2 FROM dataset_parts WHERE version = ?1",
                        store_int(d->onto), store_int(d->taken));
    return STORE_ASK(tx->connection, tx->problem, 0,
                     "SELECT n_rows - (SELECT " STORE_SUM(
                         "c.n_rows") " FROM dataset_parts p JOIN "
                                     "chunks c ON c.part = p.part"
                                     " WHERE p.version = ?1 AND p.seq >= ?2) FROM dataset_versions "
                                     "WHERE id = ?1",
                     store_int(d->onto), store_int(p->kept));
}

/* Of an upload that makes no version: sets when the name expires. */
static void set_expiry(struct store_tx *tx, const struct publish *p) {
    STORE_RUN(tx->connection, tx->problem,
              "UPDATE datasets SET expires_at = ?2, revision = revision + 1 WHERE name = ?1",
              store_text(p->d->name), store_int(p->expires_at));
    store_tx_change(tx, STORE_CHANGE_DATASET, p->d->name, 0);
    audit(tx, &p->d->by, "dataset.patch", p->d->name, 0);
}

/* The answer to an upload that makes no version tells how its own body was read. */
static bool take_notes(struct store_dataset *d, const char *notes) {
    char *copy = strdup(notes);
    if (copy == NULL) {
        return false;
    }
    free(d->notes);
    d->notes = copy;
    return true;
}

static void publish(struct store_tx *tx, void *arg) {
    struct publish *p = arg;
    const struct store_dataset_new *d = p->d;
    struct dataset_name now = look_up(tx, d->name, false);
    p->out = (struct store_dataset_published){.created = now.newest == 0};
    if (!store_condition_check(&d->condition, now.newest ? now.etag : NULL, "dataset", d->name,
                               tx->problem) ||
        (now.newest != 0 &&
         !store_may_expire("dataset", d->name, now.expires_at, d->expires_in, tx->problem))) {
        return;
    }
    p->expires_at = store_expiry(tx, d->expires_in);
    store_part_publish(tx, &p->staged, d->n_rows - rows_before(tx, p, &now), -1);
    int64_t same = now.newest && !d->onto ? find_same(tx, d, now.newest) : 0;
    if (same) {
        p->out =
            (struct store_dataset_published){.id = same, .version = now.newest, .unchanged = true};
        store_part_kill(tx, d->part);
        if (p->expires_at != now.expires_at) {
            set_expiry(tx, p);
        }
    } else {
        insert_version(tx, p, now.id);
        store_quota_check_bytes(tx, &d->quota);
        store_tx_change(tx, STORE_CHANGE_DATASET, d->name, 0);
        audit(tx, &d->by,
              p->out.created ? "dataset.create"
              : d->onto != 0 ? "dataset.append"
                             : "dataset.replace",
              d->name, p->out.version);
    }
    if (p->dataset) {
        const bool found = store_dataset_find(tx->connection, p->out.id, p->dataset, tx->problem);
        if (found && same && !take_notes(p->dataset, d->notes)) {
            problem_no_memory(tx->problem);
        }
        store_key_add(tx, d->key, p->dataset);
    }
}

bool store_dataset_publish(struct store *store, const struct store_dataset_new *d,
                           struct store_dataset_published *out, struct store_dataset *dataset,
                           struct problem *problem) {
    struct store_dataset made = {0};
    struct publish p = {.d = d, .dataset = dataset || d->key ? &made : NULL};
    if (!store_parts_settle(&store->parts, d->part, &p.staged, problem) ||
        !store_write(store, publish, &p, problem)) {
        store_dataset_done(&made);
        return false;
    }
    store_parts_forget(&store->parts, d->part);
    if (p.out.unchanged) {
        store_writer_kick(store);
    }
    *out = p.out;
    if (dataset) {
        *dataset = made;
    } else {
        store_dataset_done(&made);
    }
    return true;
}

/* ---- patch ---- */

struct patch {
    const struct store_actor *by;
    const char *name;
    const struct store_patch *to;
    const struct store_condition *condition;
    struct store_dataset dataset; /* the newest version as it is committed */
};

static void patch(struct store_tx *tx, void *arg) {
    struct patch *p = arg;
    struct dataset_name now = look_up(tx, p->name, false);
    if (!must_exist(tx, p->name, &now) ||
        !store_condition_check(p->condition, now.etag, "dataset", p->name, tx->problem)) {
        return;
    }
    STORE_RUN(tx->connection, tx->problem,
              "UPDATE datasets SET description = nullif(coalesce(?2, description), ''), tags = "
              "coalesce(?3, tags), expires_at = CASE WHEN ?4 <> 0 THEN ?5 ELSE expires_at END, "
              "revision = revision + 1 WHERE name = ?1",
              store_text(p->name), store_text(p->to->description), store_text(p->to->tags),
              store_int(p->to->expires), store_int(store_expiry(tx, p->to->expires_in)));
    store_tx_change(tx, STORE_CHANGE_DATASET, p->name, 0);
    audit(tx, p->by, "dataset.patch", p->name, 0);
    if (!tx->problem->type) {
        store_dataset_find(tx->connection, now.id, &p->dataset, tx->problem);
    }
}

bool store_dataset_patch(struct store *store, const struct store_actor *by, const char *name,
                         const struct store_patch *to, const struct store_condition *condition,
                         struct store_dataset *dataset, struct problem *problem) {
    struct patch p = {.by = by, .name = name, .to = to, .condition = condition};
    const bool good = store_write(store, patch, &p, problem);
    if (good && dataset != NULL) {
        *dataset = p.dataset;
    } else {
        store_dataset_done(&p.dataset);
    }
    return good;
}

/* ---- delete ---- */

struct delete {
    const struct store_actor *by;
    const char *name;
    int64_t version; /* number of the version; 0: all versions */
    const struct store_condition *condition;
    bool expired; /* the name has expired */
};

static void check_delete(struct store_tx *tx, const struct delete *d,
                         const struct dataset_name *now) {
    char etag[64];
    if (d->version && !STORE_ASK(tx->connection, tx->problem, 0,
                                 "SELECT 1 FROM dataset_versions WHERE name = ? AND version = ? "
                                 "AND (hidden = 0 OR NOT " VERSION_INTACT ")",
                                 store_text(d->name), store_int(d->version))) {
        problem_set(tx->problem, PROBLEM_UNKNOWN_DATASET,
                    "there is no version %" PRId64 " of a dataset \"%s\"", d->version, d->name);
    }
    store_etag(d->version ? d->version : now->newest, now->revision, etag);
    store_condition_check(d->condition, etag, "dataset", d->name, tx->problem);
    int64_t job = STORE_ASK(tx->connection, tx->problem, 0,
                            "SELECT p.job FROM dataset_versions v JOIN job_pins p ON p.version = "
                            "v.id JOIN jobs j ON j.id = p.job WHERE v.name = ?1 AND (?2 = 0 OR "
                            "v.version = ?2) AND " STORE_INTACT_JOBS("j") " LIMIT 1",
                            store_text(d->name), store_int(d->version));
    if (job) {
        problem_set(tx->problem, PROBLEM_IN_USE, "dataset \"%s\" is in use by job %" PRId64,
                    d->name, job);
    }
}

/* Removes the damaged rows of versions. The chunks stay: a damaged row may name those of another
 * version. */
static void remove_damaged(struct store_tx *tx, const struct delete *d) {
#define DAMAGED                                                                                    \
    "(SELECT id FROM dataset_versions WHERE name = ?1 AND (?2 = 0 OR version = ?2) AND "           \
    "NOT " VERSION_INTACT ")"
    static const char *const sql[] = {"DELETE FROM dataset_summaries WHERE version IN " DAMAGED,
                                      "DELETE FROM dataset_parts WHERE version IN " DAMAGED,
                                      "DELETE FROM dataset_versions WHERE id IN " DAMAGED};
#undef DAMAGED
    for (size_t i = 0; i < sizeof sql / sizeof sql[0]; i++) {
        STORE_RUN(tx->connection, tx->problem, sql[i], store_text(d->name), store_int(d->version));
    }
}

/* Hides the versions. The sweep removes each of them when no call has pinned it. */
static void delete(struct store_tx *tx, void *arg) {
    struct delete *d = arg;
    struct dataset_name now = look_up(tx, d->name, d->version == 0);
    if (!must_exist(tx, d->name, &now)) {
        return;
    }
    check_delete(tx, d, &now);
    /* the pins that are left are those of damaged jobs, which cannot run */
    STORE_RUN(tx->connection, tx->problem,
              "DELETE FROM job_pins WHERE version IN (SELECT id FROM dataset_versions WHERE name = "
              "?1 AND (?2 = 0 OR version = ?2))",
              store_text(d->name), store_int(d->version));
    remove_damaged(tx, d);
    STORE_RUN(tx->connection, tx->problem,
              "UPDATE dataset_versions SET hidden = 1 WHERE name = ?1 AND hidden = 0 AND (?2 = 0 "
              "OR version = ?2)",
              store_text(d->name), store_int(d->version));
    int64_t newest = STORE_ASK(
        tx->connection, tx->problem, 0,
        "SELECT coalesce(max(version), 0) FROM dataset_versions WHERE name = ? AND hidden = 0",
        store_text(d->name));
    if (now.damaged) {
        STORE_RUN(tx->connection, tx->problem,
                  STORE_NAME_ANEW("datasets", "dataset_versions", "", "", "dataset",
                                  "dataset_version"),
                  store_text(d->name), store_int(tx->now));
    } else if (newest) {
        STORE_RUN(tx->connection, tx->problem, "UPDATE datasets SET newest = ?2 WHERE name = ?1",
                  store_text(d->name), store_int(newest));
    } else { /* the counters of a deleted name stay, so that no version number is used again */
        STORE_RUN(tx->connection, tx->problem,
                  "UPDATE datasets SET newest = 0, description = NULL, tags = '[]', revision = "
                  "revision + 1, expires_at = 0 WHERE name = ?",
                  store_text(d->name));
    }
    store_tx_change(tx, STORE_CHANGE_DATASET, d->name, 0);
    audit(tx, d->by, d->expired ? "dataset.expire" : "dataset.delete", d->name, d->version);
}

bool store_dataset_expire(struct store_tx *tx) {
    char name[IDS_NAME_SIZE] = "";
    struct delete d = {.name = name, .expired = true};
    struct store_query q;
    STORE_QUERY(&q, tx->connection, tx->problem,
                "SELECT name FROM datasets d WHERE expires_at > 0 AND expires_at <= ? AND NOT "
                "EXISTS (SELECT 1 FROM dataset_versions v JOIN job_pins p ON p.version = v.id JOIN "
                "jobs j ON j.id = p.job WHERE v.name = d.name AND " STORE_INTACT_JOBS(
                    "j") ") AND " STORE_INTACT_DATASETS("d") " LIMIT 1",
                store_int(tx->now));
    if (store_query_row(&q)) {
        store_query_copy(&q, 0, name, sizeof name);
    }
    store_query_end(&q);
    if (name[0] != '\0') {
        delete (tx, &d);
    }
    return name[0] != '\0';
}

bool store_dataset_delete(struct store *store, const struct store_actor *by, const char *name,
                          int64_t version, const struct store_condition *condition,
                          struct problem *problem) {
    struct delete d = {.by = by, .name = name, .version = version, .condition = condition};
    if (!store_write(store, delete, &d, problem)) {
        return false;
    }
    store_writer_kick(store);
    return true;
}
