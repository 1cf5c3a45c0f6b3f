# SPDX-License-Identifier: GPL-2.0
#
# How programs with a known call graph are built: fp has frame pointers, nofp none,
# mixed in every other function. For Makefiles that include it.

# The call graph of the source must be that of the machine code.
KEEP_CALLS := -fno-inline -fno-partial-inlining -fno-ipa-cp -fno-ipa-sra \
	-fno-ipa-icf -fno-optimize-sibling-calls -fno-builtin \
	-fno-reorder-blocks-and-partition -fno-tree-loop-distribute-patterns
WARN := -Wall -Wextra -Wno-unused-parameter
CFLAGS_ALL := -O2 -g0 -std=gnu11 $(WARN) $(KEEP_CALLS)
FP := -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer
NOFP := -fomit-frame-pointer
# Position-independent, each function would first call __x86.get_pc_thunk.bx, of
# which the linker takes crt1.o's copy: it has no CFI.
I386 := -m32 -fno-pie

flags_fp_A := $(FP)
flags_fp_B := $(FP)
flags_nofp_A := $(NOFP)
flags_nofp_B := $(NOFP)
flags_mixed_A := $(FP)
flags_mixed_B := $(NOFP)
