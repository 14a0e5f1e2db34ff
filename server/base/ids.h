/* Random identifiers (libsodium). Thread safe after ids_init. */
#ifndef BASE_IDS_H
#define BASE_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool ids_init(void); /* call once, before threads start; false: no random bytes are available */
#define IDS_REQUEST_SIZE 25
void ids_request(char out[IDS_REQUEST_SIZE]); /* 24 lower-case hex digits */
uint64_t ids_random(void);
/* Names of resources: [A-Za-z0-9][A-Za-z0-9._-]{0,62} */
#define IDS_NAME_SIZE 64
#define IDS_NAME_RULE "must match [A-Za-z0-9][A-Za-z0-9._-]{0,62}"
bool ids_name_valid(const char *name, size_t length);

#endif
