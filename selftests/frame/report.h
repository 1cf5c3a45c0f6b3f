/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __SELFTESTS_FRAME_REPORT_H
#define __SELFTESTS_FRAME_REPORT_H

#include <stdbool.h>
#include <stdio.h>

static int nr_tests, nr_failed;

/* Prints a result as TAP, and counts it. */
static void report(bool ok, const char *name)
{
	nr_tests++;
	nr_failed += !ok;
	printf("%sok %d - %s\n", ok ? "" : "not ", nr_tests, name);
}

#endif /* __SELFTESTS_FRAME_REPORT_H */
