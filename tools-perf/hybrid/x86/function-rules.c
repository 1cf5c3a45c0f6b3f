// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the frames of all instructions of functions by ways from their beginnings.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <asm/insn.h>
#include "callers-frame.h"
#include "flow.h"
#include "frame-pointer.h"
#include "from-entry.h"
#include "function-rules.h"
#include "x86_frame_scan.h"

/* How far before and behind the code functions are followed, in bytes. */
#define AROUND		8192

/* Bytes that are read at once: no read crosses a page. */
#define PART		256

/* Ways of a function that are to be followed. */
#define MAX_TODO	256

#define INT3		0xcc
#define NOP		0x90
#define LONG_NOP	0x1f

/* Of an instruction that a way has come to, for which it has no rule. */
#define NO_RULE		(HYBRID_CODE_UNUSED - 1)

/**
 * struct way - what is to be followed
 * @at: index of the next instruction in the code
 * @path: sp and bp there, from where they were at the beginning
 */
struct way {
	u32		at;
	struct x86_path	path;
};

/**
 * struct functions - code whose functions are followed
 * @rules: what is found
 * @base: address of the first byte of @code
 * @code: the bytes
 * @begins: for each byte: the number of the rule of the instruction that begins there
 * @lengths: the same: bytes of that instruction
 * @size: bytes of @code that could be read, without those that the decoder may need behind them
 * @from: index of the function that is followed
 * @to: index behind it
 * @todo: its ways
 * @nr_todo: number of @todo
 * @insns: instructions that were looked at
 * @mem: reads the code
 * @differs: two ways have come to one instruction with frames that differ
 */
struct functions {
	struct hybrid_code_rules	*rules;
	u64				 base;
	u8				*code;
	u8				*begins;
	u8				*lengths;
	u32				 size;
	u32				 from;
	u32				 to;
	struct way			 todo[MAX_TODO];
	unsigned int			 nr_todo;
	unsigned int			 insns;
	const struct x86_frame_mem	*mem;
	bool				 differs;
};

/* The number of a rule; 0: there are too many. */
static u8 number_of(struct hybrid_code_rules *rules, const struct hybrid_rule *rule)
{
	unsigned int i;

	for (i = rules->nr; i--;) {
		if (!memcmp(&rules->rules[i], rule, sizeof(*rule)))
			return i + 1;
	}
	if (rules->nr == HYBRID_CODE_RULES)
		return 0;
	rules->rules[rules->nr++] = *rule;
	return rules->nr;
}

/* Does bp point to where the function has saved its caller's bp, below the return address? */
static bool has_frame(const struct x86_path *path)
{
	return path->bp_kind == X86_BP_VALUE && path->bp_base == X86_BASE_SP && path->bp == -1 &&
	       path->saved && path->save_kind == X86_BP_SAME && path->save == -1;
}

static u8 rule_at(struct functions *f, const struct x86_path *path)
{
	struct hybrid_rule rule = hybrid_rule_frame_pointer(sizeof(u64));

	return (has_frame(path) || hybrid_path_rule(path, &rule) ?
		number_of(f->rules, &rule) : 0) ?: NO_RULE;
}

static void add_todo(struct functions *f, s64 at, const struct x86_path *path)
{
	/* Another function is called by the jump. */
	if (at >= f->from && at < f->to && f->nr_todo < MAX_TODO &&
	    (!f->begins[at] || f->begins[at] >= NO_RULE))
		f->todo[f->nr_todo++] = (struct way) { .at = at, .path = *path };
}

/* A call to the next instruction only pushes its address. */
static bool is_call(const struct x86_code *code)
{
	return hybrid_is_call(code) && (code->op != 0xe8 || code->imm);
}

/*
 * Functions of JavaScript take their arguments off the stack. So sp is not known behind a call, but
 * that does not matter if bp points to the frame.
 */
static bool step_call(struct x86_path *path)
{
	path->sp_base = X86_BASE_NONE;
	return has_frame(path);
}

/* One instruction; false: the way ends. */
static bool step(struct functions *f, struct way *way)
{
	struct x86_code code;
	enum x86_step step;
	struct insn insn;
	s32 target = 0;

	f->insns++;
	if (!x86_frame_decode(&insn, f->code + way->at, MAX_INSN_SIZE, true, &code))
		return false;
	f->lengths[way->at] = insn.length;
	way->at += insn.length;
	if (is_call(&code))
		return step_call(&way->path);
	if (insn.vex_prefix.nbytes) {
		if (hybrid_vex_sets_bp(&insn))
			way->path.bp_kind = X86_BP_LOST;
		return true;
	}
	step = x86_frame_step(&code, &way->path, &target);
	/* The return address is not where it was, as in step() of from-entry.c. */
	if (way->path.sp_base == X86_BASE_SP && way->path.sp > 0)
		return false;
	/* It leaves a frame that it has not made: others jump to it with theirs. */
	if (way->path.sp_base == X86_BASE_BP) {
		f->differs = true;
		return false;
	}
	if (step == X86_STEP_JUMP || step == X86_STEP_BRANCH)
		add_todo(f, (s64)way->at + target, &way->path);
	return step == X86_STEP_NEXT || step == X86_STEP_BRANCH;
}

static bool is_nop(const struct x86_code *code)
{
	return (code->map == X86_MAP_ONE && (code->op == NOP || code->op == INT3)) ||
	       (code->map == X86_MAP_0F && code->op == LONG_NOP);
}

/* What fills up the code behind a jump, so that the target of another one is aligned. */
static void skip_padding(struct functions *f, u32 at)
{
	struct x86_code code;
	struct insn insn;

	while (at < f->to && !f->begins[at] &&
	       x86_frame_decode(&insn, f->code + at, MAX_INSN_SIZE, true, &code) &&
	       is_nop(&code)) {
		f->begins[at] = HYBRID_CODE_UNUSED;
		f->lengths[at] = insn.length;
		at += insn.length;
	}
}

/* Follows a way until it ends, or comes to what is known. */
static void follow(struct functions *f, struct way *way)
{
	u8 number, known;
	u32 at;

	do {
		at = way->at;
		number = rule_at(f, &way->path);
		known = f->begins[at];
		if (known && known < NO_RULE) {
			f->differs |= number != known && number != NO_RULE;
			return;
		}
		/* It was come to, and is again, with no rule. */
		if (known == number)
			return;
		f->begins[at] = number;
		if (!step(f, way)) {
			skip_padding(f, way->at);
			return;
		}
	} while (way->at < f->to);
}

/* Puts the rules of the function's instructions where they are asked for. */
static void put_rules(struct functions *f)
{
	struct hybrid_code_rules *rules = f->rules;
	u64 i = f->base + f->from - rules->start;
	u32 at, end = 0;
	u8 number = 0;

	for (at = f->from; at < f->to; at++, i++) {
		if (f->begins[at]) {
			number = f->begins[at] == NO_RULE ? 0 : f->begins[at];
			end = at + f->lengths[at];
		}
		if (at < end && i < rules->size)
			rules->at[i] = number;
	}
}

static void follow_function(struct functions *f)
{
	const struct x86_path begin = { .sp_base = X86_BASE_SP, .bp_kind = X86_BP_SAME };
	unsigned int took;
	struct way way;

	f->nr_todo = 0;
	f->differs = false;
	if (!hybrid_makes_callers_frame(f->mem, f->base + f->from, &took))
		add_todo(f, f->from, &begin);
	f->insns += took;
	while (f->nr_todo) {
		way = f->todo[--f->nr_todo];
		follow(f, &way);
	}
	if (!f->differs)
		put_rules(f);
}

/* The next beginning of a function from index @at on; @f->size: there is none. */
static u32 next_entry(const struct functions *f, u32 at)
{
	u64 addr = (f->base + at + HYBRID_ENTRY_ALIGN - 1) & ~(HYBRID_ENTRY_ALIGN - 1ULL);

	for (; addr - f->base < f->size; addr += HYBRID_ENTRY_ALIGN) {
		at = addr - f->base;
		if (at >= HYBRID_ENTRY_PADDING && f->code[at] != INT3 &&
		    hybrid_is_padding(f->code + at - HYBRID_ENTRY_PADDING))
			return at;
	}
	return f->size;
}

static void follow_all(struct functions *f)
{
	u32 from = next_entry(f, 0), to;

	for (; from < f->size; from = to) {
		to = next_entry(f, from + 1);
		if (f->base + to <= f->rules->start)
			continue;
		if (f->base + from >= f->rules->start + f->rules->size)
			return;
		f->from = from;
		f->to = to;
		follow_function(f);
	}
}

/* Reads from @base on, to @end at most. */
static void read_code(struct functions *f, const struct x86_frame_mem *mem, u64 end)
{
	u64 addr = f->base, size;

	while (addr < end) {
		size = min_t(u64, PART - addr % PART, end - addr);
		if (mem->read(mem->ctx, addr, f->code + (addr - f->base), size))
			break;
		addr += size;
	}
	f->size = addr - f->base;
}

unsigned int hybrid_function_rules(const struct x86_frame_mem *mem, u64 first,
				   struct hybrid_code_rules *rules)
{
	u64 base = max(first, rules->start - min_t(u64, rules->start, AROUND));
	u64 size = rules->start - base + rules->size + AROUND;
	struct functions *f = calloc(1, sizeof(*f));
	unsigned int insns = 0;

	rules->at = calloc(1, rules->size);
	if (f && rules->at && mem->is_64bit) {
		f->rules = rules;
		f->mem = mem;
		f->base = base;
		f->code = calloc(1, size + MAX_INSN_SIZE);
		f->begins = calloc(1, size);
		f->lengths = calloc(1, size);
		if (f->code && f->begins && f->lengths) {
			read_code(f, mem, base + size);
			follow_all(f);
		}
		insns = f->insns;
		free(f->code);
		free(f->begins);
		free(f->lengths);
	}
	free(f);
	return insns;
}
