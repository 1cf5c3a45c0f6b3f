/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __SELFTESTS_FRAME_COUNT_BLOCKS_H
#define __SELFTESTS_FRAME_COUNT_BLOCKS_H

#include "../../kmod/frame/x86_frame_cache.h"

typedef enum x86_frame_kind search_fn(struct x86_frame_cache *cache, u64 space,
				      const struct x86_frame_mem *mem, unsigned long ip,
				      struct x86_frame_rule *rule);

/* x86_frame_search() of the build that counts basic blocks */
search_fn counted_search;

/* What that build calls at each block */
void __sanitizer_cov_trace_pc(void);

#endif /* __SELFTESTS_FRAME_COUNT_BLOCKS_H */
