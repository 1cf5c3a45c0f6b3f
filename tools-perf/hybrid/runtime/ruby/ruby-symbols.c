// SPDX-License-Identifier: GPL-2.0
/*
 * Names of CRuby's methods in C, and of its hidden variables.
 */
#include <linux/kernel.h>
#include "../../rules/object.h"
#include "../../rules/section.h"
#include "ruby-symbols.h"

/* Words of .data that are looked through: 0x270 bytes in 3.1, 0x99c in 3.3. */
#define MAX_WORDS	1024

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

void ruby_symbols__find(struct ruby_symbols *symbols, struct hybrid_process_memory *pm,
			const struct hybrid_object *object, u64 bias)
{
	struct hybrid_section data;
	u64 words[MAX_WORDS];
	size_t nr, i;

	symbols->ids = 0;
	if (!hybrid_section_open(&data, object->elf, ".data"))
		return;
	nr = min_t(size_t, data.data->d_size / sizeof(*words), MAX_WORDS);
	if (hybrid_process_memory_read(pm, bias + data.vaddr, words, nr * sizeof(*words)))
		return;
	for (i = 0; i + 4 <= nr; i++) {
		if (is_table(pm, words + i)) {
			symbols->ids = words[i + 2];
			return;
		}
	}
}

bool ruby_symbols__text(const struct ruby_symbols *symbols, struct hybrid_process_memory *pm,
			const struct ruby_layout *layout, u64 id, char *out)
{
	u64 number = id > LAST_OPERATOR ? id >> SCOPE_BITS : id, array;

	array = ruby_element(pm, symbols->ids, number / IN_ARRAY);
	return ruby_text(pm, layout, ruby_element(pm, array, number % IN_ARRAY * ENTRY_WORDS), out);
}
