/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_V8_TOLD_H
#define __PERF_HYBRID_V8_TOLD_H

#include <stddef.h>
#include "v8-scope.h"

/**
 * struct v8_told - a function, as BPF has read it when it met it first
 * @addr: of its SharedFunctionInfo
 * @words: as struct v8_function has them
 * @mark: the same
 * @scope: its name and its place
 * @file: the name of its script in UTF-8; empty: it has none
 * @source: the text of its script
 */
struct v8_told {
	u64				addr;
	u64				words[2];
	u32				mark;
	struct v8_scope			scope;
	char				file[V8_TEXT];
	struct hybrid_walk_v8_source	source;
};

/**
 * v8_told__read - read a record
 * @told: out
 * @raw: struct hybrid_walk_text, which need not be aligned, or be true
 * @size: of @raw, in bytes
 *
 * Return: false if it is too short for what it says, or is of no function.
 */
bool v8_told__read(struct v8_told *told, const void *raw, size_t size);

#endif /* __PERF_HYBRID_V8_TOLD_H */
