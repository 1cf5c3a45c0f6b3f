// SPDX-License-Identifier: GPL-2.0
/*
 * Names of methods, with the class.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <linux/kernel.h>
#include "method-name.h"

/* Classes in classes, and variables of a class, that are looked at. */
#define MAX_DEPTH	8
#define MAX_VARIABLES	32

/* Of a class's first word: it has the methods of one object. */
#define SINGLETON	0x1000

/* 3.1: in a class; in what has more of it; in the table of variables, and in its entries. */
#define CLASS_MORE	24
#define MORE_VARIABLES	8
#define TABLE_START	32
#define TABLE_BOUND	40
#define TABLE_ENTRIES	48
#define TABLE_ENTRY	24
#define ENTRY_KEY	8
#define ENTRY_VALUE	16

/* The class that a body is of: the X of "<class:X>" or "<module:X>". */
static bool class_of_label(char *label, const char **class)
{
	size_t length = strlen(label);

	if (label[length - 1] != '>')
		return false;
	if (!strncmp(label, "<class:", 7))
		*class = label + 7;
	else if (!strncmp(label, "<module:", 8))
		*class = label + 8;
	else
		return false;
	label[length - 1] = 0;
	return true;
}

/* Puts the classes that code is in before what @out has. */
static void put_classes(struct hybrid_process_memory *pm, const struct ruby_layout *layout,
			u64 body, char *out)
{
	u64 code = ruby_word(pm, body + layout->local);
	char label[RUBY_TEXT], text[RUBY_NAME];
	const char *class;
	unsigned int i;

	for (i = 0; i < MAX_DEPTH && ruby_is(pm, code, RUBY_CODE); i++) {
		body = ruby_word(pm, code + RUBY_OWN);
		code = ruby_word(pm, body + layout->parent);
		if (!ruby_is(pm, code, RUBY_CODE) ||
		    !ruby_text(pm, layout, ruby_word(pm, ruby_word(pm, code + RUBY_OWN) +
						     RUBY_LABEL), label))
			return;
		if (!strcmp(label, "singleton class"))
			continue;
		if (!class_of_label(label, &class) ||
		    snprintf(text, sizeof(text), "%s::%s", class, out) >= (int)sizeof(text))
			return;
		strcpy(out, text);
	}
}

/* "<main>" or "<class:Foo>", and not "<=>". */
static bool is_no_method(const char *label)
{
	return label[0] == '<' && isalpha((unsigned char)label[1]);
}

bool ruby_code_name(struct hybrid_process_memory *pm, const struct ruby_layout *layout, u64 body,
		    char *out)
{
	char label[RUBY_TEXT], base[RUBY_TEXT], qualified[RUBY_NAME];
	size_t length, of_base;

	if (!ruby_text(pm, layout, ruby_word(pm, body + RUBY_LABEL), label))
		return false;
	strcpy(out, label);
	if (!ruby_text(pm, layout, ruby_word(pm, body + RUBY_BASE_LABEL), base) ||
	    is_no_method(base))
		return true;
	length = strlen(label);
	of_base = strlen(base);
	if (of_base > length || strcmp(label + length - of_base, base))
		return true;
	strcpy(qualified, base);
	put_classes(pm, layout, body, qualified);
	snprintf(out, RUBY_NAME, "%.*s%s", (int)(length - of_base), label, qualified);
	return true;
}

/* What a class's variable has, in 3.1; 0: none. */
static u64 variable(struct hybrid_process_memory *pm, const struct ruby_layout *layout,
		    const struct ruby_symbols *symbols, u64 class, const char *name)
{
	u64 table = ruby_word(pm, ruby_word(pm, class + CLASS_MORE) + MORE_VARIABLES), i, end, at;
	char text[RUBY_TEXT];

	i = ruby_word(pm, table + TABLE_START);
	end = min(ruby_word(pm, table + TABLE_BOUND), i + MAX_VARIABLES);
	at = ruby_word(pm, table + TABLE_ENTRIES) + i * TABLE_ENTRY;
	for (; table && i < end; i++, at += TABLE_ENTRY) {
		if (ruby_symbols__text(symbols, pm, layout, ruby_word(pm, at + ENTRY_KEY), text) &&
		    !strcmp(text, name))
			return ruby_word(pm, at + ENTRY_VALUE);
	}
	return 0;
}

static bool class_name(struct hybrid_process_memory *pm, const struct ruby_layout *layout,
		       const struct ruby_symbols *symbols, u64 class, char *out)
{
	u64 name;

	if (!ruby_is(pm, class, RUBY_CLASS) && !ruby_is(pm, class, RUBY_MODULE))
		return false;
	name = layout->classpath ? ruby_word(pm, class + layout->classpath) :
		variable(pm, layout, symbols, class, "__classpath__");
	return ruby_text(pm, layout, name, out);
}

bool ruby_entry_name(struct hybrid_process_memory *pm, const struct ruby_layout *layout,
		     const struct ruby_symbols *symbols, u64 entry, char *out)
{
	u64 id = ruby_word(pm, ruby_word(pm, entry + RUBY_OWN) + RUBY_ID);
	u64 class = ruby_word(pm, entry + RUBY_OWNER);
	char name[RUBY_TEXT], of[RUBY_TEXT];
	bool is_own;

	if (!ruby_symbols__text(symbols, pm, layout, id, name))
		return false;
	is_own = ruby_word(pm, class) & SINGLETON && ruby_is(pm, class, RUBY_CLASS);
	if (is_own)
		class = layout->attached ? ruby_word(pm, class + layout->attached) :
			variable(pm, layout, symbols, class, "__attached__");
	if (class_name(pm, layout, symbols, class, of))
		snprintf(out, RUBY_NAME, "%s%s%s", of, is_own ? "." : "#", name);
	else
		strcpy(out, name);
	return true;
}
