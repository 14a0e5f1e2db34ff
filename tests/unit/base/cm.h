/* cmocka with what it needs before it. */
#ifndef TESTS_BASE_CM_H
#define TESTS_BASE_CM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
