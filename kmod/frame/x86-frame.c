// SPDX-License-Identifier: GPL-2.0
/*
 * x86 frame analysis: the entry points, the test for a call before a return
 * address, and signal trampolines.
 */
#include <linux/types.h>

#include "x86-frame-scan.h"

#define X86_FRAME_PAGE		4096

/* The longest call: ff, ModRM, SIB, a 32-bit displacement, or e8 and its. */
#define X86_CALL_MAX		7

/* A signal trampoline's two spellings, up to the end of its system call. */
#define X86_SIGRETURN_MAX	9
#define X86_SIGRETURN_SHORT	7

/**
 * x86_frame_fetch - read code up to what can't be read
 * @mem:	the code
 * @addr:	where
 * @dst:	where to
 * @len:	at most, less than a page
 *
 * Returns: how many bytes were read
 */
unsigned int x86_frame_fetch(const struct x86_frame_mem *mem,
			     unsigned long addr, u8 *dst, unsigned int len)
{
	unsigned int room = X86_FRAME_PAGE - (addr & (X86_FRAME_PAGE - 1));

	if (room >= len)
		return mem->read(mem->ctx, addr, dst, len) ? 0 : len;
	if (mem->read(mem->ctx, addr, dst, room))
		return 0;
	if (mem->read(mem->ctx, addr + room, dst + room, len - room))
		return room;
	return len;
}

/**
 * x86_frame_analyze_within - where is the caller of the instruction at ip?
 * @mem:	the code
 * @ip:		the instruction, not yet run
 * @rule:	the answer, valid unless the kind is X86_FRAME_UNKNOWN
 * @work:	memory to work with, used by nobody else meanwhile
 * @limit:	instructions that it may take, X86_FRAME_INSNS at most
 *
 * Reads nothing but through @mem, and can be used anywhere: it takes no lock,
 * allocates nothing and does not recurse.
 *
 * Returns: what found the rule
 */
enum x86_frame_kind x86_frame_analyze_within(const struct x86_frame_mem *mem,
					     unsigned long ip,
					     struct x86_frame_rule *rule,
					     struct x86_frame_work *work,
					     unsigned int limit)
{
	enum x86_frame_kind kind;

	work->insns = 0;
	work->limit = limit;
	work->run = 1;
	rule->fp_lost = false;
	kind = x86_frame_look(mem, ip, rule);
	if (kind == X86_FRAME_UNKNOWN)
		kind = x86_frame_scan(mem, ip, rule, work);
	work->took = work->insns + limit - work->limit;
	if (kind == X86_FRAME_UNKNOWN) {
		/* A path that was not believed may have lost it. */
		rule->fp_lost = false;
		kind = x86_frame_guess_entry(mem, ip, rule);
	}
	return kind;
}

/* x86_frame_analyze_within() all that one analysis may take */
enum x86_frame_kind x86_frame_analyze(const struct x86_frame_mem *mem,
				      unsigned long ip,
				      struct x86_frame_rule *rule,
				      struct x86_frame_work *work)
{
	return x86_frame_analyze_within(mem, ip, rule, work, X86_FRAME_INSNS);
}

/* Does a call through ModRM end at @end?  @len: bytes from its ff on. */
static bool is_call_modrm(const u8 *end, unsigned int len)
{
	const u8 *p = end - len;
	unsigned int want = 2;
	u8 mod, rm;

	if (p[0] != 0xff || X86_MODRM_REG(p[1]) != 2)
		return false;
	mod = X86_MODRM_MOD(p[1]);
	rm = X86_MODRM_RM(p[1]);
	if (mod != 3 && rm == 4) {
		want++;
		if (!mod && len >= 3 && X86_SIB_BASE(p[2]) == 5)
			want += 4;
	}
	if (mod == 1)
		want++;
	else if (mod == 2 || (!mod && rm == 5))
		want += 4;
	return want == len;
}

/**
 * x86_frame_call_before - does a call stand before a return address?
 * @mem:	the code
 * @ra:		the return address
 *
 * What looks like a return address counts only if it is one.
 *
 * Returns: true if it could be a return address
 */
bool x86_frame_call_before(const struct x86_frame_mem *mem, unsigned long ra)
{
	u8 bytes[X86_CALL_MAX], *end = bytes + X86_CALL_MAX;
	unsigned int len, got = X86_CALL_MAX;

	if (x86_frame_fetch(mem, ra - got, bytes, got) < got) {
		/* The page before may be gone, and a shorter call do. */
		got = ra & (X86_FRAME_PAGE - 1);
		if (got < 2 || got >= X86_CALL_MAX ||
		    mem->read(mem->ctx, ra - got, end - got, got))
			return false;
	}
	if (got >= 5 && end[-5] == 0xe8)
		return true;
	for (len = 2; len <= 7 && len <= got; len++)
		if (is_call_modrm(end, len))
			return true;
	return false;
}

/*
 * The C library and the vDSO write these instructions exactly so, as unwinders go by
 * their bytes.
 */
static enum x86_frame_sigreturn sigreturn_of(const u8 *b, unsigned int len, bool is_64bit)
{
	if (is_64bit) {
		/* mov $15,%rax; syscall */
		if (len >= 9 && b[0] == 0x48 && b[1] == 0xc7 && b[2] == 0xc0 &&
		    x86_get_le32(b + 3) == 15 && b[7] == 0x0f && b[8] == 0x05)
			return X86_SIGRETURN_64;
		/* mov $15,%eax; syscall */
		if (len >= 7 && b[0] == 0xb8 && x86_get_le32(b + 1) == 15 &&
		    b[5] == 0x0f && b[6] == 0x05)
			return X86_SIGRETURN_64;
		return X86_SIGRETURN_NONE;
	}
	/* pop %eax; mov $119,%eax; int $0x80 */
	if (len >= 8 && b[0] == 0x58 && b[1] == 0xb8 &&
	    x86_get_le32(b + 2) == 119 && b[6] == 0xcd && b[7] == 0x80)
		return X86_SIGRETURN_32;
	/* mov $173,%eax; int $0x80 */
	if (len >= 7 && b[0] == 0xb8 && x86_get_le32(b + 1) == 173 &&
	    b[5] == 0xcd && b[6] == 0x80)
		return X86_SIGRETURN_RT_32;
	return X86_SIGRETURN_NONE;
}

/**
 * x86_frame_sigreturn - is a return address that of a signal trampoline?
 * @mem:	the code
 * @ra:		the return address of a signal handler
 *
 * Returns: which trampoline, or X86_SIGRETURN_NONE
 */
enum x86_frame_sigreturn x86_frame_sigreturn(const struct x86_frame_mem *mem,
					     unsigned long ra)
{
	u8 b[X86_SIGRETURN_MAX];

	return sigreturn_of(b, x86_frame_fetch(mem, ra, b, sizeof(b)), mem->is_64bit);
}

/**
 * x86_frame_in_sigreturn - is an interrupted instruction in a signal trampoline?
 * @mem:	the code
 * @ip:		the instruction
 *
 * It is the trampoline's first one or, in 64-bit mode, the one behind its system call.
 *
 * Returns: which trampoline, or X86_SIGRETURN_NONE
 */
enum x86_frame_sigreturn x86_frame_in_sigreturn(const struct x86_frame_mem *mem,
						unsigned long ip)
{
	u8 bytes[2 * X86_SIGRETURN_MAX], *at = bytes + X86_SIGRETURN_MAX;
	unsigned int len, before = X86_SIGRETURN_MAX;
	enum x86_frame_sigreturn kind;

	if (!mem->is_64bit)
		return x86_frame_sigreturn(mem, ip);
	len = x86_frame_fetch(mem, ip - before, bytes, sizeof(bytes));
	if (!len) {
		/* The page before may be gone. */
		before = ip & (X86_FRAME_PAGE - 1);
		if (before >= X86_SIGRETURN_MAX)
			return X86_SIGRETURN_NONE;
		len = x86_frame_fetch(mem, ip - before, at - before, before + X86_SIGRETURN_MAX);
	}
	if (len < before)
		return X86_SIGRETURN_NONE;
	kind = sigreturn_of(at, len - before, true);
	if (kind == X86_SIGRETURN_NONE && before == X86_SIGRETURN_MAX)
		kind = sigreturn_of(bytes, X86_SIGRETURN_MAX, true);
	if (kind == X86_SIGRETURN_NONE && before >= X86_SIGRETURN_SHORT)
		kind = sigreturn_of(at - X86_SIGRETURN_SHORT, X86_SIGRETURN_SHORT, true);
	return kind;
}
