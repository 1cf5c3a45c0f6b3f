// SPDX-License-Identifier: GPL-2.0
/*
 * Rules as the kernel takes them, of rows that are made by hand: each condition of each rule, at
 * its bounds and beyond. The test includes the source, to make the rows and to reach its functions.
 */
#define hybrid_compile_row	made_row
#define hybrid_row_exit		made_row_exit
#include "../hybrid/compiler/batch.c"
#include "abi.h"
#include "short-memory.h"
#include "tap.h"

static struct hybrid_full_row full;
static Dwarf_Op cfa_ops[10], ip_ops[3], bp_ops[3];
static struct hybrid_row row;
static struct perf_unwind_rule to;
static struct hybrid_batch batch;
static struct hybrid_object object;
static struct hybrid_segment segments[2];

/* What hybrid_compile_row() gives: rows of so many bytes, with two rules in turn. */
static struct {
	u64		size;
	unsigned int	compiled, exited, fail_at;
} rows;

int made_row(struct hybrid_object *of __maybe_unused, u64 vaddr, struct hybrid_row *made)
{
	if (++rows.compiled == rows.fail_at)
		return -1;
	*made = row;
	made->start = vaddr;
	made->end = vaddr + rows.size;
	if (row.rule.kind == HYBRID_RULE_CFA)
		made->rule.cfa_off = 8 + 8 * (rows.compiled % 2);
	return 0;
}

void made_row_exit(struct hybrid_row *made __maybe_unused)
{
	rows.exited++;
}

static u8 kind_of(const struct hybrid_abi *abi)
{
	memset(&to, 0xff, sizeof(to));
	hybrid_batch_rule(abi, &row, &to);
	return to.kind;
}

static void make_full(bool signal)
{
	memset(&full, 0, sizeof(full));
	row = (struct hybrid_row) {
		.rule = { .kind = HYBRID_RULE_FULL, .signal = signal }, .full = &full,
	};
	full.cfa = (struct hybrid_where) { .kind = HYBRID_WHERE_VALUE, .ops = cfa_ops };
}

static void make_plt(const struct hybrid_abi *abi)
{
	const u8 atoms[] = {
		DW_OP_breg0 + abi->sp, DW_OP_breg0 + abi->ip, DW_OP_lit15, DW_OP_and, DW_OP_lit11,
		DW_OP_ge, abi->word == 8 ? DW_OP_lit3 : DW_OP_lit2, DW_OP_shl, DW_OP_plus,
	};
	unsigned int i;

	make_full(false);
	memset(cfa_ops, 0, sizeof(cfa_ops));
	for (i = 0; i < ARRAY_SIZE(atoms); i++)
		cfa_ops[i].atom = atoms[i];
	cfa_ops[0].number = abi->word;
	full.cfa.nr_ops = ARRAY_SIZE(atoms);
	full.reg[abi->ip].kind = HYBRID_WHERE_CFA;
	full.reg[abi->ip].off = -abi->word;
}

#define UNLIKE(make, abi, change) do { \
	make; \
	change; \
	same(kind_of(abi), PERF_UNWIND_UNKNOWN); \
} while (0)

static void plt(void)
{
	static const struct hybrid_abi *const abis[] = { &hybrid_abi_64, &hybrid_abi_32 };
	unsigned int n, i;

	for (n = 0; n < ARRAY_SIZE(abis); n++) {
		const struct hybrid_abi *abi = abis[n];
		struct hybrid_where *ip = &full.reg[abi->ip], *bp = &full.reg[abi->bp];

		make_plt(abi);
		same(kind_of(abi), PERF_UNWIND_PLT);
		same(to.base, PERF_UNWIND_BASE_SP);
		same(to.cfa_off, abi->word);
		same(to.ra_off, (u64)(s64)-abi->word);
		same(to.fp, PERF_UNWIND_FP_SAME);
		for (i = 0; i < 9; i++)
			UNLIKE(make_plt(abi), abi, cfa_ops[i].atom++);
		for (i = 0; i < 2; i++)
			UNLIKE(make_plt(abi), abi, cfa_ops[i].number++);
		UNLIKE(make_plt(abi), abi, full.cfa.nr_ops++);
		UNLIKE(make_plt(abi), abi, full.cfa.nr_ops--);
		UNLIKE(make_plt(abi), abi, ip->kind = HYBRID_WHERE_CFA_VALUE);
		UNLIKE(make_plt(abi), abi, ip->off += 8);
		UNLIKE(make_plt(abi), abi, bp->kind = HYBRID_WHERE_CFA);
		UNLIKE(make_plt(abi), abi, row.rule.signal = 1);
		UNLIKE(make_plt(abi), abi, row.full = NULL);
	}
	make_plt(&hybrid_abi_64);
	same(kind_of(&hybrid_abi_32), PERF_UNWIND_UNKNOWN);
}

static void make_where(struct hybrid_where *where, Dwarf_Op *ops, u64 off)
{
	memset(ops, 0, 3 * sizeof(*ops));
	ops[1] = (Dwarf_Op) { .atom = DW_OP_breg0 + HYBRID_X86_64_SP, .number = off };
	*where = (struct hybrid_where) {
		.kind = HYBRID_WHERE_EXPR, .nr_ops = 2, .ops = ops,
	};
}

static void make_sigreturn(void)
{
	make_full(true);
	memset(cfa_ops, 0, sizeof(cfa_ops));
	cfa_ops[0] = (Dwarf_Op) {
		.atom = DW_OP_breg0 + HYBRID_X86_64_SP, .number = HYBRID_UCONTEXT_SP,
	};
	cfa_ops[1].atom = DW_OP_deref;
	full.cfa.nr_ops = 2;
	make_where(&full.reg[HYBRID_X86_64_IP], ip_ops, HYBRID_UCONTEXT_IP);
	make_where(&full.reg[HYBRID_X86_64_BP], bp_ops, HYBRID_UCONTEXT_BP);
}

static void sigreturn(void)
{
	static const u8 regs[] = { HYBRID_X86_64_IP, HYBRID_X86_64_BP };
	const struct hybrid_abi *abi = &hybrid_abi_64;
	unsigned int i;

	make_sigreturn();
	same(kind_of(abi), PERF_UNWIND_SIGNAL);
	same(kind_of(&hybrid_abi_32), PERF_UNWIND_UNKNOWN);
	UNLIKE(make_sigreturn(), abi, row.rule.signal = 0);
	UNLIKE(make_sigreturn(), abi, row.full = NULL);
	UNLIKE(make_sigreturn(), abi, full.cfa.nr_ops++);
	UNLIKE(make_sigreturn(), abi, full.cfa.nr_ops--);
	UNLIKE(make_sigreturn(), abi, cfa_ops[0].atom++);
	UNLIKE(make_sigreturn(), abi, cfa_ops[0].number++);
	UNLIKE(make_sigreturn(), abi, cfa_ops[1].atom++);
	for (i = 0; i < ARRAY_SIZE(regs); i++) {
		struct hybrid_where *where = &full.reg[regs[i]];

		UNLIKE(make_sigreturn(), abi, where->kind = HYBRID_WHERE_VALUE);
		UNLIKE(make_sigreturn(), abi, where->nr_ops++);
		UNLIKE(make_sigreturn(), abi, where->nr_ops--);
		UNLIKE(make_sigreturn(), abi, where->ops[1].atom++);
		UNLIKE(make_sigreturn(), abi, where->ops[1].number++);
	}
}

/* The row's CFA is a register and an offset; the return address is where calls push it. */
static void make_register(unsigned int reg, s64 off)
{
	make_full(false);
	memset(cfa_ops, 0, sizeof(cfa_ops));
	cfa_ops[0] = (Dwarf_Op) { .atom = DW_OP_breg0 + reg, .number = off };
	full.cfa.nr_ops = 1;
	full.reg[hybrid_abi_64.ip] = (struct hybrid_where) { .kind = HYBRID_WHERE_CFA, .off = -8 };
}

static bool is_register(const struct hybrid_abi *abi)
{
	memset(&to, 0, sizeof(to));
	to.kind = PERF_UNWIND_UNKNOWN;
	register_rule(abi, &row, &to);
	return to.kind == HYBRID_WALK_REGISTER;
}

#define NO_REGISTER(change) do { \
	make_register(10, 16); \
	change; \
	check(!is_register(&hybrid_abi_64)); \
} while (0)

static void registers(void)
{
	/* ax, dx, cx, bx, si, di, bp, sp, r8 to r15: their words in struct pt_regs */
	static const u8 words[] = { 10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0 };
	struct hybrid_where *ip = &full.reg[hybrid_abi_64.ip], *bp = &full.reg[hybrid_abi_64.bp];
	unsigned int reg;

	for (reg = 0; reg < 18; reg++) {
		make_register(reg, 16);
		same(is_register(&hybrid_abi_64), reg < 16);
		if (reg >= 16)
			continue;
		same(to.deref_off, words[reg]);
		same(to.cfa_off, 16);
		same(to.ra_off, (u64)-8);
		same(to.fp, PERF_UNWIND_FP_SAME);
		same(to.fp_off, 0);
	}
	make_register(10, 16);
	check(!is_register(&hybrid_abi_32));
	NO_REGISTER(row.rule.kind = HYBRID_RULE_CFA);
	NO_REGISTER(row.rule.signal = 1);
	NO_REGISTER(row.full = NULL);
	NO_REGISTER(full.cfa.nr_ops = 2);
	NO_REGISTER(full.cfa.nr_ops = 0);
	NO_REGISTER(cfa_ops[0].atom = DW_OP_lit0);
	NO_REGISTER(ip->kind = HYBRID_WHERE_SAME);
	NO_REGISTER(ip->off = -16);
	NO_REGISTER(bp->kind = HYBRID_WHERE_UNDEFINED);
	NO_REGISTER(bp->kind = HYBRID_WHERE_CFA_VALUE);
}

/* An offset that a rule has no room for is not another one. */
static void register_offsets(void)
{
	static const struct {
		s64	off;
		bool	fits;
	} cases[] = {
		{ INT32_MAX, true }, { INT32_MAX + 1LL, false },
		{ INT32_MIN, true }, { INT32_MIN - 1LL, false }, { 1LL << 32, false },
	};
	struct hybrid_where *bp = &full.reg[hybrid_abi_64.bp];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		make_register(10, cases[i].off);
		same(is_register(&hybrid_abi_64), cases[i].fits);
		if (cases[i].fits)
			same(to.cfa_off, cases[i].off);
		make_register(10, 16);
		bp->kind = HYBRID_WHERE_CFA;
		bp->off = cases[i].off;
		same(is_register(&hybrid_abi_64), cases[i].fits);
		if (!cases[i].fits)
			continue;
		same(to.fp, PERF_UNWIND_FP_AT_CFA);
		same(to.fp_off, cases[i].off);
	}
}

/* What a rule of code becomes, by where its CFA counts from and what holds of bp. */
static void rule_of_code(const struct hybrid_rule *rule, bool with, bool wide)
{
	static const u8 fps[] = {
		PERF_UNWIND_FP_SAME, PERF_UNWIND_FP_AT_CFA, PERF_UNWIND_FP_AT_FP,
		PERF_UNWIND_FP_UNDEFINED,
	};
	static const u8 words[] = { 10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0 };
	bool is_cfa = rule->kind == HYBRID_RULE_CFA, is_deref = rule->kind == HYBRID_RULE_DEREF;
	struct perf_unwind_rule want = { .kind = PERF_UNWIND_UNKNOWN };

	if (rule->kind == HYBRID_RULE_SAVED_SP && with && wide) {
		want = (struct perf_unwind_rule) {
			.kind = HYBRID_WALK_SAVED_SP, .deref_off = 24, .cfa_off = 32,
			.fp_off = -16,
		};
	} else if ((is_cfa || is_deref) &&
		   (rule->base < HYBRID_BASE_REG ||
		    (is_cfa && with && wide && rule->base < HYBRID_BASE_REG + 16))) {
		want = (struct perf_unwind_rule) {
			.kind = is_cfa ? PERF_UNWIND_CFA : PERF_UNWIND_DEREF,
			.base = rule->base == HYBRID_BASE_BP ? PERF_UNWIND_BASE_FP :
								       PERF_UNWIND_BASE_SP,
			.fp = fps[rule->bp], .deref_off = 24, .cfa_off = 32, .ra_off = -8,
			.fp_off = rule->bp == 1 || rule->bp == 2 ? -16 : 0,
		};
		if (rule->base >= HYBRID_BASE_REG) {
			want.kind = HYBRID_WALK_REGISTER;
			want.deref_off = words[rule->base - HYBRID_BASE_REG];
		}
	}
	memset(&to, 0xff, sizeof(to));
	hybrid_batch_code_rule(wide ? &hybrid_abi_64 : &hybrid_abi_32, rule, with, &to);
	check(!memcmp(&to, &want, sizeof(to)));
	if (rule->base >= HYBRID_BASE_REG || with)
		return;
	row = (struct hybrid_row) { .rule = *rule };
	if (rule->kind == HYBRID_RULE_OUTERMOST)
		want.kind = PERF_UNWIND_OUTERMOST;
	kind_of(&hybrid_abi_64);
	check(!memcmp(&to, &want, sizeof(to)));
	row.rule.signal = 1;
	same(kind_of(&hybrid_abi_64), rule->kind == HYBRID_RULE_OUTERMOST ?
	     PERF_UNWIND_OUTERMOST : PERF_UNWIND_UNKNOWN);
}

static void rules_of_code(void)
{
	struct hybrid_rule rule = {
		.deref_off = 24, .cfa_off = 32, .ra_off = -8, .bp_off = -16,
	};
	unsigned int i;

	for (i = 0; i < (HYBRID_RULE_SIGRETURN + 1) * (HYBRID_BASE_REG + 18) * 4 * 4; i++) {
		rule.kind = i / 16 / (HYBRID_BASE_REG + 18);
		rule.base = i / 16 % (HYBRID_BASE_REG + 18);
		rule.bp = i / 4 % 4;
		rule_of_code(&rule, i & 2, i & 1);
	}
}

static void begin(void)
{
	object = (struct hybrid_object) { .segments = segments, .nr_segments = 2 };
	object.cfi.abi = &hybrid_abi_64;
	segments[0] = (struct hybrid_segment) { .offset = 0x1000, .vaddr = 0x401000,
						.size = 0x100 };
	segments[1] = (struct hybrid_segment) { .offset = 0x2000, .vaddr = 0x700000,
						.size = 0x10000000 };
	memset(&row, 0, sizeof(row));
	row.rule = (struct hybrid_rule) { .kind = HYBRID_RULE_CFA, .ra_off = -8 };
	memset(&rows, 0, sizeof(rows));
	rows.size = 1;
	memset(&batch, 0, sizeof(batch));
}

static void places(void)
{
	static const struct {
		u64	start, end, offset, size;
	} cases[] = {
		{ 0x401000, 0x401010, 0x1000, 0x10 }, { 0x4010ff, 0x401100, 0x10ff, 1 },
		{ 0x4010f0, 0x401200, 0x10f0, 0x10 }, { 0x401000, 0x401101, 0x1000, 0x100 },
		{ 0x700000, 0x700008, 0x2000, 8 },
		/* In none. */
		{ 0x400fff, 0x401010 }, { 0x401100, 0x401110 }, { 0x6fffff, 0x700008 },
		{ 0x10700000, 0x10700001 },
	};
	u64 offset, size;
	unsigned int i;

	begin();
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		bool is_there = place(&object, cases[i].start, cases[i].end, &offset, &size);

		same(is_there, cases[i].size != 0);
		if (!is_there || !cases[i].size)
			continue;
		same(offset, cases[i].offset);
		same(size, cases[i].size);
	}
	segments[0].offset = 0x100000000 - 0x10 - 1;
	check(place(&object, 0x401000, 0x401010, &offset, &size));
	same(offset + size, UINT32_MAX);
	segments[0].offset++;
	check(!place(&object, 0x401000, 0x401010, &offset, &size));
}

static int add_code(u64 start, u64 end, s32 cfa_off)
{
	const struct hybrid_rule rule = {
		.kind = HYBRID_RULE_CFA, .cfa_off = cfa_off, .ra_off = -8,
	};

	return hybrid_batch_code(&batch, &object, start, end, &rule);
}

/* One piece of code behind the other; what is between two is left out, or stays. */
static void pieces(void)
{
	const struct hybrid_rule unknown = { .kind = HYBRID_RULE_OUTERMOST };
	unsigned int codes;

	for (codes = 0; codes < 2; codes++) {
		begin();
		batch.codes = codes;
		same(add_code(0x401010, 0x401010, 8), 0);
		same(add_code(0x400000, 0x400010, 8), 0);
		same(hybrid_batch_code(&batch, &object, 0x401010, 0x401020, &unknown), 0);
		same(batch.nr_rows, 0);
		same(add_code(0x401010, 0x401020, 8), 0);
		same(batch.start, 0x1010);
		same(batch.end, 0x1020);
		same(add_code(0x401020, 0x401030, 16), 0);
		same(batch.nr_rows, 2);
		/* Nothing changes. */
		same(add_code(0x40102f, 0x401040, 8), (u64)-EAGAIN);
		same(batch.nr_rows, 2);
		same(batch.end, 0x1030);
		same(add_code(0x401031, 0x401200, 16), 0);
		same(batch.start, 0x1010);
		same(batch.end, 0x1100);
		same(batch.nr_rows, 4);
		same(batch.rows[2].offset, 0x1030);
		same(batch.rules[batch.rows[2].rule].kind,
		     codes ? HYBRID_TABLE_KEEP : PERF_UNWIND_UNKNOWN);
		same(batch.rows[3].offset, 0x1031);
		same(batch.rows[3].rule, batch.rows[1].rule);
		hybrid_batch_exit(&batch);
		check(!batch.rows && !batch.rules && !batch.next);
	}
}

static int add_fde(u64 start, u64 end)
{
	const struct hybrid_fde fde = { .start = start, .end = end };
	int err = hybrid_batch_fde(&batch, &object, &fde);

	/* One that fails has nothing to give back. */
	same(rows.exited, rows.compiled - (rows.fail_at && rows.compiled >= rows.fail_at));
	return err;
}

static void functions(void)
{
	begin();
	same(add_fde(0x401000, 0x401003), 0);
	same(batch.nr_rows, 3);
	same(batch.rows[2].offset, 0x1002);
	same(add_fde(0x401004, 0x401006), 0);
	/* Two rows, and one for what is between. */
	same(batch.nr_rows, 6);
	same(batch.rows[3].offset, 0x1003);
	same(batch.start, 0x1000);
	same(batch.end, 0x1006);
	/* Memory is short in the second row: nothing of the function stays. */
	rows.fail_at = rows.compiled + 2;
	same(add_fde(0x401006, 0x401009), (u64)-ENOMEM);
	same(batch.nr_rows, 6);
	same(batch.end, 0x1006);
	hybrid_batch_exit(&batch);
	/* A store that has no room for other registers' rules gets none. */
	begin();
	make_register(10, 16);
	rows.size = 4;
	same(add_fde(0x401000, 0x401004), 0);
	same(batch.rules[0].kind, PERF_UNWIND_UNKNOWN);
	hybrid_batch_exit(&batch);
	batch.registers = true;
	same(add_fde(0x401000, 0x401004), 0);
	same(batch.rules[0].kind, HYBRID_WALK_REGISTER);
	hybrid_batch_exit(&batch);
}

/* One that has too many rows has none. */
static void most_rows(void)
{
	begin();
	same(add_fde(0x700000, 0x700000 + MAX_FDE_ROWS + 1), 0);
	same(batch.nr_rows, MAX_FDE_ROWS + 1);
	same(add_fde(0x700000 + MAX_FDE_ROWS + 1, 0x700000 + 2 * MAX_FDE_ROWS + 3), 0);
	same(batch.nr_rows, MAX_FDE_ROWS + 1);
	same(batch.end, 0x2000 + MAX_FDE_ROWS + 1);
	hybrid_batch_exit(&batch);
}

/* As many rules as an ioctl takes; those that are there are still found. */
static void most_rules(void)
{
	struct perf_unwind_rule rule = { .kind = PERF_UNWIND_CFA };
	unsigned int i;

	begin();
	for (i = 0; i < HYBRID_BATCH_RULES; i++) {
		rule.cfa_off = 8 * i;
		same(add_row(&batch, i, &rule), 0);
	}
	same(batch.nr_rules, HYBRID_BATCH_RULES);
	rule.cfa_off = 8 * i;
	same(add_row(&batch, i, &rule), (u64)-EAGAIN);
	same(batch.nr_rows, HYBRID_BATCH_RULES);
	for (i = 0; i < HYBRID_BATCH_RULES; i += 4099) {
		rule.cfa_off = 8 * i;
		same(find_rule(&batch, &rule), i);
	}
	hybrid_batch_clear(&batch);
	same(batch.nr_rows + batch.nr_rules, 0);
	rule.cfa_off = 8 * 77;
	same(find_rule(&batch, &rule), 0);
	hybrid_batch_exit(&batch);
}

#define CHOSEN	4096

/* The most rules that a search compares. */
static unsigned int longest(void)
{
	unsigned int most = 0, nr, hash;
	u16 i;

	for (hash = 0; hash < HYBRID_BATCH_HASH; hash++) {
		for (nr = 0, i = batch.hash[hash]; i; i = batch.next[i - 1])
			nr++;
		most = max(most, nr);
	}
	return most;
}

/* The hash that was: a file can choose rules that have the same. */
static u32 known_hash(const struct perf_unwind_rule *rule)
{
	u32 words[sizeof(*rule) / 4], hash = 0, i;

	memcpy(words, rule, sizeof(words));
	for (i = 0; i < ARRAY_SIZE(words); i++)
		hash = (hash ^ words[i]) * 0x9e3779b1;
	return (hash >> 16) % HYBRID_BATCH_HASH;
}

/* A search compares no more of the rules that a file chose than of others. */
static void chosen_rules(void)
{
	struct perf_unwind_rule rule = { .kind = PERF_UNWIND_CFA };
	unsigned int i, others;

	begin();
	for (i = 0; i < CHOSEN; i++) {
		rule.cfa_off += 8;
		same(add_row(&batch, i, &rule), 0);
	}
	others = longest();
	hybrid_batch_clear(&batch);
	for (i = 0; i < CHOSEN; i++) {
		do {
			rule.cfa_off += 8;
		} while (known_hash(&rule));
		same(add_row(&batch, i, &rule), 0);
	}
	same(batch.nr_rules, CHOSEN);
	/* Heaps of 4 on average; chance may make one of four times as many. */
	check(others < 32 && longest() < 32);
	hybrid_batch_exit(&batch);
}

/* What there is stays if memory is short: for rules, the list of those, and rows. */
static void short_memory(void)
{
	struct perf_unwind_rule rule = { .kind = PERF_UNWIND_CFA };
	unsigned int nr, i;

	for (nr = 0; nr < 3; nr++) {
		begin();
		batch.start = 1;
		batch.end = 2;
		short_memory_begin(nr);
		same(add_code(0x401010, 0x401020, 8), (u64)-ENOMEM);
		check(short_memory_end());
		same(batch.nr_rows, 0);
		same(batch.start, 1);
		same(batch.end, 2);
		same(add_code(0x401010, 0x401020, 8), 0);
		same(batch.nr_rows, 1);
		same(batch.nr_rules, 1);
		same(batch.start, 0x1010);
		same(batch.end, 0x1020);
		hybrid_batch_exit(&batch);
	}
	/* Room for 64 rules, then for twice as many and as many again; the same for 256 rows. */
	begin();
	for (i = 0; i < 64; i++) {
		rule.cfa_off = 8 * i;
		same(add_row(&batch, i, &rule), 0);
	}
	same(batch.alloc_rules, 64);
	for (nr = 0; nr < 2; nr++) {
		rule.cfa_off = 8 * 64;
		short_memory_begin(nr);
		same(add_row(&batch, 64, &rule), (u64)-ENOMEM);
		check(short_memory_end());
		same(batch.nr_rules, 64);
		same(batch.nr_rows, 64);
	}
	same(add_row(&batch, 64, &rule), 0);
	check(batch.alloc_rules > 64);
	for (i = 65; i < 256; i++) {
		rule.cfa_off = 8 * (i % 2);
		same(add_row(&batch, i, &rule), 0);
	}
	same(batch.alloc_rows, 256);
	rule.cfa_off = 16;
	short_memory_begin(0);
	same(add_row(&batch, 256, &rule), (u64)-ENOMEM);
	check(short_memory_end());
	same(batch.nr_rows, 256);
	same(add_row(&batch, 256, &rule), 0);
	same(batch.nr_rows, 257);
	hybrid_batch_exit(&batch);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "batch: procedure linkage tables", plt },
		{ "batch: returns of signal handlers", sigreturn },
		{ "batch: CFAs by other registers", registers },
		{ "batch: offsets that rules have room for", register_offsets },
		{ "batch: rules of code", rules_of_code },
		{ "batch: places in the file", places },
		{ "batch: pieces of code", pieces },
		{ "batch: functions", functions },
		{ "batch: as many rows as a function may have", most_rows },
		{ "batch: as many rules as there may be", most_rules },
		{ "batch: rules that a file chose", chosen_rules },
		{ "batch: memory is short", short_memory },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
