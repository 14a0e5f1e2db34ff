/* Parses token files, and finds tokens by their secrets. */
#include "auth/tokens.h"
#include "base/memory/buf.h"
#include "base/process/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tokens {
    atomic_int refs;
    char *text; /* a copy of the file, cut into words, to which the tokens point */
    uint8_t digest[HASH_BLAKE2B_SIZE]; /* of the text */
    struct auth_token *items;          /* [n] */
    size_t n;
    /* A hash table with a secret key: the place of a token tells nothing about its hash. Elements:
     * 1 + index of the token; 0: free */
    uint32_t slots[4 * TOKENS_MAX];
    struct hash_key key;
    /* The secrets that were found before, by their keyed hashes, which cost a fifth of BLAKE2b: a
     * table like `slots`. An element is set once, after its hash. */
    _Atomic uint32_t seen[4 * TOKENS_MAX];
    uint8_t seen_hash[TOKENS_MAX][HASH_KEYED_SIZE]; /* by index of the token */
    pthread_mutex_t seen_lock;                      /* for adding to `seen`; a leaf */
};

static const struct {
    const char *name;
    unsigned bits; /* with the scopes that it includes */
} SCOPES[] = {
    {"read", AUTH_READ},
    {"predict", AUTH_PREDICT},
    {"train", AUTH_TRAIN | AUTH_READ},
    {"write", AUTH_WRITE | AUTH_READ},
    {"admin", AUTH_READ | AUTH_PREDICT | AUTH_TRAIN | AUTH_WRITE | AUTH_ADMIN},
};
enum { N_SCOPES = sizeof SCOPES / sizeof SCOPES[0] };

/* ---- the words of a line ---- */

bool tokens_scopes_parse(const char *shown, const char *text, unsigned *out,
                         struct problem *problem) {
    unsigned scopes = 0;
    for (const char *at = text;; at++) {
        const size_t n = strcspn(at, ",");
        size_t i = 0;
        while (i < N_SCOPES &&
               (strlen(SCOPES[i].name) != n || memcmp(SCOPES[i].name, at, n) != 0)) {
            i++;
        }
        if (i == N_SCOPES) {
            return problem_set(problem, PROBLEM_INVALID,
                               "%s must be read, predict, train, write or admin, or several of "
                               "them separated by commas, got \"%.100s\"",
                               shown, text);
        }
        scopes |= SCOPES[i].bits;
        at += n;
        if (*at == '\0') {
            *out = scopes;
            return true;
        }
    }
}

bool tokens_patterns_check(const char *shown, const char *text, struct problem *problem) {
    size_t count = 0;
    for (const char *at = text;; at++) {
        const size_t n =
            strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-*");
        if (n == 0 || n >= IDS_NAME_SIZE || (at[n] != ',' && at[n] != '\0')) {
            return problem_set(problem, PROBLEM_INVALID,
                               "%s must be names of datasets and models, with * for any "
                               "characters, separated by commas, got \"%.100s\"",
                               shown, text);
        }
        at += n;
        if (++count > TOKENS_MAX_PATTERNS) {
            return problem_set(problem, PROBLEM_INVALID, "%s must have at most %d patterns", shown,
                               TOKENS_MAX_PATTERNS);
        }
        if (*at == '\0') {
            return true;
        }
    }
}

/* Parses a positive integer with an optional unit. */
static bool parse_count(const char *text, const char *units, double *out) {
    const size_t digits = strspn(text, "0123456789");
    double v = strtod(text, NULL);
    const char *end = text + digits;
    const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
    if (unit != NULL && *unit == '/') {
        end += strcmp(end, "/s") == 0 ? 2 : 0;
    } else if (unit != NULL) {
        for (const char *u = units; u <= unit; u++) {
            v *= 1024; /* "KMGT" */
        }
        end++;
    }
    *out = v;
    return digits > 0 && digits <= 15 && *end == '\0' && v >= 1 && v <= 1e15;
}

bool tokens_limit_parse(const char *shown, const char *name, const char *text,
                        struct auth_limits *out, struct problem *problem) {
    static const struct {
        const char *name, *units, *rule;
        size_t real, whole; /* offset in struct auth_limits of a double or an int64_t */
    } limits[] = {
        {"rate", "/", "requests in a second, like 100 or 100/s",
         offsetof(struct auth_limits, requests), SIZE_MAX},
        {"rows", "/", "rows in a second, like 10000 or 10000/s", offsetof(struct auth_limits, rows),
         SIZE_MAX},
        {"calls", "", "a number of calls, like 4", SIZE_MAX, offsetof(struct auth_limits, calls)},
        {"jobs", "", "a number of jobs, like 4", SIZE_MAX, offsetof(struct auth_limits, jobs)},
        {"bytes", "KMGT", "a size like 512M or 10G", SIZE_MAX, offsetof(struct auth_limits, bytes)},
    };
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        double v = 0;
        if (strcmp(limits[i].name, name) != 0) {
            continue;
        }
        if (!parse_count(text, limits[i].units, &v)) {
            return problem_set(problem, PROBLEM_INVALID, "%s must be %s, got \"%.100s\"", shown,
                               limits[i].rule, text);
        }
        const bool is_real = limits[i].real != SIZE_MAX;
        void *limit = (char *)out + (is_real ? limits[i].real : limits[i].whole);
        if (is_real ? *(double *)limit > 0 : *(int64_t *)limit > 0) {
            return problem_set(problem, PROBLEM_INVALID, "%s is given twice", shown);
        }
        if (is_real) {
            *(double *)limit = v;
        } else {
            *(int64_t *)limit = (int64_t)v;
        }
        return true;
    }
    return false;
}

static int digit_of(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool hash_parse(const char *text, uint8_t out[HASH_BLAKE2B_SIZE]) {
    static const char mark[] = "b2:";
    const char *digits = text + sizeof mark - 1;
    if (strncmp(text, mark, sizeof mark - 1) != 0 || strlen(digits) != 2 * HASH_BLAKE2B_SIZE) {
        return false;
    }
    for (size_t i = 0; i < HASH_BLAKE2B_SIZE; i++) {
        const int high = digit_of(digits[2 * i]), low = digit_of(digits[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        out[i] = (uint8_t)(16 * high + low);
    }
    return true;
}

static char *patterns_json(const char *only) {
    struct buf out = {0};
    buf_puts(&out, "[\"");
    for (const char *at = only; *at != '\0'; at++) {
        if (*at == ',') {
            buf_puts(&out, "\",\"");
        } else {
            buf_putc(&out, *at);
        }
    }
    buf_puts(&out, "\"]");
    char *json = buf_take(&out, NULL);
    buf_done(&out);
    return json;
}

/* ---- a line ---- */

/* Returns the next word of the line and ends it with NUL. NULL: there is none. */
static char *next_word(char **at) {
    char *word = *at + strspn(*at, " \t\r");
    const size_t n = strcspn(word, " \t\r");
    if (n == 0) {
        return NULL;
    }
    *at = word + n + (word[n] != '\0');
    word[n] = '\0';
    return word;
}

/* where: "FILE line 3". */
static bool parse_member(struct auth_token *t, const char *where, char *word,
                         struct problem *problem) {
    char shown[512];
    char *value = strchr(word, '=');
    if (value == NULL) {
        return problem_set(problem, PROBLEM_INVALID,
                           "%s: \"%.100s\" must be NAME=VALUE, as only=… or expires=…", where,
                           word);
    }
    *value++ = '\0';
    (void)snprintf(shown, sizeof shown, "%s: %.20s", where, word);
    if (strcmp(word, "only") == 0 && t->only == NULL) {
        t->only = value;
        return tokens_patterns_check(shown, value, problem) &&
               ((t->only_json = patterns_json(value)) != NULL || problem_no_memory(problem));
    }
    if (strcmp(word, "expires") == 0 && t->expires_ms == 0) {
        return (clock_parse(value, &t->expires_ms) && t->expires_ms > 0) ||
               problem_set(problem, PROBLEM_INVALID,
                           "%s must be a time like 2027-01-31T12:00:00Z, got \"%.100s\"", shown,
                           value);
    }
    if (tokens_limit_parse(shown, word, value, &t->limits, problem)) {
        return true;
    }
    return problem_set(
        problem, PROBLEM_INVALID,
        strcmp(word, "only") == 0 || strcmp(word, "expires") == 0
            ? "%s is given twice"
            : "%s is not known; only=, expires=, rate=, rows=, calls=, jobs= and bytes= are",
        shown);
}

static bool parse_token(struct auth_token *t, const char *where, char *line,
                        struct problem *problem) {
    char shown[512];
    const char *name = next_word(&line), *hash = next_word(&line);
    t->scope_text = next_word(&line);
    if (t->scope_text == NULL) {
        return problem_set(problem, PROBLEM_INVALID,
                           "%s: a token must have a name, a hash and scopes", where);
    }
    if (!ids_name_valid(name, strlen(name))) {
        return problem_set(problem, PROBLEM_INVALID,
                           "%s: the name " IDS_NAME_RULE ", got \"%.100s\"", where, name);
    }
    memcpy(t->name, name, strlen(name) + 1);
    if (!hash_parse(hash, t->hash)) {
        return problem_set(problem, PROBLEM_INVALID,
                           "%s: the hash must be \"b2:\" and 64 hexadecimal digits in lower case",
                           where);
    }
    (void)snprintf(shown, sizeof shown, "%s: the scope", where);
    if (!tokens_scopes_parse(shown, t->scope_text, &t->scopes, problem)) {
        return false;
    }
    for (char *word = next_word(&line); word != NULL; word = next_word(&line)) {
        if (!parse_member(t, where, word, problem)) {
            return false;
        }
    }
    return true;
}

/* ---- the set ---- */

static size_t slot_of(const struct tokens *t, const uint8_t hash[HASH_BLAKE2B_SIZE]) {
    return hash_keyed(&t->key, hash, HASH_BLAKE2B_SIZE) % (4 * TOKENS_MAX);
}

/* Returns the token with this hash; NULL: none. *slot: where it is or may be inserted. */
static const struct auth_token *find(const struct tokens *t, const uint8_t *hash, size_t *slot) {
    size_t i = slot_of(t, hash);
    for (; t->slots[i] != 0; i = (i + 1) % (4 * TOKENS_MAX)) {
        const struct auth_token *item = &t->items[t->slots[i] - 1];
        if (hash_equal(item->hash, hash, HASH_BLAKE2B_SIZE)) {
            return item;
        }
    }
    *slot = i;
    return NULL;
}

/* Adds the last item to the table. */
static bool insert(struct tokens *t, const char *where, struct problem *problem) {
    const struct auth_token *token = &t->items[t->n - 1];
    size_t slot = 0;
    const struct auth_token *same = find(t, token->hash, &slot);
    if (same != NULL) {
        return problem_set(problem, PROBLEM_INVALID, "%s: the hash is that of line %zu", where,
                           same->line);
    }
    for (size_t i = 0; i + 1 < t->n; i++) {
        if (strcmp(t->items[i].name, token->name) == 0) {
            return problem_set(problem, PROBLEM_INVALID, "%s: the name \"%s\" is that of line %zu",
                               where, token->name, t->items[i].line);
        }
    }
    t->slots[slot] = (uint32_t)t->n;
    return true;
}

static bool parse_lines(struct tokens *t, const char *path, struct problem *problem) {
    size_t number = 1;
    for (char *line = t->text, *end; line != NULL; line = end, number++) {
        char where[400];
        (void)snprintf(where, sizeof where, "%.300s line %zu", path, number);
        end = strchr(line, '\n');
        if (end != NULL) {
            *end++ = '\0';
        }
        line += strspn(line, " \t\r");
        if (*line == '\0' || *line == '#') {
            continue;
        }
        if (t->n == TOKENS_MAX) {
            return problem_set(problem, PROBLEM_INVALID, "%s: more than %d tokens", where,
                               TOKENS_MAX);
        }
        struct auth_token *token = &t->items[t->n++];
        token->line = number;
        token->tokens = t;
        if (!parse_token(token, where, line, problem) || !insert(t, where, problem)) {
            return false;
        }
    }
    return true;
}

bool tokens_parse(const char *path, const char *text, size_t n, struct tokens **out,
                  struct problem *problem) {
    if (memchr(text, '\0', n) != NULL) {
        return problem_set(problem, PROBLEM_INVALID, "%.300s is no token file: it has a NUL byte",
                           path);
    }
    struct tokens *t = calloc(1, sizeof *t);
    if (t == NULL) {
        return problem_no_memory(problem);
    }
    atomic_init(&t->refs, 1);
    hash_key_make(&t->key);
    pthread_mutex_init(&t->seen_lock, NULL);
    hash_blake2b(text, n, t->digest);
    t->text = malloc(n + 1);
    if (t->text != NULL) {
        memcpy(t->text, text, n);
        t->text[n] = '\0';
    }
    t->items = calloc(TOKENS_MAX, sizeof *t->items);
    if ((t->text == NULL || t->items == NULL) ? !problem_no_memory(problem)
                                              : !parse_lines(t, path, problem)) {
        tokens_unref(t);
        return false;
    }
    *out = t;
    return true;
}

void tokens_ref(struct tokens *t) {
    atomic_fetch_add(&t->refs, 1);
}

void tokens_unref(struct tokens *t) {
    if (t == NULL || atomic_fetch_sub(&t->refs, 1) != 1) {
        return;
    }
    for (size_t i = 0; i < t->n; i++) {
        free(t->items[i].only_json);
        auth_usage_unref(t->items[i].usage);
    }
    pthread_mutex_destroy(&t->seen_lock);
    free(t->items);
    free(t->text);
    free(t);
}

size_t tokens_count(const struct tokens *t) {
    return t->n;
}

const struct auth_token *tokens_at(const struct tokens *t, size_t i) {
    return &t->items[i];
}

const struct auth_token *tokens_named(const struct tokens *t, const char *name) {
    for (size_t i = 0; i < t->n; i++) {
        if (strcmp(t->items[i].name, name) == 0) {
            return &t->items[i];
        }
    }
    return NULL;
}

/* Returns the token of a secret that was found before. If there is none, returns NULL and sets
 * *slot to the place where the secret may be added. */
static const struct auth_token *find_seen(const struct tokens *t,
                                          const uint8_t hash[HASH_KEYED_SIZE], size_t *slot) {
    uint64_t start;
    memcpy(&start, hash, sizeof start);
    size_t i = start % (4 * TOKENS_MAX);
    uint32_t at;
    while ((at = atomic_load_explicit(&t->seen[i], memory_order_acquire)) != 0) {
        if (hash_equal(t->seen_hash[at - 1], hash, HASH_KEYED_SIZE)) {
            return &t->items[at - 1];
        }
        i = (i + 1) % (4 * TOKENS_MAX);
    }
    *slot = i;
    return NULL;
}

const struct auth_token *tokens_find(struct tokens *t, const char *secret, size_t n) {
    uint8_t hash[HASH_BLAKE2B_SIZE], keyed[HASH_KEYED_SIZE];
    size_t slot = 0;
    hash_keyed_long(&t->key, secret, n, keyed);
    const struct auth_token *token = find_seen(t, keyed, &slot);
    if (token != NULL) {
        return token;
    }
    hash_blake2b(secret, n, hash);
    token = find(t, hash, &slot);
    if (token != NULL) {
        pthread_mutex_lock(&t->seen_lock);
        if (find_seen(t, keyed, &slot) == NULL) { /* no other thread has added it */
            const size_t index = (size_t)(token - t->items);
            memcpy(t->seen_hash[index], keyed, HASH_KEYED_SIZE);
            atomic_store_explicit(&t->seen[slot], (uint32_t)(index + 1), memory_order_release);
        }
        pthread_mutex_unlock(&t->seen_lock);
    }
    return token;
}

bool tokens_adopt(struct tokens *t, const struct tokens *old) {
    for (size_t i = 0; i < t->n; i++) {
        const struct auth_token *before = old != NULL ? tokens_named(old, t->items[i].name) : NULL;
        if (before != NULL) {
            auth_usage_ref(before->usage);
            t->items[i].usage = before->usage;
        } else if ((t->items[i].usage = auth_usage_new()) == NULL) {
            return false;
        }
    }
    return true;
}

bool tokens_equal(const struct tokens *a, const struct tokens *b) {
    return memcmp(a->digest, b->digest, sizeof a->digest) == 0;
}

/* ---- what a token permits ---- */

bool auth_token_permits(const struct auth_token *token, unsigned scope) {
    return (token->scopes & scope) == scope;
}

/* Whether the name matches pattern[n]. */
static bool pattern_matches(const char *pattern, size_t n, const char *name) {
    const char *const end = pattern + n;
    const char *star = NULL, *again = NULL; /* after the last *: it may match one character more */
    while (*name != '\0') {
        if (pattern < end && *pattern == '*') {
            star = ++pattern;
            again = name;
        } else if (pattern < end && *pattern == *name) {
            pattern++;
            name++;
        } else if (star != NULL) {
            pattern = star;
            name = ++again;
        } else {
            return false;
        }
    }
    while (pattern < end && *pattern == '*') {
        pattern++;
    }
    return pattern == end;
}

bool auth_token_matches(const struct auth_token *token, const char *name) {
    for (const char *at = token->only; at != NULL; at++) {
        const size_t n = strcspn(at, ",");
        if (pattern_matches(at, n, name)) {
            return true;
        }
        at += n;
        if (*at == '\0') {
            return false;
        }
    }
    return true;
}
