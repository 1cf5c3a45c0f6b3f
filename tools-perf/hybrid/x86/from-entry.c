// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the frame of an address by a way from the beginning of its function.
 */
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <asm/insn.h>
#include "flow.h"
#include "from-entry.h"
#include "x86_frame_scan.h"

/* How far before the address a function may begin, in bytes. */
#define REACH		8192

/* And how far behind that a way may go, which comes back. */
#define FURTHER		4096

/* Of these the nearest ones are tried: what looks like one may be within the function. */
#define MAX_ENTRIES	2

/* Bytes that are read at once, less than a page. */
#define PART		256

#define MAX_INSNS	1024
#define MAX_BLOCKS	64
#define MAX_TODO	32

#define WORD		8

/**
 * struct place - where a way goes on
 * @addr: of the next instruction
 * @path: sp and bp there, from where they were at the beginning
 */
struct place {
	u64		addr;
	struct x86_path	path;
};

/**
 * struct way - the ways from the beginning of a function
 * @mem: reads the code
 * @ip: where one of them has to come to
 * @entry: the beginning
 * @insns: that were looked at
 * @todo: where ways go on
 * @nr_todo: number of @todo
 * @blocks: where blocks began that were followed
 * @nr_blocks: number of @blocks
 */
struct way {
	const struct x86_frame_mem	*mem;
	u64				 ip;
	u64				 entry;
	unsigned int			 insns;
	struct place			 todo[MAX_TODO];
	unsigned int			 nr_todo;
	u64				 blocks[MAX_BLOCKS];
	unsigned int			 nr_blocks;
};

static void add_todo(struct way *way, u64 addr, const struct x86_path *path)
{
	unsigned int i;

	/* Not to other functions. */
	if (addr < way->entry || addr - way->entry >= REACH + FURTHER)
		return;
	for (i = 0; i < way->nr_blocks; i++) {
		if (way->blocks[i] == addr)
			return;
	}
	if (way->nr_todo == MAX_TODO || way->nr_blocks == MAX_BLOCKS)
		return;
	way->blocks[way->nr_blocks++] = addr;
	way->todo[way->nr_todo++] = (struct place) { .addr = addr, .path = *path };
}

/* What begins nearest before the address. */
static struct place next_todo(struct way *way)
{
	unsigned int i, best = way->nr_todo - 1;
	struct place place;

	for (i = way->nr_todo; i--;) {
		if (way->ip - way->todo[i].addr < way->ip - way->todo[best].addr)
			best = i;
	}
	place = way->todo[best];
	way->todo[best] = way->todo[--way->nr_todo];
	return place;
}

/* One instruction; false: the way ends. */
static bool step(struct way *way, struct place *place)
{
	u8 bytes[MAX_INSN_SIZE];
	struct x86_code code;
	enum x86_step step;
	struct insn insn;
	s32 target = 0;

	if (way->insns++ >= MAX_INSNS || !hybrid_decode_insn(way->mem, place->addr, &insn) ||
	    hybrid_flow_fetch(way->mem, place->addr, bytes, insn.length) < insn.length)
		return false;
	place->addr += insn.length;
	if (insn.vex_prefix.nbytes)
		return true;
	if (!x86_frame_decode(&insn, bytes, insn.length, true, &code) || hybrid_is_call(&code))
		return false;
	step = x86_frame_step(&code, &place->path, &target);
	/* The return address is in a register: V8 puts arguments below it so. */
	if (place->path.sp_base == X86_BASE_SP && place->path.sp > 0)
		return false;
	if (step == X86_STEP_JUMP || step == X86_STEP_BRANCH)
		add_todo(way, place->addr + target, &place->path);
	return step == X86_STEP_NEXT || step == X86_STEP_BRANCH;
}

/* Does a way come from @entry to the address? @path: out. */
static bool comes_to(struct way *way, u64 entry, struct x86_path *path)
{
	const struct x86_path begin = { .sp_base = X86_BASE_SP, .bp_kind = X86_BP_SAME };
	struct place place;

	way->entry = entry;
	way->nr_todo = 0;
	way->nr_blocks = 0;
	add_todo(way, entry, &begin);
	while (way->nr_todo) {
		place = next_todo(way);
		do {
			if (place.addr == way->ip) {
				*path = place.path;
				return true;
			}
		} while (step(way, &place));
	}
	return false;
}

bool hybrid_path_rule(const struct x86_path *path, struct hybrid_rule *rule)
{
	bool saved = path->saved && path->save_kind == X86_BP_SAME;

	if (path->sp_base != X86_BASE_SP || path->sp > 0 ||
	    (path->bp_kind != X86_BP_SAME && !saved))
		return false;
	*rule = (struct hybrid_rule) {
		.kind = HYBRID_RULE_CFA, .base = HYBRID_BASE_SP,
		.bp = path->bp_kind == X86_BP_SAME ? HYBRID_BP_SAME : HYBRID_BP_AT_CFA,
		.cfa_off = WORD - path->sp * WORD, .ra_off = -WORD,
		.bp_off = saved ? path->save * WORD - WORD : 0,
	};
	return true;
}

bool hybrid_is_padding(const u8 *code)
{
	static const u8 padding[HYBRID_ENTRY_PADDING] = { 0xcc, 0xcc, 0xcc, 0xcc };

	return !memcmp(code, padding, sizeof(padding));
}

/*
 * The next beginning of a function, from @from downwards; 0: none. A part of the code is read at
 * once, as this is asked for each address that the analysis can't answer.
 */
static u64 entry_before(const struct x86_frame_mem *mem, u64 ip, u64 from, unsigned int *took)
{
	u64 base, entry = from & ~(HYBRID_ENTRY_ALIGN - 1ULL);
	u8 bytes[PART];

	while (entry && ip - entry < REACH) {
		base = (entry - 1) & ~(PART - 1ULL);
		*took += 1;
		if (mem->read(mem->ctx, base, bytes, sizeof(bytes)))
			return 0;
		for (; entry > base; entry -= HYBRID_ENTRY_ALIGN) {
			if (hybrid_is_padding(bytes + (entry - base) - HYBRID_ENTRY_PADDING))
				return ip - entry < REACH ? entry : 0;
		}
	}
	return 0;
}

bool hybrid_from_entry_rule(const struct x86_frame_mem *mem, u64 ip, struct hybrid_rule *rule,
			    unsigned int *took)
{
	struct way way = { .mem = mem, .ip = ip };
	struct x86_path path;
	bool found = false;
	unsigned int i;
	u64 entry = ip;

	*took = 0;
	for (i = 0; mem->is_64bit && i < MAX_ENTRIES && !found; i++) {
		entry = entry_before(mem, ip, entry, took);
		if (!entry)
			break;
		found = comes_to(&way, entry, &path);
		entry -= HYBRID_ENTRY_ALIGN;
	}
	*took += way.insns;
	return found && hybrid_path_rule(&path, rule);
}
