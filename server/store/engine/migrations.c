/* Migrations of any engine: their checksums, and the comparison with those that a database has. */
#include "store/engine/migrations.h"
#include "base/process/clock.h"
#include "store/engine/query.h"
#include <ctype.h>
#include <string.h>

/* Checksums of whole files, as earlier binaries recorded them. They are accepted too. */
static const struct {
    const char *name, *checksum;
} whole_file_checksums[] = {
    {"0001_initial.sql", "1fba471bbaa2bdb6b3b25034a8e8eb684aca3005837dc7d1033dfab90761ba12"},
    {"0002_job_pins.sql", "8427059390e937ba58ac53ecf11cedb8d4bc44c318e238bb354ed0a9da973acc"},
};

/* ---- checksums ---- */

/* Returns the end of the comment that begins at s; s if no comment begins there. */
static const char *skip_comment(const char *s) {
    if (s[0] == '-' && s[1] == '-') {
        return s + strcspn(s, "\n");
    }
    if (s[0] == '/' && s[1] == '*') {
        const char *end = strstr(s + 2, "*/");
        return end == NULL ? s + strlen(s) : end + 2;
    }
    return s;
}

/* Returns the end of the quoted text that begins at s. A doubled quote is the end of one text and
 * the start of the next. */
static const char *skip_quoted(const char *s) {
    const char *end = strchr(s + 1, *s == '[' ? ']' : *s);
    return end == NULL ? s + strlen(s) : end + 1;
}

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Appends the SQL without comments. White space between two words becomes one space; other white
 * space is removed. */
static void strip(const char *sql, struct buf *out) {
    bool gap = false;
    char last = '\0';
    for (const char *s = sql; *s != '\0';) {
        const char *end = skip_comment(s);
        if (end != s || isspace((unsigned char)*s)) {
            gap = true;
            s = end != s ? end : s + 1;
            continue;
        }
        if (gap && is_word(last) && is_word(*s)) {
            buf_putc(out, ' ');
        }
        gap = false;
        end = strchr("'\"`[", *s) != NULL ? skip_quoted(s) : s + 1;
        buf_append(out, s, (size_t)(end - s));
        last = end[-1];
        s = end;
    }
}

bool store_migration_checksum(const struct store_migration *m, char out[HASH_BLAKE2B_TEXT],
                              struct problem *problem) {
    struct buf sql = {0};
    uint8_t sum[HASH_BLAKE2B_SIZE];
    strip(m->text, &sql);
    const char *text = buf_cstr(&sql);
    struct hash_blake2b *h = text == NULL ? NULL : hash_blake2b_new();
    if (h != NULL) {
        hash_blake2b_add(h, text, sql.size);
        hash_blake2b_end(h, sum);
        hash_blake2b_free(h);
        hash_hex(sum, sizeof sum, out);
    }
    buf_done(&sql);
    return h != NULL || problem_no_memory(problem);
}

/* Whether the recorded checksum is that of the migration's SQL or of its whole file. */
static bool checksum_fits(const struct store_migration *m, const char *recorded,
                          struct problem *problem) {
    char present[HASH_BLAKE2B_TEXT];
    if (!store_migration_checksum(m, present, problem)) {
        return false;
    }
    bool fits = strcmp(recorded, present) == 0;
    for (size_t i = 0; i < sizeof whole_file_checksums / sizeof *whole_file_checksums; i++) {
        fits = fits || (strcmp(m->name, whole_file_checksums[i].name) == 0 &&
                        strcmp(recorded, whole_file_checksums[i].checksum) == 0);
    }
    return fits;
}

/* ---- the recorded migrations ---- */

bool store_migrations_compare_recorded(struct store_connection *c,
                                       const struct store_migration *list, size_t n, size_t *done,
                                       struct problem *problem) {
    *done = 0;
    struct store_query q;
    STORE_QUERY(&q, c, problem,
                "SELECT name, checksum, " STORE_EITHER(
                    "0", "coalesce(CAST(to_jsonb(m)->>'compatible' AS BIGINT), 0)") " FROM "
                                                                                    "migrations m "
                                                                                    "ORDER BY id",
                STORE_NO_VALUES);
    while (store_query_row(&q)) {
        char name[128], recorded[HASH_BLAKE2B_TEXT];
        store_query_copy(&q, 0, name, sizeof name);
        store_query_copy(&q, 1, recorded, sizeof recorded);
        if (*done == n && store_query_int(&q, 2) != 0) {
            continue;
        }
        if (*done >= n || strcmp(name, list[*done].name) != 0) {
            problem_set(problem, PROBLEM_INTERNAL,
                        "the database is newer than this binary: it has migration \"%s\", which "
                        "this binary "
                        "does not have",
                        name);
        } else if (!checksum_fits(&list[*done], recorded, problem)) {
            problem_set(problem, PROBLEM_INTERNAL,
                        "migration \"%s\" was changed after it had been applied to this database",
                        name);
        }
        ++*done;
    }
    store_query_end(&q);
    return problem->type == PROBLEM_NONE;
}

bool store_migration_record(struct store_connection *c, const struct store_migration *m,
                            size_t number, struct problem *problem) {
    char sum[HASH_BLAKE2B_TEXT];
    return store_migration_checksum(m, sum, problem) &&
           STORE_RUN(c, problem,
                     "INSERT INTO migrations (id, name, checksum, applied_at) VALUES (?, ?, ?, ?)",
                     store_int((int64_t)number), store_text(m->name), store_text(sum),
                     store_int(clock_real_ms()));
}
