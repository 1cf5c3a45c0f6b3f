// SPDX-License-Identifier: GPL-2.0
/*
 * From the registers of a sample to those of DWARF.
 */
#include <string.h>
#include "../../../arch/x86/include/uapi/asm/perf_regs.h"
#include "abi.h"
#include "regs.h"
#include "tap.h"

#define BIT_OF(reg)	(1ULL << PERF_REG_X86_##reg)
#define NEEDED		(BIT_OF(IP) | BIT_OF(SP) | BIT_OF(BP))

/* What perf record asks for where nobody asks for more. */
#define ALL_64		(((1ULL << PERF_REG_X86_64_MAX) - 1) & \
			 ~(BIT_OF(DS) | BIT_OF(ES) | BIT_OF(FS) | BIT_OF(GS)))

/* Each register's value is its perf number, the lowest of the mask first. */
static void read_all(u64 mask, const struct hybrid_abi *abi, struct hybrid_regs *regs,
		     bool *complete)
{
	struct hybrid_regs_map map;
	u64 values[64];
	unsigned int i, nr = 0;

	for (i = 0; i < 64; i++) {
		if (mask & (1ULL << i))
			values[nr++] = 0x100 + i;
	}
	memset(regs, 0, sizeof(*regs));
	hybrid_regs_map_init(&map, mask, abi);
	hybrid_regs_read(&map, values, regs);
	*complete = map.complete;
}

static void all_64(void)
{
	/* psABI x86-64 figure 3.36: rax rdx rcx rbx rsi rdi rbp rsp r8..r15 rip */
	static const u8 want[HYBRID_X86_64_NR] = {
		0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8,
	};
	struct hybrid_regs regs;
	unsigned int i;
	bool complete;

	read_all(ALL_64, &hybrid_abi_64, &regs, &complete);
	check(complete);
	same(regs.known, (1U << HYBRID_X86_64_NR) - 1);
	for (i = 0; i < HYBRID_X86_64_NR; i++)
		same(regs.value[i], 0x100 + want[i]);
}

static void all_32(void)
{
	/* psABI i386 table 2.14: eax ecx edx ebx esp ebp esi edi eip */
	static const u8 want[HYBRID_I386_NR] = { 0, 2, 3, 1, 7, 6, 4, 5, 8 };
	struct hybrid_regs regs;
	unsigned int i;
	bool complete;

	read_all(ALL_64, &hybrid_abi_32, &regs, &complete);
	check(complete);
	same(regs.known, (1U << HYBRID_I386_NR) - 1);
	for (i = 0; i < HYBRID_I386_NR; i++)
		same(regs.value[i], 0x100 + want[i]);
}

static void few(void)
{
	struct hybrid_regs regs;
	bool complete;

	read_all(NEEDED, &hybrid_abi_64, &regs, &complete);
	check(complete);
	same(regs.known, 1U << 6 | 1U << 7 | 1U << 16);
	same(regs.value[7], 0x100 + PERF_REG_X86_SP);
	read_all(NEEDED & ~BIT_OF(SP), &hybrid_abi_64, &regs, &complete);
	check(!complete);
	read_all(NEEDED & ~BIT_OF(BP), &hybrid_abi_64, &regs, &complete);
	check(!complete);
	read_all(NEEDED & ~BIT_OF(IP), &hybrid_abi_32, &regs, &complete);
	check(!complete);
	read_all(0, &hybrid_abi_64, &regs, &complete);
	check(!complete);
	same(regs.known, 0);
}

/* Segment and vector registers between and above are counted, not read. */
static void others(void)
{
	struct hybrid_regs regs;
	bool complete;

	read_all(~0ULL, &hybrid_abi_64, &regs, &complete);
	check(complete);
	same(regs.value[8], 0x100 + PERF_REG_X86_R8);
	same(regs.value[HYBRID_X86_64_IP], 0x100 + PERF_REG_X86_IP);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "regs: all of x86-64", all_64 },
		{ "regs: all of i386", all_32 },
		{ "regs: some, and too few", few },
		{ "regs: others among them", others },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
