/* Everything that a test of the HTTP interface uses: a daemon, a client that uses libcurl, a client
 * that uses a raw socket, checks of answers, jobs.
 *
 * A test frees nothing: answers and texts live until the test ends (test_end frees them). */
#ifndef TESTS_LIB_API_H
#define TESTS_LIB_API_H

#include "lib/answer.h"
#include "lib/client.h"
#include "lib/csv_table.h"
#include "lib/jobs.h"
#include "lib/memory.h"
#include "lib/raw.h"
#include "lib/service.h"

#endif
