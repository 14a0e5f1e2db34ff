/* The sweeper: a thread that checks all connections 4 times a second, and ends those that are too
 * slow. */
#ifndef HTTP_SWEEPER_H
#define HTTP_SWEEPER_H

#include "http/timer_thread.h"
#include <stdbool.h>

struct http_server;
struct sweeper {
    struct timer_thread thread; /* its lock guards `hurry` */
    bool hurry;                 /* sweep now */
};
bool sweeper_start(struct sweeper *sweeper, struct http_server *server);
void sweeper_hurry(struct sweeper *sweeper); /* sweep now (drain has begun) */
void sweeper_stop(struct sweeper *sweeper);

#endif
