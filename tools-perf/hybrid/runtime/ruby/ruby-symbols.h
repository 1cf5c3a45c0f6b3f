/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RUBY_SYMBOLS_H
#define __PERF_HYBRID_RUBY_SYMBOLS_H

#include "ruby-object.h"

/**
 * struct ruby_symbols - the names that a process has numbers for
 * @table: address of ruby_global_symbols; 0: not known
 * @ids: the array that has them; 0: not found
 * @looked: when it was looked for, in ns
 */
struct ruby_symbols {
	u64	table;
	u64	ids;
	u64	looked;
};

/**
 * ruby_symbols__find - find the array of names
 * @symbols: @table is set
 * @pm: the process
 *
 * A process that has just begun does not have it yet.
 *
 * Return: false if it is not found.
 */
bool ruby_symbols__find(struct ruby_symbols *symbols, struct hybrid_process_memory *pm);

/* The name of a number, in room for RUBY_TEXT; false: it can't be read. */
bool ruby_symbols__text(const struct ruby_symbols *symbols, struct hybrid_process_memory *pm,
			const struct ruby_layout *layout, u64 id, char *out);

#endif /* __PERF_HYBRID_RUBY_SYMBOLS_H */
