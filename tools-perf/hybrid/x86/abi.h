/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_ABI_H
#define __PERF_HYBRID_ABI_H

/* The user ABIs of an x86 kernel: hybrid_abi_64, hybrid_abi_32, hybrid_x86_abi(). */
#include "../rules/arch.h"

#endif /* __PERF_HYBRID_ABI_H */
