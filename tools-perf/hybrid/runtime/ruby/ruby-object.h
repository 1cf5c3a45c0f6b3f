/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RUBY_OBJECT_H
#define __PERF_HYBRID_RUBY_OBJECT_H

#include "../process-memory.h"
#include "ruby-layout.h"

/* Bytes of a string that are read, its end included. */
#define RUBY_TEXT	256

/* include/ruby/internal/value_type.h and internal/imemo.h: what an object is. */
enum ruby_type {
	RUBY_CLASS	= 0x02,
	RUBY_MODULE	= 0x03,
	RUBY_STRING	= 0x05,
	RUBY_ARRAY	= 0x07,
	RUBY_HASH	= 0x08,
	RUBY_ENTRY	= 0x1a | 6 << 12,
	RUBY_CODE	= 0x1a | 7 << 12,
};

/* Bytes of an object: gc.c, struct RVALUE. */
#define RUBY_OBJECT	40

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
