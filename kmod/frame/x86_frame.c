// SPDX-License-Identifier: GPL-2.0
/*
 * x86 frame analysis: the exact states, which the bytes around ip are enough for.
 *
 * These are prologues, epilogues, the first entry of a procedure linkage table, the start of Go
 * functions, and signal trampolines. Calls before return addresses are recognized here, too.
 */
#include <linux/string.h>
#include <linux/types.h>
#include <asm/insn.h>

#include "x86_frame_scan.h"

#define X86_FRAME_PAGE		4096

/* How many bytes are read before ip, and from ip on. */
#define X86_FRAME_BEFORE	12
#define X86_FRAME_AFTER		20

/* Length of the longest call: ff, ModRM, SIB and 32 bits of displacement. */
#define X86_CALL_MAX		7

/* Lengths of the two forms of the 64-bit signal trampoline, with its system call. */
#define X86_SIGRETURN_MAX	9
#define X86_SIGRETURN_SHORT	7

/**
 * x86_frame_fetch - read code up to the first byte that can't be read
 * @mem:	the code
 * @addr:	its address
 * @dst:	out: the bytes
 * @len:	how many, less than a page
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

/*
 * Which trampoline starts at @b? The C library and the vDSO always have these bytes, because
 * unwinders compare them.
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

/* Which 64-bit trampoline's system call ends at @end? @len: how many bytes there are before it */
static enum x86_frame_sigreturn sigreturn_before(const u8 *end, unsigned int len)
{
	/* Nine bytes that begin with the short one end after it. */
	if (len >= X86_SIGRETURN_MAX && end[-X86_SIGRETURN_MAX] == 0x48 &&
	    sigreturn_of(end - X86_SIGRETURN_MAX, X86_SIGRETURN_MAX, true))
		return X86_SIGRETURN_64;
	if (len < X86_SIGRETURN_SHORT)
		return X86_SIGRETURN_NONE;
	return sigreturn_of(end - X86_SIGRETURN_SHORT, X86_SIGRETURN_SHORT, true);
}

/**
 * struct x86_look - the bytes around ip
 * @bytes:	the bytes
 * @at:		those from ip on
 * @before:	how many there are before ip
 * @after:	how many there are from ip on
 * @ip:		ip
 * @ws:		word size
 */
struct x86_look {
	u8		bytes[X86_FRAME_BEFORE + X86_FRAME_AFTER];
	const u8	*at;
	unsigned int	before;
	unsigned int	after;
	unsigned long	ip;
	int		ws;
};

static bool look_at(const struct x86_frame_mem *mem, unsigned long ip,
		    struct x86_look *look)
{
	unsigned int off = ip & (X86_FRAME_PAGE - 1);

	look->at = look->bytes + X86_FRAME_BEFORE;
	look->before = 0;
	look->ip = ip;
	look->ws = mem->is_64bit ? 8 : 4;
	if (off >= X86_FRAME_BEFORE &&
	    off + X86_FRAME_AFTER <= X86_FRAME_PAGE) {
		if (mem->read(mem->ctx, ip - X86_FRAME_BEFORE, look->bytes,
			      sizeof(look->bytes)))
			return false;
		look->before = X86_FRAME_BEFORE;
		look->after = X86_FRAME_AFTER;
		return true;
	}
	look->after = x86_frame_fetch(mem, ip, look->bytes + X86_FRAME_BEFORE,
				      X86_FRAME_AFTER);
	if (off > X86_FRAME_BEFORE)
		off = X86_FRAME_BEFORE;
	if (look->after && off &&
	    !mem->read(mem->ctx, ip - off, look->bytes + X86_FRAME_BEFORE - off,
		       off))
		look->before = off;
	return look->after;
}

static enum x86_frame_kind rule_sp(const struct x86_look *look,
				   struct x86_frame_rule *rule,
				   enum x86_frame_kind kind, int words,
				   bool bp_on_top)
{
	rule->cfa_off = words * look->ws;
	rule->ra_off = -look->ws;
	rule->fp_off = bp_on_top ? -rule->cfa_off : 0;
	rule->use_fp = false;
	return kind;
}

static enum x86_frame_kind rule_bp(const struct x86_look *look,
				   struct x86_frame_rule *rule,
				   enum x86_frame_kind kind)
{
	rule->cfa_off = 2 * look->ws;
	rule->ra_off = -look->ws;
	rule->fp_off = -2 * look->ws;
	rule->use_fp = true;
	return kind;
}

static bool is_ret(const u8 *p, unsigned int len)
{
	if (len >= 2 && (p[0] == 0xf2 || p[0] == 0xf3))
		return p[1] == 0xc3;
	return p[0] == 0xc3 || (p[0] == 0xc2 && len >= 3);
}

/* endbr64 or endbr32 */
static bool at_endbr(const struct x86_look *look, const u8 *p)
{
	return p[0] == 0xf3 && p[1] == 0x0f && p[2] == 0x1e &&
	       p[3] == (look->ws == 8 ? 0xfa : 0xfb);
}

/* mov %rsp,%rbp in either of its encodings */
static bool is_mov_sp_bp(const struct x86_look *look, const u8 *p,
			 unsigned int len)
{
	if (look->ws == 8) {
		if (len < 3 || *p++ != 0x48)
			return false;
	} else if (len < 2) {
		return false;
	}
	return (p[0] == 0x89 && p[1] == 0xe5) ||
	       (p[0] == 0x8b && p[1] == 0xec);
}

/**
 * x86_frame_is_return_thunk - is this a call that serves as a return?
 * @p:		the code
 * @len:	bytes of it
 *
 * A retpoline calls over a loop that only speculation executes. Then it drops or overwrites the
 * return address that the call pushed.
 *
 * Returns: true if it is
 */
bool x86_frame_is_return_thunk(const u8 *p, unsigned int len)
{
	return len >= 7 && p[0] == 0xe8 && x86_get_le32(p + 1) == 7 &&
	       p[5] == 0xf3 && p[6] == 0x90;
}

/* Is there a push of a register before ip that a prologue saves before bp? */
static bool pushes_before(const struct x86_look *look)
{
	const u8 *p = look->at;

	if (look->before < 2)
		return true;
	if (look->ws == 4)
		return p[-1] == 0x53 || p[-1] == 0x56 || p[-1] == 0x57;
	return p[-1] == 0x53 ||
	       (p[-2] == 0x41 && p[-1] >= 0x54 && p[-1] <= 0x57);
}

/* At push %rbp: does a prologue start here? */
static bool is_first_push(const struct x86_look *look)
{
	if (is_mov_sp_bp(look, look->at + 1, look->after - 1))
		return !pushes_before(look);
	return look->before >= 4 && at_endbr(look, look->at - 4);
}

static enum x86_frame_kind look_push(struct x86_look *look,
				     struct x86_frame_rule *rule)
{
	const u8 *p = look->at;

	if (p[0] == 0x55)
		return is_first_push(look) ?
		       rule_sp(look, rule, X86_FRAME_ENTRY, 1, false) :
		       X86_FRAME_UNKNOWN;
	/* push %rbp has run, mov %rsp,%rbp has not; 41 55 pushes r13. */
	if (is_mov_sp_bp(look, p, look->after) && look->before >= 2 &&
	    p[-1] == 0x55 && !(look->ws == 8 && p[-2] == 0x41))
		return rule_sp(look, rule, X86_FRAME_PROLOGUE, 2, true);
	return X86_FRAME_UNKNOWN;
}

/* sub $N,%rsp: returns N, -1 for another instruction. */
static int sub_sp(const u8 *p, unsigned int len, unsigned int *length)
{
	if (len < 7 || p[0] != 0x48)
		return -1;
	*length = 4;
	if (p[1] == 0x83 && p[2] == 0xec && !(p[3] & 0x80))
		return p[3];
	if (p[1] == 0x83 && p[2] == 0xc4 && p[3] == 0x80)
		return 128;
	*length = 7;
	if (p[1] == 0x81 && p[2] == 0xec && !(p[6] & 0x80))
		return x86_get_le32(p + 3);
	return -1;
}

/* A push of a register that prologues save? */
static bool is_prologue_push(const struct x86_look *look, const u8 *p)
{
	if (look->ws == 8 && p[0] == 0x41)
		return p[1] >= 0x54 && p[1] <= 0x57;
	if (look->ws == 4 && (p[0] == 0x56 || p[0] == 0x57))
		return true;
	return p[0] == 0x53 || p[0] == 0x55;
}

/* endbr is the first instruction of a function if a prologue follows. */
static bool is_entry_endbr(const struct x86_look *look)
{
	const u8 *p = look->at + 4;
	unsigned int sub;

	if (look->after < 8 || !at_endbr(look, look->at))
		return false;
	return is_prologue_push(look, p) || sub_sp(p, look->after - 4, &sub) >= 0;
}

static enum x86_frame_kind look_epilogue(struct x86_look *look,
					 struct x86_frame_rule *rule)
{
	const u8 *p = look->at;

	if (is_ret(p, look->after) ||
	    (p[0] == 0xe8 && x86_frame_is_return_thunk(p, look->after)))
		return rule_sp(look, rule, X86_FRAME_RET, 1, false);
	if (p[0] == 0xc9)
		return rule_bp(look, rule, X86_FRAME_EPILOGUE);
	if (p[0] == 0x5d && look->after > 1 && is_ret(p + 1, look->after - 1))
		return rule_sp(look, rule, X86_FRAME_EPILOGUE, 2, true);
	return X86_FRAME_UNKNOWN;
}

/**
 * x86_frame_is_plt0 - is this the first entry of a procedure linkage table?
 * @p:		the code
 * @len:	bytes of it
 *
 * This entry pushes the object and jumps to the resolver. The other entries have pushed the
 * relocation before. The resolver pops both.
 *
 * Returns: true if it is
 */
bool x86_frame_is_plt0(const u8 *p, unsigned int len)
{
	u8 jmp;

	if (len < 9 || p[0] != 0xff || (p[1] != 0x35 && p[1] != 0xb3))
		return false;
	jmp = p[1] == 0x35 ? 0x25 : 0xa3;
	if (p[6] == 0xf2)
		return p[7] == 0xff && p[8] == jmp;
	return p[6] == 0xff && p[7] == jmp;
}

static enum x86_frame_kind look_plt(struct x86_look *look,
				    struct x86_frame_rule *rule)
{
	/* push and jmp begin by ff, bnd jmp by f2. */
	if (look->at[0] != 0xff && look->at[0] != 0xf2)
		return X86_FRAME_UNKNOWN;
	if (x86_frame_is_plt0(look->at, look->after))
		return rule_sp(look, rule, X86_FRAME_PLT, 2, false);
	if (look->before >= 6 && x86_frame_is_plt0(look->at - 6, look->after + 6))
		return rule_sp(look, rule, X86_FRAME_PLT, 3, false);
	return X86_FRAME_UNKNOWN;
}

/**
 * x86_frame_is_go_check - is this where a Go function checks its stack space?
 * @p:		the code
 * @len:	bytes of it
 *
 * It does so by its first instruction, cmp 0x10(%r14),%rsp. If the frame is large, a lea of the
 * frame's end to r12 comes before, and the cmp is of r12.
 *
 * Returns: true if it is
 */
bool x86_frame_is_go_check(const u8 *p, unsigned int len)
{
	if (len >= 9 && p[0] == 0x4c && p[1] == 0x8d && p[2] == 0x64 &&
	    p[3] == 0x24) {
		p += 5;
	} else if (len >= 12 && p[0] == 0x4c && p[1] == 0x8d && p[2] == 0xa4 &&
		   p[3] == 0x24) {
		p += 8;
	}
	return len >= 4 && (p[0] == 0x49 || p[0] == 0x4d) && p[1] == 0x3b &&
	       p[2] == 0x66 && p[3] == 0x10;
}

/* mov %rbp,N(%rsp) with opcode 89, lea N(%rsp),%rbp with 8d: returns N, -1 for others. */
static int go_frame(const u8 *p, unsigned int len, u8 op)
{
	if (len < 5 || p[0] != 0x48 || p[1] != op || p[3] != 0x24)
		return -1;
	if (p[2] == 0x6c)
		return p[4] & 0x80 ? -1 : p[4];
	if (p[2] == 0xac && len >= 8 && !(p[7] & 0x80))
		return x86_get_le32(p + 4);
	return -1;
}

/* At the branch after the check, or at the first instruction after that branch? */
static bool after_go_check(const struct x86_look *look)
{
	const u8 *p = look->at;

	if (look->before < 10)
		return false;
	if ((p[0] == 0x76 || (look->after >= 2 && p[0] == 0x0f && p[1] == 0x86)) &&
	    x86_frame_is_go_check(p - 4, 4))
		return true;
	return (p[-2] == 0x76 && x86_frame_is_go_check(p - 6, 4)) ||
	       (p[-6] == 0x0f && p[-5] == 0x86 && x86_frame_is_go_check(p - 10, 4));
}

/*
 * A Go function checks its stack space, moves sp by one sub, saves bp at the top of its frame, and
 * loads bp with that address.
 */
static enum x86_frame_kind look_go(struct x86_look *look,
				   struct x86_frame_rule *rule)
{
	unsigned int len = look->after, sub = 0;
	const u8 *p = look->at;
	int top, size;

	if (look->ws != 8)
		return X86_FRAME_UNKNOWN;
	if (after_go_check(look))
		return rule_sp(look, rule, X86_FRAME_ENTRY, 1, false);
	/* All others have operands of 64 bits. */
	if ((p[0] & 0xf8) != 0x48)
		return X86_FRAME_UNKNOWN;
	if (x86_frame_is_go_check(p, len))
		return rule_sp(look, rule, X86_FRAME_ENTRY, 1, false);
	size = sub_sp(p, len, &sub);
	if (size >= 8 && go_frame(p + sub, len - sub, 0x89) == size - 8)
		return rule_sp(look, rule, X86_FRAME_ENTRY, 1, false);
	/* At the mov, then at the lea. */
	top = go_frame(p, len, 0x89);
	if (top >= 0 && top == go_frame(p + (top < 128 ? 5 : 8),
					len - (top < 128 ? 5 : 8), 0x8d))
		return rule_sp(look, rule, X86_FRAME_PROLOGUE, top / 8 + 2,
			       false);
	top = go_frame(p, len, 0x8d);
	size = top < 128 ? 5 : 8;
	if (top >= 0 && look->before >= size &&
	    top == go_frame(p - size, size, 0x89))
		return rule_sp(look, rule, X86_FRAME_PROLOGUE, top / 8 + 2,
			       false);
	return X86_FRAME_UNKNOWN;
}

/*
 * Is ip in a signal trampoline? Its mov has not been executed yet, or its system call has. Code is
 * read again only if the trampoline starts in the page before.
 */
static bool is_signal(const struct x86_frame_mem *mem, const struct x86_look *look)
{
	const u8 *p = look->at;

	if (!mem->is_64bit)
		return sigreturn_of(p, look->after, false);
	if ((p[0] == 0x48 || p[0] == 0xb8) && sigreturn_of(p, look->after, true))
		return true;
	if (look->before < 2 || p[-2] != 0x0f || p[-1] != 0x05)
		return false;
	if (look->before < X86_SIGRETURN_MAX)
		return x86_frame_in_sigreturn(mem, look->ip);
	return sigreturn_before(p, look->before);
}

/**
 * x86_frame_look - find the caller by the bytes around ip
 * @mem:	the code
 * @ip:		the instruction, not yet executed
 * @rule:	the rule, valid unless X86_FRAME_UNKNOWN or X86_FRAME_SIGNAL is returned
 *
 * Returns: what found the rule
 */
enum x86_frame_kind x86_frame_look(const struct x86_frame_mem *mem,
				   unsigned long ip,
				   struct x86_frame_rule *rule)
{
	enum x86_frame_kind kind;
	struct x86_look look;

	*rule = (struct x86_frame_rule) { 0 };
	if (!look_at(mem, ip, &look))
		return x86_frame_in_sigreturn(mem, ip) ? X86_FRAME_SIGNAL : X86_FRAME_UNKNOWN;
	kind = look_epilogue(&look, rule);
	if (kind == X86_FRAME_UNKNOWN)
		kind = look_push(&look, rule);
	if (kind == X86_FRAME_UNKNOWN && is_entry_endbr(&look))
		kind = rule_sp(&look, rule, X86_FRAME_ENTRY, 1, false);
	if (kind == X86_FRAME_UNKNOWN)
		kind = look_plt(&look, rule);
	if (kind == X86_FRAME_UNKNOWN)
		kind = look_go(&look, rule);
	if (kind == X86_FRAME_UNKNOWN && is_signal(mem, &look))
		kind = X86_FRAME_SIGNAL;
	return kind;
}

/* Does padding, or a return, end right before ip? */
static bool padding_before(const struct x86_look *look)
{
	static const u8 nopl[] = {
		0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00
	};
	static const u8 short_nopl[] = { 0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00 };
	const u8 *p = look->at;

	if (look->before < 8)
		return false;
	if (p[-1] == 0xc3 || p[-1] == 0xcc || p[-1] == 0x90)
		return true;
	return !memcmp(p - 8, nopl, 8) || !memcmp(p - 7, short_nopl, 7) ||
	       (p[-5] == 0x0f && p[-4] == 0x1f && p[-3] == 0x44 &&
		!p[-2] && !p[-1]) ||
	       (p[-4] == 0x0f && p[-3] == 0x1f && p[-2] == 0x40 && !p[-1]) ||
	       (p[-3] == 0x0f && p[-2] == 0x1f && !p[-1]);
}

/**
 * x86_frame_guess_entry - is ip the first instruction of a function?
 * @mem:	the code
 * @ip:		the instruction
 * @rule:	the rule
 *
 * The last resort, for functions that never return, or whose return is too far away. Such an
 * instruction is aligned, comes after padding, and is one that prologues start with.
 *
 * Returns: X86_FRAME_ENTRY if it is
 */
enum x86_frame_kind x86_frame_guess_entry(const struct x86_frame_mem *mem,
					  unsigned long ip,
					  struct x86_frame_rule *rule)
{
	struct x86_look look;
	const u8 *p;

	if ((ip & 15) || !look_at(mem, ip, &look) || look.after < 8)
		return X86_FRAME_UNKNOWN;
	p = look.at;
	if (!padding_before(&look))
		return X86_FRAME_UNKNOWN;
	if (at_endbr(&look, p)) {
		/*
		 * A landing pad of an exception takes it from rax first, or
		 * loads something from a frame.
		 */
		if (p[5] == 0x89 && X86_MODRM_REG(p[6]) == 0)
			return X86_FRAME_UNKNOWN;
		if (p[5] == 0x8b && X86_MODRM_RM(p[6]) == 5 &&
		    X86_MODRM_MOD(p[6]) % 3)
			return X86_FRAME_UNKNOWN;
	} else if (!is_prologue_push(&look, p)) {
		return X86_FRAME_UNKNOWN;
	}
	return rule_sp(&look, rule, X86_FRAME_ENTRY, 1, false);
}

/* Is the instruction of @len bytes before @end a call through ModRM? */
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
 * x86_frame_call_before - is there a call before a return address?
 * @mem:	the code
 * @ra:		the return address
 *
 * A word of the stack is accepted as return address only if there is one.
 *
 * Returns: true if @ra can be a return address
 */
bool x86_frame_call_before(const struct x86_frame_mem *mem, unsigned long ra)
{
	u8 bytes[X86_CALL_MAX], *end = bytes + X86_CALL_MAX;
	unsigned int len, got = X86_CALL_MAX;

	if (x86_frame_fetch(mem, ra - got, bytes, got) < got) {
		/* The page before may be unmapped. A shorter call may still fit. */
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

/**
 * x86_frame_sigreturn - does a signal trampoline start at a return address?
 * @mem:	the code
 * @ra:		the return address, of a signal handler if so
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
 * x86_frame_in_sigreturn - is the current instruction in a signal trampoline?
 * @mem:	the code
 * @ip:		the instruction
 *
 * The 64-bit trampoline is a mov of the number of rt_sigreturn() and a system call. A thread is
 * sampled at the mov, or in the system call; then ip is after the system call instruction. Both
 * are recognized. In 32-bit mode only the first instruction of the trampoline is.
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
		/* The page before @ip may be unmapped: read the bytes from @ip's page on. */
		before = ip & (X86_FRAME_PAGE - 1);
		if (before >= X86_SIGRETURN_MAX)
			return X86_SIGRETURN_NONE;
		len = x86_frame_fetch(mem, ip - before, at - before, before + X86_SIGRETURN_MAX);
	}
	if (len < before)
		return X86_SIGRETURN_NONE;
	kind = sigreturn_of(at, len - before, true);
	return kind ?: sigreturn_before(at, before);
}
