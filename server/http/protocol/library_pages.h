/* The library's own error pages, replaced by problem documents. */
#ifndef HTTP_LIBRARY_PAGES_H
#define HTTP_LIBRARY_PAGES_H

#include <microhttpd.h>
#include <stdbool.h>

/* Finds the library's own MHD_queue_response. Before any daemon is started; false: it cannot be
 * found, or the library would not find ours. */
bool library_pages_init(void);
/* The library's, past our definition of the same name. */
enum MHD_Result library_queue_response(struct MHD_Connection *mhd, unsigned int status,
                                       struct MHD_Response *response);

#endif
