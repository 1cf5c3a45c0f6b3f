// SPDX-License-Identifier: GPL-2.0
/*
 * Names of CRuby's methods in C, and of its hidden variables.
 */
#include "../../rules/clock.h"
#include "ruby-symbols.h"

/* Between two times that the array is looked for, in ns. */
#define LOOK_AFTER	20000000ULL

bool ruby_symbols__find(struct ruby_symbols *symbols, struct hybrid_process_memory *pm)
{
	u64 time = hybrid_clock_ns(CLOCK_MONOTONIC_COARSE), ids;

	if (symbols->ids)
		return true;
	if (!symbols->table || time - symbols->looked < LOOK_AFTER)
		return false;
	symbols->looked = time;
	ids = hybrid_process_word(pm, symbols->table + RUBY_SYMBOLS_ARRAY);
	if (ruby_is(pm, ids, RUBY_ARRAY))
		symbols->ids = ids;
	return symbols->ids;
}

bool ruby_symbols__text(const struct ruby_symbols *symbols, struct hybrid_process_memory *pm,
			const struct ruby_layout *layout, u64 id, char *out)
{
	u64 number = id > RUBY_LAST_OPERATOR ? id >> RUBY_SCOPE_BITS : id, array;

	array = ruby_element(pm, symbols->ids, number / RUBY_IN_ARRAY);
	return ruby_text(pm, layout,
			 ruby_element(pm, array, number % RUBY_IN_ARRAY * RUBY_NAME_WORDS), out);
}
