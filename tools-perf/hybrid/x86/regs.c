// SPDX-License-Identifier: GPL-2.0
/*
 * From perf's register numbers to DWARF's. get_dwarf_regnum_for_perf_regnum()
 * is no help: it takes DWARF register 0 for "none", and OpenSSL's assembler has
 * rows whose CFA is rax.
 */
#include <string.h>
#include <linux/kernel.h>
#include <asm/perf_regs.h>
#include "../rules/regs.h"
#include "code.h"

struct pair {
	u8	perf;
	u8	dwarf;
};

static const struct pair pairs_64[] = {
	{ PERF_REG_X86_AX, 0 }, { PERF_REG_X86_DX, 1 }, { PERF_REG_X86_CX, 2 },
	{ PERF_REG_X86_BX, 3 }, { PERF_REG_X86_SI, 4 }, { PERF_REG_X86_DI, 5 },
	{ PERF_REG_X86_BP, 6 }, { PERF_REG_X86_SP, 7 }, { PERF_REG_X86_R8, 8 },
	{ PERF_REG_X86_R9, 9 }, { PERF_REG_X86_R10, 10 }, { PERF_REG_X86_R11, 11 },
	{ PERF_REG_X86_R12, 12 }, { PERF_REG_X86_R13, 13 }, { PERF_REG_X86_R14, 14 },
	{ PERF_REG_X86_R15, 15 }, { PERF_REG_X86_IP, HYBRID_X86_64_IP },
};

static const struct pair pairs_32[] = {
	{ PERF_REG_X86_AX, 0 }, { PERF_REG_X86_CX, 1 }, { PERF_REG_X86_DX, 2 },
	{ PERF_REG_X86_BX, 3 }, { PERF_REG_X86_SP, 4 }, { PERF_REG_X86_BP, 5 },
	{ PERF_REG_X86_SI, 6 }, { PERF_REG_X86_DI, 7 },
	{ PERF_REG_X86_IP, HYBRID_I386_IP },
};

void hybrid_x86_map_regs(struct hybrid_regs_map *map, u64 mask, const struct hybrid_abi *abi)
{
	bool is_64 = abi->word == 8;
	const struct pair *pairs = is_64 ? pairs_64 : pairs_32;
	unsigned int nr = is_64 ? ARRAY_SIZE(pairs_64) : ARRAY_SIZE(pairs_32);
	u32 have = 0, need = 1U << abi->ip | 1U << abi->sp | 1U << abi->bp;
	unsigned int i;

	memset(map, 0, sizeof(*map));
	for (i = 0; i < nr; i++) {
		if (!(mask & (1ULL << pairs[i].perf)))
			continue;
		/* The sample holds the registers of the mask, lowest first. */
		map->from[map->nr] = __builtin_popcountll(mask & ((1ULL << pairs[i].perf) - 1));
		map->to[map->nr++] = pairs[i].dwarf;
		have |= 1U << pairs[i].dwarf;
	}
	map->complete = (have & need) == need;
}
