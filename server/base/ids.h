/* Random identifiers (libsodium), names and references. Thread-safe after ids_init. */
#ifndef BASE_IDS_H
#define BASE_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool ids_init(void); /* call once, before threads start; false: no source of random bytes */
#define IDS_REQUEST_SIZE 25
void ids_request(char out[IDS_REQUEST_SIZE]); /* writes 24 lower-case hexadecimal digits */
uint64_t ids_random(void);
void ids_random_bytes(void *out, size_t n);
/* Names of resources: [A-Za-z0-9][A-Za-z0-9._-]{0,62} */
#define IDS_NAME_SIZE 64
#define IDS_NAME_RULE "must match [A-Za-z0-9][A-Za-z0-9._-]{0,62}"
bool ids_name_valid(const char *name, size_t length);
#define IDS_NUMBER_MAX ((INT64_C(1) << 53) - 1)
/* Parses a version or id, 1 … IDS_NUMBER_MAX in decimal digits. */
bool ids_number_parse(const char *text, int64_t *out);
/* Parses "iris" or "iris@2" into name and version (0: none). Returns false if the text is
 * malformed. */
bool ids_reference_parse(const char *text, char name[IDS_NAME_SIZE], int64_t *version);

#endif
