// SPDX-License-Identifier: GPL-2.0
/*
 * x86 frame analysis: the states that a look at the bytes around ip settles.
 */
#include <linux/string.h>
#include <linux/types.h>

#include "x86-frame-scan.h"

#define X86_FRAME_PAGE		4096

/* Bytes looked at before ip, and from ip on. */
#define X86_FRAME_BEFORE	12
#define X86_FRAME_AFTER		16

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
 * x86_is_plt0 - is this the first entry of a linkage table?
 * @p:		the code
 * @len:	bytes of it
 *
 * It pushes the object and jumps to the resolver; the entries before it have
 * pushed the relocation.  The resolver pops both.
 *
 * Returns: true if it is
 */
bool x86_is_plt0(const u8 *p, unsigned int len)
{
	u8 jmp;

	if (len < 9 || p[0] != 0xff || (p[1] != 0x35 && p[1] != 0xb3))
		return false;
	jmp = p[1] == 0x35 ? 0x25 : 0xa3;
	if (p[6] == 0xf2)
		return p[7] == 0xff && p[8] == jmp;
	return p[6] == 0xff && p[7] == jmp;
}

/**
 * x86_is_return_thunk - is this a call that serves as a return?
 * @p:		the code
 * @len:	bytes of it
 *
 * A retpoline calls over a loop that only speculation runs, and then drops or
 * overwrites the return address that the call pushed.
 *
 * Returns: true if it is
 */
bool x86_is_return_thunk(const u8 *p, unsigned int len)
{
	return len >= 7 && p[0] == 0xe8 && x86_get_le32(p + 1) == 7 &&
	       p[5] == 0xf3 && p[6] == 0x90;
}

/* A push of one of the registers that a prologue saves before bp. */
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

/* At push %rbp: is it the first of a prologue? */
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

/* sub $N,%rsp; N or -1 */
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

/* A push of a register that prologues save. */
static bool is_prologue_push(const struct x86_look *look, const u8 *p)
{
	if (look->ws == 8 && p[0] == 0x41)
		return p[1] >= 0x54 && p[1] <= 0x57;
	if (look->ws == 4 && (p[0] == 0x56 || p[0] == 0x57))
		return true;
	return p[0] == 0x53 || p[0] == 0x55;
}

/* endbr is the first instruction where a prologue follows. */
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
	    x86_is_return_thunk(p, look->after))
		return rule_sp(look, rule, X86_FRAME_RET, 1, false);
	if (p[0] == 0xc9)
		return rule_bp(look, rule, X86_FRAME_EPILOGUE);
	if (p[0] == 0x5d && look->after > 1 && is_ret(p + 1, look->after - 1))
		return rule_sp(look, rule, X86_FRAME_EPILOGUE, 2, true);
	return X86_FRAME_UNKNOWN;
}

static enum x86_frame_kind look_plt(struct x86_look *look,
				    struct x86_frame_rule *rule)
{
	if (x86_is_plt0(look->at, look->after))
		return rule_sp(look, rule, X86_FRAME_PLT, 2, false);
	if (look->before >= 6 && x86_is_plt0(look->at - 6, look->after + 6))
		return rule_sp(look, rule, X86_FRAME_PLT, 3, false);
	return X86_FRAME_UNKNOWN;
}

/**
 * x86_is_go_check - is this where a Go function looks at its stack space?
 * @p:		the code
 * @len:	bytes of it
 *
 * That is the function's first instruction, cmp 0x10(%r14),%rsp, or, where
 * the frame is large, the one behind the lea of the frame's end to r12.
 *
 * Returns: true if it is
 */
bool x86_is_go_check(const u8 *p, unsigned int len)
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

/* mov %rbp,N(%rsp) with opcode 89, lea N(%rsp),%rbp with 8d; N or -1 */
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

/* The branch behind the check, and the first instruction behind that. */
static bool behind_go_check(const struct x86_look *look)
{
	const u8 *p = look->at;

	if (look->before < 10)
		return false;
	if ((p[0] == 0x76 || (look->after >= 2 && p[0] == 0x0f && p[1] == 0x86)) &&
	    x86_is_go_check(p - 4, 4))
		return true;
	return (p[-2] == 0x76 && x86_is_go_check(p - 6, 4)) ||
	       (p[-6] == 0x0f && p[-5] == 0x86 && x86_is_go_check(p - 10, 4));
}

/*
 * A Go function checks its stack space, takes its frame with one sub, saves bp
 * at the frame's top and points bp there.  Where the way to its end is long,
 * these are all that a scan could go by.
 */
static enum x86_frame_kind look_go(struct x86_look *look,
				   struct x86_frame_rule *rule)
{
	unsigned int len = look->after, sub = 0;
	const u8 *p = look->at;
	int top, size;

	if (look->ws != 8)
		return X86_FRAME_UNKNOWN;
	if (x86_is_go_check(p, len) || behind_go_check(look))
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

/**
 * x86_frame_look - settle what a look at the bytes around ip settles
 * @mem:	the code
 * @ip:		the instruction
 * @rule:	the answer
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
		return X86_FRAME_UNKNOWN;
	kind = look_epilogue(&look, rule);
	if (kind == X86_FRAME_UNKNOWN)
		kind = look_push(&look, rule);
	if (kind == X86_FRAME_UNKNOWN && is_entry_endbr(&look))
		kind = rule_sp(&look, rule, X86_FRAME_ENTRY, 1, false);
	if (kind == X86_FRAME_UNKNOWN)
		kind = look_plt(&look, rule);
	if (kind == X86_FRAME_UNKNOWN)
		kind = look_go(&look, rule);
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
 * @rule:	the answer
 *
 * The last resort, for functions that never return or return too far away:
 * aligned, behind padding, and starting with what prologues start with.
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
