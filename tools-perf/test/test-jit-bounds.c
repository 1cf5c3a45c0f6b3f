// SPDX-License-Identifier: GPL-2.0
/*
 * Processes whose JIT images are kept: 32, each of which is found.
 */
#include "../hybrid/unwind/jit.c"
#include "tap.h"

static struct hybrid_jit jit;

static void processes(void)
{
	unsigned int i;

	for (i = 0; i < MAX_PROCESSES; i++) {
		check(!find_process(&jit, 100 + i));
		jit.processes[i].pid = 100 + i;
	}
	for (i = 0; i < MAX_PROCESSES; i++) {
		check(find_process(&jit, 100 + i) == &jit.processes[i]);
		check(get_process(&jit, 100 + i) == &jit.processes[i]);
	}
	check(!find_process(&jit, 100 + i));
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "jit: each process is found", processes },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
