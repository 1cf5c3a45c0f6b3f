// SPDX-License-Identifier: GPL-2.0
/*
 * Which rule of code that no file has a store is given, if there are several or none. The code is
 * this process's own.
 */
#include "frame-around.h"
#include "memory-code-world.h"
#include "rows.h"
#include "walk.h"

/* Of each sample the store knows nothing yet. */
static void sample(unsigned int stopped)
{
	memset(&known, 0, sizeof(known));
	nr_put = 0;
	nr_blocks = 0;
	hybrid_memory_code_sample(&known, &block_ops, NULL, &unwinder, &u, stopped);
}

static void set_frame(unsigned int i, unsigned int at, u64 cfa)
{
	frames[i] = (struct hybrid_frame) {
		.ip = (u64)code + at - !!i, .ret = (u64)code + at, .cfa = cfa,
	};
	u.nr = i + 1;
	u.sure = u.nr;
}

/* The code does not say how it is left, and a frame that was sampled may have no frame pointer. */
static void no_rule(void)
{
	begin(HYBRID_STOP_NO_CFI);
	set_frame(0, FRAMELESS, 0x7008);
	set_frame(1, FRAMED + 2, 0x7100);
	sample(0);
	same(nr_put, 1);
	same(put[0].key.ip - (u64)code, FRAMELESS);
	set_frame(0, SILENT + 2, 0x7008);
	set_frame(1, FRAMED + 2, 0x7100);
	sample(0);
	same(nr_put, 0);
	end();
}

/* The last frame's rule is known if it is the outermost, and all frames are sure. */
static void last_frame(void)
{
	begin(HYBRID_STOP_NO_CFI);
	set_frame(0, FRAMELESS, 0x7008);
	set_frame(1, FRAMED + 2, 0x7100);
	set_frame(2, SILENT + 2, 0x7200);
	u.rule.kind = HYBRID_RULE_OUTERMOST;
	sample(UINT_MAX);
	same(nr_put, 1);
	u.stop = HYBRID_STOP_OUTERMOST;
	sample(UINT_MAX);
	same(nr_put, 2);
	same(put[1].key.ip - (u64)code, SILENT + 2);
	u.sure = 2;
	sample(UINT_MAX);
	same(nr_put, 1);
	u.sure = 3;
	u.rule.kind = HYBRID_RULE_CFA;
	sample(UINT_MAX);
	same(nr_put, 1);
	end();
}

static struct hybrid_rule told;
static unsigned int told_of;
static bool tells;

static bool runtime_rule(void *runtimes __maybe_unused,
			 const struct hybrid_unwind *walk __maybe_unused, unsigned int at,
			 struct hybrid_rule *rule)
{
	*rule = told;
	return tells && at == told_of;
}

/* What the runtime says is used if it leads to the caller that was found. */
static void by_runtime(void)
{
	static const struct {
		bool	tells;
		s32	told, used;
	} cases[] = { { true, 24, 24 }, { true, 40, 8 }, { false, 24, 8 } };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		begin(HYBRID_STOP_NO_CFI);
		/* The code says 8 of itself. */
		set_frame(0, FRAMELESS, 0x7000 + cases[i].used);
		set_frame(1, FRAMED + 2, 0x7100);
		unwinder.runtime_rule = runtime_rule;
		tells = cases[i].tells;
		told = (struct hybrid_rule) {
			.kind = HYBRID_RULE_CFA, .base = HYBRID_BASE_SP, .bp = HYBRID_BP_SAME,
			.cfa_off = cases[i].told, .ra_off = -8,
		};
		sample(UINT_MAX);
		same(nr_put, 1);
		same(HYBRID_WALK_CFA_OFF(put[0].code.row), cases[i].used);
		end();
	}
}

/*
 * The kinds of rules that a runtime has. The rule of a frame that a signal interrupted is not used,
 * and a register has its value in frame 0 only.
 */
static void kinds_of_runtime(void)
{
	static const struct {
		u8	kind, base;
		bool	signal;
		/* Of frame 0, and of the next one. */
		u64	want[2];
	} cases[] = {
		{ HYBRID_RULE_DEREF, HYBRID_BASE_BP, false,
		  { PERF_UNWIND_DEREF, PERF_UNWIND_DEREF } },
		{ HYBRID_RULE_DEREF, HYBRID_BASE_BP, true, { PERF_UNWIND_CFA, PERF_UNWIND_CFA } },
		{ HYBRID_RULE_SAVED_SP, HYBRID_BASE_BP, false,
		  { HYBRID_WALK_SAVED_SP, HYBRID_WALK_SAVED_SP } },
		{ HYBRID_RULE_SAVED_SP, HYBRID_BASE_BP, true,
		  { PERF_UNWIND_CFA, PERF_UNWIND_CFA } },
		{ HYBRID_RULE_CFA, HYBRID_BASE_REG + HYBRID_X86_64_BX, false,
		  { HYBRID_WALK_REGISTER, PERF_UNWIND_CFA } },
		{ HYBRID_RULE_OUTERMOST, HYBRID_BASE_SP, false,
		  { PERF_UNWIND_CFA, PERF_UNWIND_CFA } },
	};
	unsigned int i;

	tells = true;
	for (i = 0; i < 2 * ARRAY_SIZE(cases); i++) {
		begin(HYBRID_STOP_NO_CFI);
		set_frame(0, FRAMELESS, 0x7008);
		set_frame(1, FRAMELESS + 6, 0x7018);
		set_frame(2, FRAMED + 2, 0x7100);
		unwinder.runtime_rule = runtime_rule;
		told_of = i % 2;
		told = (struct hybrid_rule) {
			.kind = cases[i / 2].kind, .base = cases[i / 2].base,
			.signal = cases[i / 2].signal, .cfa_off = 24, .ra_off = -8,
		};
		sample(UINT_MAX);
		same(nr_put, 2);
		same(HYBRID_WALK_KIND(put[told_of].code.row), cases[i / 2].want[told_of]);
		same(HYBRID_WALK_KIND(put[!told_of].code.row), PERF_UNWIND_CFA);
		end();
	}
	told_of = 0;
}

/* A frame pointer that the code does not show is for the address alone. */
static void not_framed(void)
{
	begin(HYBRID_STOP_NO_CFI);
	set_frame(0, FRAMED - 1, 0x7100);
	set_frame(1, SILENT + 2, 0x7200);
	set_frame(2, FRAMELESS + 6, 0x7300);
	memset(code + FRAMED - 4, 0x90, 4);
	sample(UINT_MAX);
	check(nr_blocks);
	same(nr_put, 1);
	same(put[0].key.ip - (u64)code, SILENT + 2);
	same(HYBRID_WALK_BASE(put[0].code.row), PERF_UNWIND_BASE_FP);
	set_frame(0, FRAMELESS, 0x7008);
	set_frame(1, SILENT + 2, 0x7200);
	set_frame(2, FRAMELESS + 6, 0x7300);
	sample(UINT_MAX);
	same(nr_blocks, 0);
	same(nr_put, 2);
	end();
}

/* As much code as a proof may have, from the block's first byte to the last one that was read. */
static void most_code(void)
{
	unsigned int ip, longest = 0;
	bool has_first = true;

	for (ip = HYBRID_AROUND; ip < HYBRID_AROUND + 32; ip++) {
		begin(HYBRID_STOP_NO_CFI);
		memset(code, 0x90, PAGE);
		put_at(ip + 64, "\xc9\xc3", 2);
		set_frame(0, ip, 0x7100);
		set_frame(1, SILENT + 2, 0x7200);
		frames[0].ip--;
		sample(UINT_MAX);
		check(nr_blocks >= 3);
		has_first = blocks[0].key.ip == (u64)code;
		longest = max(longest, blocks[0].block.proof.words);
		end();
	}
	same(longest, HYBRID_CODE_WORDS);
	check(!has_first);
}

/* The row before the address of frame 0, as of a file. */
static void plant(struct hybrid_row *row)
{
	u64 ip = frames[0].ret - 1;
	struct hybrid_cache_entry *entry = hybrid_cache_at(&unwinder, u.space->gen, ip);

	*entry = (struct hybrid_cache_entry) { .ip = ip, .gen = u.space->gen, .row = row };
}

/* Where makecontext() has a fiber begin there is a row before the address, and the stack ends. */
static void context_start(void)
{
	static const struct {
		enum hybrid_rule_kind	kind;
		bool			signal, is_start;
	} kinds[] = {
		{ HYBRID_RULE_OUTERMOST, true, true }, { HYBRID_RULE_OUTERMOST, false, false },
		{ HYBRID_RULE_CFA, true, false }, { HYBRID_RULE_CFA, false, false },
	};
	struct hybrid_row row;
	unsigned int i;
	u64 kind;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		kind = kinds[i].is_start ? PERF_UNWIND_OUTERMOST : PERF_UNWIND_CFA;
		begin(HYBRID_STOP_NO_CFI);
		set_frame(0, FRAMELESS, 0x7008);
		set_frame(1, FRAMED + 2, 0x7100);
		memset(&row, 0, sizeof(row));
		row.rule.kind = kinds[i].kind;
		row.rule.signal = kinds[i].signal;
		plant(&row);
		sample(0);
		same(nr_put, 1);
		same(put[0].key.ip - (u64)code, FRAMELESS);
		same(put[0].code.proof.hash == HYBRID_WALK_ROOT, kinds[i].is_start);
		same(HYBRID_WALK_KIND(put[0].code.row), kind);
		end();
	}
}

static bool any_range(void *runtimes __maybe_unused,
		      const struct hybrid_unwind *walk __maybe_unused,
		      unsigned int at __maybe_unused, struct hybrid_runtime_range *range)
{
	*range = (struct hybrid_runtime_range) {
		.start = (u64)code, .end = (u64)code + PAGE,
		.rule = hybrid_rule_frame_pointer(8),
	};
	return true;
}

static unsigned int nr_ranges;

static int put_range(void *store __maybe_unused,
		     const struct hybrid_walk_code_key *key __maybe_unused,
		     const struct hybrid_walk_range *range __maybe_unused)
{
	nr_ranges++;
	return 0;
}

/* Ranges are given to a store that takes them, if the process has a runtime that knows some. */
static void ranges(void)
{
	struct hybrid_store_ops ops = block_ops;
	unsigned int way;

	for (way = 0; way < 4; way++) {
		begin(HYBRID_STOP_NO_CFI);
		set_frame(0, FRAMELESS, 0x7008);
		set_frame(1, FRAMED + 2, 0x7100);
		ops.put_range = way & 1 ? put_range : NULL;
		unwinder.runtime_range = way & 2 ? any_range : NULL;
		nr_ranges = 0;
		hybrid_memory_code_sample(&known, &ops, NULL, &unwinder, &u, UINT_MAX);
		same(!!nr_ranges, way == 3);
		same(nr_put, way == 3 ? 0 : 1);
		end();
	}
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "memory code: no rule after one that had a rule", no_rule },
		{ "memory code: the last frame", last_frame },
		{ "memory code: a runtime's rule", by_runtime },
		{ "memory code: kinds of rules that a runtime has", kinds_of_runtime },
		{ "memory code: a frame pointer that the code does not show", not_framed },
		{ "memory code: as much code as a block may need", most_code },
		{ "memory code: ranges of a runtime", ranges },
		{ "memory code: where a context begins", context_start },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
