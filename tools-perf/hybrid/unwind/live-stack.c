// SPDX-License-Identifier: GPL-2.0
/*
 * Frames between the end of the dump and the start of the thread.
 *
 * Where the function that the dump ends in has a frame that is larger than any dump, no
 * sample of the thread shows its caller. The process itself does, but later, when the
 * thread may be elsewhere: the same function may then be called by another, with its frame
 * in the same place. So what is read counts only where that can't be: the libc calls a
 * thread's first function once, and a function that makes one call and no jump calls
 * once for each time that it is called. A function that makes all calls with the same sp,
 * and one of them to the function in whose frame the dump ends, is the caller, too: what
 * others call has its frame further in.
 */
#include <linux/kernel.h>
#include "../rules/function.h"
#include "../rules/rows.h"
#include "call-check.h"
#include "live-stack.h"

/* Frames that are looked at; of them, those of libc's start, with the outermost. */
#define MAX_OUTER	8U
#define START_FRAMES	3U

/* And by who only wants to know what there may be. */
#define MAX_GUESSED	128U

/* Instructions of a function that makes one call; and of one that makes others, too. */
#define MAX_ONCE	64
#define MAX_AMONG	1024

/* What a walk over words of the process goes by. */
struct outer {
	struct hybrid_unwinder	*unwinder;
	struct hybrid_unwind	*u;
	struct hybrid_rule	 rule;
	u64			 sp;
	u64			 bp;
	bool			 bp_known;
};

static int read_word(const struct outer *o, u64 addr, u64 *value)
{
	const struct hybrid_unwind *u = o->u;

	if (!hybrid_unwind_read(u, addr, u->abi->word, value))
		return 0;
	return addr < u->dump_start || addr % u->abi->word ? -1 :
		hybrid_memory_read(o->unwinder->memory, u->space, u->pid, addr, u->abi->word,
				   value);
}

static struct hybrid_object *object_of(const struct outer *o, const struct hybrid_frame *frame)
{
	struct hybrid_object *object;
	bool mapped;

	hybrid_unwind_row(o->unwinder, o->u->space, frame->ip, &mapped, &object);
	return object;
}

/* Makes the caller of the last frame the last one. */
static bool step(struct outer *o)
{
	struct hybrid_unwind *u = o->u;
	struct hybrid_frame *frame = &u->frames[u->nr - 1];
	const struct hybrid_rule *rule = &o->rule;
	u64 cfa, ret, bp_at;

	if ((rule->kind != HYBRID_RULE_CFA && rule->kind != HYBRID_RULE_DEREF) ||
	    rule->base > HYBRID_BASE_BP || rule->signal ||
	    (rule->base == HYBRID_BASE_BP && !o->bp_known) || u->nr == u->max_frames)
		return false;
	cfa = (rule->base == HYBRID_BASE_BP ? o->bp : o->sp) + rule->cfa_off;
	if (rule->kind == HYBRID_RULE_DEREF && read_word(o, cfa, &cfa))
		return false;
	cfa += rule->deref_off;
	if (cfa <= o->sp || read_word(o, cfa + rule->ra_off, &ret) ||
	    hybrid_check_call(o->unwinder, u->space, u->pid, u->abi, ret, frame->ip) <
	    HYBRID_REACH_INDIRECT)
		return false;
	if (rule->bp != HYBRID_BP_SAME) {
		bp_at = (rule->bp == HYBRID_BP_AT_CFA ? cfa : o->bp) + rule->bp_off;
		o->bp_known = rule->bp != HYBRID_BP_UNDEFINED && !read_word(o, bp_at, &o->bp);
	}
	o->sp = cfa;
	frame->cfa = cfa;
	u->frames[u->nr++] = (struct hybrid_frame) { .ip = ret - 1, .ret = ret };
	return true;
}

/* Does the function that made the call before @ret make no other one, nor a jump? */
static bool calls_once(const struct outer *o, u64 ret)
{
	const struct hybrid_mapping *mapping = hybrid_space_find(o->u->space, ret - 1);
	u64 at = mapping ? hybrid_function_start(mapping, ret - 1) : 0;
	bool called = false;
	unsigned int i;

	for (i = 0; at && i < MAX_ONCE; i++) {
		switch (hybrid_memory_after(o->unwinder->memory, o->u->space, o->u->pid, o->u->abi,
					    at, &at)) {
		case HYBRID_EFFECT_NEXT:
			break;
		case HYBRID_EFFECT_CALL:
			if (called || at != ret)
				return false;
			called = true;
			break;
		case HYBRID_EFFECT_RETURN:
			return called;
		case HYBRID_EFFECT_SAME:
		default:
			return false;
		}
	}
	return false;
}

/* Is the CFA as far from sp at both calls? By their return addresses. */
static bool has_same_sp(const struct outer *o, u64 ret, u64 other)
{
	struct hybrid_object *object;
	struct hybrid_row *row;
	struct hybrid_rule rule;
	bool mapped;

	row = hybrid_unwind_row(o->unwinder, o->u->space, ret - 1, &mapped, &object);
	if (!row || row->rule.kind != HYBRID_RULE_CFA || row->rule.base != HYBRID_BASE_SP)
		return false;
	rule = row->rule;
	row = hybrid_unwind_row(o->unwinder, o->u->space, other - 1, &mapped, &object);
	return row && row->rule.kind == rule.kind && row->rule.base == rule.base &&
	       row->rule.cfa_off == rule.cfa_off;
}

/*
 * Does the function of frame @i call that of the frame inside it at one place, and all others with
 * the same sp? Both are in one file.
 */
static bool calls_at_one_place(const struct outer *o, unsigned int i)
{
	const struct hybrid_frame *frames = o->u->frames;
	const struct hybrid_mapping *mapping = hybrid_space_find(o->u->space, frames[i].ip);
	u64 at, next, after, target, start, bias;
	const struct hybrid_arch *arch = o->u->abi->arch;
	const struct hybrid_fde *fde;
	struct hybrid_code code;
	unsigned int nr = 0;
	bool found = false;

	start = mapping ? hybrid_function_start(mapping, frames[i - 1].ip) : 0;
	if (!start || !hybrid_mapping_bias(mapping, &bias))
		return false;
	code = hybrid_object_code(mapping->object);
	fde = hybrid_function_fde(mapping, frames[i].ip - bias);
	for (at = fde ? fde->start : 0; fde && at < fde->end; at = next) {
		target = arch->jump(&code, at, &next);
		if (!next || ++nr > MAX_AMONG ||
		    (target && (target < fde->start || target >= fde->end)))
			return false;
		if (arch->after(&code, at, &after) != HYBRID_EFFECT_CALL)
			continue;
		target = arch->call_target(&code, next);
		if (!target || !has_same_sp(o, frames[i].ret, next + bias) ||
		    (target + bias == start && (found || next + bias != frames[i].ret)))
			return false;
		found |= target + bias == start;
	}
	return found;
}

/*
 * Are the frames from @from on libc's start of the thread, and before that functions that
 * call once, or from one place? libc's are of one object, but for a program's own outermost frame.
 */
static bool is_start(const struct outer *o, unsigned int from)
{
	const struct hybrid_frame *frames = o->u->frames;
	unsigned int first = o->u->nr - 2;
	struct hybrid_object *libc;

	if (first < from)
		return false;
	libc = object_of(o, &frames[first]);
	while (first > from && object_of(o, &frames[first - 1]) == libc)
		first--;
	if (!libc || o->u->nr - first > START_FRAMES || object_of(o, &frames[first - 1]) == libc)
		return false;
	/* Which function the dump ends in is known; what the others had called was read later. */
	if (from < first && calls_at_one_place(o, from))
		from++;
	for (; from < first; from++) {
		if (!calls_once(o, frames[from].ret))
			return false;
	}
	return true;
}

static bool follow(struct outer *o)
{
	struct hybrid_unwind *u = o->u;
	unsigned int i, from = u->nr;
	struct hybrid_object *object;
	struct hybrid_row *row;
	bool mapped;

	for (i = 0; i < MAX_OUTER && step(o); i++) {
		row = hybrid_unwind_row(o->unwinder, u->space, u->frames[u->nr - 1].ip, &mapped,
					&object);
		if (!row)
			return false;
		if (row->rule.kind == HYBRID_RULE_OUTERMOST)
			return is_start(o, from);
		o->rule = row->rule;
	}
	return false;
}

bool hybrid_live_stack_follow(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u)
{
	struct outer o = {
		.unwinder = unwinder, .u = u, .rule = u->rule, .sp = u->sp, .bp = u->bp,
		.bp_known = u->bp_known,
	};
	unsigned int nr = u->nr;
	u64 cfa = u->frames[nr - 1].cfa;

	if (u->pid <= 0 || u->overwritten || u->sure < nr)
		return false;
	if (follow(&o)) {
		u->sure = u->nr;
		return true;
	}
	u->nr = nr;
	u->frames[nr - 1].cfa = cfa;
	return false;
}

/* What leads from the last frame to its caller, where there is no CFI. */
static const struct hybrid_rule *code_rule(const struct outer *o, struct hybrid_row *row)
{
	u64 ret = o->u->frames[o->u->nr - 1].ret;
	const struct hybrid_mapping *mapping = hybrid_space_find(o->u->space, ret);

	return row->rule.kind == HYBRID_RULE_NONE && mapping && mapping->object ?
		hybrid_object_code_rule(row, mapping, ret) : &row->rule;
}

/* A register that only the innermost frame has: where it is above sp. */
static void add_register(struct outer *o)
{
	const struct hybrid_unwind *u = o->u;
	unsigned int reg = o->rule.base - HYBRID_BASE_REG;
	s64 off;

	if (o->rule.base < HYBRID_BASE_REG || u->nr > 1 || reg >= u->abi->nr ||
	    !(u->regs.known & (1U << reg)))
		return;
	off = u->regs.value[reg] + o->rule.cfa_off - o->sp;
	if (off != (s32)off)
		return;
	o->rule.base = HYBRID_BASE_SP;
	o->rule.cfa_off = off;
}

static void guess(struct outer *o)
{
	struct hybrid_unwind *u = o->u;
	unsigned int i;
	struct hybrid_object *object;
	struct hybrid_row *row;
	bool mapped;

	for (i = 0; i < MAX_GUESSED; i++) {
		row = hybrid_unwind_row(o->unwinder, u->space, u->frames[u->nr - 1].ip, &mapped,
					&object);
		if (!row)
			return;
		o->rule = *code_rule(o, row);
		add_register(o);
		if (!step(o))
			return;
	}
}

unsigned int hybrid_live_stack_guess(struct hybrid_unwinder *unwinder, struct hybrid_unwind *u)
{
	struct outer o = {
		.unwinder = unwinder, .u = u, .sp = u->sp, .bp = u->bp, .bp_known = u->bp_known,
	};
	unsigned int nr = u->nr, guessed;
	u64 cfa = u->frames[nr - 1].cfa;

	if (u->pid <= 0 || u->overwritten || !u->dump_size)
		return 0;
	guess(&o);
	guessed = u->nr - nr;
	u->nr = nr;
	u->frames[nr - 1].cfa = cfa;
	return guessed;
}
