// SPDX-License-Identifier: GPL-2.0
/*
 * Subs and statements of Perl: names, packages, files and lines, as 5.36 to 5.42 have them on
 * x86-64.
 */
#include <stdio.h>
#include <string.h>
#include <linux/kernel.h>
#include "perl-walk.h"
#include "perl-sub.h"

/* sv.h: of the flags of any value, what it is. */
#define SV_TYPE		0xff
#define TYPE_GV		9
#define TYPE_HV		12
#define TYPE_SUB	13
#define TYPE_FORMAT	14

/* cv.h: words of the body of a sub, and of its flags that it is code in C. */
#define SUB_WORDS	12
#define IS_IN_C		0x8

/* cop.h: in a statement: number of its package. */
#define COP_PACKAGE	40

/**
 * struct operation - the first part of a COP, and all of other operations
 * @next: what is run after it
 * @sibling: what is beside it
 * @code: address of its code
 * @target: of no use here
 * @type: the same
 * @line: of a COP
 */
struct operation {
	u64	next;
	u64	sibling;
	u64	code;
	u64	target;
	u32	type;
	u32	line;
};

/* What a sub may begin with before its first statement. */
#define MAX_STEPS	16
#define MAX_DEPTH	4

static u32 flags_of(struct hybrid_process_memory *pm, u64 addr)
{
	u32 flags;

	return addr &&
	       !hybrid_process_memory_read(pm, addr + PERL_SV_FLAGS, &flags, sizeof(flags)) ?
		flags : 0;
}

/* Two reads: it is done for each sub once a second. */
bool perl_sub__read(struct hybrid_process_memory *pm, u64 addr, struct perl_sub *sub)
{
	struct {
		u64	body;
		u32	references;
		u32	flags;
	} head;
	u64 words[SUB_WORDS];
	u32 type, flags;

	if (!addr || hybrid_process_memory_read(pm, addr, &head, sizeof(head)))
		return false;
	type = head.flags & SV_TYPE;
	if ((type != TYPE_SUB && type != TYPE_FORMAT) ||
	    hybrid_process_memory_read(pm, head.body, words, sizeof(words)))
		return false;
	flags = words[PERL_CV_FLAGS / sizeof(u64)] >> 32;
	*sub = (struct perl_sub) {
		.root = words[PERL_CV_ROOT / sizeof(u64)],
		.start = words[PERL_CV_START / sizeof(u64)],
		.named = words[PERL_CV_NAMED / sizeof(u64)],
		.stash = words[PERL_CV_STASH / sizeof(u64)],
		.file = words[PERL_CV_FILE / sizeof(u64)],
		.is_named = flags & PERL_CV_IS_NAMED,
	};
	return !(flags & IS_IN_C);
}

static bool read_name(struct hybrid_process_memory *pm, u64 name, char *out)
{
	s32 length;

	if (!name ||
	    hybrid_process_memory_read(pm, name + PERL_NAME_LENGTH, &length, sizeof(length)) ||
	    length <= 0)
		return false;
	length = min(length, PERL_TEXT - 1);
	if (hybrid_process_memory_read(pm, name + PERL_NAME_TEXT, out, length))
		return false;
	out[length] = 0;
	return *out;
}

static bool read_package(struct hybrid_process_memory *pm, u64 stash, char *out)
{
	u32 flags = flags_of(pm, stash);
	u64 body = hybrid_process_word(pm, stash);
	u64 name = hybrid_process_word(pm, body + PERL_HV_NAME);
	s32 nr;

	if ((flags & SV_TYPE) != TYPE_HV || !(flags & PERL_HV_HAS_NAME) ||
	    hybrid_process_memory_read(pm, body + PERL_HV_NR_NAMES, &nr, sizeof(nr)))
		return false;
	/* Several: the first one is what it was made as, if that is still one. */
	if (nr)
		name = hybrid_process_word(pm, name + (nr < 0 ? sizeof(name) : 0));
	return read_name(pm, name, out);
}

bool perl_sub__name(struct hybrid_process_memory *pm, const struct perl_sub *sub, char *out)
{
	char name[PERL_TEXT] = "__ANON__", package[PERL_TEXT];
	u64 stash = sub->stash, body;

	if (sub->is_named) {
		if (!read_name(pm, sub->named, name))
			return false;
	} else if (sub->named) {
		body = hybrid_process_word(pm, sub->named);
		if ((flags_of(pm, sub->named) & SV_TYPE) != TYPE_GV ||
		    !read_name(pm, hybrid_process_word(pm, body + PERL_GV_NAME), name))
			return false;
		stash = hybrid_process_word(pm, body + PERL_GV_STASH);
	}
	if (read_package(pm, stash, package))
		snprintf(out, PERL_NAME, "%s::%s", package, name);
	else
		snprintf(out, PERL_NAME, "%s", name);
	return true;
}

static bool read_operation(struct hybrid_process_memory *pm, u64 addr, struct operation *op)
{
	return addr && !hybrid_process_memory_read(pm, addr, op, sizeof(*op));
}

u32 perl_statement__line(struct hybrid_process_memory *pm, u64 statement, u64 nextstate)
{
	struct operation op;

	return read_operation(pm, statement, &op) && op.code == nextstate ? op.line : 0;
}

u32 perl_sub__line(struct hybrid_process_memory *pm, const struct perl_sub *sub, u64 nextstate)
{
	struct operation op = { .next = sub->start };
	unsigned int i;

	for (i = 0; i < MAX_STEPS && read_operation(pm, op.next, &op); i++) {
		if (op.code == nextstate && op.line)
			return op.line;
	}
	return 0;
}

u64 perl_root__statement(struct hybrid_process_memory *pm, u64 root, u64 nextstate)
{
	unsigned int i;
	u64 op = root;

	for (i = 0; i < MAX_DEPTH && op; i++) {
		op = hybrid_process_word(pm, op + PERL_OP_FIRST);
		if (perl_statement__line(pm, op, nextstate))
			return op;
	}
	return 0;
}

bool perl_statement__file(struct hybrid_process_memory *pm, u64 statement, u64 nextstate,
			  char *out)
{
	u64 file;

	if (!perl_statement__line(pm, statement, nextstate))
		return false;
	file = hybrid_process_word(pm, statement + PERL_COP_FILE);
	return file && !hybrid_process_memory_string(pm, file, out) && *out;
}

bool perl_statement__package(struct hybrid_process_memory *pm, u64 statement, u64 packages,
			     char *out)
{
	u64 number = hybrid_process_word(pm, statement + COP_PACKAGE);
	u64 all = hybrid_process_word(pm, packages);

	return number <= hybrid_process_word(pm, packages + sizeof(u64)) &&
	       read_package(pm, hybrid_process_word(pm, all + number * sizeof(u64)), out);
}

void perl_file_text(char *file)
{
	if (!strncmp(file, "(eval ", 6))
		snprintf(file, PERL_TEXT, "(eval)");
}
