/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_ABI_H
#define __PERF_HYBRID_ABI_H

#include "../rules/rule.h"

/* The user ABIs of an x86 kernel. */
extern const struct hybrid_abi hybrid_abi_64;
extern const struct hybrid_abi hybrid_abi_32;

/* A hybrid_abi_fn: EM_X86_64 and EM_386. */
const struct hybrid_abi *hybrid_x86_abi(unsigned int machine);

#endif /* __PERF_HYBRID_ABI_H */
