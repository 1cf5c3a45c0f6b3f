/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_FRAME_AROUND_H
#define __PERF_HYBRID_FRAME_AROUND_H

#include "../rules/arch.h"

struct x86_frame_mem;

/**
 * hybrid_frame_around - instructions near an address that have the same frame pointer
 * @mem: reads the code
 * @ip: of the next instruction; bp points to the frame there
 * @begins: out: a bit for each byte from @ip - HYBRID_AROUND to @ip + HYBRID_AROUND - 1 at which
 *	such an instruction begins
 *
 * Straight code leads from the one to the other without a change of bp. So the other has a frame
 * pointer, too, if it runs. Bytes before @ip that are decoded from within an instruction never run.
 */
void hybrid_frame_around(const struct x86_frame_mem *mem, u64 ip,
			 u64 begins[2 * HYBRID_AROUND / 64]);

#endif /* __PERF_HYBRID_FRAME_AROUND_H */
