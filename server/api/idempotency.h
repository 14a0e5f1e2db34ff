/* Idempotency-Key (draft-ietf-httpapi-idempotency-key-header): a request that is sent again with
 * the same key gets the answer of the first one. Routes with `keyed` take it. Only answers to
 * requests that made something are kept. */
#ifndef API_IDEMPOTENCY_H
#define API_IDEMPOTENCY_H

#include "http/http.h"
#include "store/store.h"

/* The key of a call. {0}: it has none, and the functions have no effect. */
struct api_key {
    struct store_key key; /* `write` and `arg` are set by the handler */
    struct store *store;
    struct store_key_use *use;
    struct store_answer first; /* the answer of the first request with the key */
    bool repeats;              /* there is such an answer */
};

/* Checks the header against the policy of the route. Returns false after a reply. */
bool api_admit_key(struct http_call *call);
/* Reads the header and holds the key. Returns false after a reply: a call with this key is in
 * progress. Cheap, any thread. The caller calls api_key_leave before the reply can be sent. */
bool api_key_begin(struct http_call *call, struct api_key *k);
/* Sets key.body to the SHA-256 of a body in memory. */
bool api_key_digest(struct http_call *call, struct api_key *k, struct problem *problem);
/* Looks for the answer of an earlier request, and sets `repeats`. The body may be unknown yet.
 * Returns false after setting the problem. Pool thread. */
bool api_key_find(struct api_key *k, struct problem *problem);
/* Replies with the answer of the earlier request, or that the body is another one. */
void api_key_repeat(struct http_call *call, struct api_key *k);
/* Replies with the answer that the transaction has kept. */
void api_key_reply(struct http_call *call, struct api_key *k);
/* Replies with the problem of a transaction that kept none. */
void api_key_reply_problem(struct http_call *call, struct api_key *k, struct problem *problem);
/* Releases the key and frees the answers. */
void api_key_leave(struct api_key *k);
/* Returns the key for a transaction; NULL: the call has none. */
struct store_key *api_key_of(struct api_key *k);

#endif
