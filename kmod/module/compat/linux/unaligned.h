/* SPDX-License-Identifier: GPL-2.0 */
/* For kernels that have it as the architecture's only. */
#include <asm/unaligned.h>
