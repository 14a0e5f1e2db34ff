/* The library takes every Cookie header apart into its 32 KiB of memory. When that is not enough it
 * closes the connection, frees the memory, and then reads the header fields that stood in it
 * (0.9.75, parse_connection_headers: valgrind shows it with 5,000 cookies). Nobody here needs its
 * cookies, so it is told that there are none: it asks for the header through
 * MHD_lookup_connection_value_n, by way of the dynamic linker, and finds the function of that name
 * here. Our own code sees the header among all the others. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "http/protocol/library_cookies.h"
#include <dlfcn.h>
#include <microhttpd.h>
#include <string.h>
#include <strings.h>

typedef enum MHD_Result (*lookup_function)(struct MHD_Connection *mhd, enum MHD_ValueKind kind,
                                           const char *key, size_t key_size, const char **value,
                                           size_t *value_size);
static lookup_function library_lookup; /* set once, before any thread */

bool library_cookies_init(void) {
    void *symbol = dlsym(RTLD_NEXT, "MHD_lookup_connection_value_n");
    const lookup_function ours = MHD_lookup_connection_value_n;
    void *found =
        dlsym(RTLD_DEFAULT, "MHD_lookup_connection_value_n"); /* what the library will find */
    if (symbol == NULL || memcmp(&found, &ours, sizeof found) != 0) {
        return false;
    }
    memcpy(&library_lookup, &symbol,
           sizeof symbol); /* ISO C has no cast from an object pointer to a function pointer */
    return true;
}

enum MHD_Result MHD_lookup_connection_value_n(struct MHD_Connection *mhd, enum MHD_ValueKind kind,
                                              const char *key, size_t key_size, const char **value,
                                              size_t *value_size) {
    static const char cookie[] = MHD_HTTP_HEADER_COOKIE;
    if (kind == MHD_HEADER_KIND && key != NULL && key_size == sizeof cookie - 1 &&
        strncasecmp(key, cookie, key_size) == 0) {
        return MHD_NO;
    }
    return library_lookup(mhd, kind, key, key_size, value, value_size);
}
