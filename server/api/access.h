/* What the token of a request permits. Without --tokens everything is permitted. */
#ifndef API_ACCESS_H
#define API_ACCESS_H

#include "auth/auth.h"
#include "http/http.h"
#include "store/store.h"

/* Finds the token of the request, and checks it against the scope of the route and the names in the
 * path. Returns false after a reply: 401 if there is no valid token, 403 if the token does not
 * permit the call. I/O thread, before any of the body is taken. */
bool api_admit_token(struct http_call *call);
/* Returns the token of the request. NULL: the daemon has no tokens, or the route is public and the
 * request has no valid token. */
const struct auth_token *api_token(const struct http_call *call);
/* Who asks for what the call changes. Valid as long as the call. */
struct store_actor api_actor(const struct http_call *call);
/* The owner of what the call stores, with its limits. */
struct store_quota api_quota(const struct http_call *call);
/* Counts the call against the token's heavy calls, until it is over. Calls that are heavy by their
 * header are counted already. On failure sets the problem and Retry-After, before the reply is
 * filled. */
bool api_take_heavy(struct http_call *call, struct problem *problem);
/* Counts rows against the token's rows in a second. */
void api_charge_rows(struct http_call *call, int64_t rows);
/* Returns the patterns of names that lists are restricted to, as a JSON array. NULL: all names. */
const char *api_only(const struct http_call *call);

/* Check a name in the body. On failure set the problem and the header of a 403, before the reply is
 * filled. The token must be for the name; for a dataset it must also have the scope read. */
bool api_may_read_dataset(struct http_call *call, const char *name, struct problem *problem);
bool api_may_use_model(struct http_call *call, const char *name, struct problem *problem);
/* Whether the token is for the model and the dataset of a job. */
bool api_sees_job(const struct http_call *call, const char *model, const char *dataset);
/* Checks a call that shows what belongs to all datasets and models: the token must be for all
 * names. Returns false after a reply. */
bool api_may_see_all(struct http_call *call);
/* Whether the reply to a public route may say more than whether the daemon works. */
bool api_is_known(const struct http_call *call);

#endif
