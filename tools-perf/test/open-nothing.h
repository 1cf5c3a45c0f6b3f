/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __HYBRID_TEST_OPEN_NOTHING_H
#define __HYBRID_TEST_OPEN_NOTHING_H

#include <linux/compiler.h>

struct hybrid_mapping;

/* For hybrid_objects_init(): there is no file to read. */
static inline int open_nothing(const struct hybrid_mapping *mapping __maybe_unused)
{
	return -1;
}

#endif /* __HYBRID_TEST_OPEN_NOTHING_H */
