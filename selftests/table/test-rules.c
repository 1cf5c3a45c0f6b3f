// SPDX-License-Identifier: GPL-2.0
/*
 * Walks by user-supplied rules, against a model of them over random small stacks; each guard of
 * a walk and of the lookups in an address space; and how tables are attached to events. The test
 * includes the walk itself, and has a table, an address space and user memory of its own. Prints
 * TAP.
 */
#include "../../kmod/walk/unwind_user_rules.c"
#include "../../kmod/table/table.h"
#include "table-state.h"
#include "user-memory.h"
#include "walk-state.h"

#define CODE		0x400000UL
#define CODE_SIZE	0x1000UL
#define CODE_OFFSET	0x3000UL	/* in the file */
#define STACK		(ws == 8 ? 0x7ff123400000UL : 0x7ff00000UL)
#define WORDS		16
#define MAX_STACK	40

/* Function @f of the code; return address @i in it has a call before it. */
#define FUNCTION(f)	(CODE + 0x100 * (f))
#define NR_FUNCTIONS	8
#define RETURN(f, i)	(FUNCTION(f) + 0x20 + 0x10 * (i))
#define TRAMPOLINE	FUNCTION(NR_FUNCTIONS)

/* Of the task, in bytes. */
static unsigned int ws = 8;

const struct vdso_image vdso64_image, vdso32_image;

u64 perf_sample_time_left(void)
{
	return U64_MAX;
}

bool table_copy(void *dst, const void *src, size_t size)
{
	abort();
}

/* An address space: at each call that asks whether it changed, it may have. */
static struct vm_area_struct vmas[4];
static unsigned int vma_checks, vma_changes_at;
static bool vma_busy;

struct vm_area_struct *vma_lookup(struct mm_struct *mm, unsigned long addr)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(vmas); i++)
		if (addr >= vmas[i].vm_start && addr < vmas[i].vm_end)
			return &vmas[i];
	return NULL;
}

bool mmap_lock_speculate_try_begin(struct mm_struct *mm, unsigned int *seq)
{
	*seq = 77;
	return !vma_busy;
}

bool mmap_lock_speculate_retry(struct mm_struct *mm, unsigned int seq)
{
	if (seq != 77)
		abort();
	return ++vma_checks == vma_changes_at;
}

/* The table, with rows for each function of one file, whose rules tests replace. */
static struct perf_unwind_table table;
static struct {
	struct perf_unwind_rules	rules;
	struct perf_unwind_rule		rule[NR_FUNCTIONS + 2];
} rules;
static struct super_block disk = { .s_dev = 3 };
static struct inode inode = { .i_ino = 5, .i_generation = 6, .i_sb = &disk, .ctime = 9 };
static struct file file = { .f_inode = &inode };
static struct perf_unwind_object object;

static struct perf_unwind_rule *rule_of(unsigned int function)
{
	return &rules.rule[1 + function];
}

static void make_table(void)
{
	struct perf_unwind_row row[NR_FUNCTIONS + 1];
	struct unwind_table_update update = {
		.start = CODE_OFFSET, .end = CODE_OFFSET + CODE_SIZE, .nr_rows = ARRAY_SIZE(row),
		.rows = row,
	};
	u32 i, nr;

	for (i = 0; i < ARRAY_SIZE(row); i++)
		row[i] = (struct perf_unwind_row) { CODE_OFFSET + 0x100 * i, 1 + i, 0 };
	nr = unwind_table_rows_count(NULL, &update);
	object = (struct perf_unwind_object) {
		.key = perf_unwind_inode_key(&inode), .sec = inode.ctime,
		.rows = calloc(1, unwind_table_rows_size(nr)), .used = jiffies,
	};
	unwind_table_rows_fill(object.rows, nr, NULL, &update);
	hash_init(table.objects);
	hash_add(table.objects, &object.node, perf_unwind_hash_key(&object.key));
	memset(&rules, 0, sizeof(rules));
	rules.rules.nr = NR_FUNCTIONS + 2;
	table.rules = &rules.rules;
}

static struct perf_unwind_walk walk;
static struct perf_callchain_entry_ctx ctx;
static u64 chain[1 + MAX_STACK + 8];
static struct pt_regs regs;

static void begin(unsigned int word_size)
{
	unsigned int f, i;

	ws = word_size;
	user_reset();
	user_map(0, CODE, CODE_SIZE, 0x90);
	for (f = 0; f < NR_FUNCTIONS; f++)
		for (i = 0; i < 8; i++)
			user_put(RETURN(f, i) - 5, "\xe8\0\0\0", 5);
	user_put(TRAMPOLINE, "\x48\xc7\xc0\x0f\0\0\0\x0f\x05", 9);
	user_map(1, STACK, WORDS * ws, 0);
	memset(vmas, 0, sizeof(vmas));
	vmas[0] = (struct vm_area_struct) {
		.vm_start = CODE, .vm_end = CODE + CODE_SIZE, .vm_flags = VM_EXEC | 1,
		.vm_pgoff = CODE_OFFSET >> PAGE_SHIFT, .vm_file = &file,
	};
	vmas[1] = (struct vm_area_struct) {
		.vm_start = STACK, .vm_end = STACK + WORDS * ws, .vm_flags = VM_WRITE,
	};
	vma_checks = 0;
	vma_changes_at = 0;
	vma_busy = false;
	memset(rules.rule, 0, sizeof(rules.rule));
	rule_of(NR_FUNCTIONS)->kind = PERF_UNWIND_SIGNAL;
	regs = (struct pt_regs) {
		.ip = FUNCTION(0) + 4, .sp = STACK, .bp = STACK + 4 * ws,
		.cs = ws == 8 ? __USER_CS : __USER32_CS, .ss = __USER_DS,
	};
}

static enum perf_unwind_end walk_now(unsigned int max_stack)
{
	static struct mm_struct walk_mm;
	enum perf_unwind_end end;

	memset(chain, 0, sizeof(chain));
	ctx = (struct perf_callchain_entry_ctx) {
		.entry = (struct perf_callchain_entry *)chain, .max_stack = max_stack,
	};
	walk = (struct perf_unwind_walk) {
		.table = &table, .rules = &rules.rules, .mm = &walk_mm, .seq = 77,
	};
	walk_regs = regs;
	end = arch_perf_unwind_walk(&walk, &ctx, &regs);
	if (walk_no_faults || walk_preempt_count || ctx.nr != chain[0])
		abort();
	return end;
}

/* The model: as linux/perf_unwind_rules.h defines rules. Memory that a walk may read: */
static bool model_word(unsigned long addr, unsigned long *word)
{
	const struct user_piece *piece = &user.piece[1];

	if (addr % ws || addr < vmas[1].vm_start || addr >= vmas[1].vm_end ||
	    addr < piece->start || addr >= piece->start + piece->size)
		return false;
	*word = 0;
	memcpy(word, piece->bytes + (addr - piece->start), ws);
	return true;
}

struct model {
	unsigned long	ip, sp, fp;
	bool		topmost, fp_known;
	unsigned int	failed, nr;
	u64		ips[MAX_STACK];
};

static bool model_returns(unsigned long ra)
{
	unsigned int f, i;

	for (f = 0; f < NR_FUNCTIONS; f++)
		for (i = 0; i < 8; i++)
			if (ra == RETURN(f, i))
				return true;
	return ws == 8 && ra == TRAMPOLINE;
}

static enum perf_unwind_end model_step(struct model *m)
{
	unsigned long ip = m->topmost ? m->ip : m->ip - 1, cfa, ra, fp = 0, fp_at = 0;
	const struct perf_unwind_rule *r;
	bool read = false;

	if (ip < CODE || ip >= CODE + CODE_SIZE)
		return PERF_UNWIND_END_NO_RULE;
	r = rule_of((ip - CODE) >> 8 < NR_FUNCTIONS ? (ip - CODE) >> 8 : NR_FUNCTIONS);
	if (r->kind == PERF_UNWIND_OUTERMOST)
		return PERF_UNWIND_END_OUTERMOST;
	if (r->kind == PERF_UNWIND_UNKNOWN || r->kind == PERF_UNWIND_SIGNAL)
		return PERF_UNWIND_END_NO_RULE;
	if (r->base == PERF_UNWIND_BASE_FP && !m->fp_known)
		return PERF_UNWIND_END_UNREADABLE;
	cfa = (r->base == PERF_UNWIND_BASE_FP ? m->fp : m->sp) + r->cfa_off;
	if (r->kind == PERF_UNWIND_PLT && m->ip % 16 >= 11)
		cfa += ws;
	if (r->kind == PERF_UNWIND_DEREF) {
		if (!model_word(cfa, &cfa))
			return PERF_UNWIND_END_UNREADABLE;
		cfa += r->deref_off;
	}
	if (cfa <= m->sp || cfa > vmas[1].vm_end || !model_word(cfa + r->ra_off, &ra))
		return PERF_UNWIND_END_UNREADABLE;
	if (r->fp == PERF_UNWIND_FP_AT_CFA)
		fp_at = cfa + r->fp_off;
	if (r->fp == PERF_UNWIND_FP_AT_FP && m->fp_known)
		fp_at = m->fp + r->fp_off;
	read = fp_at && model_word(fp_at, &fp);
	if (!model_returns(ra))
		return PERF_UNWIND_END_NOT_RETURN;
	if (r->fp != PERF_UNWIND_FP_SAME) {
		m->fp = fp;
		m->fp_known = read;
	}
	m->ip = ra;
	m->sp = cfa;
	m->topmost = false;
	return PERF_UNWIND_END_NONE;
}

static enum perf_unwind_end model_walk(struct model *m, unsigned int max_stack)
{
	enum perf_unwind_end end;

	*m = (struct model) {
		.ip = regs.ip, .sp = regs.sp, .fp = regs.bp, .topmost = true, .fp_known = true,
	};
	m->ips[m->nr++] = m->ip;
	while ((end = model_step(m)) == PERF_UNWIND_END_NONE) {
		if (m->nr == max_stack)
			return PERF_UNWIND_END_LIMIT;
		m->ips[m->nr++] = m->ip;
	}
	return end;
}

static unsigned int seed;

static unsigned int below(unsigned int n)
{
	return rand_r(&seed) % n;
}

static void random_rule(struct perf_unwind_rule *r)
{
	*r = (struct perf_unwind_rule) {
		.kind = below(8) ? 1 + below(3) : below(6),
		.base = below(2), .fp = below(4),
		.cfa_off = ws * (below(8) ? below(5) : below(20)) - (below(20) ? 0 : ws),
		.ra_off = below(4) ? -(int)ws : (int)(ws * below(3)) - 2 * (int)ws,
		.fp_off = below(3) ? -2 * (int)ws : (int)(ws * below(5)) - 2 * (int)ws,
	};
	if (r->kind == PERF_UNWIND_DEREF)
		r->deref_off = below(4) ? 0 : 1 + below(2 * ws);
	if (!below(30))
		r->cfa_off++;
	/* As if it counted from 0, which an unknown fp is not. */
	if (ws == 4 && !below(6)) {
		r->base = PERF_UNWIND_BASE_FP;
		r->cfa_off = STACK + ws * below(WORDS);
	}
}

/* Return addresses, pointers into the stack, and anything. */
static u64 random_word(void)
{
	switch (below(8)) {
	case 0:
		return below(2) ? below(1000) : CODE + below(CODE_SIZE);
	case 1:
	case 2:
		return STACK + ws * below(WORDS + 2) + (below(10) ? 0 : 1);
	default:
		return RETURN(below(NR_FUNCTIONS), below(8));
	}
}

static void random_case(unsigned int number)
{
	unsigned int i;

	seed = number;
	begin(number % 2 ? 4 : 8);
	for (i = 0; i < NR_FUNCTIONS; i++)
		random_rule(rule_of(i));
	rule_of(NR_FUNCTIONS - 1)->kind = PERF_UNWIND_OUTERMOST;
	for (i = 0; i < WORDS; i++)
		user_put_word(STACK + ws * i, random_word(), ws);
	/* nops, which no exact state has */
	regs.ip = FUNCTION(below(NR_FUNCTIONS)) + 1 + below(12);
	regs.sp = STACK + ws * below(4);
	regs.bp = STACK + ws * below(WORDS);
	/* Part of the mapping can't be read, or the memory is of another mapping. */
	if (number % 5 == 1)
		vmas[1].vm_end += 4 * ws;
	if (number % 5 == 2)
		vmas[1].vm_end -= 3 * ws;
	if (number % 5 == 3)
		vmas[1].vm_start += ws;
}

static bool same_chain(const struct model *m)
{
	return ctx.nr == m->nr && !memcmp(chain + 1, m->ips, m->nr * sizeof(u64));
}

static void check_model(unsigned int cases)
{
	static struct model m;
	unsigned int i, ends[8] = { 0 }, frames = 0, max_stack;
	enum perf_unwind_end end, want;
	bool ok = true;

	for (i = 0; i < cases; i++) {
		random_case(i);
		max_stack = i % 7 ? MAX_STACK : 1 + i % 3;
		if (!vma_lookup(NULL, regs.sp))
			continue;
		want = model_walk(&m, max_stack);
		end = walk_now(max_stack);
		ends[end]++;
		frames += walk.frames;
		if (end != want || !same_chain(&m) || walk.frames != m.nr - 1 ||
		    walk.innermost != (m.nr > 1 ? PERF_UNWIND_INNERMOST_RULE :
						  PERF_UNWIND_INNERMOST_NONE)) {
			printf("# case %u: end %d, not %d, %u frames, not %u\n", i, end, want,
			       ctx.nr, m.nr);
			ok = false;
		}
	}
	printf("# %u frames; ends: %u outermost, %u no rule, %u no return, %u unreadable, ", frames,
	       ends[PERF_UNWIND_END_OUTERMOST], ends[PERF_UNWIND_END_NO_RULE],
	       ends[PERF_UNWIND_END_NOT_RETURN], ends[PERF_UNWIND_END_UNREADABLE]);
	printf("%u limit\n", ends[PERF_UNWIND_END_LIMIT]);
	for (i = PERF_UNWIND_END_OUTERMOST; i <= PERF_UNWIND_END_LIMIT; i++)
		ok &= ends[i] > cases / 1000;
	report(ok, "walks: as the model");
}

/* Each read of a walk fails once: then it ends there, or goes on without the frame pointer. */
static void check_faults(unsigned int cases)
{
	static struct model m;
	unsigned int i, reads, n;
	bool ok = true;

	for (i = 0; i < cases; i++) {
		random_case(i);
		if (!vma_lookup(NULL, regs.sp))
			continue;
		model_walk(&m, MAX_STACK);
		user_reset();
		walk_now(MAX_STACK);
		reads = user.reads;
		for (n = 1; n <= reads; n++) {
			user_reset();
			user.fail_at = n;
			walk_now(MAX_STACK);
			ok &= ctx.nr <= m.nr && !memcmp(chain + 1, m.ips, ctx.nr * sizeof(u64));
		}
	}
	report(ok, "walks: each read fails once");
}

/* CFA = sp + 2 words; bp is below the return address. */
static void make_frames(void)
{
	unsigned int i;

	begin(8);
	for (i = 0; i < NR_FUNCTIONS; i++)
		*rule_of(i) = (struct perf_unwind_rule) {
			.kind = PERF_UNWIND_CFA, .cfa_off = 16, .ra_off = -8,
		};
	rule_of(NR_FUNCTIONS - 1)->kind = PERF_UNWIND_OUTERMOST;
	for (i = 0; i < WORDS / 2; i++)
		user_put_word(STACK + 16 * i + 8, RETURN(i + 1 < NR_FUNCTIONS ? i + 1 : 7, 0), 8);
}

/* Two reads of a walk may fail; the third one ends it. */
static void check_failed(void)
{
	unsigned int i;
	bool ok;

	make_frames();
	ok = walk_now(MAX_STACK) == PERF_UNWIND_END_OUTERMOST && walk.frames == 7;
	/* bp is in memory of the mapping that can't be read. */
	vmas[1].vm_end += 64;
	for (i = 0; i < NR_FUNCTIONS - 1; i++) {
		rule_of(i)->fp = PERF_UNWIND_FP_AT_CFA;
		rule_of(i)->fp_off = STACK + WORDS * 8 - (STACK + 16 * (i + 1));
	}
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_UNREADABLE && walk.frames == 2;
	/* Return addresses that can't be read themselves: that read counts, and others. */
	make_frames();
	for (i = 0; i < 4; i++)
		user_put_word(STACK + 16 * i + 8, 0x1234567000 + i, 8);
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_NOT_RETURN && !walk.frames;
	report(ok, "walks: two reads may fail");
}

static void check_limit(void)
{
	unsigned int max_stack;
	bool ok = true;

	make_frames();
	for (max_stack = 0; max_stack <= 9; max_stack++) {
		enum perf_unwind_end end = walk_now(max_stack);

		ok &= end == (max_stack < 8 ? PERF_UNWIND_END_LIMIT : PERF_UNWIND_END_OUTERMOST);
		ok &= ctx.nr == (max_stack < 8 ? max_stack : 8);
	}
	report(ok, "walks: no more frames than there is room for");
}

/* Whose registers: only of user space, with segments that begin at 0. */
static void check_registers(void)
{
	unsigned int cs, ss, bit;
	bool ok = true;

	make_frames();
	for (cs = 0; cs < 0x40; cs++)
		for (ss = 0x20; ss < 0x38; ss++) {
			bool want = cs == 0x33 || (cs == 0x23 && ss == 0x2b);

			regs.cs = cs;
			regs.ss = ss;
			ok &= (walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE && !ctx.nr) == !want;
		}
	regs.cs = __USER_CS;
	for (bit = 0; bit < 32; bit++) {
		regs.flags = 1UL << bit;
		ok &= (walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE && !ctx.nr) ==
		      (bit == 5 || bit == 17);
	}
	regs.flags = 0;
	walk_guest = true;
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE && !ctx.nr;
	walk_guest = false;
	walk_uaccess_okay = false;
	user_reset();
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_UNREADABLE && !ctx.nr && !user.reads;
	walk_uaccess_okay = true;
	regs.sp = STACK + WORDS * 8;
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_UNREADABLE && !ctx.nr;
	regs.sp--;
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_UNREADABLE && ctx.nr == 1;
	report(ok, "walks: only of flat user space");
}

/* Where no rule is known, at the interrupted frame only, an exact state of the code counts. */
static void check_exact(void)
{
	bool ok;

	make_frames();
	rule_of(0)->kind = PERF_UNWIND_UNKNOWN;
	ok = walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE && ctx.nr == 1 && !walk.frames &&
	     walk.innermost == PERF_UNWIND_INNERMOST_NONE;
	user_put(regs.ip, "\xc3", 1);
	regs.sp += 8;
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_OUTERMOST && ctx.nr == 8;
	ok &= walk.frames == 6 && walk.innermost == PERF_UNWIND_INNERMOST_CODE;
	/* The caller's is at a return, too, but it is not interrupted. */
	rule_of(1)->kind = PERF_UNWIND_UNKNOWN;
	user_put(RETURN(1, 0), "\xc3", 1);
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE && ctx.nr == 2 && !walk.frames;
	report(ok, "walks: the innermost caller by an exact state");
}

/* A signal frame for an interrupted FUNCTION(@f), at @sp; it goes on with the stack @next. */
static void put_signal(unsigned long sp, unsigned int f, unsigned long next, unsigned long fp)
{
	/* struct ucontext: r8 is at 40 */
	user_put_word(sp + 40 + 16 * 8, FUNCTION(f) + 4, 8);
	user_put_word(sp + 40 + 15 * 8, next, 8);
	user_put_word(sp + 40 + 10 * 8, fp, 8);
	user_put_word(sp + 40 + 18 * 8, __USER_CS, 8);
}

#define SIGNALS		10
#define SIGNAL_SIZE	512

/* Handlers that were interrupted by signals again and again: 8 such frames, and no more. */
static void check_signals(void)
{
	unsigned int i, n;
	bool ok = true;

	for (n = 1; n < SIGNALS; n++) {
		begin(8);
		user_map(1, STACK, SIGNALS * SIGNAL_SIZE, 0);
		vmas[1].vm_end = STACK + SIGNALS * SIGNAL_SIZE;
		*rule_of(0) = (struct perf_unwind_rule) {
			.kind = PERF_UNWIND_CFA, .cfa_off = 8, .ra_off = -8,
		};
		rule_of(1)->kind = PERF_UNWIND_OUTERMOST;
		for (i = 0; i < n; i++) {
			user_put_word(STACK + i * SIGNAL_SIZE, TRAMPOLINE, 8);
			put_signal(STACK + i * SIGNAL_SIZE + 8, i + 1 == n, STACK + (i + 1) * SIGNAL_SIZE,
				   0);
		}
		/* A return to the trampoline, whose rule is looked up before its first byte. */
		rule_of(NR_FUNCTIONS - 1)->kind = PERF_UNWIND_SIGNAL;
		ok &= walk_now(MAX_STACK) == (n <= 8 ? PERF_UNWIND_END_OUTERMOST :
						       PERF_UNWIND_END_NO_RULE);
		ok &= ctx.nr == (n <= 8 ? 1 + 2 * n : 1 + 2 * 8 + 1);
	}
	report(ok, "signals: 8 frames of a walk, and no more");
}

/* The interrupted code may have another stack, and has its frame pointer. */
static void check_other_stack(void)
{
	bool ok;

	begin(8);
	user_map(1, STACK, SIGNAL_SIZE, 0);
	vmas[1].vm_end = STACK + SIGNAL_SIZE;
	user_map(2, STACK + 0x10000, 64, 0);
	vmas[2] = (struct vm_area_struct) {
		.vm_start = STACK + 0x10000, .vm_end = STACK + 0x10000 + 64,
	};
	*rule_of(0) = (struct perf_unwind_rule) {
		.kind = PERF_UNWIND_CFA, .cfa_off = 8, .ra_off = -8, .fp = PERF_UNWIND_FP_UNDEFINED,
	};
	*rule_of(1) = (struct perf_unwind_rule) {
		.kind = PERF_UNWIND_CFA, .base = PERF_UNWIND_BASE_FP, .cfa_off = 16, .ra_off = -8,
	};
	rule_of(2)->kind = PERF_UNWIND_OUTERMOST;
	rule_of(NR_FUNCTIONS - 1)->kind = PERF_UNWIND_SIGNAL;
	user_put_word(STACK, TRAMPOLINE, 8);
	put_signal(STACK + 8, 1, STACK + 0x10000, STACK + 0x10000 + 16);
	user_put_word(STACK + 0x10000 + 24, RETURN(2, 1), 8);
	ok = walk_now(MAX_STACK) == PERF_UNWIND_END_OUTERMOST && ctx.nr == 4 &&
	     chain[4] == RETURN(2, 1);
	/* Nothing is mapped there. */
	memset(&vmas[2], 0, sizeof(vmas[2]));
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_UNREADABLE && ctx.nr == 2;
	/* No frame of a signal: another mode. */
	user_put_word(STACK + 8 + 40 + 18 * 8, __USER32_CS, 8);
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE && ctx.nr == 2;
	report(ok, "signals: to another stack");
}

/* Mappings whose code may be other than the file's. */
static void check_mappings(void)
{
	static const unsigned long flags[] = { 0, VM_EXEC, VM_WRITE, VM_EXEC | VM_WRITE };
	unsigned int i;
	bool ok = true;

	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		make_frames();
		vmas[0].vm_flags = flags[i] | 1;
		ok &= (walk_now(MAX_STACK) == PERF_UNWIND_END_OUTERMOST) == (flags[i] == VM_EXEC);
		ok &= walk.start == CODE && walk.end == CODE + CODE_SIZE;
		ok &= walk.offset == CODE_OFFSET && !walk.rows == (flags[i] != VM_EXEC);
	}
	make_frames();
	vmas[0].anon_vma = &vmas;
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE;
	make_frames();
	vmas[0].vm_file = NULL;
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE && !walk.rows && !walk.offset;
	report(ok, "mappings: executable, and never written to");

	make_frames();
	ok = walk_now(MAX_STACK) == PERF_UNWIND_END_OUTERMOST && vma_checks == 1;
	/* Changed after it was looked up: the file may be another by now, or none. */
	make_frames();
	file.f_inode = NULL;
	vma_changes_at = 1;
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE && !walk.rows;
	file.f_inode = &inode;
	report(ok, "mappings: none that changed meanwhile");

	make_frames();
	regs.ip = CODE + CODE_SIZE;
	ok = walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE && !walk.start && !walk.end;
	regs.ip = CODE - 1;
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE && !walk.start && !walk.end;
	report(ok, "mappings: none there");

	/* The memory of a mapping is used for another while it is read. */
	make_frames();
	walk.mm = NULL;
	vmas[0].vm_end = CODE + 0x10;
	ok = perf_unwind_find_mapping(&walk, CODE) && perf_unwind_find_mapping(&walk, CODE + 15) &&
	     !perf_unwind_find_mapping(&walk, CODE + 16);
	ok &= !walk.rows && !walk.start;
	ok &= perf_unwind_find_stack(&walk, STACK) && walk.stack == STACK &&
	      walk.stack_end == STACK + WORDS * 8;
	ok &= !perf_unwind_find_stack(&walk, STACK - 1) && !walk.stack && !walk.stack_end;
	report(ok, "mappings: their bounds");
}

/* Files are told apart by each part of their key, and by their last change. */
static void check_files(void)
{
	const struct inode kept = inode;
	struct inode other;
	unsigned int i;
	bool ok = true;

	for (i = 0; i < 6; i++) {
		make_frames();
		inode = kept;
		inode.i_ino += i == 0;
		inode.i_generation += i == 1;
		disk.s_dev += i == 2;
		inode.ctime += i == 3;
		inode.ctime_nsec += i == 4;
		other = (struct inode) { .mapped_writable = i == 5 };
		inode.i_mapping = &other;
		ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE && !walk.rows;
		disk.s_dev -= i == 2;
	}
	inode = kept;
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_OUTERMOST;
	report(ok, "files: the one that was loaded, unchanged");

	make_frames();
	jiffies = 100;
	object.used = 100;
	walk_now(MAX_STACK);
	ok = object.used == 100;
	jiffies = 101;
	walk_now(MAX_STACK);
	ok &= object.used == 101;
	/* Never back. */
	jiffies = 50;
	walk_now(MAX_STACK);
	ok &= object.used == 101;
	report(ok, "files: the time of their last use");
}

/* A sample compares 16 objects with the same hash, whoever made them. */
static void check_probes(void)
{
	static struct perf_unwind_object others[PERF_UNWIND_MAX_PROBES];
	unsigned int i;
	bool ok = true;

	for (i = 0; i < ARRAY_SIZE(others); i++) {
		make_frames();
		ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_OUTERMOST;
		/* Each is before the others. */
		others[i].key = object.key;
		others[i].key.generation += 1 + i;
		hash_add(table.objects, &others[i].node, perf_unwind_hash_key(&object.key));
	}
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE;
	for (i = 0; i < ARRAY_SIZE(others); i++)
		hash_del(&others[i].node);
	report(ok, "files: 16 of one hash are compared");
}

static void check_vdso(void)
{
	static struct mm_struct vdso_mm;
	struct perf_unwind_object vdso = { .rows = object.rows };
	bool ok;

	ok = arch_perf_unwind_vdso(PERF_UNWIND_VDSO_64) == &vdso64_image;
	ok &= arch_perf_unwind_vdso(PERF_UNWIND_VDSO_32) == &vdso32_image;
	ok &= !arch_perf_unwind_vdso(0) && !arch_perf_unwind_vdso(3) && !arch_perf_unwind_vdso(4);
	ok &= arch_perf_unwind_regs() == (1 << 6 | 1 << 7 | 1 << 8);
	vdso_mm.context.vdso = (void *)CODE;
	vdso_mm.context.vdso_image = &vdso64_image;
	ok &= arch_perf_unwind_vdso_at(&vdso_mm, CODE) == &vdso64_image;
	ok &= !arch_perf_unwind_vdso_at(&vdso_mm, CODE + 1);
	report(ok, "vDSO: where it is mapped");

	begin(8);
	vmas[0].vm_file = NULL;
	walk = (struct perf_unwind_walk) { .table = &table, .mm = &vdso_mm, .seq = 77 };
	ok = perf_unwind_find_mapping(&walk, CODE + 5) && !walk.rows;
	vdso.key = perf_unwind_vdso_key(&vdso64_image);
	hash_add(table.objects, &vdso.node, perf_unwind_hash_key(&vdso.key));
	ok &= perf_unwind_find_mapping(&walk, CODE + 5) && walk.rows == object.rows;
	vmas[0].vm_start -= 0x1000;
	ok &= perf_unwind_find_mapping(&walk, CODE + 5) && !walk.rows;
	/* An object of no image is not that of mappings that are no vDSO. */
	hash_del(&vdso.node);
	vdso.key = perf_unwind_vdso_key(NULL);
	hash_add(table.objects, &vdso.node, perf_unwind_hash_key(&vdso.key));
	ok &= perf_unwind_find_mapping(&walk, CODE + 5) && !walk.rows;
	hash_del(&vdso.node);
	report(ok, "vDSO: rows of its image");
}

/* Events: files that perf_event_open() returned. */
#define EVENT_FD	5
static const struct cred opener = { .euid = { 1000 } };
static struct perf_event event;
static struct file event_file = { .private_data = &event, .f_cred = &opener, .refs = 1 };
static struct file table_file = { .private_data = &table, .f_cred = &opener, .refs = 1 };

struct file *perf_event_get(unsigned int fd)
{
	if (fd != EVENT_FD)
		return ERR_PTR(-EBADF);
	event_file.refs++;
	return &event_file;
}

static struct perf_event_attr good_attr(void)
{
	return (struct perf_event_attr) {
		.sample_type = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = 1 << 6 | 1 << 7 | 1 << 8,
	};
}

/* Attaching fails, and leaves both files and the event as they were. */
static bool refused(int fd, int err)
{
	const struct file *table_before = event.unwind_table;
	int refs = table_file.refs;

	return perf_unwind_attach(&table_file, fd) == err && event_file.refs == 1 &&
	       table_file.refs == refs && event.unwind_table == table_before;
}

static void check_attach(void)
{
	static const struct cred others[] = {
		{ .euid = { 1001 } },
		{ .euid = { 1000 }, .user_ns = (struct user_namespace *)&opener },
	};
	unsigned int i, bit;
	bool ok = true;

	event = (struct perf_event) { .attr = good_attr() };
	ok &= refused(EVENT_FD + 1, -EBADF);
	table_security = -EACCES;
	ok &= refused(EVENT_FD, -EACCES);
	table_security = 0;
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		event_file.f_cred = &others[i];
		ok &= refused(EVENT_FD, -EPERM);
	}
	event_file.f_cred = &opener;
	/* All sample types and registers that a walk needs, and others. */
	for (bit = 0; bit < 24; bit++) {
		event.attr = good_attr();
		if (!(event.attr.sample_type & 1ULL << bit))
			continue;
		event.attr.sample_type = ~(1ULL << bit);
		ok &= refused(EVENT_FD, -EINVAL);
	}
	for (bit = 6; bit <= 8; bit++) {
		event.attr = good_attr();
		event.attr.sample_regs_user = ~(1ULL << bit);
		ok &= refused(EVENT_FD, -EINVAL);
	}
	event.attr = good_attr();
	event.attr.exclude_callchain_user = 1;
	ok &= refused(EVENT_FD, -EINVAL);
	event.attr = good_attr();
	event.attr.defer_callchain = 1;
	ok &= refused(EVENT_FD, -EINVAL);
	event.attr = good_attr();
	event.attr.sample_type = ~0ULL;
	event.attr.sample_regs_user = ~0ULL;
	ok &= !perf_unwind_has_table(&event);
	perf_unwind_free(&event);
	ok &= !perf_unwind_attach(&table_file, EVENT_FD) && event.unwind_table == &table_file &&
	      table_file.refs == 2 && event_file.refs == 1;
	ok &= perf_unwind_has_table(&event) && refused(EVENT_FD, -EEXIST);
	perf_unwind_free(&event);
	ok &= table_file.refs == 1;
	report(ok, "attach: only to events of the same opener that sample what a walk needs");
}

/* What the kernel has in place of the walk by rules. */
static unsigned int nr_fallbacks;
void perf_callchain_user(struct perf_callchain_entry_ctx *entry, struct pt_regs *regs)
{
	nr_fallbacks++;
	perf_callchain_store(entry, regs->ip);
	perf_callchain_store(entry, 0x1111);
}

/* The chain of a sample: 2 kernel frames, and what the walk adds. Returns the info word. */
static u64 sample(struct perf_event *event, short contexts)
{
	memset(chain, 0, sizeof(chain));
	ctx = (struct perf_callchain_entry_ctx) {
		.entry = (struct perf_callchain_entry *)chain, .max_stack = MAX_STACK,
		.contexts = contexts,
	};
	perf_callchain_store(&ctx, 0xa);
	perf_callchain_store(&ctx, 0xb);
	nr_fallbacks = 0;
	vma_checks = 0;
	perf_unwind_callchain_user(&ctx, event, &regs);
	return chain[4];
}

/* Rejected: the chain is the kernel's own, after the word that describes the walk. */
static bool is_fallback(u64 info, enum perf_unwind_end end)
{
	return PERF_UNWIND_INFO_END(info) == end && nr_fallbacks == 1 && chain[0] == 7 &&
	       ctx.nr == 4 && chain[5] == (u64)PERF_CONTEXT_USER && chain[6] == regs.ip &&
	       chain[7] == 0x1111 && !perf_unwind_is_whole(ctx.entry);
}

static void check_samples(void)
{
	struct perf_event child = { .parent = &event };
	unsigned int i;
	u64 info;
	bool ok;

	event.unwind_table = &table_file;
	make_frames();
	info = sample(&event, 1);
	ok = info == (PERF_UNWIND_END_OUTERMOST | PERF_UNWIND_INNERMOST_RULE << 8 | 7 << 16);
	ok &= chain[0] == 2 + 3 + 8 && ctx.nr == 2 + 8 && ctx.contexts == 4 && !nr_fallbacks;
	ok &= chain[3] == (u64)PERF_CONTEXT_USER_RULES && chain[5] == (u64)PERF_CONTEXT_USER;
	ok &= chain[6] == regs.ip && chain[7] == RETURN(1, 0) && chain[13] == RETURN(7, 0);
	ok &= perf_unwind_is_whole(ctx.entry);
	ok &= sample(&child, 1) == info && !nr_fallbacks && perf_unwind_has_table(&child);
	report(ok, "samples: a whole chain");

	ok = vma_checks == 2;
	for (i = 1; i <= 2; i++) {
		make_frames();
		vma_changes_at = i;
		info = sample(&event, 1);
		/* Of a mapping that was looked up: as if there were no rule. */
		ok &= is_fallback(info, i == 1 ? PERF_UNWIND_END_NO_RULE : PERF_UNWIND_END_BUSY);
	}
	make_frames();
	vma_busy = true;
	ok &= is_fallback(sample(&event, 1), PERF_UNWIND_END_BUSY) && !vma_checks;
	make_frames();
	table.rules = NULL;
	ok &= is_fallback(sample(&event, 1), PERF_UNWIND_END_BUSY) && !vma_checks;
	table.rules = &rules.rules;
	report(ok, "samples: mappings that change meanwhile");

	make_frames();
	rule_of(3)->kind = PERF_UNWIND_UNKNOWN;
	info = sample(&event, 1);
	ok = is_fallback(info, PERF_UNWIND_END_NO_RULE) && PERF_UNWIND_INFO_FRAMES(info) == 3 &&
	     PERF_UNWIND_INFO_INNERMOST(info) == PERF_UNWIND_INNERMOST_RULE;
	report(ok, "samples: the kernel's own chain if rules end early");

	/* No room for three words. */
	make_frames();
	ok = true;
	for (i = MAX_CONTEXTS - 3; i <= MAX_CONTEXTS; i++) {
		sample(&event, i);
		ok &= i == MAX_CONTEXTS - 3 ? ctx.nr == 10 : ctx.nr == 2 && ctx.contexts_maxed &&
		      !vma_checks && !nr_fallbacks;
	}
	report(ok, "samples: too many contexts");
}

/* A sample has 16 bits for the number of frames. */
static void check_many(void)
{
	enum { MANY = 0x10000 + 5 };
	struct perf_callchain_entry_ctx big = { .max_stack = MANY + 1 };
	unsigned int n, i;
	bool ok = true;

	for (n = 0xfffe; n <= 0x10000; n++) {
		make_frames();
		user_map(1, STACK, MANY * 8, 0);
		vmas[1].vm_end = STACK + MANY * 8;
		rule_of(0)->cfa_off = 8;
		for (i = 0; i < n; i++)
			user_put_word(STACK + 8 * i, i + 1 < n ? RETURN(0, 1) : RETURN(7, 1), 8);
		big.entry = calloc(1, (MANY + 8) * 8);
		big.nr = 0;
		big.contexts = 0;
		perf_unwind_callchain_user(&big, &event, &regs);
		ok &= PERF_UNWIND_INFO_FRAMES(big.entry->ip[1]) == (n < 0xffff ? n : 0xffff);
		ok &= !(big.entry->ip[1] >> 32) && big.nr == n + 1;
		free(big.entry);
	}
	report(ok, "samples: 65535 frames, or more");
}

/* All short chains of these words. */
static void check_whole(void)
{
	static const u64 words[] = {
		PERF_CONTEXT_USER_RULES, PERF_UNWIND_END_OUTERMOST | 0x500, PERF_UNWIND_END_NO_RULE,
	};
	struct perf_callchain_entry *entry;
	unsigned int nr, number, i, at, n;
	bool ok = true, want;

	for (nr = 0, number = 1; nr <= 5; nr++, number *= 3)
		for (i = 0; i < number; i++) {
			/* ASan sees a look beyond the end. */
			entry = malloc(sizeof(*entry) + nr * 8);
			entry->nr = nr;
			for (at = 0, n = i; at < nr; at++, n /= 3)
				entry->ip[at] = words[n % 3];
			for (at = 0; at < nr && entry->ip[at] != (u64)PERF_CONTEXT_USER_RULES; at++)
				;
			want = at + 1 < nr && (entry->ip[at + 1] & 0xff) == 1;
			ok &= perf_unwind_is_whole(entry) == want;
			free(entry);
		}
	report(ok, "samples: whole or not");
}

/* Rows refer to rules that are there: those of another array, for a moment, may not be. */
static void check_rules_read(void)
{
	bool ok;

	make_frames();
	rules.rules.nr = 2;
	ok = walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE && ctx.nr == 2;
	rules.rules.nr = 1;
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE && ctx.nr == 1;
	rules.rules.nr = NR_FUNCTIONS + 2;
	/* Before the first row, and far after it. */
	vmas[0].vm_pgoff -= 1;
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE && ctx.nr == 1;
	vmas[0].vm_pgoff += 1UL << 21;
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE && ctx.nr == 1;
	report(ok, "rules: of rows that there are");
}

int main(int argc, char **argv)
{
	unsigned int cases = argc > 1 ? atoi(argv[1]) : 60000;

	setvbuf(stdout, NULL, _IONBF, 0);
	make_table();
	check_model(cases);
	check_faults(cases / 20);
	check_failed();
	check_limit();
	check_registers();
	check_exact();
	check_signals();
	check_other_stack();
	check_mappings();
	check_files();
	check_probes();
	check_vdso();
	check_rules_read();
	check_attach();
	check_samples();
	check_many();
	check_whole();
	free(object.rows);
	printf("1..%d\n", nr_tests);
	return !!nr_failed;
}
