/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __HYBRID_TEST_FUZZ_H
#define __HYBRID_TEST_FUZZ_H

#include <stddef.h>
#include <linux/types.h>

/* What libFuzzer calls: once, and for each input. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#endif /* __HYBRID_TEST_FUZZ_H */
