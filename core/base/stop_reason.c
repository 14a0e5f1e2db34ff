/* Names of stop reasons. */
#include <discern/stop_reason.h>
#include <stddef.h>

const char *dn_stop_reason_name(dn_stop_reason reason) {
    static const char *const names[] = {
#define NAME(code, name) name,
        DN_STOP_REASONS(NAME)
#undef NAME
    };
    const size_t i = (size_t)reason;
    return names[i < sizeof names / sizeof names[0] ? i : DN_STOP_NONE];
}
