/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_JAVA_CODE_H
#define __HYBRID_JAVA_CODE_H

/*
 * The frame of a method that HotSpot has compiled, at an interrupted address, by the code before
 * that address or before the end of the prologue. frame-rule.c has the same rules for
 * perf's own walk and says which source of HotSpot each one is from; test-java.c compares the two.
 *
 * The functions read no memory but the bytes that they are given, as the BPF program uses them.
 */
#include <linux/perf_unwind_rules.h>
#include "../../bpf_skel/hybrid_walk.h"

/* Bytes before an address that show whether the frame was left, or made. */
#define HYBRID_JAVA_LEFT	32
#define HYBRID_JAVA_MADE	48

/* Bytes of a buffer for both: a word may begin at any of the first 64. */
#define HYBRID_JAVA_ROOM	72

/* Of a frame: return address and the caller's bp. */
#define HYBRID_JAVA_SAVED	16

/* The eight bytes that end at @end. */
static inline __u64 hybrid_java_word(const __u8 *code, __u32 end)
{
	const __u8 *at = code + ((end - 8) & 63);
#ifdef __bpf__
	return *(const __u64 *)at;
#else
	__u64 word;

	__builtin_memcpy(&word, at, sizeof(word));
	return word;
#endif
}

/* @nr bytes of the eight before an address, from @back bytes before it on. */
#define HYBRID_JAVA_BYTES(word, back, nr) \
	((word) >> (64 - 8 * (back)) & ((1ULL << (8 * (nr))) - 1))

/*
 * The size of the "add" or "sub" of @bytes and %rsp that ends before an address; 0: there is none.
 * @op: 0xc4 or 0xec
 */
static inline __u32 hybrid_java_changes_sp(__u64 word, __u64 op, __u32 bytes)
{
	if (HYBRID_JAVA_BYTES(word, 4, 3) == (op << 16 | 0x8348) &&
	    (__u32)(__s8)HYBRID_JAVA_BYTES(word, 1, 1) == bytes)
		return 4;
	if (HYBRID_JAVA_BYTES(word, 7, 3) == (op << 16 | 0x8148) &&
	    (__u32)HYBRID_JAVA_BYTES(word, 4, 4) == bytes)
		return 7;
	return 0;
}

/* Where the look at the safepoint's word begins that ends at @end; @end if there is none. */
static inline __u32 hybrid_java_without_poll(const __u8 *code, __u32 end)
{
	__u64 word = hybrid_java_word(code, end);

	if (HYBRID_JAVA_BYTES(word, 6, 2) == 0x870f) {
		end -= 6;
		word = hybrid_java_word(code, end);
	}
	if (HYBRID_JAVA_BYTES(word, 7, 3) == 0xa73b49)
		return end - 7;
	if (HYBRID_JAVA_BYTES(word, 4, 3) == 0x673b49)
		return end - 4;
	if (HYBRID_JAVA_BYTES(word, 3, 3) == 0x028541) {
		end -= 3;
		word = hybrid_java_word(code, end);
	}
	return HYBRID_JAVA_BYTES(word, 7, 3) == 0x978b4d ? end - 7 : end;
}

/* The rule of a frame whose CFA is @cfa_off bytes above sp. @saved: the caller's bp is in it. */
static inline __u64 hybrid_java_row(__u32 cfa_off, bool saved)
{
	return (__u64)PERF_UNWIND_CFA << 8 | (__u64)PERF_UNWIND_BASE_SP << 11 |
	       (__u64)(saved ? PERF_UNWIND_FP_AT_CFA : PERF_UNWIND_FP_SAME) << 12 |
	       (__u64)(__u16)-HYBRID_JAVA_SAVED << 24 | (__u64)cfa_off << 40;
}

/**
 * hybrid_java_body_row - the rule of an interrupted address behind the prologue
 * @code: the HYBRID_JAVA_LEFT bytes before it, and room
 * @frame_size: bytes from sp to the CFA while the frame stands
 *
 * Return: a row.
 */
static inline __u64 hybrid_java_body_row(const __u8 *code, __u32 frame_size)
{
	__u32 bytes = frame_size - HYBRID_JAVA_SAVED, end = HYBRID_JAVA_LEFT;
	__u64 word = hybrid_java_word(code, end);

	if (bytes && hybrid_java_changes_sp(word, 0xc4, bytes))
		return hybrid_java_row(HYBRID_JAVA_SAVED, true);
	end = hybrid_java_without_poll(code, end);
	word = hybrid_java_word(code, end);
	if (HYBRID_JAVA_BYTES(word, 5, 5) == 0xc900000000)
		return hybrid_java_row(8, false);
	if (HYBRID_JAVA_BYTES(word, 1, 1) == 0x5d &&
	    (!bytes || hybrid_java_changes_sp(hybrid_java_word(code, end - 1), 0xc4, bytes)))
		return hybrid_java_row(8, false);
	return hybrid_java_row(frame_size, true);
}

/**
 * hybrid_java_prologue_row - the rule of an interrupted address in the prologue
 * @code: the HYBRID_JAVA_MADE bytes before the end of the prologue, and room
 * @end: which of them may be the first one behind the instruction that makes the frame
 * @at: which of them is the address; negative: it is before them
 * @frame_size: as above
 *
 * "push %rbp; sub $SIZE,%rsp", with mov %rsp,%rbp between them in wrappers; or without the push.
 *
 * Return: a row, or 0 if no such instruction ends at @end.
 */
static inline __u64 hybrid_java_prologue_row(const __u8 *code, __u32 end, __s32 at,
					     __u32 frame_size)
{
	__u64 word = hybrid_java_word(code, end);
	__u32 sub = hybrid_java_changes_sp(word, 0xec, frame_size - 8), push;

	if (sub) {
		if (at <= (__s32)(end - sub))
			return hybrid_java_row(8, false);
		return hybrid_java_row(frame_size, false);
	}
	sub = hybrid_java_changes_sp(word, 0xec, frame_size - HYBRID_JAVA_SAVED);
	if (!sub || frame_size == HYBRID_JAVA_SAVED)
		return 0;
	push = end - sub;
	word = hybrid_java_word(code, push);
	if (HYBRID_JAVA_BYTES(word, 3, 3) == 0xec8b48 || HYBRID_JAVA_BYTES(word, 3, 3) == 0xe58948)
		push -= 3;
	word = hybrid_java_word(code, push);
	if (HYBRID_JAVA_BYTES(word, 1, 1) != 0x55)
		return 0;
	if (at < (__s32)push)
		return hybrid_java_row(8, false);
	return hybrid_java_row(at < (__s32)end ? HYBRID_JAVA_SAVED : frame_size, true);
}

#endif /* __HYBRID_JAVA_CODE_H */
