/* `discernd --healthcheck`: is the daemon at this address ready? For containers without curl. */
#ifndef HEALTHCHECK_H
#define HEALTHCHECK_H

#include <stdbool.h>

/* GET /readyz at the address of --listen (0.0.0.0 and [::] mean this machine; port 0: read from
 * port_file). true: 200 within 3 s. One line on stderr otherwise. */
bool healthcheck_run(const char *listen, const char *port_file);

#endif
