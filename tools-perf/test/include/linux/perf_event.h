/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the series adds to perf_event.h: the unit tests are built with a kernel
 * tree that has it not.
 */
#ifndef __HYBRID_TEST_PERF_EVENT_H
#define __HYBRID_TEST_PERF_EVENT_H

#include_next <linux/perf_event.h>

#ifndef PERF_HYBRID_INFO_END

#define PERF_CONTEXT_USER_HYBRID		((__u64)-768)
#define PERF_HYBRID_INFO_END(info)		((info) & 0xff)
#define PERF_HYBRID_INFO_INNERMOST(info)	(((info) >> 8) & 0xff)
#define PERF_HYBRID_INFO_FRAMES(info)		(((info) >> 16) & 0xffff)

enum perf_hybrid_end {
	PERF_HYBRID_END_NONE,
	PERF_HYBRID_END_OUTERMOST,
	PERF_HYBRID_END_NO_STORE,
	PERF_HYBRID_END_ASK,
	PERF_HYBRID_END_NOT_RETURN,
	PERF_HYBRID_END_UNREADABLE,
	PERF_HYBRID_END_LIMIT,
	PERF_HYBRID_END_BUSY,
};

enum perf_hybrid_innermost {
	PERF_HYBRID_INNERMOST_NONE,
	PERF_HYBRID_INNERMOST_RULE,
	PERF_HYBRID_INNERMOST_CODE,
};

#endif

#endif /* __HYBRID_TEST_PERF_EVENT_H */
