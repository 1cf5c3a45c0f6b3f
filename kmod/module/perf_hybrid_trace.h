/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM perf_hybrid

#if !defined(_PERF_HYBRID_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _PERF_HYBRID_TRACE_H

#include <linux/tracepoint.h>

#include "x86_frame.h"

/*
 * A sample whose innermost frame does not stand. @kind is an enum
 * x86_frame_kind, 0 for a sample in a signal trampoline; @ra is what the caller
 * goes on with; @before and @after are how many entries the chain had before
 * the hook, and has as the kernel goes on with the last frame known.
 */
TRACE_EVENT(innermost,
	TP_PROTO(unsigned long ip, enum x86_frame_kind kind, unsigned long ra,
		 u32 before, u32 after),
	TP_ARGS(ip, kind, ra, before, after),
	TP_STRUCT__entry(
		__field(unsigned long,	ip)
		__field(unsigned long,	ra)
		__field(u32,		before)
		__field(u32,		after)
		__field(u8,		kind)
	),
	TP_fast_assign(
		__entry->ip = ip;
		__entry->ra = ra;
		__entry->before = before;
		__entry->after = after;
		__entry->kind = kind;
	),
	TP_printk("ip=%lx kind=%u ra=%lx before=%u after=%u",
		  __entry->ip, __entry->kind, __entry->ra, __entry->before,
		  __entry->after)
);

#endif /* _PERF_HYBRID_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE perf_hybrid_trace
#include <trace/define_trace.h>
