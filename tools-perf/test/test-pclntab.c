// SPDX-License-Identifier: GPL-2.0
/*
 * Rules from the table of a Go program.
 */
#include "fde.h"
#include "scene.h"
#include "rows.h"
#include "tap.h"

#define BIAS	0x7e0000000000ULL

static struct scene s;

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

static const struct tap_test tests[] = {
	{ "rows of functions, by version, and wherever the table is", rows },
	{ "assembler", assembler },
	{ "a table that lies", untrue },
	{ "the functions, for a store", functions },
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
