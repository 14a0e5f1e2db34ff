/* The tokens in use, and the thread that reads the file again. */
#include "auth/auth.h"
#include "auth/token_file.h"
#include "base/config_file.h"
#include "base/log/log.h"
#include "base/process/clock.h"
#include "base/process/reloader.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct auth {
    char *path;
    struct reloader reloader;
    pthread_mutex_t lock;                                     /* guards the next three; a leaf */
    void (*event)(void *arg, const struct auth_event *event); /* NULL: none */
    void *event_arg;
    struct tokens *tokens; /* changed by the reloader only */
    struct stat seen;      /* the file as it was read; st_ino 0: it was refused. Reloader only */
    char *refused;         /* last line "tokens.refused"; NULL: the file is good. Reloader only */
};

/* old: the tokens in use; NULL: none. */
static bool load(const char *path, const struct tokens *old, struct tokens **out, struct stat *info,
                 struct problem *problem) {
    struct buf text = {0};
    struct tokens *fresh = NULL;
    bool good = token_file_read(path, &text, info, problem) &&
                tokens_parse(path, text.data != NULL ? text.data : "", text.size, &fresh, problem);
    buf_done(&text);
    if (good && !tokens_adopt(fresh, old)) {
        tokens_unref(fresh);
        good = problem_no_memory(problem);
    }
    if (good) {
        *out = fresh;
    }
    return good;
}

static void tell(struct auth *auth, bool loaded, const char *what) {
    const struct auth_event event = {loaded, what};
    pthread_mutex_lock(&auth->lock);
    void (*fn)(void *arg, const struct auth_event *event) = auth->event;
    void *arg = auth->event_arg;
    pthread_mutex_unlock(&auth->lock);
    if (fn != NULL) {
        fn(arg, &event);
    }
}

static bool limits_differ(const struct auth_limits *a, const struct auth_limits *b) {
    return a->requests != b->requests || a->rows != b->rows || a->calls != b->calls ||
           a->jobs != b->jobs || a->bytes != b->bytes;
}

/* Appends the names of `a` that are not in `b`, or, with `changed`, those that differ in b. */
static void put_names(const struct tokens *a, const struct tokens *b, bool changed,
                      const char *heading, struct buf *out) {
    bool first = true;
    for (size_t i = 0; i < tokens_count(a); i++) {
        const struct auth_token *t = tokens_at(a, i), *u = tokens_named(b, t->name);
        const bool differs =
            u != NULL &&
            (!hash_equal(t->hash, u->hash, sizeof t->hash) || t->scopes != u->scopes ||
             t->expires_ms != u->expires_ms ||
             strcmp(t->only != NULL ? t->only : "", u->only != NULL ? u->only : "") != 0 ||
             limits_differ(&t->limits, &u->limits));
        if (changed ? differs : u == NULL) {
            buf_printf(out, "%s%s", first ? heading : ", ", t->name);
            first = false;
        }
    }
}

/* Logs a reason once, not in every second in which it holds. */
static void log_refused(struct auth *auth, struct problem *problem) {
    const char *reason = problem->detail != NULL ? problem->detail : "out of memory";
    if (auth->refused == NULL || strcmp(auth->refused, reason) != 0) {
        log_error("tokens.refused", log_str("file", auth->path), log_str("reason", reason),
                  log_str("tokens", "those read before stay"));
        free(auth->refused);
        auth->refused = strdup(reason);
        tell(auth, false, reason);
    }
    problem_done(problem);
}

/* Publishes the new tokens. */
static void replace(struct auth *auth, struct tokens *fresh, bool asked) {
    pthread_mutex_lock(&auth->lock);
    struct tokens *old = auth->tokens;
    auth->tokens = fresh;
    pthread_mutex_unlock(&auth->lock);
    if (asked || auth->refused != NULL || !tokens_equal(old, fresh)) {
        log_info("tokens.loaded", log_str("file", auth->path),
                 log_int("tokens", (int64_t)tokens_count(fresh)));
        struct buf what = {0};
        buf_printf(&what, "%zu tokens", tokens_count(fresh));
        put_names(fresh, old, false, "; added ", &what);
        put_names(old, fresh, false, "; removed ", &what);
        put_names(fresh, old, true, "; changed ", &what);
        const char *text = buf_cstr(&what);
        tell(auth, true, text != NULL ? text : "out of memory");
        buf_done(&what);
    }
    free(auth->refused);
    auth->refused = NULL;
    tokens_unref(old);
}

static void check(void *arg, bool asked) {
    struct auth *auth = arg;
    struct problem problem = {0};
    struct tokens *fresh = NULL;
    if (!asked && !config_file_changed(auth->path, &auth->seen)) {
        return;
    }
    memset(&auth->seen, 0, sizeof auth->seen);
    if (load(auth->path, auth->tokens, &fresh, &auth->seen, &problem)) {
        replace(auth, fresh, asked);
    } else {
        memset(&auth->seen, 0, sizeof auth->seen); /* read again: the reason may pass */
        log_refused(auth, &problem);
    }
}

bool auth_open(const char *path, struct auth **out, struct problem *problem) {
    struct auth *auth = calloc(1, sizeof *auth);
    if (auth == NULL || (auth->path = strdup(path)) == NULL) {
        free(auth);
        return problem_no_memory(problem);
    }
    pthread_mutex_init(&auth->lock, NULL);
    const bool loaded = load(path, NULL, &auth->tokens, &auth->seen, problem);
    if (!loaded || !reloader_start(&auth->reloader, check, auth)) {
        if (loaded) {
            problem_set(problem, PROBLEM_INTERNAL, "cannot start a thread");
        }
        auth_close(auth);
        return false;
    }
    log_info("tokens.loaded", log_str("file", path),
             log_int("tokens", (int64_t)tokens_count(auth->tokens)));
    *out = auth;
    return true;
}

void auth_watch(struct auth *auth, void (*event)(void *arg, const struct auth_event *event),
                void *arg) {
    pthread_mutex_lock(&auth->lock);
    auth->event = event;
    auth->event_arg = arg;
    pthread_mutex_unlock(&auth->lock);
}

void auth_stop(struct auth *auth) {
    if (auth != NULL) {
        reloader_stop(&auth->reloader);
    }
}

void auth_close(struct auth *auth) {
    if (auth == NULL) {
        return;
    }
    auth_stop(auth);
    tokens_unref(auth->tokens);
    pthread_mutex_destroy(&auth->lock);
    free(auth->refused);
    free(auth->path);
    free(auth);
}

void auth_reload(struct auth *auth) {
    reloader_ask(&auth->reloader);
}

static struct tokens *tokens_of(struct auth *auth) {
    pthread_mutex_lock(&auth->lock);
    struct tokens *tokens = auth->tokens;
    tokens_ref(tokens);
    pthread_mutex_unlock(&auth->lock);
    return tokens;
}

/* Takes the reference to `tokens`, which has the token. NULL: there is none. */
static enum auth_result found(struct tokens *tokens, const struct auth_token *token,
                              const struct auth_token **out) {
    if (token == NULL) {
        tokens_unref(tokens);
        return AUTH_UNKNOWN;
    }
    *out = token;
    return token->expires_ms > 0 && clock_real_ms() >= token->expires_ms ? AUTH_EXPIRED
                                                                         : AUTH_KNOWN;
}

enum auth_result auth_find(struct auth *auth, const char *secret, size_t n,
                           const struct auth_token **out) {
    struct tokens *tokens = tokens_of(auth);
    return found(tokens, tokens_find(tokens, secret, n), out);
}

enum auth_result auth_find_named(struct auth *auth, const char *name,
                                 const struct auth_token **out) {
    struct tokens *tokens = tokens_of(auth);
    return found(tokens, tokens_named(tokens, name), out);
}

void auth_release(const struct auth_token *token) {
    if (token != NULL) {
        tokens_unref(token->tokens);
    }
}
