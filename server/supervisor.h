/* Tells systemd (sd_notify(3)) about the state of the daemon. Without NOTIFY_SOCKET in the
 * environment nothing is sent. */
#ifndef SUPERVISOR_H
#define SUPERVISOR_H

#include <stdint.h>

/* Sends a state: "READY=1", "STOPPING=1" or "WATCHDOG=1". A failure is ignored. */
void supervisor_tell(const char *state);
/* Returns the time in which "WATCHDOG=1" must arrive, in milliseconds (WATCHDOG_USEC); 0: systemd
 * does not watch this process. */
int64_t supervisor_watchdog_ms(void);

#endif
