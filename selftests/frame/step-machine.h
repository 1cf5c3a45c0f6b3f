/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A machine that executes random instructions as they are made: what a path claims is compared
 * with it.
 */
#ifndef _STEP_MACHINE_H
#define _STEP_MACHINE_H

#include <stdlib.h>
#include <string.h>

#include "../../kmod/frame/x86_frame_scan.h"

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

extern unsigned int seed;

static inline unsigned int below(unsigned int n)
{
	return rand_r(&seed) % n;
}

/* Memory has any words, as far as the program has written none. */
#define WRITTEN	64
extern struct machine {
	u64	reg[16], first[16];
	bool	is_set[16];		/* since the first instruction */
	bool	is_64bit;
	unsigned int nr;
	struct {
		u64	addr, value;
		bool	bp;		/* a copy of bp, which the path follows */
	} written[WRITTEN];
} m;

/* An instruction that was just made. */
extern struct text {
	u8		bytes[16];
	unsigned int	len;
} text;

/* Makes one of any kind, and lets the machine execute it. */
void make_insn(void);

static inline u64 mask(u64 value)
{
	return m.is_64bit ? value : (u32)value;
}

static inline int ws(void)
{
	return m.is_64bit ? 8 : 4;
}

static inline u64 first_word(u64 addr)
{
	u64 h = (addr + 1) * 0x9e3779b97f4a7c15ULL;

	return mask((h ^ h >> 29) & ~7ULL);
}

/* NULL, or the place of what was written there. */
static inline u64 *written(u64 addr, bool *bp)
{
	unsigned int i;

	for (i = m.nr; i--;)
		if (m.written[i].addr == addr) {
			*bp = m.written[i].bp;
			return &m.written[i].value;
		}
	return NULL;
}

#endif /* _STEP_MACHINE_H */
