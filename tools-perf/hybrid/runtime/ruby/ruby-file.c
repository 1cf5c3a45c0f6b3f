// SPDX-License-Identifier: GPL-2.0
/*
 * CRuby by its file alone. Most of what is needed has no symbol: the code of exported functions
 * shows where it is.
 */
#include <string.h>
#include <linux/kernel.h>
#include "../../rules/symbol.h"
#include "ruby-file.h"

/* Bytes of ruby_version that are read: "3.1.2", and what is behind it. */
#define VERSION		8

/* Bytes of a function that are looked through. */
#define MAX_CODE	128

/* Instructions before the jump with which rb_id2str() ends. */
#define MAX_INSNS	16

/* The first number of a name that a file may have: id.h has less than so many. */
#define MAX_NUMBER	1024

/* What the last 4 bytes of an operand refer to that counts from the next instruction. */
static u64 refers_to(u64 code, const u8 *bytes, unsigned int at)
{
	s32 offset;

	memcpy(&offset, bytes + at, sizeof(offset));
	return code + at + sizeof(offset) + offset;
}

/* "data16 lea WORDS(%rip), %rdi", as ELF Handling For Thread-Local Storage has it; 0: none. */
static u64 find_words(u64 code, const u8 *bytes, size_t size)
{
	static const u8 lea[] = { 0x66, 0x48, 0x8d, 0x3d };
	const u8 *found = memmem(bytes, size - sizeof(s32), lea, sizeof(lea));

	return found ? refers_to(code, bytes, found - bytes + sizeof(lea)) : 0;
}

/**
 * struct form - how code of a program reads a variable of a thread
 * @before: bytes before an offset of 32 bits
 * @nr_before: number of @before
 * @after: bytes after it
 * @nr_after: number of @after
 */
struct form {
	u8	before[12];
	size_t	nr_before;
	u8	after[3];
	size_t	nr_after;
};

/* The last two are what linkers make of other models, as ELF Handling For TLS has it. */
static const struct form forms[] = {
	/* mov %fs:OFFSET, %rax */
	{ { 0x64, 0x48, 0x8b, 0x04, 0x25 }, 5, {}, 0 },
	/* mov $OFFSET, %rax; mov %fs:(%rax), REGISTER */
	{ { 0x48, 0xc7, 0xc0 }, 3, { 0x64, 0x48, 0x8b }, 3 },
	/* mov %fs:0, %rax; lea OFFSET(%rax), %rax */
	{ { 0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0, 0x48, 0x8d, 0x80 }, 12, {}, 0 },
};

/* Variables are below what %fs is. 0: none. */
static s32 find_form(const struct form *form, const u8 *bytes, size_t size)
{
	s32 offset;
	size_t i;

	for (i = 0; i + form->nr_before + sizeof(offset) + form->nr_after <= size; i++) {
		memcpy(&offset, bytes + i + form->nr_before, sizeof(offset));
		if (offset < 0 && !memcmp(bytes + i, form->before, form->nr_before) &&
		    !memcmp(bytes + i + form->nr_before + sizeof(offset), form->after,
			    form->nr_after))
			return offset;
	}
	return 0;
}

/* ruby_current_ec, by the code of rb_thread_current(). */
static bool find_variable(struct ruby_file *file, const struct hybrid_object *object)
{
	u64 code = hybrid_object_symbol(object, "rb_thread_current");
	u8 bytes[MAX_CODE / 2];
	unsigned int i;

	if (!hybrid_object_bytes(object, code, bytes, sizeof(bytes)))
		return false;
	file->data = find_words(code, bytes, sizeof(bytes));
	if (file->data)
		return true;
	file->data = hybrid_object_symbol(object, "ruby_version");
	for (i = 0; i < ARRAY_SIZE(forms) && !file->variable; i++)
		file->variable = find_form(&forms[i], bytes, sizeof(bytes));
	return file->variable;
}

/* Is it ruby_global_symbols, of symbol.c, as the file has it: the last number, and nothing else? */
static bool is_table(const struct hybrid_object *object, u64 vaddr)
{
	u64 words[4];

	return hybrid_object_bytes(object, vaddr, words, sizeof(words)) &&
	       words[0] >= RUBY_LAST_OPERATOR && words[0] < MAX_NUMBER && !words[1] && !words[2] &&
	       !words[3];
}

/* The function reads the table's first word, and its array. */
static u64 find_table(const struct hybrid_object *object, u64 code)
{
	u8 bytes[MAX_CODE];
	unsigned int i, j;
	u64 table;

	if (!hybrid_object_bytes(object, code, bytes, sizeof(bytes)))
		return 0;
	/* Before the 4 bytes is the one that says that they count from there. */
	for (i = 1; i + sizeof(s32) <= sizeof(bytes); i++) {
		table = refers_to(code, bytes, i);
		if ((bytes[i - 1] & 0xc7) != 0x05 || !is_table(object, table))
			continue;
		for (j = i + 1; j + sizeof(s32) <= sizeof(bytes); j++) {
			if ((bytes[j - 1] & 0xc7) == 0x05 &&
			    refers_to(code, bytes, j) == table + RUBY_SYMBOLS_ARRAY)
				return table;
		}
	}
	return 0;
}

/* rb_id2str() does it itself, or ends with a jump to what does. */
static u64 find_symbols(const struct hybrid_object *object)
{
	u64 at = hybrid_object_symbol(object, "rb_id2str"), next, target, table;
	struct hybrid_code code = hybrid_object_code(object);
	unsigned int i;

	table = at ? find_table(object, at) : 0;
	for (i = 0; at && !table && i < MAX_INSNS; i++, at = next) {
		target = object->cfi.abi->arch->jump(&code, at, &next);
		if (!next)
			break;
		table = target ? find_table(object, target) : 0;
	}
	return table;
}

bool ruby_file__read(struct ruby_file *file, const struct hybrid_object *object)
{
	char version[VERSION + 1] = "";

	memset(file, 0, sizeof(*file));
	if (!hybrid_object_constant(object, "ruby_version", version, VERSION))
		return false;
	file->layout = ruby_layout__find(version);
	if (!file->layout || !find_variable(file, object))
		return false;
	file->symbols = find_symbols(object);
	return true;
}

void ruby_file__walk(const struct ruby_file *file, struct hybrid_walk_ruby *walk)
{
	s64 symbols = file->symbols - file->data;

	*walk = file->layout->walk;
	walk->variable = file->variable;
	walk->symbols = file->symbols && symbols == (s32)symbols ? symbols : 0;
}
