/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RUBY_OBJECT_H
#define __PERF_HYBRID_RUBY_OBJECT_H

#include "../process-memory.h"
#include "ruby-layout.h"

/* Bytes of a string that are read, its end included. */
#define RUBY_TEXT	256

/* include/ruby/internal/value_type.h and internal/imemo.h: what an object is. */
enum ruby_type {
	RUBY_CLASS	= RUBY_IS_CLASS,
	RUBY_MODULE	= RUBY_IS_MODULE,
	RUBY_STRING	= RUBY_IS_STRING,
	RUBY_ARRAY	= RUBY_IS_ARRAY,
	RUBY_ENTRY	= RUBY_IS_ENTRY,
	RUBY_CODE	= RUBY_IS_CODE,
};

/* Is an object with these flags of a type? */
bool ruby_is_type(u64 flags, enum ruby_type type);

/* Is there an object of a type at an address? */
bool ruby_is(struct hybrid_process_memory *pm, u64 addr, enum ruby_type type);

/**
 * ruby_text - read a string
 * @pm: the process
 * @layout: of its CRuby
 * @addr: of the string
 * @out: out; room for RUBY_TEXT. A longer one is cut off
 *
 * Return: false if there is none, or it is empty.
 */
bool ruby_text(struct hybrid_process_memory *pm, const struct ruby_layout *layout, u64 addr,
	       char *out);

/* Element @i of an array, or 0. */
u64 ruby_element(struct hybrid_process_memory *pm, u64 addr, u64 i);

#endif /* __PERF_HYBRID_RUBY_OBJECT_H */
