// SPDX-License-Identifier: GPL-2.0
/*
 * Names of CRuby's methods in C, and of its hidden variables.
 */
#include <string.h>
#include <linux/kernel.h>
#include "../../rules/clock.h"
#include "../../rules/object.h"
#include "../../rules/section.h"
#include "ruby-symbols.h"

/* Words of .data that are looked through: 0x270 bytes in 3.1, 0x99c in 3.3. */
#define MAX_WORDS	1024

/* Between two times that the table is looked for, in ns. */
#define LOOK_AFTER	20000000ULL

/* symbol.c and id.h: how a number says in which array its name is, and where in that. */
#define LAST_OPERATOR	169
#define SCOPE_BITS	4
#define IN_ARRAY	512
#define ENTRY_WORDS	2

static bool is_table(struct hybrid_process_memory *pm, const u64 *words)
{
	return words[0] > LAST_OPERATOR && words[0] <= ~0U && words[1] && !(words[1] & 7) &&
	       ruby_is(pm, words[2], RUBY_ARRAY) && ruby_is(pm, words[3], RUBY_HASH);
}

void ruby_symbols__init(struct ruby_symbols *symbols, const struct hybrid_object *object, u64 bias)
{
	struct hybrid_section data;

	memset(symbols, 0, sizeof(*symbols));
	if (!hybrid_section_open(&data, object->elf, ".data"))
		return;
	symbols->data = bias + data.vaddr;
	symbols->size = min_t(u64, data.data->d_size, MAX_WORDS * sizeof(u64));
}

bool ruby_symbols__find(struct ruby_symbols *symbols, struct hybrid_process_memory *pm)
{
	u64 time = hybrid_clock_ns(CLOCK_MONOTONIC_COARSE), words[MAX_WORDS];
	size_t nr = symbols->size / sizeof(*words), i;

	if (symbols->ids)
		return true;
	if (time - symbols->looked < LOOK_AFTER ||
	    hybrid_process_memory_read(pm, symbols->data, words, nr * sizeof(*words)))
		return false;
	symbols->looked = time;
	for (i = 0; i + 4 <= nr && !symbols->ids; i++) {
		if (is_table(pm, words + i))
			symbols->ids = words[i + 2];
	}
	return symbols->ids;
}

bool ruby_symbols__text(const struct ruby_symbols *symbols, struct hybrid_process_memory *pm,
			const struct ruby_layout *layout, u64 id, char *out)
{
	u64 number = id > LAST_OPERATOR ? id >> SCOPE_BITS : id, array;

	array = ruby_element(pm, symbols->ids, number / IN_ARRAY);
	return ruby_text(pm, layout, ruby_element(pm, array, number % IN_ARRAY * ENTRY_WORDS), out);
}
