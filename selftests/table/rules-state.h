/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What tests of walks by user-supplied rules share: a table, an address space, user memory and
 * an event of their own. It includes the walk itself.
 */
#ifndef _RULES_STATE_H
#define _RULES_STATE_H

#include "../../kmod/walk/unwind_user_code.h"

/* What rules may read of one walk, and whether they read anything else. */
static unsigned long words_from, words_end;
static bool has_strayed;

static inline void note_word(unsigned long addr, unsigned int size)
{
	has_strayed |= addr < words_from || addr + size > words_end;
}

/* All reads of unwind_user_rules.c: words of the stack, and one byte of the code before a call. */
#define unwind_user_read_word(state, addr, size, word)				\
	(note_word(addr, size), (unwind_user_read_word)(state, addr, size, word))
#undef unsafe_get_user
#define unsafe_get_user(x, ptr, label) do {					\
	typeof(x) word_;							\
	if (sizeof(*(ptr)) > 1)							\
		note_word((unsigned long)(ptr), sizeof(*(ptr)));		\
	if (walk_read(&word_, (unsigned long)(ptr), sizeof(*(ptr))))		\
		goto label;							\
	(x) = word_;								\
} while (0)
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

/* sample_stack_user of the event */
static unsigned int dump_size;

const struct vdso_image vdso64_image, vdso32_image;
const struct vm_special_mapping vdso_mapping;

u64 perf_sample_time_left(void)
{
	return U64_MAX;
}

unsigned long user_stack_pointer(struct pt_regs *regs)
{
	return regs->sp;
}

bool table_copy(void *dst, const void *src, size_t size)
{
	abort();
}

/* An address space: at each call that asks whether it changed, it may have. */
static struct vm_area_struct vmas[4];
static unsigned int vma_checks, vma_changes_at;
static bool vma_busy;
/* Whose memory the next mapping has by the time it is read. */
static struct vm_area_struct *vma_becomes;

struct vm_area_struct *vma_lookup(struct mm_struct *mm, unsigned long addr)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(vmas); i++)
		if (addr >= vmas[i].vm_start && addr < vmas[i].vm_end)
			return vma_becomes ?: &vmas[i];
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

static inline struct perf_unwind_rule *rule_of(unsigned int function)
{
	return &rules.rule[1 + function];
}

static inline void make_table(void)
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

static inline void begin(unsigned int word_size)
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
	dump_size = WORDS * ws;
	memset(vmas, 0, sizeof(vmas));
	vmas[0] = (struct vm_area_struct) {
		.vm_start = CODE, .vm_end = CODE + CODE_SIZE, .vm_flags = VM_EXEC | 1,
		.vm_pgoff = CODE_OFFSET >> PAGE_SHIFT, .vm_file = &file,
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

static inline enum perf_unwind_end walk_now(unsigned int max_stack)
{
	static struct mm_struct walk_mm;
	enum perf_unwind_end end;

	memset(chain, 0, sizeof(chain));
	ctx = (struct perf_callchain_entry_ctx) {
		.entry = (struct perf_callchain_entry *)chain, .max_stack = max_stack,
	};
	walk = (struct perf_unwind_walk) {
		.table = &table, .rules = &rules.rules, .mm = &walk_mm, .seq = 77,
		.stack = regs.sp, .stack_end = regs.sp + dump_size,
	};
	walk_regs = regs;
	words_from = walk.stack;
	words_end = walk.stack_end;
	end = arch_perf_unwind_walk(&walk, &ctx, &regs);
	if (walk_no_faults || walk_preempt_count || ctx.nr != chain[0] || has_strayed)
		abort();
	return end;
}

/* CFA = sp + 2 words; bp is below the return address. */
static inline void make_frames(void)
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

/* Events: files that perf_event_open() returned. */
#define EVENT_FD	5
static const struct cred opener = { .euid = { 1000 } };
static struct perf_event event;
static struct file event_file = { .private_data = &event, .f_cred = &opener, .refs = 1 };

struct file *perf_event_get(unsigned int fd)
{
	if (fd != EVENT_FD)
		return ERR_PTR(-EBADF);
	event_file.refs++;
	return &event_file;
}

/* What the kernel has in place of the walk by rules. */
static unsigned int nr_fallbacks;
void perf_callchain_user(struct perf_callchain_entry_ctx *entry, struct pt_regs *regs)
{
	nr_fallbacks++;
	perf_callchain_store(entry, regs->ip);
	perf_callchain_store(entry, 0x1111);
}

#endif /* _RULES_STATE_H */
