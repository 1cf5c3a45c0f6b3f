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
	file = "gopclntab.so";
}

/* What the table says of these holds for a part of them, or not at all. */
static void assembler(void)
{
	same_row("pushes", 8, HYBRID_BP_SAME);
	same_row("pushes_body", 16, HYBRID_BP_UNDEFINED);
	same_row("assembled_save", 0x108, HYBRID_BP_SAME);
	same_row("assembled_body", 0x108, HYBRID_BP_AT_CFA);
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
	file = "gopclntab.so";
}

static void functions(void)
{
	static const char * const names[] = {
		"caller", "wrapper", "twice", "bare", "switches", "later", "goes", "pushes",
		"assembled", "outside", "top", "c_leaf",
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
	{ "where that is not known the chain ends", ends },
	{ "callers that have not called", false_callers },
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
