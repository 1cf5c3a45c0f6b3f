/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_REGS_H
#define __PERF_HYBRID_REGS_H

#include "arch.h"
#include "expr.h"

/**
 * struct hybrid_regs_map - how to read a sample's registers, worked out once
 *	for each register mask
 * @nr: of @from and @to
 * @from: index in the sample's registers
 * @to: DWARF number
 * @complete: ip, sp and bp are among them
 */
struct hybrid_regs_map {
	u8	nr;
	u8	from[HYBRID_MAX_REGS];
	u8	to[HYBRID_MAX_REGS];
	bool	complete;
};

/**
 * hybrid_regs_map_init - for one mask and ABI
 * @map: out
 * @mask: perf_event_attr's sample_regs_user
 * @abi: of the task
 */
static inline void hybrid_regs_map_init(struct hybrid_regs_map *map, u64 mask,
					const struct hybrid_abi *abi)
{
	abi->arch->map_regs(map, mask, abi);
}

static inline void hybrid_regs_read(const struct hybrid_regs_map *map, const u64 *from,
				    struct hybrid_regs *regs)
{
	unsigned int i;

	regs->known = 0;
	for (i = 0; i < map->nr; i++) {
		regs->value[map->to[i]] = from[map->from[i]];
		regs->known |= 1U << map->to[i];
	}
}

#endif /* __PERF_HYBRID_REGS_H */
