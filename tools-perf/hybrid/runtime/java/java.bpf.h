/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_JAVA_BPF_H
#define __HYBRID_JAVA_BPF_H

/*
 * Frames of methods that HotSpot has compiled, and of its stubs, by what the process has in its
 * code cache now: code-cache.c and frame-rule.c do the same for perf's own walk.
 */
#include "../../bpf_skel/stack.bpf.h"
#include "java-code-hash.h"

/* Nothing has a frame of that many words. */
#define MAX_FRAME_WORDS	0x20000

/* The first eight bytes of "nmethod", "native nmethod" and "vtable chunks". */
#define NAME_METHOD	0x00646f6874656d6eULL
#define NAME_NATIVE	0x6e2065766974616eULL
#define NAME_VTABLE	0x6320656c62617476ULL

/* Of frames behind the entry to a loop that was compiled while it ran: a second prologue. */
#define OSR_PROLOGUE	64

/* Is the address space that of a JVM? */
static __always_inline void enter_compiled(struct state *st)
{
	struct hybrid_walk_compiled *found;
	__u32 seen = *(volatile __u32 *)&compiled_changes;

	if (!seen || (st->jvm_space == st->code_key.space && st->jvm_seen == seen))
		return;
	st->jvm_space = st->code_key.space;
	st->jvm_seen = seen;
	st->jvm.space = 0;
	found = bpf_map_lookup_elem(&compiled, &st->code_key.space);
	if (!found || bpf_probe_read_kernel(&st->jvm, sizeof(st->jvm), found) ||
	    st->jvm.space != st->jvm_space || st->jvm.again != st->jvm_space)
		st->jvm.space = 0;
}

static __always_inline __s64 block_field(struct state *st, struct hybrid_walk_field field)
{
	__u64 value = *(__u64 *)&st->block[field.offset & (HYBRID_WALK_BLOB - 1)];
	__u32 shift = (64 - 8 * field.size) & 63;

	value <<= shift;
	return field.is_signed ? (__s64)value >> shift : (__s64)(value >> shift);
}

/* Address of the block that holds the frame's address; 0: none. */
static __always_inline __u64 find_block(struct state *st)
{
	__u64 low = 0, segmap = 0, segment;
	__u32 i, bits = 0;

	for (i = 0; i < HYBRID_WALK_HEAPS; i++) {
		if (st->ip - st->jvm.heaps[i].low >= st->jvm.heaps[i].size)
			continue;
		low = st->jvm.heaps[i].low;
		segmap = st->jvm.heaps[i].segmap;
		bits = st->jvm.heaps[i].segment_bits & 31;
	}
	if (!low)
		return 0;
	segment = (st->ip - low) >> bits;
	for (i = 0; i < HYBRID_WALK_HOPS; i++) {
		if (bpf_probe_read_user((void *)&st->back, 1, (void *)(segmap + segment)) ||
		    st->back == HYBRID_WALK_FREE || st->back > segment)
			return 0;
		if (!st->back)
			return low + (segment << bits);
		segment -= st->back;
	}
	return 0;
}

/* For bpf_loop(): is the instruction that makes the frame @i bytes before the end of it? */
static long find_made(__u32 i, void *arg)
{
	struct state *st = ((struct loop *)arg)->st;
	__s32 at = HYBRID_JAVA_MADE - (__s32)st->java_left;

	st->java_row = hybrid_java_prologue_row(st->java_code, HYBRID_JAVA_MADE - i, at,
						st->java_frame);
	return st->java_row != 0;
}

/* The row of an interrupted address in a prologue that ends at @complete; 0: not known. */
static __always_inline __u64 prologue_row(struct state *st, __u64 complete)
{
	struct loop loop = { .st = st };

	if (bpf_probe_read_user(st->java_code, HYBRID_JAVA_MADE,
				(void *)(complete - HYBRID_JAVA_MADE)))
		return 0;
	st->java_left = complete - st->ip;
	st->java_row = 0;
	bpf_loop(HYBRID_JAVA_MADE - HYBRID_JAVA_SAVED, find_made, &loop, 0);
	return st->java_row;
}

/* The row of an interrupted address. */
static __always_inline __u64 innermost_row(struct state *st, __u64 code, __u64 end)
{
	__s64 complete = block_field(st, st->jvm.frame_complete);
	__u64 osr = block_field(st, st->jvm.osr_entry), name = 0;

	if (bpf_probe_read_user(&name, sizeof(name), (void *)block_field(st, st->jvm.name)))
		return 0;
	if (name == NAME_VTABLE)
		return hybrid_java_row(8, false);
	if ((name != NAME_METHOD && name != NAME_NATIVE) || complete < 0 || !st->java_frame)
		return 0;
	if (st->ip < code + complete)
		return code + complete <= end ? prologue_row(st, code + complete) : 0;
	if ((__s32)block_field(st, st->jvm.entry_bci) != -1 && st->ip - osr < OSR_PROLOGUE)
		return 0;
	if (bpf_probe_read_user(st->java_code, HYBRID_JAVA_LEFT,
				(void *)(st->ip - HYBRID_JAVA_LEFT)))
		return 0;
	return hybrid_java_body_row(st->java_code, st->java_frame);
}

/* Is an address in a heap of code? */
static __always_inline bool is_java_code(const struct state *st, __u64 addr)
{
	__u32 i;

	for (i = 0; i < HYBRID_WALK_HEAPS; i++) {
		if (addr - st->jvm.heaps[i].low < st->jvm.heaps[i].size)
			return true;
	}
	return false;
}

/* The row of a frame that may have more words: skip_pushed() in java.c. */
__noinline __u64 skip_pushed(struct state *st, __u64 row)
{
	__u64 ret;
	__u32 i;

	if (!st)
		return 0;
	for (i = 0; i <= HYBRID_WALK_PUSHED; i++) {
		if (!read_stack(st, st->sp + HYBRID_WALK_CFA_OFF(row) + 8 * i - 8, &ret))
			return row;
		if (is_java_code(st, ret))
			return row + ((__u64)i << 43);
	}
	return row;
}

/* The row of an address in the code cache of a JVM; 0: it is in none, or not known. */
__noinline __u64 find_java_row(struct state *st)
{
	__u64 block, blob, code, end, words, row;
	__u32 size;

	if (!st)
		return 0;
	size = st->jvm.size;
	block = find_block(st);
	barrier_var(size);
	if (!block || size > HYBRID_WALK_BLOB ||
	    bpf_probe_read_user(st->block, size, (void *)block) ||
	    !block_field(st, st->jvm.used))
		return 0;
	blob = block + st->jvm.header;
	end = blob + block_field(st, st->jvm.data_offset);
	code = st->jvm.code_begin.size ? (__u64)block_field(st, st->jvm.code_begin) :
	       blob + block_field(st, st->jvm.code_offset);
	if (st->ip < code || st->ip >= end)
		return 0;
	words = block_field(st, st->jvm.frame_size);
	st->java_frame = words >= 2 && words < MAX_FRAME_WORDS ? words * 8 : 0;
	if (st->java_frame)
		st->code_hash = hybrid_java_code_hash(st->code_hash, blob,
						      block_field(st, st->jvm.name),
						      block_field(st, st->jvm.compile_id),
						      words);
	if (st->exact)
		row = innermost_row(st, code, end);
	else
		row = st->java_frame ? hybrid_java_row(st->java_frame, true) : 0;
	return row && st->nr <= 1 ? skip_pushed(st, row) : row;
}

static __always_inline __u64 compiled_row(struct state *st)
{
	return st->jvm.space ? find_java_row(st) : 0;
}

/*
 * May the code before an address have left the interpreter's frame? leave, and what follows it:
 * frame-rule.c has all of that.
 */
static __always_inline bool may_have_left(__u64 code)
{
	return HYBRID_JAVA_BYTES(code, 1, 1) == 0xc9 || HYBRID_JAVA_BYTES(code, 2, 1) == 0xc9 ||
	       HYBRID_JAVA_BYTES(code, 3, 1) == 0xc9 || HYBRID_JAVA_BYTES(code, 5, 1) == 0xc9 ||
	       HYBRID_JAVA_BYTES(code, 6, 1) == 0xc9;
}

#endif /* __HYBRID_JAVA_BPF_H */
