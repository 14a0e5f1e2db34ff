/* Descriptions of machines (discern/describe.h) as JSON. */
#ifndef API_DESCRIBE_H
#define API_DESCRIBE_H

#include "base/json/json_write.h"
#include <discern/describe.h>

/* A visitor that writes members of the open object of w. */
dn_visitor api_json_visitor(struct json_writer *w, bool matrices);

#endif
