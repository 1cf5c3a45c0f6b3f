/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_FRAME_BPF_H
#define __HYBRID_FRAME_BPF_H

/*
 * From a frame to its caller, by the rule for its address and the words of the stack.
 *
 * What few frames need is in global functions. The verifier looks at such a function once. At what
 * is inline, or static, it looks again for each way that leads there. Global functions are given
 * the state as memory of which nothing is known. Keys of maps are on their stack, as Linux 6.1
 * takes no other memory.
 */
#include "interpreter.bpf.h"
#include "mapping.bpf.h"
#include "signal-frame.h"
#include "stack.bpf.h"
/* Behind interpreter.bpf.h: that includes the list, too, which must not include itself. */
#define HYBRID_LANGUAGES_BPF
#include "../runtime/languages.h"

/* The row of an offset in the block at @at of the table; 0 for none. */
__noinline __u64 search_row(struct state *st, __u64 at, __u32 in_block)
{
	__u64 rows, *chunk;
	__u32 nr, step;

	if (!st)
		return 0;
	chunk = table_chunk(at);
	if (!chunk)
		return 0;
	rows = word_of(chunk, at);
	nr = rows >> 32;
	if (!nr)
		return 0;
	/* A block's rows are in one chunk. */
	chunk = table_chunk((__u32)rows);
	if (!chunk)
		return 0;
	st->at = 0;
	for (step = HYBRID_WALK_BLOCK / 2; step; step /= 2) {
		if (st->at + step < nr &&
		    HYBRID_WALK_OFFSET(word_of(chunk, rows + st->at + step)) <= in_block)
			st->at += step;
	}
	return word_of(chunk, rows + st->at);
}

/*
 * The row of an address; 0 for none. Most samples come through addresses that samples before
 * them came through: of these the row is kept.
 */
static __always_inline __u64 find_row(struct state *st, __u64 addr)
{
	__u64 offset, block, place;
	__u32 in_block, slot;

	if (!find_mapping(st, addr))
		return 0;
	offset = addr + st->now.shift;
	block = offset >> HYBRID_WALK_BLOCK_BITS;
	if (block >= st->now.head >> 32)
		return 0;
	block += (__u32)st->now.head;
	in_block = offset & (HYBRID_WALK_BLOCK - 1);
	place = st->changes | block << HYBRID_WALK_BLOCK_BITS | in_block;
	slot = place * 0x9e3779b97f4a7c15ULL >> (64 - ROW_BITS);
	if (st->rows[slot].place != place) {
		st->rows[slot].row = search_row(st, block, in_block);
		st->rows[slot].place = place;
	}
	return st->rows[slot].row;
}

/* Is the code that a row was made from still there? @at: the address of the row's key */
__noinline int is_proven(struct state *st, const struct hybrid_walk_proof *proof, __u64 at)
{
	__u64 hash = 0, size;
	__u32 words, i;

	if (!st || !proof)
		return false;
	words = proof->words;
	size = (__u64)words * 8;
	barrier_var(size);
	if (!size || size > sizeof(st->code) ||
	    bpf_probe_read_user(st->code, size, (void *)(at - proof->before)))
		return false;
	for (i = 0; i < HYBRID_CODE_WORDS && i < words; i++)
		hash = hybrid_code_hash(hash, st->code[i]);
	return hash == proof->hash;
}

/* The row of the frame's address, where no file has its code; 0 for none. */
static __always_inline __u64 find_code_row(struct state *st)
{
	struct hybrid_walk_code_key key = { .space = st->code_key.space, .ip = st->ip };
	struct hybrid_walk_proof proof;
	struct hybrid_walk_code *found;
	__u64 row;

	found = bpf_map_lookup_elem(&codes, &key);
	if (!found)
		return 0;
	row = READ_WORD(&found->row);
	if (READ_WORD(&found->proof.hash) == HYBRID_WALK_ROOT)
		return HYBRID_WALK_KIND(row) == PERF_UNWIND_OUTERMOST ? row : 0;
	proof = found->proof;
	return is_proven(st, &proof, st->ip) ? row : 0;
}

/* The same, of a block of such code. */
static __always_inline __u64 find_block_row(struct state *st)
{
	__u64 in_block = st->ip & (HYBRID_WALK_CODE_BLOCK - 1), row;
	struct hybrid_walk_code_key key = {
		.space = st->code_key.space, .ip = st->ip - in_block
	};
	struct hybrid_walk_proof proof;
	struct hybrid_walk_block *found;

	found = bpf_map_lookup_elem(&code_blocks, &key);
	if (!found || !(READ_WORD(&found->begins) >> in_block & 1))
		return 0;
	row = READ_WORD(&found->row);
	proof = found->proof;
	return is_proven(st, &proof, key.ip) ? row : 0;
}

/* The row of code that a runtime has made; 0 for none. */
static __always_inline __u64 find_range_row(struct state *st)
{
	struct hybrid_walk_code_key key = {
		.space = st->code_key.space, .ip = st->ip >> HYBRID_WALK_RANGE_BITS
	};
	struct hybrid_walk_range *found;
	__u64 row;

	found = bpf_map_lookup_elem(&ranges, &key);
	if (!found)
		return 0;
	row = READ_WORD(&found->row);
	if (st->ip < READ_WORD(&found->start) || st->ip >= READ_WORD(&found->end))
		return 0;
	if (!st->exact)
		return row;
	if (bpf_probe_read_user(&st->code[0], sizeof(st->code[0]), (void *)(st->ip - 8)) ||
	    may_have_left(st->code[0]))
		return 0;
	return row;
}

/* The row of the frame's address, where its file has none. */
__noinline __u64 find_other_row(struct state *st, __u32 i)
{
	__u64 row = 0;

	if (!st)
		return 0;
	/* In sigreturn(): its call ends the trampoline, and nothing is known of what follows. */
	if (!i) {
		row = find_row(st, st->ip - 1);
		if (HYBRID_WALK_KIND(row) != PERF_UNWIND_SIGNAL)
			row = 0;
	}
	if (!HYBRID_WALK_KIND(row))
		row = native_row(st);
	if (!HYBRID_WALK_KIND(row))
		row = find_range_row(st);
	if (!HYBRID_WALK_KIND(row))
		row = find_block_row(st);
	if (!HYBRID_WALK_KIND(row))
		row = find_code_row(st);
	return row;
}

static __always_inline long ends(struct state *st, enum perf_unwind_end end)
{
	st->end = end;
	return 1;
}

/*
 * The registers where the kernel has put them: sp is at a struct ucontext. It is not
 * while sigreturn() puts them back one by one, so that two words are looked at that are
 * the same in all: uc_link, and the code segment.
 */
__noinline int leave_signal(struct state *st)
{
	__u64 link, cs, ip, sp, bp;

	if (!st || !read_stack(st, st->sp + HYBRID_UCONTEXT_LINK, &link) ||
	    !read_stack(st, st->sp + HYBRID_UCONTEXT_BP, &bp) ||
	    !read_stack(st, st->sp + HYBRID_UCONTEXT_SP, &sp) ||
	    !read_stack(st, st->sp + HYBRID_UCONTEXT_IP, &ip) ||
	    !read_stack(st, st->sp + HYBRID_UCONTEXT_CS, &cs))
		return false;
	if (link || (cs & 0xffff) != HYBRID_USER_CS)
		return false;
	st->ip = ip;
	st->sp = sp;
	st->bp = bp;
	st->bp_known = true;
	st->exact = true;
	return true;
}

static __always_inline bool row_cfa(struct state *st, __u64 row, __u64 *cfa)
{
	bool by_bp = HYBRID_WALK_BASE(row) == PERF_UNWIND_BASE_FP;

	if (HYBRID_WALK_KIND(row) == HYBRID_WALK_REGISTER) {
		if (bpf_probe_read_kernel(cfa, sizeof(*cfa), (void *)st->regs +
					  HYBRID_WALK_DEREF_OFF(row) * sizeof(*cfa)))
			return false;
		*cfa += HYBRID_WALK_CFA_OFF(row);
		return true;
	}
	if (by_bp && !st->bp_known)
		return false;
	*cfa = (by_bp ? st->bp : st->sp) + HYBRID_WALK_CFA_OFF(row);
	if (HYBRID_WALK_KIND(row) == PERF_UNWIND_DEREF) {
		if (!read_stack(st, *cfa, cfa))
			return false;
		*cfa += HYBRID_WALK_DEREF_OFF(row);
	}
	/* psABI figure 5.2: jmp and push are 6 and 5 bytes long. */
	if (HYBRID_WALK_KIND(row) == PERF_UNWIND_PLT && (st->ip & 15) >= 11)
		*cfa += 8;
	return true;
}

/* In the innermost frame sp may be at the CFA: a switch of stacks ends by a jump. */
static __always_inline bool step_row(struct state *st, __u64 row)
{
	__u32 how = HYBRID_WALK_BP(row);
	__u64 cfa, ip, bp = 0;
	bool known = false;

	if (!row_cfa(st, row, &cfa) || cfa < st->sp || (cfa == st->sp && st->nr))
		return false;
	if (how == PERF_UNWIND_FP_AT_CFA)
		known = read_stack(st, cfa + HYBRID_WALK_BP_OFF(row), &bp);
	else if (how == PERF_UNWIND_FP_AT_FP && st->bp_known)
		known = read_stack(st, st->bp + HYBRID_WALK_BP_OFF(row), &bp);
	if (!read_stack(st, cfa - 8, &ip))
		return false;
	if (how != PERF_UNWIND_FP_SAME) {
		st->bp = bp;
		st->bp_known = known;
	}
	st->ip = ip;
	st->sp = cfa;
	st->exact = false;
	return true;
}

/* Does @codes have @code under @key, as the end of a fiber? */
static __always_inline bool is_fiber_key(struct state *st, __u64 key, __u64 code)
{
	struct hybrid_walk_code_key at = { .space = st->code_key.space, .ip = key };
	struct hybrid_walk_code *found;

	found = bpf_map_lookup_elem(&codes, &at);
	return found && READ_WORD(&found->proof.hash) == code &&
	       HYBRID_WALK_KIND(READ_WORD(&found->row)) == PERF_UNWIND_OUTERMOST;
}

/* Is sp at the end of its pages? The next one is a guard page, or nothing has used it. */
static __always_inline bool is_last_page(struct state *st)
{
	__u64 word, next = (st->sp + PAGE - 1) & ~(PAGE - 1);

	return bpf_probe_read_user(&word, sizeof(word), (void *)next);
}

/*
 * The step has led to a return address: is it that of a fiber's first function? perf has found such
 * an address once, and the stack ends; or perf has found it in this place.
 */
__noinline int is_fiber_end(struct state *st)
{
	if (!st)
		return false;
	if (st->ip && !is_fiber_key(st, st->ip, HYBRID_WALK_FIBER))
		return false;
	return is_last_page(st) || (st->fibers && is_fiber_key(st, st->sp, st->ip));
}

/* The function that frame @i runs, and where in it; of the innermost frame r13 says that. */
static __always_inline void add_function(struct state *st, __u64 row, __u32 i)
{
	__u32 at, step = i - st->last_function;
	struct pt_regs___h *regs = (void *)st->regs;
	__u64 function, position;

	if (step > HYBRID_WALK_FUNCTION_STEP ||
	    !read_stack(st, st->bp + HYBRID_WALK_POSITION_AT(row), &position) ||
	    !read_stack(st, st->bp + HYBRID_WALK_FUNCTION_AT(row), &function))
		return;
	if (!i)
		position = BPF_CORE_READ(regs, r13);
	/* Just before its use: the verifier of 6.1 forgets the bounds of what is on the stack. */
	at = st->nr_functions;
	if (at >= HYBRID_WALK_FUNCTIONS)
		return;
	st->functions[at].function = (__u64)step << HYBRID_WALK_FUNCTION_BITS |
				     (function >> 3 & ((1ULL << HYBRID_WALK_FUNCTION_BITS) - 1));
	st->functions[at].position = position;
	st->nr_functions = at + 1;
	st->last_function = i;
}

/* As hybrid_step_rule() of HYBRID_RULE_SAVED_SP. */
__noinline int step_saved_sp(struct state *st, __u64 row, __u32 i)
{
	__u64 sp, ip, bp;

	if (!st)
		return false;
	add_function(st, row, i);
	if (!st->bp_known || st->bp < st->sp ||
	    !read_stack(st, st->bp + HYBRID_WALK_CFA_OFF(row), &sp) ||
	    !read_stack(st, st->bp, &bp) || !read_stack(st, st->bp + 8, &ip))
		return false;
	if (sp < st->bp + 16 || sp - st->bp > HYBRID_WALK_LOCALS)
		return false;
	st->ip = ip;
	st->sp = sp;
	st->bp = bp;
	st->exact = false;
	return true;
}

static long step(__u32 i, void *arg)
{
	struct loop *loop = arg;
	struct state *st = loop->st;
	__u64 row = compiled_row(st);
	__u32 at;

	if (!HYBRID_WALK_KIND(row))
		row = find_row(st, st->exact ? st->ip : st->ip - 1);

	if (!HYBRID_WALK_KIND(row))
		row = find_other_row(st, i);
	if (i && HYBRID_WALK_KIND(row) == HYBRID_WALK_REGISTER)
		return ends(st, PERF_UNWIND_END_NO_RULE);

	if (st->in_native)
		row = add_native(st, row, i);

	switch (HYBRID_WALK_KIND(row)) {
	case PERF_UNWIND_OUTERMOST:
		return ends(st, PERF_UNWIND_END_OUTERMOST);
	case PERF_UNWIND_CFA:
	case PERF_UNWIND_DEREF:
	case PERF_UNWIND_PLT:
	case HYBRID_WALK_REGISTER:
		if (!step_row(st, row))
			return ends(st, PERF_UNWIND_END_UNREADABLE);
		break;
	case HYBRID_WALK_SAVED_SP:
		if (!step_saved_sp(st, row, i))
			return ends(st, PERF_UNWIND_END_UNREADABLE);
		break;
	case PERF_UNWIND_SIGNAL:
		if (!leave_signal(st))
			return ends(st, PERF_UNWIND_END_UNREADABLE);
		break;
	default:
		return ends(st, PERF_UNWIND_END_NO_RULE);
	}
	if (!st->exact && (!st->ip || st->fibers) && is_fiber_end(st))
		return ends(st, PERF_UNWIND_END_OUTERMOST);
	at = st->record.head.nr_kernel + 1 + i;
	if (at >= HYBRID_WALK_IPS)
		return ends(st, PERF_UNWIND_END_LIMIT);
	st->record.ips[at] = st->ip;
	st->nr = i + 1;
	if (!i)
		st->first_cfa = st->sp;
	return 0;
}

#endif /* __HYBRID_FRAME_BPF_H */
