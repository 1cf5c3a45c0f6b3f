/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RUBY_SYMBOLS_H
#define __PERF_HYBRID_RUBY_SYMBOLS_H

#include "ruby-object.h"

/**
 * struct ruby_symbols - the names that a process has numbers for
 * @data: address of the section that says where they are
 * @size: bytes of it
 * @ids: the array that has them; 0: not found
 * @looked: when it was looked for, in ns
 */
struct ruby_symbols {
	u64	data;
	u64	size;
	u64	ids;
	u64	looked;
};

/**
 * ruby_symbols__init - begin to read names
 * @symbols: out
 * @object: CRuby, open
 * @bias: what is added to the file's addresses
 */
void ruby_symbols__init(struct ruby_symbols *symbols, const struct hybrid_object *object, u64 bias);

/**
 * ruby_symbols__find - find CRuby's table of names
 * @symbols: @data and @size are set
 * @pm: the process
 *
 * No symbol says where ruby_global_symbols is. It is in .data: a number, the address of a table,
 * an array, and a hash. A process that has just begun does not have it yet.
 *
 * Return: false if it is not found.
 */
bool ruby_symbols__find(struct ruby_symbols *symbols, struct hybrid_process_memory *pm);

/* The name of a number, in room for RUBY_TEXT; false: it can't be read. */
bool ruby_symbols__text(const struct ruby_symbols *symbols, struct hybrid_process_memory *pm,
			const struct ruby_layout *layout, u64 id, char *out);

#endif /* __PERF_HYBRID_RUBY_SYMBOLS_H */
