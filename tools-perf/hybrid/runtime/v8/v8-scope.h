/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_V8_SCOPE_H
#define __PERF_HYBRID_V8_SCOPE_H

#include "v8-text.h"

/**
 * struct v8_scope - what a ScopeInfo says of a function
 * @name: in UTF-8; empty: it has none
 * @start: position of its first character in its script; negative: unknown
 * @end: behind its last one
 */
struct v8_scope {
	char	name[V8_TEXT];
	s32	start;
	s32	end;
};

/**
 * v8_scope__read - the name of a function, and where it is in its script
 * @heap: of the process
 * @word: a function's name or ScopeInfo
 * @scope: out; of what is neither it has nothing
 */
void v8_scope__read(const struct v8_heap *heap, u64 word, struct v8_scope *scope);

#endif /* __PERF_HYBRID_V8_SCOPE_H */
