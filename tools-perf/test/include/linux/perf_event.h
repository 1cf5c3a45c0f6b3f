/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the series adds to perf_event.h: the unit tests are built with a kernel
 * tree that has it not.
 */
#ifndef __HYBRID_TEST_PERF_EVENT_H
#define __HYBRID_TEST_PERF_EVENT_H

#include_next <linux/perf_event.h>

#ifndef PERF_UNWIND_INFO_END

/* A bit of struct perf_event_attr, which these are. */
#define unwind_rules	__reserved_1

#define PERF_CONTEXT_USER_RULES		((__u64)-768)
#define PERF_UNWIND_INFO_END(info)		((info) & 0xff)
#define PERF_UNWIND_INFO_INNERMOST(info)	(((info) >> 8) & 0xff)
#define PERF_UNWIND_INFO_FRAMES(info)		(((info) >> 16) & 0xffff)

enum perf_unwind_end {
	PERF_UNWIND_END_NONE,
	PERF_UNWIND_END_OUTERMOST,
	PERF_UNWIND_END_NO_RULE,
	PERF_UNWIND_END_NOT_RETURN,
	PERF_UNWIND_END_UNREADABLE,
	PERF_UNWIND_END_LIMIT,
	PERF_UNWIND_END_BUSY,
};

enum perf_unwind_innermost {
	PERF_UNWIND_INNERMOST_NONE,
	PERF_UNWIND_INNERMOST_RULE,
	PERF_UNWIND_INNERMOST_CODE,
};

#endif

#endif /* __HYBRID_TEST_PERF_EVENT_H */
