/* Who may call. The daemon reads a token file (tokens.h) at the start, and again on SIGHUP and when
 * the file has changed, which a thread checks once a second. Requests that were admitted before go
 * on. If the new file is faulty or missing, the tokens stay, and a line "tokens.refused" is logged.
 *
 * All functions are thread safe. */
#ifndef AUTH_AUTH_H
#define AUTH_AUTH_H

#include "auth/tokens.h"

struct auth;
/* Reads the file and starts the thread. Fails if the file is missing or faulty. */
bool auth_open(const char *path, struct auth **out, struct problem *problem);
void auth_close(struct auth *auth); /* NULL is allowed */
/* What the thread did with a new file. */
struct auth_event {
    bool loaded;      /* the tokens were replaced; false: the file was refused */
    const char *what; /* which tokens were added, removed and changed, or the reason */
};
/* Sets a function that the thread calls after each such event. To be called once, before signals
 * and changes of the file. */
void auth_watch(struct auth *auth, void (*event)(void *arg, const struct auth_event *event),
                void *arg);
/* Ends the thread. The tokens stay in use. NULL is allowed. */
void auth_stop(struct auth *auth);
/* Lets the thread read the file at once. */
void auth_reload(struct auth *auth);

enum auth_result { AUTH_KNOWN, AUTH_UNKNOWN, AUTH_EXPIRED };
/* Finds the token of a secret. AUTH_KNOWN, AUTH_EXPIRED: *out is the token, which the caller gives
 * back by auth_release. */
enum auth_result auth_find(struct auth *auth, const char *secret, size_t n,
                           const struct auth_token **out);
/* The same by the name of the token. The caller has checked that the client may use it: its
 * certificate has this name. */
enum auth_result auth_find_named(struct auth *auth, const char *name,
                                 const struct auth_token **out);
void auth_release(const struct auth_token *token);

#endif
