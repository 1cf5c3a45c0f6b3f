// SPDX-License-Identifier: GPL-2.0
/*
 * Code that a process says something of, read from the process: this one.
 */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "abi.h"
#include "jit-world.h"
#include "memory-code.h"
#include "tap.h"

static void check_chain(const char *name)
{
	jit_begin(name);
	same(jit_unwind_leaf(), HYBRID_STOP_OUTERMOST);
	same(jit.u.nr, 3);
	same(jit.u.sure, 3);
	same(jit.frames[0].ip, jit_at("leaf_at"));
	same(jit.frames[1].ip, jit_at("middle_ret") - 1);
	same(jit.frames[2].ip, jit_at("root_ret") - 1);
	same(jit.frames[0].cfa, STACK + 32);
	same(jit.frames[1].cfa, STACK + 32 + 48);
	jit_end();
}

static void test_chain(void)
{
	check_chain("jit.so");
}

static void test_debug_frame(void)
{
	check_chain("jit-debug.so");
}

static struct {
	u64	ip, row;
} given[4];
static unsigned int nr_given;

static int put_code(void *store __maybe_unused, const struct hybrid_walk_code_key *key,
		    const struct hybrid_walk_code *what)
{
	if (!check(nr_given < ARRAY_SIZE(given)))
		return 0;
	given[nr_given].ip = key->ip;
	given[nr_given++].row = what->row;
	return 0;
}

/* A store is given the process's rule for code that does not show how it is left. */
static void test_store(void)
{
	static const struct hybrid_store_ops ops = { .put_code = put_code };
	static struct hybrid_memory_code known;

	jit_begin("jit.so");
	same(jit_unwind_leaf(), HYBRID_STOP_OUTERMOST);
	jit.u.walker_space = 1;
	nr_given = 0;
	hybrid_memory_code_sample(&known, &ops, NULL, &jit.unwinder, &jit.u, UINT_MAX);
	same(nr_given, 2);
	same(given[0].ip, jit_at("leaf_at"));
	same(HYBRID_WALK_KIND(given[0].row), PERF_UNWIND_CFA);
	same(HYBRID_WALK_BASE(given[0].row), PERF_UNWIND_BASE_SP);
	same(HYBRID_WALK_CFA_OFF(given[0].row), 32);
	same(given[1].ip, jit_at("middle_ret"));
	same(HYBRID_WALK_BASE(given[1].row), PERF_UNWIND_BASE_SP);
	same(HYBRID_WALK_CFA_OFF(given[1].row), 48);
	jit_end();
}

/* Nobody asks, nobody can be asked, nobody has said anything. */
static void test_unsaid(void)
{
	struct hybrid_jit *kept;

	jit_begin("jit.so");
	kept = jit.unwinder.jit;
	jit.unwinder.jit = NULL;
	same(jit_unwind_leaf(), HYBRID_STOP_NO_CFI);
	same(jit.u.nr, 1);
	jit.unwinder.jit = kept;
	jit.u.pid = 0;
	same(jit_unwind_leaf(), HYBRID_STOP_NO_CFI);
	jit.u.pid = getpid();
	jit.u.regs.value[HYBRID_X86_64_IP] = jit_at("unsaid");
	hybrid_unwind(&jit.unwinder, &jit.u);
	same(jit.u.stop, HYBRID_STOP_NO_CFI);
	same(jit.u.nr, 1);
	check(jit_is_known());
	/* What a task of 32 bits runs is something else. */
	jit.u.abi = &hybrid_abi_32;
	jit.u.regs.value[HYBRID_I386_IP] = jit_at("leaf_at");
	hybrid_unwind(&jit.unwinder, &jit.u);
	same(jit.u.nr, 1);
	jit_end();
}

/* A frame that only all registers lead to. */
static void test_full(void)
{
	jit_begin("jit.so");
	jit.u.regs.value[HYBRID_X86_64_IP] = jit_at("other_at");
	jit.u.regs.value[12] = STACK + 64;
	jit.u.regs.known |= 1U << 12;
	jit.stack[9] = jit_at("root_ret");
	hybrid_unwind(&jit.unwinder, &jit.u);
	same(jit.u.stop, HYBRID_STOP_OUTERMOST);
	same(jit.u.nr, 2);
	same(jit.frames[0].cfa, STACK + 80);
	same(jit.frames[1].ip, jit_at("root_ret") - 1);
	jit_end();
}

/* Where its one row is not true the code tells. */
static void test_one_row(void)
{
	static const struct { const char *label; unsigned int word; } places[] = {
		{ "whole_at", 5 }, { "whole_leave", 5 }, { "whole_left", 0 },
	};
	unsigned int i;

	jit_begin("jit-debug.so");
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		memset(jit.stack, 0x11, sizeof(jit.stack));
		/* At the return, the row's word is a return address, too. */
		jit.stack[5] = jit_at("root_ret");
		jit.stack[places[i].word] = jit_at("middle_ret");
		jit.stack[places[i].word + 6] = jit_at("root_ret");
		jit.u.regs.value[HYBRID_X86_64_IP] = jit_at(places[i].label);
		hybrid_unwind(&jit.unwinder, &jit.u);
		same(jit.u.stop, HYBRID_STOP_OUTERMOST);
		same(jit.u.nr, 3);
		same(jit.frames[0].cfa, STACK + places[i].word * 8 + 8);
		same(jit.frames[1].ip, jit_at("middle_ret") - 1);
	}
	jit_end();
}

static void test_unlinked(void)
{
	u8 *loaded;

	jit_begin("jit-unlinked.so");
	check(!jit_is_known());
	loaded = jit_load();
	jit_pass();
	check(jit_is_known());
	/* It is what is loaded that counts. */
	memset(loaded, 0, jit_section(".eh_frame")->sh_size);
	jit_pass();
	check(!jit_is_known());
	jit_section(".eh_frame")->sh_addr = 0;
	jit_pass();
	check(!jit_is_known());
	jit_section(".eh_frame")->sh_addr = ~0ULL - 8;
	jit_pass();
	check(!jit_is_known());
	jit_end();
}

/* What nobody called from there is no caller. */
static void test_false(void)
{
	jit_begin("jit.so");
	check(jit_is_known());
	jit.stack[3] = jit_at("leaf_at");
	jit.u.regs.value[HYBRID_X86_64_IP] = jit_at("leaf_at");
	hybrid_unwind(&jit.unwinder, &jit.u);
	same(jit.u.stop, HYBRID_STOP_NO_CFI);
	same(jit.u.nr, 1);
	jit_end();
}

/* The list is looked at once in a pass. */
static void test_changed(void)
{
	size_t nr;

	jit_begin("jit.so");
	jit.descriptor->first = 0;
	check(!jit_is_known());
	jit.descriptor->first = (u64)&jit.entries[0];
	check(!jit_is_known());
	jit_pass();
	check(jit_is_known());
	/* What has not changed keeps its rows. */
	nr = jit.ps.objects.nr_rows;
	jit_pass();
	check(jit_is_known());
	same(jit.ps.objects.nr_rows, nr);
	same(jit.ps.objects.nr, 2);
	/* Another image in the same place, of the same size. */
	memset(jit.image, 0, jit.image_size);
	jit_pass();
	check(!jit_is_known());
	same(jit.ps.objects.nr, 1);
	jit_end();
}

/* Of a process that is gone, what was read stays; of what runs in its place, not. */
static void test_gone(void)
{
	struct hybrid_space *before;
	pid_t pid;

	jit_begin("jit.so");
	pid = fork();
	if (!pid)
		pause();
	jit.u.pid = pid;
	check(jit_is_known());
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	jit_pass();
	check(jit_is_known());
	before = jit.u.space;
	jit.u.space = hybrid_space_new();
	check(!hybrid_space_map(jit.u.space, hybrid_space_find(before, CODE), true));
	check(!jit_is_known());
	hybrid_space_put(jit.u.space);
	jit.u.space = before;
	check(!jit_is_known());
	jit_end();
}

/* What fork made may have another list. */
static void test_forked(void)
{
	pid_t pid;

	jit_begin("jit.so");
	pid = fork();
	if (!pid)
		pause();
	jit.descriptor->first = 0;
	check(!jit_is_known());
	jit.u.pid = pid;
	check(jit_is_known());
	jit.u.pid = getpid();
	check(!jit_is_known());
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	jit_end();
}

/* A child that is gone before it is looked at: what it began with is its parent's. */
static void test_forked_gone(void)
{
	jit_begin("jit.so");
	jit.u.pid = fork();
	if (!jit.u.pid)
		_exit(0);
	waitpid(jit.u.pid, NULL, 0);
	check(!jit_is_known());
	jit.u.pid = getpid();
	check(jit_is_known());
	jit.u.pid = 0x7fffffff;
	check(jit_is_known());
	jit_end();
}

static const struct tap_test tests[] = {
	{ "jit: a chain by .eh_frame", test_chain },
	{ "jit: a chain by .debug_frame", test_debug_frame },
	{ "jit: an image that is not linked", test_unlinked },
	{ "jit: code that nothing is said of", test_unsaid },
	{ "jit: what a store is given of it", test_store },
	{ "jit: a row with all registers", test_full },
	{ "jit: one row for all", test_one_row },
	{ "jit: a caller that called something else", test_false },
	{ "jit: images that come, stay, change and go", test_changed },
	{ "jit: a process that is gone", test_gone },
	{ "jit: parent and child have different lists", test_forked },
	{ "jit: a child that is gone", test_forked_gone },
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
