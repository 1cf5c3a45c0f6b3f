# SPDX-License-Identifier: GPL-2.0
#
# How the core of ../hybrid is compiled without perf: the folders that include no header
# of perf's. A Makefile of a directory beside it includes this after its first target, and
# sets
#
#   LINUX  the kernel tree whose tools/include and tools/lib are used
#   OUT    where objects go
#   CC     the compiler
#
# It gets CFLAGS, WARN, LIBS, FLAGS_plain, FLAGS_asan, and objects, the rules of one
# variant. These make $(OUT)/VARIANT/core.a of the core, of the frame analysis of
# kmod/frame, and of what both use of the kernel's source.

HYBRID	:= ../hybrid
# Each is on the path of the headers; scripts/check-layers has the same list.
FOLDERS	:= $(addprefix $(HYBRID)/,rules x86 unwind runtime process records compiler api) \
	   $(patsubst %/language.h,%,$(sort $(wildcard $(HYBRID)/runtime/*/language.h)))
CORE	:= $(basename $(notdir $(wildcard $(FOLDERS:%=%/*.c))))
KMOD	:= ../../kmod
FRAME	:= $(KMOD)/frame
# The frame analysis, and what it and the unwinder take from the kernel.
ANALYSIS := $(patsubst $(FRAME)/%.c,%,$(wildcard $(FRAME)/x86_frame*.c))
KERNEL	:= hweight inat insn rbtree

SAN	:= -fsanitize=address,undefined -fno-sanitize-recover=all
# Without the two that the kernel's headers and initializers would cause, as in the kernel's
# scripts/Makefile.extrawarn.
WARN	:= -Wall -Wextra -Wno-missing-field-initializers -Wno-type-limits
CFLAGS	:= -std=gnu11 -D_GNU_SOURCE -I../test/include $(FOLDERS:%=-I%) -I$(FRAME) \
	   -I$(KMOD)/include/uapi -I$(OUT) -I$(LINUX)/tools/include \
	   -I$(LINUX)/tools/include/uapi -I$(LINUX)/tools/arch/x86/include \
	   -I$(LINUX)/tools/arch/x86/include/uapi -I$(LINUX)/tools/lib/perf/include
LIBS	:= -ldw -lelf
# Reports of sanitizers have lines, and no variables: with those it takes a sixth longer.
FLAGS_plain	:= $(CC) -O2 -g
FLAGS_asan	:= $(CC) -O1 -g1 $(SAN) -fno-omit-frame-pointer

# What an object includes, the compiler writes beside it. The source itself is left out there, as it
# may move to another folder. All is built again if the flags may be others.
DEPEND	:= -MMD -MP
listed	= @sed -i 's, $(1)\( \|$$\),\1,' $(@:.o=.d)
MAKEFILES := Makefile ../build.mk

$(OUT)/inat-tables.c: $(LINUX)/tools/arch/x86/lib/x86-opcode-map.txt
	@mkdir -p $(@D)
	awk -f $(LINUX)/tools/arch/x86/tools/gen-insn-attr-x86.awk $< > $@

define objects_of
$(OUT)/$(1)/%.o: $(2)/%.c $(MAKEFILES)
	@mkdir -p $$(@D)
	$$(FLAGS_$(1)) $(CFLAGS) $(DEPEND) $(WARN) -c -o $$@ $$<
	$$(call listed,$$<)
endef

# objects VARIANT: in $(OUT)/VARIANT, compiled by FLAGS_VARIANT.
define objects
$(foreach part,$(FOLDERS),$(call objects_of,$(1),$(part))
)

$(OUT)/$(1)/%.o: %.c $(MAKEFILES)
	@mkdir -p $$(@D)
	$$(FLAGS_$(1)) $(CFLAGS) $(DEPEND) $(WARN) -c -o $$@ $$<
	$$(call listed,$$<)

# The kernel's code, held to the kernel's warnings.
$(OUT)/$(1)/%.o: $(FRAME)/%.c $(MAKEFILES)
	@mkdir -p $$(@D)
	$$(FLAGS_$(1)) $(CFLAGS) $(DEPEND) -c -o $$@ $$<
	$$(call listed,$$<)

$(OUT)/$(1)/%.o: $(LINUX)/tools/lib/%.c $(MAKEFILES)
	@mkdir -p $$(@D)
	$$(FLAGS_$(1)) $(CFLAGS) $(DEPEND) -c -o $$@ $$<
	$$(call listed,$$<)

$(OUT)/$(1)/%.o: $(LINUX)/tools/arch/x86/lib/%.c $(OUT)/inat-tables.c $(MAKEFILES)
	@mkdir -p $$(@D)
	$$(FLAGS_$(1)) $(CFLAGS) $(DEPEND) -c -o $$@ $$<
	$$(call listed,$$<)

$(OUT)/$(1)/core.a: $(patsubst %,$(OUT)/$(1)/%.o,$(CORE) $(ANALYSIS) $(KERNEL))
	@rm -f $$@
	ar rcs $$@ $$^

-include $(wildcard $(OUT)/$(1)/*.d)
endef
