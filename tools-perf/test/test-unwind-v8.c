// SPDX-License-Identifier: GPL-2.0
/*
 * Stepping out of code that V8 and other runtimes have compiled, and out of V8's builtins.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "memory.h"
#include "rows.h"
#include "scene.h"
#include "tap.h"

#define BP	HYBRID_X86_64_BP

static struct scene s;

/* V8 makes frames return to the start of a builtin, and no call stands before that. */
static void entries(void)
{
	u64 bare = elf_file_symbol("nocfi.so", "bare"), bp;
	u64 entry = SCENE_NOCFI + bare + HYBRID_ENTRY_ALIGN;
	const struct hybrid_mapping *mapping;
	struct hybrid_mapping other;
	struct hybrid_space *forked;

	scene_start(&s, SCENE_JIT + 100);
	bp = scene_reg_top(&s, BP);
	scene_push_bpframe(&s, bp + 16, entry);
	scene_push_bpframe(&s, 0, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_NO_CFI, SCENE_JIT + 100);

	mapping = hybrid_space_find(s.u.space, SCENE_NOCFI + bare);
	s.u.space->entries_id = mapping->object->id;
	s.u.space->entries = bare + 1;
	s.u.space->entries_end = bare + 2 * HYBRID_ENTRY_ALIGN;
	check(!hybrid_space_is_entry(s.u.space, mapping, SCENE_NOCFI + bare));
	check(!hybrid_space_is_entry(s.u.space, mapping, entry + 1));
	/* V8 may map it twice. */
	other = *mapping;
	other.start += SCENE_NOCFI;
	other.end += SCENE_NOCFI;
	check(hybrid_space_is_entry(s.u.space, &other, entry + SCENE_NOCFI));
	other.object = NULL;
	check(!hybrid_space_is_entry(s.u.space, &other, entry + SCENE_NOCFI));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, SCENE_JIT + 100,
		     entry - 1, scene_at("outer_ret") - 1);
	/* fork(), then exec() */
	forked = hybrid_space_copy(s.u.space);
	check(forked && hybrid_space_is_entry(forked, mapping, entry));
	hybrid_space_clear(forked);
	check(!hybrid_space_is_entry(forked, mapping, entry));
	hybrid_space_put(forked);
	s.u.space->entries_id = 0;
}

/*
 * Code of V8's that has called keeps a frame with bp: neither the call nor its own code has to show
 * that. The sampled instruction's need not.
 */
static void framed(void)
{
	u64 ret = SCENE_NOCFI + elf_file_symbol("nocfi.so", "enters_ret");
	const struct hybrid_mapping *mapping;
	u64 at = scene_at("opaque_at"), bp;

	scene_start(&s, at);
	mapping = hybrid_space_find(s.u.space, ret);
	s.u.space->entries_id = mapping->object->id;
	s.u.space->entries = 0;
	s.u.space->entries_end = ret - mapping->start + mapping->pgoff;
	check(hybrid_space_is_framed(s.u.space, mapping, ret - 1));
	check(!hybrid_space_is_framed(s.u.space, mapping, ret));
	check(hybrid_space_is_framed(s.u.space, hybrid_space_find(s.u.space, SCENE_JIT + 100),
				     SCENE_JIT + 100));
	check(!hybrid_space_is_framed(s.u.space, hybrid_space_find(s.u.space, at), at));

	scene_start(&s, scene_at("leaf_at"));
	scene_push(&s, ret);
	scene_fill(&s, 3, 0xdead);
	bp = scene_reg_top(&s, BP);
	/* pushed() calls leaf(). */
	scene_push_bpframe(&s, bp + 16, SCENE_JIT + 200);
	scene_push_bpframe(&s, bp + 32, ret);
	scene_push_bpframe(&s, 0, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("leaf_at"), ret - 1, SCENE_JIT + 199,
		     ret - 1, scene_at("outer_ret") - 1);
	same(s.u.sure, 5);

	/* What is not known to be V8's is a guess. */
	s.u.space->entries_id = 0;
	scene_unwind(&s);
	check(s.u.sure < 5);

	/* Of the sampled instruction nothing shows that it has a frame: bp may be the caller's. */
	scene_start(&s, at);
	mapping = hybrid_space_find(s.u.space, at);
	bp = scene_reg_top(&s, BP);
	scene_push_bpframe(&s, bp + 16, scene_at("calls_anything_ret"));
	scene_push(&s, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_NO_CFI, at);
	s.u.space->entries_id = mapping->object->id;
	s.u.space->entries_end = at - mapping->start + mapping->pgoff + 1;
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, at, scene_at("calls_anything_ret") - 1,
		     scene_at("outer_ret") - 1);
	same(s.u.sure, 1);
	s.u.space->entries_id = 0;
}

/* Makes V8's all code of nocfi.so; NULL: makes it nobody's. */
static void set_framed(const struct hybrid_mapping *mapping)
{
	s.u.space->entries_id = mapping ? mapping->object->id : 0;
	s.u.space->entries = 0;
	s.u.space->entries_end = 4096;
}

/* Where the return address is shows only in what the rest of the function does. */
static void run_on(void)
{
	u64 ret = SCENE_NOCFI + elf_file_symbol("nocfi.so", "enters_ret");
	u64 at = SCENE_NOCFI + elf_file_symbol("nocfi.so", "passes_at");

	scene_start(&s, at);
	/* rax */
	scene_reg(&s, 0, ret);
	scene_fill(&s, 3, 0xdead);
	scene_reg_top(&s, BP);
	scene_push_bpframe(&s, 0, scene_at("outer_ret"));
	set_framed(hybrid_space_find(s.u.space, at));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, at, ret - 1, scene_at("outer_ret") - 1);
	same(s.u.sure, 3);
	same(s.frames[0].cfa, SCENE_STACK);
	/* No call is before it. */
	scene_reg(&s, 0, ret - 1);
	scene_unwind(&s);
	check(s.u.sure == 1);
	set_framed(NULL);
}

/* The caller has no frame yet: what bp leads to is the caller's caller. */
static void makes_frame(void)
{
	u64 ret = SCENE_NOCFI + elf_file_symbol("nocfi.so", "enters_ret"), bp;
	u64 outer = SCENE_NOCFI + elf_file_symbol("nocfi.so", "bare_ret");
	u64 at = SCENE_NOCFI + elf_file_symbol("nocfi.so", "makes_at");

	scene_start(&s, at);
	set_framed(hybrid_space_find(s.u.space, at));
	/* rdi */
	scene_reg(&s, 5, 0xcafe);
	scene_push(&s, ret);
	scene_push(&s, outer);
	scene_fill(&s, 3, 0xdead);
	bp = scene_reg_top(&s, BP);
	scene_push_bpframe(&s, 0, scene_at("outer_ret"));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, at, ret - 1, outer - 1, scene_at("outer_ret") - 1);
	same(s.u.sure, 4);
	same(s.frames[0].cfa, SCENE_STACK + 8);
	same(s.frames[1].cfa, SCENE_STACK + 16);
	same(s.frames[1].function, 0xcafe);
	same(s.frames[0].function, 0);
	same(s.frames[2].cfa, bp + 16);
	set_framed(NULL);
}

/*
 * Maps a page of this process's memory for the sample, which was taken at byte 100 of the page.
 * Fills the page with nops.
 */
static u8 *map_code(void)
{
	u8 *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct hybrid_mapping page = {
		.start = (u64)code, .end = (u64)code + 4096, .pid = getpid(),
	};

	if (!check(code != MAP_FAILED))
		exit(2);
	memset(code, 0x90, 4096);
	scene_unwinder.memory = hybrid_memory_new();
	scene_start(&s, (u64)code + 100);
	check(scene_unwinder.memory && !hybrid_space_map(s.u.space, &page, true));
	s.u.pid = getpid();
	return code;
}

static void forget_memory(void)
{
	hybrid_memory_delete(scene_unwinder.memory);
	scene_unwinder.memory = NULL;
}

/*
 * The process is there to be asked, and no call stands before the return address, which an
 * interpreter has pushed: one that was made at run time, too, is a guess, and no other is.
 */
static void made_without_call(void)
{
	/* jmp *%rax: from this code perf cannot find the return address. */
	static const u8 jump[] = { 0xff, 0xe0 };
	u8 *code = map_code();
	const u64 ip = (u64)code + 100, ret = (u64)code + 200;

	memcpy(code + 100, jump, sizeof(jump));
	memcpy(code + 200, jump, sizeof(jump));
	scene_reg_top(&s, BP);
	scene_push_bpframe(&s, 0, ret);
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, ip, ret - 1);
	same(s.u.sure, 1);

	s.stack[1] = scene_at("leaf_at");
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_NO_CFI, ip);
	forget_memory();
	munmap(code, 4096);
}

/* What V8 has compiled keeps a frame, unless the code goes on to make one, or can't be read. */
static void compiled(void)
{
	static const u8 prologue[] = { 0x55, 0x48, 0x89, 0xe5 }, loop[] = { 0xeb, 0xfe };
	u8 *code = map_code();
	const u64 ip = (u64)code + 100;
	u64 bp;

	memcpy(code + 200, loop, sizeof(loop));
	bp = scene_reg_top(&s, BP);
	scene_push_bpframe(&s, bp + 16, scene_at("nocfi_ret"));
	scene_push_bpframe(&s, 0, scene_at("outer_ret"));
	/* The call that it returns to does not lead there. */
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_NO_CFI, ip);
	set_framed(hybrid_space_find(s.u.space, scene_at("opaque_at")));
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, ip, scene_at("nocfi_ret") - 1,
		     scene_at("outer_ret") - 1);
	same(s.u.sure, 3);
	/* No call stands before that address: bp does not point to a frame. */
	s.stack[1]++;
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_NO_CFI, ip);
	s.stack[1]--;
	/* So far ahead V8 has prologues. */
	memcpy(code + 100 + 48 - sizeof(prologue), prologue, sizeof(prologue));
	hybrid_memory_forget(scene_unwinder.memory);
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_NO_CFI, ip);
	code[100 + 48 - sizeof(prologue)] = 0x90;
	hybrid_memory_forget(scene_unwinder.memory);
	scene_unwind(&s);
	same(s.u.nr, 3);
	forget_memory();
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_NO_CFI, ip);
	set_framed(NULL);
	munmap(code, 4096);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "unwind: to the start of a function that frames are made to return to", entries },
		{ "unwind: code that keeps frames", framed },
		{ "unwind: code that V8 has compiled", compiled },
		{ "unwind: interpreters push return addresses", made_without_call },
		{ "unwind: a function that is run on", run_on },
		{ "unwind: a function that makes its caller's frame", makes_frame },
	};
	int status = tap_run(tests, ARRAY_SIZE(tests));

	scene_exit();
	return status;
}
