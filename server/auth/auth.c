/* The tokens in use, and the thread that reads the file again. */
#include "auth/auth.h"
#include "auth/token_file.h"
#include "base/clock.h"
#include "base/log/log.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHECK_SECONDS 1
/* A file that changed less than this before it was read is read again: a later change within the
 * resolution of its times would not be noticed. */
#define SETTLED_SECONDS 2

struct auth {
    char *path;
    pthread_t thread;
    bool started;
    pthread_mutex_t lock; /* guards the next three; a leaf */
    pthread_cond_t cond;
    bool reload, stopping;
    struct tokens *tokens; /* changed by the thread only */
    struct stat seen;      /* the file as it was read; st_ino 0: it was refused. Thread only */
    char *refused;         /* last line "tokens.refused"; NULL: the file is good. Thread only */
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

/* Returns true if the file may differ from `seen`. */
static bool has_changed(const struct auth *auth) {
    struct stat now;
    if (stat(auth->path, &now) != 0) {
        return true;
    }
    const struct stat *seen = &auth->seen;
    return now.st_ino != seen->st_ino || now.st_dev != seen->st_dev ||
           now.st_size != seen->st_size || now.st_mode != seen->st_mode ||
           now.st_ctim.tv_sec != seen->st_ctim.tv_sec ||
           now.st_ctim.tv_nsec != seen->st_ctim.tv_nsec ||
           time(NULL) - now.st_ctim.tv_sec <= SETTLED_SECONDS;
}

/* Logs a reason once, not in every second in which it holds. */
static void log_refused(struct auth *auth, struct problem *problem) {
    const char *reason = problem->detail != NULL ? problem->detail : "out of memory";
    if (auth->refused == NULL || strcmp(auth->refused, reason) != 0) {
        log_error("tokens.refused", log_str("file", auth->path), log_str("reason", reason),
                  log_str("tokens", "those read before stay"));
        free(auth->refused);
        auth->refused = strdup(reason);
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
    }
    free(auth->refused);
    auth->refused = NULL;
    tokens_unref(old);
}

static void check(struct auth *auth, bool asked) {
    struct problem problem = {0};
    struct tokens *fresh = NULL;
    if (!asked && !has_changed(auth)) {
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

static void *auth_main(void *arg) {
    struct auth *auth = arg;
    pthread_mutex_lock(&auth->lock);
    while (!auth->stopping) {
        struct timespec until;
        (void)clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += CHECK_SECONDS;
        while (!auth->stopping && !auth->reload &&
               pthread_cond_timedwait(&auth->cond, &auth->lock, &until) == 0) {
        }
        const bool asked = auth->reload, stopping = auth->stopping;
        auth->reload = false;
        if (!stopping) {
            pthread_mutex_unlock(&auth->lock);
            check(auth, asked);
            pthread_mutex_lock(&auth->lock);
        }
    }
    pthread_mutex_unlock(&auth->lock);
    return NULL;
}

bool auth_open(const char *path, struct auth **out, struct problem *problem) {
    pthread_condattr_t attributes;
    struct auth *auth = calloc(1, sizeof *auth);
    if (auth == NULL || (auth->path = strdup(path)) == NULL) {
        free(auth);
        return problem_no_memory(problem);
    }
    pthread_mutex_init(&auth->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&auth->cond, &attributes);
    pthread_condattr_destroy(&attributes);
    if (load(path, NULL, &auth->tokens, &auth->seen, problem)) {
        auth->started = pthread_create(&auth->thread, NULL, auth_main, auth) == 0;
        if (!auth->started) {
            problem_set(problem, PROBLEM_INTERNAL, "cannot start a thread");
        }
    }
    if (!auth->started) {
        auth_close(auth);
        return false;
    }
    log_info("tokens.loaded", log_str("file", path),
             log_int("tokens", (int64_t)tokens_count(auth->tokens)));
    *out = auth;
    return true;
}

void auth_close(struct auth *auth) {
    if (auth == NULL) {
        return;
    }
    if (auth->started) {
        pthread_mutex_lock(&auth->lock);
        auth->stopping = true;
        pthread_cond_signal(&auth->cond);
        pthread_mutex_unlock(&auth->lock);
        pthread_join(auth->thread, NULL);
    }
    tokens_unref(auth->tokens);
    pthread_cond_destroy(&auth->cond);
    pthread_mutex_destroy(&auth->lock);
    free(auth->refused);
    free(auth->path);
    free(auth);
}

void auth_reload(struct auth *auth) {
    pthread_mutex_lock(&auth->lock);
    auth->reload = true;
    pthread_cond_signal(&auth->cond);
    pthread_mutex_unlock(&auth->lock);
}

enum auth_result auth_find(struct auth *auth, const char *secret, size_t n,
                           const struct auth_token **out) {
    pthread_mutex_lock(&auth->lock);
    struct tokens *tokens = auth->tokens;
    tokens_ref(tokens);
    pthread_mutex_unlock(&auth->lock);
    const struct auth_token *token = tokens_find(tokens, secret, n);
    if (token == NULL) {
        tokens_unref(tokens);
        return AUTH_UNKNOWN;
    }
    *out = token;
    return token->expires_ms > 0 && clock_real_ms() >= token->expires_ms ? AUTH_EXPIRED
                                                                         : AUTH_KNOWN;
}

void auth_release(const struct auth_token *token) {
    if (token != NULL) {
        tokens_unref(token->tokens);
    }
}
