/* What the library is told when a client has closed its sending side: see library_reads.c. */
#ifndef HTTP_LIBRARY_READS_H
#define HTTP_LIBRARY_READS_H

#include <stdbool.h>

struct http_server;

/* Once, before the first I/O thread. false: the library would not find our recv. */
bool library_reads_init(void);
/* This thread is one of the server's I/O threads from now on. */
void library_reads_enter(struct http_server *server);

#endif
