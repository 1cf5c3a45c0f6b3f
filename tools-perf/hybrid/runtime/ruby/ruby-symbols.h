/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RUBY_SYMBOLS_H
#define __PERF_HYBRID_RUBY_SYMBOLS_H

#include "ruby-object.h"

/**
 * struct ruby_symbols - the names that a process has numbers for
 * @ids: the array that has them; 0: not found
 */
struct ruby_symbols {
	u64	ids;
};

/**
 * ruby_symbols__find - find CRuby's table of names
 * @symbols: out
 * @pm: the process
 * @object: its CRuby, open
 * @bias: what is added to the file's addresses
 *
 * No symbol says where ruby_global_symbols is. It is in .data: a number, the address of a table,
 * an array, and a hash.
 */
void ruby_symbols__find(struct ruby_symbols *symbols, struct hybrid_process_memory *pm,
			const struct hybrid_object *object, u64 bias);

/* The name of a number, in room for RUBY_TEXT; false: it can't be read. */
bool ruby_symbols__text(const struct ruby_symbols *symbols, struct hybrid_process_memory *pm,
			const struct ruby_layout *layout, u64 id, char *out);

#endif /* __PERF_HYBRID_RUBY_SYMBOLS_H */
