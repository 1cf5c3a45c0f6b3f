// SPDX-License-Identifier: GPL-2.0
/*
 * Names of methods, with the class.
 */
#include <stdio.h>
#include <string.h>
#include <linux/kernel.h>
#include "method-name.h"

/* What a class's variable has, in 3.1; 0: none. */
static u64 variable(struct hybrid_process_memory *pm, const struct ruby_layout *layout,
		    const struct ruby_symbols *symbols, u64 class, const char *name)
{
	u64 more = hybrid_process_word(pm, class + RUBY_CLASS_MORE);
	u64 table = hybrid_process_word(pm, more + RUBY_MORE_VARIABLES), i, end, at;
	char text[RUBY_TEXT];

	i = hybrid_process_word(pm, table + RUBY_TABLE_START);
	end = min(hybrid_process_word(pm, table + RUBY_TABLE_BOUND), i + RUBY_MAX_VARIABLES);
	at = hybrid_process_word(pm, table + RUBY_TABLE_ENTRIES) + i * RUBY_TABLE_ENTRY;
	for (; table && i < end; i++, at += RUBY_TABLE_ENTRY) {
		u64 key = hybrid_process_word(pm, at + RUBY_ENTRY_KEY);

		if (ruby_symbols__text(symbols, pm, layout, key, text) && !strcmp(text, name))
			return hybrid_process_word(pm, at + RUBY_ENTRY_VALUE);
	}
	return 0;
}

static bool class_name(struct hybrid_process_memory *pm, const struct ruby_layout *layout,
		       const struct ruby_symbols *symbols, u64 class, char *out)
{
	u64 name;

	if (!ruby_is(pm, class, RUBY_CLASS) && !ruby_is(pm, class, RUBY_MODULE))
		return false;
	name = layout->walk.classpath ? hybrid_process_word(pm, class + layout->walk.classpath) :
		variable(pm, layout, symbols, class, "__classpath__");
	return ruby_text(pm, layout, name, out);
}

bool ruby_entry_name(struct hybrid_process_memory *pm, const struct ruby_layout *layout,
		     const struct ruby_symbols *symbols, u64 entry, char *out)
{
	u64 id = hybrid_process_word(pm, hybrid_process_word(pm, entry + RUBY_OWN) + RUBY_ID);
	u64 class = hybrid_process_word(pm, entry + RUBY_OWNER);
	u16 attached = layout->walk.attached;
	char name[RUBY_TEXT], of[RUBY_TEXT];
	bool is_own;

	if (!ruby_symbols__text(symbols, pm, layout, id, name))
		return false;
	is_own = hybrid_process_word(pm, class) & RUBY_SINGLETON && ruby_is(pm, class, RUBY_CLASS);
	if (is_own)
		class = attached ? hybrid_process_word(pm, class + attached) :
			variable(pm, layout, symbols, class, "__attached__");
	if (class_name(pm, layout, symbols, class, of))
		snprintf(out, RUBY_NAME, "%s%s%s", of, is_own ? "." : "#", name);
	else
		snprintf(out, RUBY_NAME, "%s", name);
	return true;
}
