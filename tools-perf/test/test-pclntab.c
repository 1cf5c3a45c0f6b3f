// SPDX-License-Identifier: GPL-2.0
/*
 * Rules from the table of a Go program, and the way from the stack that C runs on to
 * the goroutine's.
 */
#include "fde.h"
#include "merge-scene.h"
#include "rows.h"
#include "tap.h"

#define BIAS	0x7e0000000000ULL
#define AX	0
#define BP	HYBRID_X86_64_BP

/* Where a goroutine's stack ends, and how much of it is in use. */
#define GO_END	0xc000008000ULL
#define GO_USED	0x1f8

static const char *file = "gopclntab.so";

static u64 at(const char *label)
{
	return BIAS + elf_file_symbol(file, label);
}

static const struct hybrid_mapping *mapping_at(const char *label)
{
	scene_start(&s, at(label));
	if (!hybrid_space_find(s.u.space, at(label)))
		elf_file_map(&scene_ps, SCENE_PID, file, BIAS);
	return hybrid_space_find(s.u.space, at(label));
}

static const struct hybrid_row *row_at(const char *label)
{
	static const struct hybrid_row none;
	const struct hybrid_row *row = hybrid_object_row(mapping_at(label), at(label));

	return check(row) ? row : &none;
}

static void same_row(const char *label, s32 cfa_off, enum hybrid_rule_bp bp)
{
	const struct hybrid_row *row = row_at(label);

	same(row->rule.kind, HYBRID_RULE_CFA);
	same(row->rule.base, HYBRID_BASE_SP);
	same(row->rule.cfa_off, cfa_off);
	same(row->rule.ra_off, -8);
	same(row->rule.bp, bp);
	same(row->rule.bp_off, bp == HYBRID_BP_AT_CFA ? -16 : 0);
}

static void same_range(const char *label, const char *start, const char *end)
{
	const struct hybrid_row *row = row_at(label);

	same(BIAS + row->start, at(start));
	same(BIAS + row->end, at(end));
}

static void same_rows(void)
{
	same_row("caller", 8, HYBRID_BP_SAME);
	same_row("caller_save", 0x20, HYBRID_BP_SAME);
	same_row("caller_body", 0x20, HYBRID_BP_AT_CFA);
	same_row("caller_ret", 0x20, HYBRID_BP_AT_CFA);
	same_row("caller_exit", 8, HYBRID_BP_SAME);
	same_range("caller", "caller", "caller_save");
	same_range("caller_save", "caller_save", "caller_body");
	same_range("caller_ret", "caller_body", "caller_exit");
	same(row_at("top")->rule.kind, HYBRID_RULE_OUTERMOST);
	scene_exit();
}

static void rows(void)
{
	file = "gopclntab.so";
	same_rows();
	file = "gopclntab-old.so";
	same_rows();
	file = "gopclntab-hidden.so";
	same_rows();
	file = "gopclntab-moved.so";
	same_rows();
	file = "gopclntab-module.so";
	same_rows();
	file = "gopclntab.so";
}

/* What the table says of these holds for a part of them, or not at all. */
static void assembler(void)
{
	same_row("pushes", 8, HYBRID_BP_SAME);
	same_row("pushes_body", 16, HYBRID_BP_UNDEFINED);
	same_row("assembled_save", 0x108, HYBRID_BP_SAME);
	same_row("assembled_body", 0x108, HYBRID_BP_AT_CFA);
	same_row("guards_body", 0x20, HYBRID_BP_AT_CFA);
	same_row("switches", 8, HYBRID_BP_SAME);
	same_range("switches", "switches", "switches_before");
	same(row_at("switches_before")->rule.kind, HYBRID_RULE_NONE);
	same(row_at("switches_behind")->rule.kind, HYBRID_RULE_NONE);
	same(row_at("outside")->rule.kind, HYBRID_RULE_NONE);
	/* Behind the last function, and with CFI. */
	same_row("c_leaf_at", 8, HYBRID_BP_SAME);
	scene_exit();
}

static void untrue(void)
{
	file = "gopclntab-lies.so";
	same(row_at("caller_body")->rule.kind, HYBRID_RULE_NONE);
	same(row_at("top")->rule.kind, HYBRID_RULE_NONE);
	scene_exit();
	/* What says where the text begins is about other functions. */
	file = "gopclntab-other.so";
	same(row_at("caller_body")->rule.kind, HYBRID_RULE_NONE);
	same(row_at("top")->rule.kind, HYBRID_RULE_NONE);
	scene_exit();
	file = "gopclntab.so";
}

static void functions(void)
{
	static const char * const names[] = {
		"caller", "wrapper", "twice", "bare", "switches", "later", "goes", "pushes",
		"assembled", "system", "worker", "closure1", "closure2", "starter", "barrier",
		"unframed", "counts", "guards", "guarded", "small", "grows", "grows_plain",
		"newstack", "copies", "outside", "top", "c_leaf",
	};
	struct hybrid_object *object;
	const struct hybrid_fde *fde;
	struct hybrid_fdes fdes;
	unsigned int i;

	row_at("caller");
	object = mapping_at("caller")->object;
	if (!check(!hybrid_fdes_read(object, &fdes)))
		return;
	same(fdes.nr, ARRAY_SIZE(names));
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		fde = hybrid_fdes_find(&fdes, at(names[i]) - BIAS);
		if (check(fde))
			same(fde->start, at(names[i]) - BIAS);
	}
	hybrid_fdes_exit(&fdes);
	scene_exit();
}

/* C, called by a goroutine: all that is in the dump is C's, and the switch. */
static void start_switch(u64 depth)
{
	static const u64 start[] = { USER };
	u64 used = GO_END - GO_USED;

	mapping_at("c_leaf_at");
	scene_reg(&s, BP, used + 0x18);
	scene_push(&s, at("switches_ret"));
	scene_fill(&s, 5, 0xdead);
	scene_push(&s, depth);
	scene_fill(&s, 8, 0xdead);
	chain_start(start, 1);
	chain_add(at("c_leaf_at"));
	chain_add(at("wrapper_ret"));
	chain_add(at("top") + 1);
}

static void follows(void)
{
	start_switch(GO_USED);
	same(merge(), HYBRID_STITCHED);
	merge_expect(USER, at("c_leaf_at"), at("switches_ret") - 1, at("caller_ret") - 1,
		     at("wrapper_ret") - 1, at("top"));
	/* Or as far as the kernel's chain does. */
	nr_chain--;
	same(merge(), HYBRID_BAD_CFI);
	merge_expect(USER, at("c_leaf_at"), at("switches_ret") - 1, at("caller_ret") - 1,
		     at("wrapper_ret") - 1, CUT_OFF);
	scene_exit();
}

/* There the frame pointer leads to the return address of what made the switch. */
static void follows_later(void)
{
	start_switch(0);
	s.stack[0] = at("later_ret");
	s.stack[1] = GO_USED - 0x18;
	chain[2] = at("goes_ret");
	same(merge(), HYBRID_STITCHED);
	merge_expect(USER, at("c_leaf_at"), at("later_ret") - 1, at("goes_ret") - 1, at("top"));
	s.stack[1] += 8;
	same(merge(), HYBRID_BAD_CFI);
	merge_expect(USER, at("c_leaf_at"), at("later_ret") - 1, CUT_OFF);
	scene_exit();
}

/* The goroutine's stack is behind the one that C runs on, and the dump holds both. */
static void follows_nearby(void)
{
	u64 bp;

	start_switch(GO_USED);
	bp = s.u.dump_start + 3 * 2048;
	scene_fill(&s, 4 * 2048 / 8, 0xdead);
	scene_reg(&s, BP, bp);
	s.stack[6] = 0x18 - bp % 2048;
	same(merge(), HYBRID_STITCHED);
	merge_expect(USER, at("c_leaf_at"), at("switches_ret") - 1, at("caller_ret") - 1,
		     at("wrapper_ret") - 1, at("top"));
	scene_exit();
}

static void same_cut_off(void)
{
	same(merge(), HYBRID_BAD_CFI);
	merge_expect(USER, at("c_leaf_at"), at("switches_ret") - 1, CUT_OFF);
}

static void ends(void)
{
	u64 bp;

	/* That is not how deep the stack was. */
	start_switch(GO_USED + 8);
	same_cut_off();
	/* Which of two calls it was nobody knows. */
	start_switch(GO_USED);
	chain[2] = at("wrapper_ret2");
	same_cut_off();
	/* No call leads to what calls the switch. */
	start_switch(GO_USED);
	chain[2] = at("caller_exit");
	same_cut_off();
	/* Its caller has no frame that bp could be of. */
	start_switch(GO_USED - 8);
	chain[2] = at("wrapper_ret3");
	same_cut_off();
	/* The frame is on the stack that is in the dump, or the register unknown. */
	start_switch(GO_USED);
	bp = s.u.dump_start + 16;
	scene_reg(&s, BP, bp);
	s.stack[6] = 0x18 - bp % 2048;
	same_cut_off();
	start_switch(GO_USED);
	s.u.regs.known &= ~(1U << BP);
	same_cut_off();
	scene_exit();
}

/* What systemstack() has been given runs, and the goroutine waits with bp at @used. */
static void start_closure(const char *closure, const char *called_by)
{
	static const u64 start[] = { USER };

	mapping_at(closure);
	scene_reg(&s, BP, GO_END - GO_USED);
	scene_push(&s, at("system_ret"));
	scene_fill(&s, 8, 0xdead);
	chain_start(start, 1);
	chain_add(at(closure));
	if (called_by)
		chain_add(at(called_by));
	chain_add(at("top") + 1);
}

/* Of two calls the one that hands over what runs. */
static void closures(void)
{
	start_closure("closure1", "starter_ret");
	same(merge(), HYBRID_STITCHED);
	merge_expect(USER, at("closure1"), at("system_ret") - 1, at("worker_ret") - 1,
		     at("starter_ret") - 1, at("top"));
	start_closure("closure2", "starter_ret");
	same(merge(), HYBRID_STITCHED);
	merge_expect(USER, at("closure2"), at("system_ret") - 1, at("worker_ret2") - 1,
		     at("starter_ret") - 1, at("top"));
	/* Nothing hands this over. */
	start_closure("copies", "starter_ret");
	same(merge(), HYBRID_BAD_CFI);
	merge_expect(USER, at("copies"), at("system_ret") - 1, CUT_OFF);
	scene_exit();
}

/* No call leads to what a goroutine begins with, but its closures have its name. */
static void goroutines(void)
{
	start_closure("closure1", NULL);
	same(merge(), HYBRID_STITCHED);
	merge_expect(USER, at("closure1"), at("system_ret") - 1, at("worker_ret") - 1,
		     at("top"));
	start_closure("closure2", NULL);
	same(merge(), HYBRID_STITCHED);
	merge_expect(USER, at("closure2"), at("system_ret") - 1, at("worker_ret2") - 1,
		     at("top"));
	start_closure("copies", NULL);
	same(merge(), HYBRID_BAD_CFI);
	merge_expect(USER, at("copies"), at("system_ret") - 1, CUT_OFF);
	scene_exit();
}

/* A caller without a frame, between two that have one. */
static void frameless(void)
{
	start_switch(GO_USED);
	chain[2] = at("barrier_ret");
	chain[3] = at("starter_ret3");
	chain_add(at("top") + 1);
	same(merge(), HYBRID_STITCHED);
	merge_expect(USER, at("c_leaf_at"), at("switches_ret") - 1, at("caller_ret") - 1,
		     at("barrier_ret") - 1, at("unframed_ret") - 1, at("starter_ret3") - 1,
		     at("top"));
	/* The chain ends there. */
	nr_chain -= 2;
	same(merge(), HYBRID_BAD_CFI);
	merge_expect(USER, at("c_leaf_at"), at("switches_ret") - 1, at("caller_ret") - 1,
		     at("barrier_ret") - 1, CUT_OFF);
	scene_exit();
}

/* One that assembler has made a frame for, and jumped to. */
static void framed(void)
{
	start_switch(GO_USED);
	chain[2] = at("guards_ret");
	chain[3] = at("guarded_ret");
	chain_add(at("top") + 1);
	same(merge(), HYBRID_STITCHED);
	merge_expect(USER, at("c_leaf_at"), at("switches_ret") - 1, at("caller_ret") - 1,
		     at("guards_ret") - 1, at("guarded_ret") - 1, at("top"));
	scene_exit();
}

/* A goroutine needs a larger stack: @bp is of the frame that is to call small(). */
static void start_growth(u64 sp, u64 ret, u64 bp)
{
	static const u64 start[] = { USER };

	mapping_at("copies");
	scene_reg(&s, BP, s.u.dump_start + 7 * 8);
	scene_push(&s, at("newstack_ret"));
	scene_fill(&s, 2, 0xdead);
	/* newstack()'s frame: struct gobuf begins with sp and pc. */
	scene_push(&s, sp);
	scene_push(&s, ret);
	scene_fill(&s, 2, 0xdead);
	scene_push(&s, bp);
	scene_push(&s, at("grows_ret"));
	scene_fill(&s, 8, 0xdead);
	chain_start(start, 1);
	chain_add(at("copies"));
	chain_add(at("grows_ret"));
	chain_add(at("top") + 1);
}

static void same_growth_cut_off(void)
{
	same(merge(), HYBRID_BAD_CFI);
	merge_expect(USER, at("copies"), at("newstack_ret") - 1, at("grows_ret") - 1, CUT_OFF);
	scene_exit();
}

static void growth(void)
{
	const u64 bp = GO_END - GO_USED, sp = bp - 0x10;

	start_growth(sp, at("starter_small"), bp);
	same(merge(), HYBRID_STITCHED);
	merge_expect(USER, at("copies"), at("newstack_ret") - 1, at("grows_ret") - 1,
		     at("small_ret") - 1, at("starter_small") - 1, at("top"));
	scene_exit();
	/* bp is not of that frame. */
	start_growth(sp, at("starter_small"), bp + 8);
	same_growth_cut_off();
	/* What is called there has no call of morestack(). */
	start_growth(sp, at("starter_ret"), bp);
	same_growth_cut_off();
	/* No call is in front of it. */
	start_growth(sp, at("starter_small") + 1, bp);
	same_growth_cut_off();
}

/* What the kernel has seen behind it has called what is in front, or is not taken. */
static void false_callers(void)
{
	start_switch(GO_USED);
	chain[3] = at("wrapper_ret");
	same(merge(), HYBRID_BAD_CFI);
	merge_expect(USER, at("c_leaf_at"), at("switches_ret") - 1, at("caller_ret") - 1,
		     at("wrapper_ret") - 1, CUT_OFF);
	scene_exit();
}

static const struct tap_test tests[] = {
	{ "rows of functions, by version, and wherever the table is", rows },
	{ "assembler", assembler },
	{ "a table that lies", untrue },
	{ "the functions, for a store", functions },
	{ "from C to the goroutine that called it", follows },
	{ "the same with frames as of Go 1.21", follows_later },
	{ "the same where both stacks are in the dump", follows_nearby },
	{ "where that is not known the chain ends", ends },
	{ "callers that have not called", false_callers },
	{ "the call that hands over what runs on the other stack", closures },
	{ "the same in what a goroutine begins with", goroutines },
	{ "a caller without a frame", frameless },
	{ "a caller with a frame that was jumped to", framed },
	{ "a stack that is too small", growth },
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
