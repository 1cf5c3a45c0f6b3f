// SPDX-License-Identifier: GPL-2.0
/* The analysis on fixed byte sequences.  Prints TAP. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/kernel.h>

#include "frame-cases.h"
#include "../../kmod/frame/x86_frame.h"
#include "../../kmod/frame/x86_frame_cache.h"
#include "report.h"

#define PAGE	0x401000
#define SIZE	4096
#define HLT	0xf4

/* One page that can be read, and nothing around it. */
struct code {
	unsigned int	reads;
	bool		gone;
	unsigned char	bytes[SIZE];
};

static int code_read(void *ctx, unsigned long addr, void *dst, unsigned int len)
{
	struct code *code = ctx;
	unsigned long off = addr - PAGE;

	code->reads++;
	if (code->gone || off >= SIZE || SIZE - off < len)
		return -1;
	memcpy(dst, code->bytes + off, len);
	return 0;
}

/*
 * Code as hexadecimal bytes; '|' stands before the instruction at ip.  The rest
 * of the page is filled with hlt.  Returns ip.
 */
static unsigned long assemble(struct code *code, const char *hex,
			      unsigned int at)
{
	unsigned int ip = at, end = at;
	char *next;

	code->reads = 0;
	code->gone = false;
	memset(code->bytes, HLT, SIZE);
	while (*hex) {
		if (*hex == '|')
			ip = end;
		if (*hex == '|' || *hex == ' ') {
			hex++;
			continue;
		}
		code->bytes[end++] = strtoul(hex, &next, 16);
		hex = next;
	}
	return PAGE + ip;
}

/* The code ends where the page does. */
static unsigned long assemble_at_end(struct code *code, const char *hex)
{
	unsigned int len = 0;
	const char *p;

	for (p = hex; *p; p++)
		len += *p != ' ' && *p != '|';
	return assemble(code, hex, SIZE - len / 2);
}

static bool check_case(const struct test_case *t, struct code *code,
		       unsigned long ip)
{
	struct x86_frame_mem mem = { code_read, code, t->bits == 64, false };
	struct x86_frame_rule rule = { 0 };
	struct x86_frame_work work;
	enum x86_frame_kind kind;
	bool frame = t->use_fp && t->kind != X86_FRAME_SCAN_MEM;
	int cfa_off = frame ? t->bits / 4 : t->cfa_off;
	int fp_off = frame ? -t->bits / 4 : t->fp_off;
	bool ok;

	kind = x86_frame_analyze(&mem, ip, &rule, &work);
	ok = kind == t->kind;
	if (kind != X86_FRAME_UNKNOWN)
		ok = ok && rule.use_fp == t->use_fp &&
		     rule.cfa_off == cfa_off && rule.fp_off == fp_off &&
		     rule.ra_off == -t->bits / 8;
	if (kind == X86_FRAME_SCAN_MEM)
		ok = ok && rule.mem_off == t->mem_off;
	if (kind == X86_FRAME_SCAN_REG)
		ok = ok && rule.reg == t->reg;
	if (!ok)
		printf("# at %#lx: kind %d %s%+d bp at %d mem %d reg %d\n", ip, kind,
		       rule.use_fp ? "bp" : "sp", rule.cfa_off, rule.fp_off, rule.mem_off,
		       rule.reg);
	return ok;
}

static void run_case(const struct test_case *t)
{
	struct code code;
	bool ok;

	ok = check_case(t, &code, assemble(&code, t->code, 0x805));
	ok &= check_case(t, &code, assemble_at_end(&code, t->code));
	report(ok, t->name);
}

/* Code that leaves bp to who has called it, and code that may be another function's. */
static void run_any_bp(void)
{
	static const struct {
		const char		*name;
		const char		*code;
		enum x86_frame_kind	kind;
		bool			lost;
	} tries[] = {
		{ "any bp: set", "|31 ed c3", X86_FRAME_SCAN_SP, true },
		{ "any bp: worked out from sp", "|48 8d 6c 24 08 c3", X86_FRAME_SCAN_SP, true },
		{ "any bp: restored", "|55 31 ed 5d c3", X86_FRAME_SCAN_SP, false },
		{ "any bp: set, behind a call", "|e8 04 00 00 00 31 ed c3 90 c3",
		  X86_FRAME_UNKNOWN, false },
		{ "any bp: set, sp loaded", "|31 ed 48 8b 64 24 20 c3", X86_FRAME_UNKNOWN, false },
		{ "any bp: at a return", "|c3", X86_FRAME_RET, false },
		{ "any bp: at an entry, lost on a path that is not believed",
		  "cc cc cc cc cc cc cc cc cc cc cc |55 31 c0 89 ed c3 90 90",
		  X86_FRAME_ENTRY, false },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tries); i++) {
		struct code code;
		struct x86_frame_mem mem = { code_read, &code, true, true };
		unsigned long ip = assemble(&code, tries[i].code, 0x805);
		struct x86_frame_rule rule = { .fp_lost = true };
		struct x86_frame_work work;
		enum x86_frame_kind kind = x86_frame_analyze(&mem, ip, &rule, &work);
		bool same = rule.cfa_off == 8 && rule.fp_lost == tries[i].lost;

		report(kind == tries[i].kind && (kind == X86_FRAME_UNKNOWN || same),
		       tries[i].name);
	}
}

struct call_case {
	const char	*name;
	const char	*code;
	bool		is_call;
};

/* The return address is where the bar is. */
static const struct call_case calls[] = {
	{ "call rel32", "90 90 90 90 e8 00 00 00 00|", true },
	{ "call *%rax", "90 90 90 90 90 90 90 ff d0|", true },
	{ "call *%r12", "90 90 90 90 90 90 41 ff d4|", true },
	{ "call *(%rax)", "90 90 90 90 90 90 90 ff 10|", true },
	{ "call *8(%rax)", "90 90 90 90 90 90 ff 50 08|", true },
	{ "call *8(%rsp)", "90 90 90 90 90 ff 54 24 08|", true },
	{ "call *0x100(%rax)", "90 90 90 ff 90 00 01 00 00|", true },
	{ "call *0x100(%rsp)", "90 90 ff 94 24 00 01 00 00|", true },
	{ "call *x(%rip)", "90 90 90 ff 15 00 01 00 00|", true },
	{ "call *x(,%rax,8)", "90 90 ff 14 c5 00 01 00 00|", true },
	{ "call *(%rax,%rbx,8)", "90 90 90 90 90 90 ff 14 d8|", true },
	{ "jmp *%rax is no call", "90 90 90 90 90 90 90 ff e0|", false },
	{ "push is no call", "90 90 90 90 90 90 90 ff 30|", false },
	{ "no call", "90 90 90 90 90 90 90 90 90|", false },
	{ "call rel32 at the start of what can be read", "e8 00 00 00 00|", true },
	{ "call *%rax at the start", "ff d0|", true },
	{ "nothing before", "|90", false },
	{ "one byte before", "e8 |90", false },
};

static void run_call(const struct call_case *t)
{
	struct code code;
	struct x86_frame_mem mem = { code_read, &code, true, false };
	unsigned long ra = assemble(&code, t->code, 0);

	report(x86_frame_call_before(&mem, ra) == t->is_call, t->name);
}

struct sig_case {
	const char			*name;
	const char			*code;
	int				bits;
	enum x86_frame_sigreturn	ret;
};

static const struct sig_case sigs[] = {
	{ "__restore_rt", "48 c7 c0 0f 00 00 00 0f 05", 64, X86_SIGRETURN_64 },
	{ "mov $15,%eax; syscall", "b8 0f 00 00 00 0f 05", 64, X86_SIGRETURN_64 },
	{ "another system call", "b8 0e 00 00 00 0f 05 c3 90", 64, X86_SIGRETURN_NONE },
	{ "cut off", "48 c7 c0 0f 00 00 00 0f", 64, X86_SIGRETURN_NONE },
	{ "32: sigreturn", "58 b8 77 00 00 00 cd 80", 32, X86_SIGRETURN_32 },
	{ "32: rt_sigreturn", "b8 ad 00 00 00 cd 80", 32, X86_SIGRETURN_RT_32 },
	{ "32: another system call", "b8 ae 00 00 00 cd 80", 32, X86_SIGRETURN_NONE },
	{ "64-bit code is no 32-bit trampoline", "58 b8 77 00 00 00 cd 80", 64,
	  X86_SIGRETURN_NONE },
};

static void run_sig(const struct sig_case *t)
{
	struct code code;
	struct x86_frame_mem mem = { code_read, &code, t->bits == 64, false };
	unsigned long ra = assemble_at_end(&code, t->code);

	report(x86_frame_sigreturn(&mem, ra) == t->ret, t->name);
}

/* The interrupted instruction is at '|'; the code begins @at bytes from the page's start. */
static const struct {
	const char			*name;
	const char			*code;
	unsigned int			at, reads;
	int				bits;
	enum x86_frame_sigreturn	ret;
} in_sigs[] = {
	{ "at a trampoline", "|48 c7 c0 0f 00 00 00 0f 05", 64, 1, 64, X86_SIGRETURN_64 },
	{ "in its system call", "48 c7 c0 0f 00 00 00 0f 05|", 64, 1, 64, X86_SIGRETURN_64 },
	{ "in that of the short one", "b8 0f 00 00 00 0f 05|", 64, 1, 64, X86_SIGRETURN_64 },
	{ "between both", "b8 0f 00 00 00|0f 05", 64, 1, 64, X86_SIGRETURN_NONE },
	{ "at the page's start", "|48 c7 c0 0f 00 00 00 0f 05", 0, 2, 64, X86_SIGRETURN_64 },
	{ "... in its system call", "48 c7 c0 0f 00 00 00 0f 05|", 0, 1, 64,
	  X86_SIGRETURN_64 },
	{ "... in that of the short one", "b8 0f 00 00 00 0f 05|", 0, 2, 64,
	  X86_SIGRETURN_64 },
	{ "... in the half of one", "00 00 00 0f 05|", 0, 2, 64, X86_SIGRETURN_NONE },
	{ "after another system call", "0f 05|48 c7 c0 0f 00 00 00 0f 05", 64, 1, 64,
	  X86_SIGRETURN_64 },
	{ "in a system call at the page's end", "48 c7 c0 0f 00 00 00 0f 05|", SIZE - 9, 2, 64,
	  X86_SIGRETURN_64 },
	{ "32: at a trampoline", "|58 b8 77 00 00 00 cd 80", 64, 1, 32, X86_SIGRETURN_32 },
	{ "32: in its system call", "58 b8 77 00 00 00 cd 80|", 64, 1, 32,
	  X86_SIGRETURN_NONE },
};

static void run_in_sig(unsigned int i)
{
	struct code code;
	struct x86_frame_mem mem = { code_read, &code, in_sigs[i].bits == 64, false };
	unsigned long ip = assemble(&code, in_sigs[i].code, in_sigs[i].at);
	struct x86_frame_rule rule;
	enum x86_frame_kind kind;

	report(x86_frame_in_sigreturn(&mem, ip) == in_sigs[i].ret &&
	       code.reads == in_sigs[i].reads, in_sigs[i].name);
	kind = x86_frame_look(&mem, ip, &rule);
	report((kind == X86_FRAME_SIGNAL) == (in_sigs[i].ret != X86_SIGRETURN_NONE),
	       "... by a look");
}

static void run_cache(void)
{
	struct x86_frame_rule a = { 0 }, b = { 0 };
	static struct x86_frame_cache cache;
	struct code code;
	struct x86_frame_mem mem = { code_read, &code, true, false };
	unsigned long ip = assemble(&code, "|90 48 83 c4 18 c3", 0x123);
	enum x86_frame_kind k1, k2;
	unsigned int reads;

	k1 = x86_frame_analyze_cached(&cache, 1, &mem, ip, &a);
	reads = code.reads;
	k2 = x86_frame_analyze_cached(&cache, 1, &mem, ip, &b);
	report(k1 == k2 && k1 == X86_FRAME_SCAN_SP && a.cfa_off == 32 &&
	       b.cfa_off == 32 && !a.use_fp && !b.use_fp && a.ra_off == -8 &&
	       b.ra_off == -8 && a.fp_off == b.fp_off, "cache: same answer");
	report(code.reads == reads + 1, "cache: one read on a hit");
	code.bytes[ip - PAGE + 4] = 0x28;
	x86_frame_analyze_cached(&cache, 1, &mem, ip, &b);
	report(b.cfa_off == 48, "cache: code at ip rewritten");
	code.bytes[ip - PAGE + 4] = 0x38;
	x86_frame_analyze_cached(&cache, 2, &mem, ip, &b);
	report(b.cfa_off == 64, "cache: another address space");
	mem.is_64bit = false;
	code.bytes[ip - PAGE] = 0xc3;
	k1 = x86_frame_analyze_cached(&cache, 2, &mem, ip, &b);
	report(k1 == X86_FRAME_RET && b.cfa_off == 4, "cache: 32-bit code");
	code.gone = true;
	k1 = x86_frame_analyze_cached(&cache, 2, &mem, ip, &b);
	report(k1 == X86_FRAME_UNKNOWN, "cache: code gone");
}

/* The answer for one address is the answer for others in straight code. */
static void run_cache_run(void)
{
	static struct x86_frame_cache cache;
	struct x86_frame_rule rule = { 0 };
	struct code code;
	struct x86_frame_mem mem = { code_read, &code, true, false };
	unsigned long ip = assemble(&code, "90 90 |90 90 53 5b 58 c3", 0x13d);
	enum x86_frame_kind kind;
	unsigned int reads;

	x86_frame_analyze_cached(&cache, 1, &mem, ip, &rule);
	reads = code.reads;
	rule.cfa_off = 0;
	kind = x86_frame_analyze_cached(&cache, 1, &mem, ip + 2, &rule);
	report(code.reads == reads + 1 && kind == X86_FRAME_SCAN_SP &&
	       rule.cfa_off == 16, "cache: further on, in the next block");
	x86_frame_analyze_cached(&cache, 1, &mem, ip + 3, &rule);
	report(code.reads > reads + 2 && rule.cfa_off == 24,
	       "cache: not behind a push");
	reads = code.reads;
	x86_frame_analyze_cached(&cache, 1, &mem, ip - 1, &rule);
	report(code.reads > reads + 1 && rule.cfa_off == 16,
	       "cache: not before where it was found");
}

/* Is @ip looked for anew, and the block's bytes not only read to look into the cache? */
static bool is_missed(struct x86_frame_cache *cache, u64 space, const struct x86_frame_mem *mem,
		      unsigned long ip)
{
	struct code *code = mem->ctx;
	struct x86_frame_rule rule;

	code->reads = 0;
	x86_frame_analyze_cached(cache, space, mem, ip, &rule);
	return code->reads > 1;
}

/* No program's code can have the entry of another program's, whatever its tag. */
static void run_cache_space(void)
{
	static struct x86_frame_cache cache;
	struct code code;
	struct x86_frame_mem mem = { code_read, &code, true, false };
	unsigned long ip = assemble(&code, "90 90 |90 90 53 5b 58 c3", 0x140);
	bool ok = true;
	int bit;

	is_missed(&cache, 1, &mem, ip);
	report(!is_missed(&cache, 1, &mem, ip), "cache: kept for an address space");
	/* Its set is that of 1, too. */
	for (bit = 7; bit < X86_FRAME_CACHE_SPACE; bit++)
		ok &= is_missed(&cache, 1 + (1ULL << bit), &mem, ip);
	report(ok, "cache: not found by another one");
	is_missed(&cache, 1, &mem, ip);
	report(!is_missed(&cache, 1, &mem, ip), "cache: ... and kept again");
	/* Bits that some multiplications move onto each other. */
	code.bytes[0x140 + 55] ^= 0x80;
	code.bytes[0x140 + 59] ^= 0x80;
	report(is_missed(&cache, 1, &mem, ip), "cache: two changes that cancel are seen");
	report(!is_missed(&cache, 1, &mem, ip), "cache: ... and kept again");
}

/* A block has room for the results of as many instructions as a set has entries. */
static void run_cache_ways(void)
{
	static struct x86_frame_cache cache;
	struct code code;
	struct x86_frame_mem mem = { code_read, &code, true, false };
	unsigned long ip = assemble(&code, "|53 53 53 53 53 53 48 83 c4 30 c3", 0x140);
	bool kept = true;
	unsigned int i;

	for (i = 0; i < X86_FRAME_CACHE_WAYS; i++)
		is_missed(&cache, 1, &mem, ip + i);
	for (i = 0; i < X86_FRAME_CACHE_WAYS; i++)
		kept &= !is_missed(&cache, 1, &mem, ip + i);
	report(kept, "cache: results of one block");
	report(is_missed(&cache, 1, &mem, ip + i) && !is_missed(&cache, 1, &mem, ip + i) &&
	       is_missed(&cache, 1, &mem, ip), "cache: ... and one more replaces the first");
}

/* Of a search that may not take all units, and takes those that it may, no failure is kept. */
static void run_cache_spent(void)
{
	static struct x86_frame_cache cache;
	struct code code;
	struct x86_frame_mem mem = { code_read, &code, true, false };
	unsigned long ip = assemble(&code, "", 0);

	memset(code.bytes, 0x90, SIZE);
	is_missed(&cache, 1, &mem, ip);
	report(!is_missed(&cache, 1, &mem, ip), "cache: a failure of a whole search");
	cache.spent = X86_FRAME_INSNS / 2;
	is_missed(&cache, 1, &mem, ip + 128);
	report(is_missed(&cache, 1, &mem, ip + 128), "cache: none of one that was cut short");
	code.bytes[256 + 8] = HLT;
	is_missed(&cache, 1, &mem, ip + 256);
	report(!is_missed(&cache, 1, &mem, ip + 256), "cache: ... but of one that ended before");
	code.bytes[512 + 8] = 0xc3;
	is_missed(&cache, 1, &mem, ip + 512);
	report(!is_missed(&cache, 1, &mem, ip + 512), "cache: ... and a result");
}

/* What a look finds costs less than the cache. */
static void run_cache_look(void)
{
	static struct x86_frame_cache cache;
	struct code code;
	struct x86_frame_mem mem = { code_read, &code, true, false };
	unsigned long ip = assemble(&code, "|c3", 0x140);

	is_missed(&cache, 1, &mem, ip);
	report(is_missed(&cache, 1, &mem, ip), "cache: not the result of a look");
}

int main(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		run_case(&cases[i]);
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		run_call(&calls[i]);
	for (i = 0; i < ARRAY_SIZE(sigs); i++)
		run_sig(&sigs[i]);
	for (i = 0; i < ARRAY_SIZE(in_sigs); i++)
		run_in_sig(i);
	run_any_bp();
	run_cache();
	run_cache_run();
	run_cache_space();
	run_cache_ways();
	run_cache_spent();
	run_cache_look();
	printf("1..%d\n", nr_tests);
	return nr_failed != 0;
}
