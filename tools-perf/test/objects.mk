# SPDX-License-Identifier: GPL-2.0
#
# The ELF files of which the unit tests read code, CFI and symbols, from asm/. The Makefile includes
# this behind its first target. It gets OBJECTS, the names of the files in $(OUT)/objects.

PYTHONS	:= 3.8 3.11 3.13 3.99 other lies silent pypy
V8S	:= pointer hidden lies code
INTERPRETERS := perl php python ruby
RUBIES	:= ruby ruby-program ruby-relaxed ruby-general ruby-other ruby-hidden
OBJECTS	:= debuginfod debug-id debug-id-bare debug-id-other eh-frame entry entry-noreturn frames live small \
	   debug debug-based debug-split debug-split-based debug-split-lies debug-split-more nocfi many many-large i386 jit jit-debug \
	   jit-list jit-unlinked gopclntab gopclntab-old gopclntab-hidden gopclntab-lies \
	   gopclntab-moved gopclntab-module gopclntab-other jvm symbols \
	   needs needs-elsewhere v8 v8-pointer v8-hidden v8-lies v8-code \
	   perl-old perl-elsewhere php-old $(PYTHONS:%=python-%) $(RUBIES) $(INTERPRETERS:%=interpreter-%)

# "small" is one page.
LINK	:= $(CC) -shared -nostdlib -Wl,--build-id=none
SMALL	:= -Wl,-z,noseparate-code

$(OUT)/objects/%.so: asm/%.S objects.mk
	@mkdir -p $(@D)
	$(LINK) $(LINK_FLAGS) -o $@ $<

$(OUT)/objects/small.so: asm/frames.S
	@mkdir -p $(@D)
	$(LINK) $(SMALL) -o $@ $<

# Its code begins at the first byte of a mapping.
$(OUT)/objects/nocfi.so: LINK_FLAGS := $(SMALL) -Wl,-z,separate-code \
	-Wl,--no-ld-generated-unwind-info
$(OUT)/objects/entry.so $(OUT)/objects/entry-noreturn.so: LINK_FLAGS := -Wl,-e,_start
$(OUT)/objects/i386.so: LINK_FLAGS := $(SMALL) -m32
$(OUT)/objects/debug.so $(OUT)/objects/eh-frame.so: LINK_FLAGS := $(SMALL)

# What a program has compiled, where it says that it is; and where that is said.
JIT	:= -Wl,-Ttext-segment=0x10000000
$(OUT)/objects/jit.so: LINK_FLAGS := $(SMALL) $(JIT)
$(OUT)/objects/jit-list.so $(OUT)/objects/jvm.so: LINK_FLAGS := $(SMALL)
# As QEMU has it: its CFI in .debug_frame.
$(OUT)/objects/jit-debug.so: asm/jit.S objects.mk
	@mkdir -p $(@D)
	$(LINK) $(SMALL) $(JIT) -DDEBUG_FRAME -o $@ $<

# Where V8 says in different ways what it has.
$(OUT)/objects/v8-pointer.so: V8 := -DBLOB
$(OUT)/objects/v8-hidden.so: V8 := -DHIDDEN
$(OUT)/objects/v8-lies.so: V8 := -DLIES
$(OUT)/objects/v8-code.so: V8 := -DCODE
$(V8S:%=$(OUT)/objects/v8-%.so): asm/v8.S objects.mk
	@mkdir -p $(@D)
	$(LINK) $(V8) -o $@ $<

# Tables of Go programs.
GO_VARIANTS := old hidden lies module other
$(OUT)/objects/gopclntab-old.so: GO := -DOLD
$(OUT)/objects/gopclntab-hidden.so: GO := -DHIDDEN
$(OUT)/objects/gopclntab-lies.so: GO := -DLIES
$(OUT)/objects/gopclntab-module.so: GO := -DMODULE=0
$(OUT)/objects/gopclntab-other.so: GO := -DMODULE=16
$(GO_VARIANTS:%=$(OUT)/objects/gopclntab-%.so): asm/gopclntab.S objects.mk
	@mkdir -p $(@D)
	$(LINK) $(GO) -o $@ $<

# With as many functions as Node.js has.
$(OUT)/objects/many-large.so: asm/many.S objects.mk
	@mkdir -p $(@D)
	$(LINK) -DNR=70000 -o $@ $<

# They need a library: beside them, or wherever.
$(OUT)/objects/needs.so: NEEDS := '-Wl,-rpath,/nowhere:$$ORIGIN'
$(OUT)/objects/needs.so $(OUT)/objects/needs-elsewhere.so: asm/frames.S $(OUT)/objects/symbols.so
	$(LINK) $(NEEDS) -Wl,--no-as-needed -o $@ asm/frames.S -L$(OUT)/objects -l:symbols.so

# Files of CPythons.
$(OUT)/objects/python-3.8.so: PYTHON := -DCODE_SIZE=176
$(OUT)/objects/python-3.11.so: PYTHON := -DCODE_SIZE=184 -DVERSION=0x030b02f0
$(OUT)/objects/python-3.13.so: PYTHON := -DCODE_SIZE=200 -DVERSION=0x030d00f0 \
	-DDEBUG_OFFSETS=0x030d00f0
$(OUT)/objects/python-3.99.so: PYTHON := -DCODE_SIZE=184 -DVERSION=0x036300f0 \
	-DDEBUG_OFFSETS=0x036300f0
$(OUT)/objects/python-other.so: PYTHON := -DCODE_SIZE=192 -DVERSION=0x030b02f0
$(OUT)/objects/python-lies.so: PYTHON := -DCODE_SIZE=200 -DVERSION=0x030d00f0 \
	-DDEBUG_OFFSETS=0x030e00f0
$(OUT)/objects/python-silent.so: PYTHON := -DCODE_SIZE=200 -DVERSION=0x030d00f0
$(OUT)/objects/python-pypy.so: PYTHON := -DPYPY
$(PYTHONS:%=$(OUT)/objects/python-%.so): asm/python.S objects.mk
	@mkdir -p $(@D)
	$(LINK) $(PYTHON) -o $@ $<

# As CRuby.
RUBY	:= -DVERSION='"3.1.2"'
$(OUT)/objects/ruby-program.so: RUBY := -DVERSION='"3.3.8"' -DPROGRAM
$(OUT)/objects/ruby-relaxed.so: RUBY := -DVERSION='"3.3.8"' -DRELAXED
$(OUT)/objects/ruby-general.so: RUBY := -DVERSION='"3.3.8"' -DGENERAL
$(OUT)/objects/ruby-other.so: RUBY := -DVERSION='"3.10.0"'
$(OUT)/objects/ruby-hidden.so: RUBY += -DHIDDEN
$(RUBIES:%=$(OUT)/objects/%.so): asm/ruby.S objects.mk
	@mkdir -p $(@D)
	$(LINK) $(RUBY) -o $@ $<

# With evaluators.
$(OUT)/objects/interpreter-perl.so: EVALUATOR := -DPERL -DEVALUATOR=Perl_runops_standard
$(OUT)/objects/interpreter-php.so: EVALUATOR := -DPHP -DEVALUATOR=execute_ex
$(OUT)/objects/interpreter-python.so: EVALUATOR := -DPYTHON -DEVALUATOR=_PyEval_EvalFrameDefault
$(OUT)/objects/interpreter-ruby.so: EVALUATOR := -DRUBY -DEVALUATOR=vm_exec_core
$(OUT)/objects/perl-old.so: EVALUATOR := -DPERL -DEVALUATOR=Perl_runops_standard -DOLD
$(OUT)/objects/perl-elsewhere.so: EVALUATOR := -DPERL -DEVALUATOR=Perl_runops_standard -DELSEWHERE
$(OUT)/objects/php-old.so: EVALUATOR := -DPHP -DEVALUATOR=execute_ex -DOLD
$(patsubst %,$(OUT)/objects/%.so,$(INTERPRETERS:%=interpreter-%) perl-old perl-elsewhere php-old): \
		asm/interpreter.S asm/ruby.S objects.mk
	@mkdir -p $(@D)
	$(LINK) $(EVALUATOR) -o $@ $<

# As of linkers that leave an address to the relocation alone: it is the fourth word.
$(OUT)/objects/gopclntab-moved.so: $(OUT)/objects/gopclntab.so
	objcopy -O binary --only-section=.gopclntab $< $(@:.so=.table)
	printf '\0\0\0\0\0\0\0\0' | dd of=$(@:.so=.table) bs=8 seek=3 conv=notrunc status=none
	objcopy --update-section .gopclntab=$(@:.so=.table) $< $@

# As LLVM has it: not linked.
$(OUT)/objects/jit-unlinked.so: asm/jit.S objects.mk
	@mkdir -p $(@D)
	$(CC) -c -o $@ $<

# Linked to another address than 0, as prelink does.
$(OUT)/objects/debug-based.so: asm/debug.S
	@mkdir -p $(@D)
	$(LINK) $(SMALL) -Wl,-Ttext-segment=0x200000 -o $@ $<

# The .debug_frame in a file beside it is of a program whose first segment is of another size, or
# that has a segment more.
$(OUT)/objects/debug-split-lies.so: LIE := 106
$(OUT)/objects/debug-split-more.so: LIE := 176
$(OUT)/objects/debug-split-lies.so $(OUT)/objects/debug-split-more.so: $(OUT)/objects/debug.so
	objcopy --only-keep-debug $< $(@:.so=.debug)
	printf '\1' | dd of=$(@:.so=.debug) bs=1 seek=$(LIE) conv=notrunc status=none
	objcopy --strip-debug --add-gnu-debuglink=$(@:.so=.debug) $< $@

# Two that differ in their build-ids, and their debug files.
$(OUT)/objects/debug-id.so: BUILD_ID := 0x0102030405060708090a0b0c0d0e0f1011121314
$(OUT)/objects/debug-id-other.so: BUILD_ID := 0x0102030405060708090a0b0c0d0e0f1011121315
$(OUT)/objects/debug-id.so $(OUT)/objects/debug-id-other.so: asm/debug.S objects.mk
	@mkdir -p $(@D)
	$(LINK) $(SMALL) -Wl,--build-id=$(BUILD_ID) -o $@ $<
	objcopy --only-keep-debug $@ $(@:.so=.debug)

# Without debug information.
$(OUT)/objects/debug-id-bare.so: $(OUT)/objects/debug-id.so
	objcopy --strip-debug $< $@

$(OUT)/objects/debuginfod.so: LINK_FLAGS := -Wl,-soname,libdebuginfod.so.1

# With their own .debug_frame in files beside them.
$(OUT)/objects/debug-split.so: $(OUT)/objects/debug.so
$(OUT)/objects/debug-split-based.so: $(OUT)/objects/debug-based.so
$(OUT)/objects/debug-split.so $(OUT)/objects/debug-split-based.so:
	objcopy --only-keep-debug $< $(@:.so=.debug)
	objcopy --strip-debug --add-gnu-debuglink=$(@:.so=.debug) $< $@
