/* Checks each request against the policy of its route, before any of its body is taken. */
#include "api/support.h"

#include <string.h>

static void refuse_unknown(struct http_call *call, const char *name) {
    const char *const *known = http_route_of(call)->query;
    struct buf list = {0};
    for (size_t i = 0; known[i] != NULL; i++) {
        buf_printf(&list, "%s%s", i > 0 ? ", " : "; known here: ", known[i]);
    }
    const char *text = known[0] != NULL ? buf_cstr(&list) : ": this call takes none";
    http_fail(call, PROBLEM_BAD_REQUEST, "unknown query parameter \"%.100s\"%s", name,
              text != NULL ? text : "");
    buf_done(&list);
}

/* Each parameter is known and given once. */
static bool admit_query(struct http_call *call) {
    const char *const *known = http_route_of(call)->query;
    uint32_t seen = 0; /* bit k: known[k] was given */
    for (size_t i = 0; known != NULL && i < http_query_count(call); i++) {
        const char *name, *value;
        size_t k = 0;
        http_query_at(call, i, &name, &value);
        while (known[k] != NULL && strcmp(known[k], name) != 0) {
            k++;
        }
        if (known[k] == NULL) {
            refuse_unknown(call, name);
            return false;
        }
        if ((seen & UINT32_C(1) << k) != 0) {
            http_fail(call, PROBLEM_BAD_REQUEST, "query parameter \"%s\" is given more than once",
                      name);
            return false;
        }
        seen |= UINT32_C(1) << k;
    }
    return true;
}

bool api_admit(struct http_call *call) {
    return admit_query(call);
}
