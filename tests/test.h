/* What every cmocka program needs, in the order cmocka wants it. */
#ifndef GANZ_TESTS_TEST_H
#define GANZ_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#endif
