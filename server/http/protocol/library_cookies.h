/* Keeps the library from taking cookies apart. */
#ifndef HTTP_LIBRARY_COOKIES_H
#define HTTP_LIBRARY_COOKIES_H

#include <stdbool.h>

/* Finds the library's own MHD_lookup_connection_value_n. Before any daemon is started; false: it
 * cannot be found, or the library would not find ours. */
bool library_cookies_init(void);

#endif
