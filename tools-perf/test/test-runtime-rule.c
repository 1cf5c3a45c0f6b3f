// SPDX-License-Identifier: GPL-2.0
/*
 * Steps by the rules that a runtime says for code that it has made.
 */
#include "scene.h"
#include "tap.h"

#define BP	HYBRID_X86_64_BP

static struct scene s;

/* What the runtime says. */
static struct hybrid_rule said;

static bool say_rule(void *runtimes, const struct hybrid_unwind *u, unsigned int at,
		     struct hybrid_rule *rule)
{
	check(!runtimes && u == &s.u);
	*rule = said;
	return at == 0;
}

static void start_saved(u64 saved)
{
	said = (struct hybrid_rule) {
		.kind = HYBRID_RULE_SAVED_SP, .cfa_off = -8, .deref_off = 24, .bp_off = -16,
	};
	scene_start(&s, SCENE_JIT + 100);
	scene_push(&s, 0x1111);
	scene_push(&s, 0x2222);
	scene_push(&s, saved);
	scene_reg_top(&s, BP);
	scene_push_bpframe(&s, 0x3333, scene_at("bpframe_ret"));
	scene_unwinder.runtime_rule = say_rule;
}

/* As HotSpot's interpreter has it. */
static void saved_sp(void)
{
	static const u64 limit = 0x100000;
	u64 bp = SCENE_STACK + 24;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		start_saved(bp + (i ? limit : 16));
		scene_unwind(&s);
		same(s.u.nr, 2);
		same(s.frames[0].cfa, bp + (i ? limit : 16));
		same(s.frames[0].function, 0x1111);
		same(s.frames[0].position, 0x2222);
		same(s.u.bp, 0x3333);
		check(s.u.bp_known);
	}
	/* The innermost one has its position in a register. */
	start_saved(bp + 16);
	scene_reg(&s, 13, 0x4444);
	scene_unwind(&s);
	same(s.frames[0].position, 0x4444);
	/* Both words, or none. */
	start_saved(bp + 16);
	said.deref_off = 32;
	scene_unwind(&s);
	same(s.u.nr, 2);
	same(s.frames[0].function, 0);
	/* Below the frame, or further above than any frame's locals. */
	for (i = 0; i < 2; i++) {
		start_saved(i ? bp + limit + 1 : bp + 15);
		scene_unwind(&s);
		/* The frame pointer leads on, but it is no frame of an interpreter. */
		same(s.frames[0].cfa, bp + 16);
		same(s.frames[0].function, 0);
	}
	/* bp is below the stack, in no word, or not known. */
	for (i = 0; i < 3; i++) {
		start_saved(bp + 16);
		scene_reg(&s, BP, i ? bp + 4 : SCENE_STACK - 8);
		if (i == 2)
			s.u.regs.known &= ~(1U << BP);
		scene_unwind(&s);
		same(s.u.nr, 1);
	}
	/* The dump ends before its words do. */
	start_saved(bp + 16);
	s.u.dump_size -= 8;
	scene_unwind(&s);
	scene_expect(&s, HYBRID_STOP_DUMP_END, SCENE_JIT + 100);
	check(s.u.by_code);
	scene_unwinder.runtime_rule = NULL;
}

/* A register that only the innermost frame has. */
static void register_rule(void)
{
	unsigned int i;

	for (i = 0; i < 4; i++) {
		said = (struct hybrid_rule) {
			.kind = HYBRID_RULE_CFA, .base = HYBRID_BASE_REG + (i == 1 ? 40 : 10),
			.bp = HYBRID_BP_SAME, .cfa_off = 16, .ra_off = -8,
		};
		scene_start(&s, SCENE_JIT + 100);
		scene_fill(&s, 3, 0xdead);
		scene_push(&s, scene_at(i == 3 ? "leaf_at" : "outer_ret"));
		scene_unwinder.runtime_rule = say_rule;
		if (i != 2)
			scene_reg(&s, 10, SCENE_STACK + 16);
		scene_unwind(&s);
		if (i)
			scene_expect(&s, HYBRID_STOP_NO_CFI, SCENE_JIT + 100);
		else
			scene_expect(&s, HYBRID_STOP_OUTERMOST, SCENE_JIT + 100,
				     scene_at("outer_ret") - 1);
	}
	scene_unwinder.runtime_rule = NULL;
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "runtime rule: a frame that has its caller's sp", saved_sp },
		{ "runtime rule: a register that has it", register_rule },
	};
	int status = tap_run(tests, ARRAY_SIZE(tests));

	scene_exit();
	return status;
}
