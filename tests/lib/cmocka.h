/* Includes cmocka.h and the headers that it needs before it. */
#ifndef TESTS_LIB_CMOCKA_H
#define TESTS_LIB_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h> /* IWYU pragma: export */

#endif
