/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __HYBRID_TEST_OWN_MEMORY_H
#define __HYBRID_TEST_OWN_MEMORY_H

#include "process-memory.h"
#include "process.h"

/**
 * struct own_memory - what is read of a process that has a runtime, which is the test's own
 * @ps: this process alone
 * @memory: of it
 * @pm: the same, for a runtime
 */
struct own_memory {
	struct hybrid_processes		 ps;
	struct hybrid_memory		*memory;
	struct hybrid_process_memory	 pm;
};

extern struct own_memory own;

void own_begin(void);
void own_end(void);

#endif /* __HYBRID_TEST_OWN_MEMORY_H */
