// SPDX-License-Identifier: GPL-2.0
/*
 * Frames that are not made by a change of sp that the code shows: aligned stacks, loops that make
 * large frames, an sp that was saved. Code made up of bytes.
 */
#include <string.h>
#include "code-bytes.h"
#include "../hybrid/x86/code.h"
#include "probe-loop.h"
#include "realigned.h"
#include "saved-sp.h"
#include "tap.h"

static struct hybrid_rule rule;
static unsigned int took;

#define PUT(bytes) do {							\
	code_fill(0xcc);						\
	CODE_PUT(0, bytes);						\
} while (0)

static bool realigned(u64 at)
{
	rule = hybrid_rule_frame_pointer(8);
	return hybrid_realigned_rule(&code_mem, CODE_BASE + at, &rule, &took);
}

static void expect_realigned(int line, u64 at, int slot)
{
	tap_same(realigned(at), true, __FILE__, line, "realigned");
	tap_same(rule.kind, HYBRID_RULE_DEREF, __FILE__, line, "kind");
	tap_same(rule.base, HYBRID_BASE_BP, __FILE__, line, "base");
	tap_same(rule.cfa_off, slot, __FILE__, line, "place of the CFA");
	tap_same(rule.deref_off, 0, __FILE__, line, "CFA");
	tap_same(rule.bp, HYBRID_BP_AT_BP, __FILE__, line, "bp");
	tap_same(rule.bp_off, 0, __FILE__, line, "place of bp");
}

static void aligned(void)
{
	/* nop; mov -8(%rbp),%r10; leave; lea -8(%r10),%rsp; ret */
	PUT("\x90\x4c\x8b\x55\xf8\xc9\x49\x8d\x62\xf8\xc3");
	expect_realigned(__LINE__, 0, -8);
	expect_realigned(__LINE__, 1, -8);
	/* Once it is in the register, the place is not known from there. */
	check(!realigned(5) && rule.kind == HYBRID_RULE_CFA);
	/* lea -0x30(%rbp),%rsp; pop %rbx; pop %r10; pop %r12; pop %rbp; lea -8(%r10),%rsp; ret */
	PUT("\x48\x8d\x65\xd0\x5b\x41\x5a\x41\x5c\x5d\x49\x8d\x62\xf8\xc3");
	expect_realigned(__LINE__, 0, -0x28);
	/* leave; ret: an epilogue that loads no sp. */
	PUT("\xc9\xc3");
	check(!realigned(0));
	/* The register was changed. */
	PUT("\x4c\x8b\x55\xf8\x4c\x8b\x10\xc9\x49\x8d\x62\xf8\xc3");
	check(!realigned(0));
	/* No frame that bp points to. */
	PUT("\x90\x4c\x8b\x55\xf8\xc9\x49\x8d\x62\xf8\xc3");
	rule = (struct hybrid_rule) { .kind = HYBRID_RULE_CFA, .cfa_off = 16 };
	check(!hybrid_realigned_rule(&code_mem, CODE_BASE, &rule, &took));
	code_mem.is_64bit = false;
	check(!realigned(0));
	code_mem.is_64bit = true;
	code_fill(0x90);
	check(!realigned(0));
	check(took >= 4096 && took <= 4097);
}

/* lea -0xa000(%rsp),%r11; sub $0x1000,%rsp; orq $0,(%rsp); cmp %r11,%rsp; jne back */
#define LOOP "\x4c\x8d\x9c\x24\x00\x60\xff\xff\x48\x81\xec\x00\x10\x00\x00" \
	     "\x48\x83\x0c\x24\x00\x4c\x39\xdc\x75\xef"

static void loops(void)
{
	static const unsigned int in[] = { 8, 15, 20, 23 };
	unsigned int i;
	s32 from_sp;
	u64 end;

	PUT(LOOP "\x90");
	check(hybrid_probe_loop(&code_mem, CODE_BASE, &end, &from_sp));
	same(end, CODE_BASE + 25);
	same(from_sp, 0xa000);
	for (i = 0; i < ARRAY_SIZE(in); i++) {
		end = 0;
		check(hybrid_probe_loop(&code_mem, CODE_BASE + in[i], &end, &from_sp));
		same(end, CODE_BASE + 25);
		same(from_sp, 0);
	}
	check(!hybrid_probe_loop(&code_mem, CODE_BASE + 25, &end, &from_sp));
	check(!hybrid_probe_loop(&code_mem, CODE_BASE + 9, &end, &from_sp));
	/* jne elsewhere, and a frame that grows the other way. */
	code[24] = 0xee;
	check(!hybrid_probe_loop(&code_mem, CODE_BASE, &end, &from_sp));
	code[24] = 0xef;
	memset(code + 4, 0, 4);
	check(!hybrid_probe_loop(&code_mem, CODE_BASE, &end, &from_sp));
	code_mem.is_64bit = false;
	check(!hybrid_probe_loop(&code_mem, CODE_BASE + 8, &end, &from_sp));
	code_mem.is_64bit = true;
}

/* The rule of a loop is that of the code after it. */
static void after_loops(void)
{
	/* add $0xa000,%rsp; ret */
	PUT(LOOP "\x48\x81\xc4\x00\xa0\x00\x00\xc3");
	check(hybrid_code_ask(&code_mem, CODE_BASE, &rule));
	same(rule.base, HYBRID_BASE_SP);
	same(rule.cfa_off, 8);
	check(hybrid_code_ask(&code_mem, CODE_BASE + 8, &rule));
	same(rule.base, HYBRID_BASE_REG + 11);
	same(rule.cfa_off, 0xa008);
	/* No instruction, and one that never returns. */
	code_fill(0x06);
	CODE_PUT(0, LOOP);
	check(!hybrid_code_ask(&code_mem, CODE_BASE, &rule));
	CODE_PUT(0, LOOP "\xeb\xfe");
	check(!hybrid_code_ask(&code_mem, CODE_BASE + 8, &rule));
}

static void saved(void)
{
	/* sub $1,%rax; jne back; pop %rdx; pop %rcx; mov %rcx,%rsp; ret */
	PUT("\x48\x83\xe8\x01\x75\xfa\x5a\x59\x48\x89\xcc\xc3");
	check(hybrid_saved_sp_rule(&code_mem, CODE_BASE, &rule));
	same(rule.kind, HYBRID_RULE_DEREF);
	same(rule.base, HYBRID_BASE_SP);
	same(rule.cfa_off, 8);
	same(rule.deref_off, 8);
	same(rule.ra_off, -8);
	check(hybrid_saved_sp_rule(&code_mem, CODE_BASE + 7, &rule));
	same(rule.cfa_off, 0);
	/* The value is in the register; or is no return. */
	check(!hybrid_saved_sp_rule(&code_mem, CODE_BASE + 8, &rule));
	code[11] = 0x90;
	check(!hybrid_saved_sp_rule(&code_mem, CODE_BASE, &rule));
	/* pop %rcx; add $8,%rcx; mov %rcx,%rsp; ret */
	PUT("\x59\x48\x83\xc1\x08\x48\x89\xcc\xc3");
	check(!hybrid_saved_sp_rule(&code_mem, CODE_BASE, &rule));
	/* pop %rcx; mov %rdx,%rsp; ret, and pop %rsp */
	PUT("\x59\x48\x89\xd4\xc3");
	check(!hybrid_saved_sp_rule(&code_mem, CODE_BASE, &rule));
	PUT("\x5c\x59\x48\x89\xcc\xc3");
	check(!hybrid_saved_sp_rule(&code_mem, CODE_BASE, &rule));
	code_fill(0x90);
	check(!hybrid_saved_sp_rule(&code_mem, CODE_BASE, &rule));
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "special frames: an aligned stack", aligned },
		{ "special frames: loops that make large frames", loops },
		{ "special frames: the code after a loop", after_loops },
		{ "special frames: a saved sp", saved },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
