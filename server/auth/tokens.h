/* The text of a token file, and the tokens in it. A token is a name with a secret, of which the file
 * has only the BLAKE2b hash. tokens are immutable and shared by reference.
 *
 * Each line of the file is empty, a comment that begins with '#', or a token of words separated by
 * blanks:
 *
 *   NAME b2:HASH SCOPE[,SCOPE…] [only=PATTERN[,PATTERN…]] [expires=TIME] [rate=N] [rows=N]
 *     [calls=N] [jobs=N] [bytes=SIZE]
 *
 * NAME has the form of a resource name and is unique. HASH is the hash of the secret, 64
 * hexadecimal digits. A PATTERN is a name of datasets and models, in which '*' stands for any
 * characters; without patterns the token is for all names. TIME is a date or a time in UTC. The
 * others are limits: requests and rows in a second (100 or 100/s), heavy calls at once, queued and
 * running jobs, stored bytes (10G). */
#ifndef AUTH_TOKENS_H
#define AUTH_TOKENS_H

#include "auth/usage.h"
#include "base/hash.h"
#include "base/ids.h"
#include "base/problem.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A secret is this prefix and the 64 hexadecimal digits of 32 random bytes. */
#define TOKENS_PREFIX "discern_"
#define TOKENS_SECRET_SIZE (sizeof TOKENS_PREFIX + 2 * 32) /* with NUL */
#define TOKENS_MAX 1000
#define TOKENS_MAX_PATTERNS 64

enum auth_scope {
    AUTH_READ = 1,    /* read datasets, models, jobs and metrics */
    AUTH_PREDICT = 2, /* compute with models */
    AUTH_TRAIN = 4,   /* make, cancel and delete jobs; includes AUTH_READ */
    AUTH_WRITE = 8,   /* change datasets and models; includes AUTH_READ */
    AUTH_ADMIN = 16   /* includes all other scopes */
};

struct auth_token {
    char name[IDS_NAME_SIZE];
    uint8_t hash[HASH_BLAKE2B_SIZE];
    unsigned scopes;        /* bits of enum auth_scope, with the scopes that these include */
    const char *scope_text; /* as in the file */
    const char *only;       /* patterns separated by commas; NULL: the token is for all names */
    char *only_json;        /* the patterns as a JSON array of strings; NULL: all names */
    int64_t expires_ms;     /* real time; 0: never */
    struct auth_limits limits;
    struct auth_usage *usage; /* set by tokens_adopt */
    size_t line;              /* in the file, from 1 */
    struct tokens *tokens;
};

struct tokens; /* immutable, but for what tokens_find remembers; thread safe */
/* Parses the text of a file. path: named in messages, which have the number of the line. The caller
 * has one reference to *out. */
bool tokens_parse(const char *path, const char *text, size_t n, struct tokens **out,
                  struct problem *problem);
void tokens_ref(struct tokens *t);
void tokens_unref(struct tokens *t); /* NULL is allowed */
size_t tokens_count(const struct tokens *t);
const struct auth_token *tokens_at(const struct tokens *t, size_t i); /* in the order of the file */
const struct auth_token *tokens_named(const struct tokens *t, const char *name); /* NULL: none */
/* Finds the token of a secret. The time does not depend on how many bytes of a hash are equal. NULL:
 * there is none. */
const struct auth_token *tokens_find(struct tokens *t, const char *secret, size_t n);
/* Gives each token its usage: that of the token of the same name in `old` (NULL: none), or a new
 * one. To be called once, before `t` is shared. Returns false if out of memory. */
bool tokens_adopt(struct tokens *t, const struct tokens *old);
/* Whether both have the same text. */
bool tokens_equal(const struct tokens *a, const struct tokens *b);

/* Whether the token permits a call that needs this scope; 0: any token does. */
bool auth_token_permits(const struct auth_token *token, unsigned scope);
/* Whether the token is for datasets and models of this name. */
bool auth_token_matches(const struct auth_token *token, const char *name);

/* Parse a list of scopes, and check a list of patterns. shown: the place in messages, as "--scope".
 */
bool tokens_scopes_parse(const char *shown, const char *text, unsigned *out,
                         struct problem *problem);
/* Checks and parses the value of a limit, as rate=100/s. Refuses a limit that *out has already.
 * Returns false without a problem if there is no limit of this name. */
bool tokens_limit_parse(const char *shown, const char *name, const char *text,
                        struct auth_limits *out, struct problem *problem);
bool tokens_patterns_check(const char *shown, const char *text, struct problem *problem);

#endif
