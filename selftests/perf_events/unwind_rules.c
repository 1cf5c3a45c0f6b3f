// SPDX-License-Identifier: GPL-2.0
/*
 * Does the kernel walk user stacks by the rules of a table, and by none that were loaded
 * for other code?
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "unwind_rules.h"

FIXTURE(unwind_rules) {
	int				table;
	int				file;
	int				event;
	char				*code;
	struct perf_event_mmap_page	*ring;
};

/* The event that is sampled from here on, with its ring. */
#define OPEN(attr, cpu) do {					\
	self->event = event_open((attr), (cpu));		\
	ASSERT_LE(0, self->event);				\
	self->ring = ring_map(self->event);			\
	ASSERT_NE(MAP_FAILED, self->ring);			\
} while (0)

FIXTURE_SETUP(unwind_rules)
{
	struct perf_event_attr attr;

	self->table = unwind_table_open();
	if (self->table < 0)
		SKIP(return, "no /dev/perf_unwind_rules (modprobe perf_unwind_rules)");
	self->file = code_file(0);
	ASSERT_LE(0, self->file);
	self->code = code_map(self->file, PROT_READ | PROT_EXEC, NULL);
	ASSERT_NE(MAP_FAILED, self->code);
	rules_attr(&attr, self->code + CODE_OFFSET(rules_leaf));
	attr.inherit = 0;
	OPEN(&attr, -1);
}

FIXTURE_TEARDOWN(unwind_rules)
{
}

/* Where a program that is executed anew has nothing. */
#define EXECUTED_AT	((char *)0x200000000)

/* The one that events which are inherited are opened on. */
static bool go_to_first_cpu(void)
{
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	return !sched_setaffinity(0, sizeof(first), &first);
}

static void run(const char *code)
{
	((void (*)(void))code)();
}

/* Runs the code, and gives its last sample. */
#define SAMPLE(code, sample) do {				\
	run(code);						\
	ASSERT_LT(0, ring_last(self->ring, (sample)));		\
} while (0)

#define ATTACH() ASSERT_EQ(0, attach(self->table, self->event))

TEST_F(unwind_rules, no_table)
{
	struct sample sample;

	/* As if nobody had loaded any rule. */
	ASSERT_EQ(0, load_code(self->table, self->file, 0));
	SAMPLE(self->code, &sample);
	EXPECT_EQ(0, sample.has_info);
	EXPECT_EQ(DUMP_SIZE, sample.dump);
	EXPECT_EQ((unsigned long)self->code + CODE_OFFSET(rules_leaf), sample.ip[0]);
}

TEST_F(unwind_rules, not_loaded)
{
	struct sample sample;

	ATTACH();
	SAMPLE(self->code, &sample);
	EXPECT_TRUE(has_dump(&sample, PERF_UNWIND_END_NO_RULE));
}

TEST_F(unwind_rules, whole)
{
	struct sample sample;

	ATTACH();
	ASSERT_EQ(0, load_code(self->table, self->file, 0));
	SAMPLE(self->code, &sample);
	EXPECT_TRUE(is_whole(&sample, self->code));
}

/* Only events that say so by their attribute have chains with PERF_CONTEXT_USER_RULES. */
TEST_F(unwind_rules, event_tells)
{
	struct perf_event_attr attr;
	struct sample sample;

	ASSERT_EQ(0, load_code(self->table, self->file, 0));
	ATTACH();
	SAMPLE(self->code, &sample);
	EXPECT_EQ(1, sample.has_info);
	close(self->event);
	rules_attr(&attr, self->code + CODE_OFFSET(rules_leaf));
	attr.unwind_rules = 0;
	OPEN(&attr, -1);
	EXPECT_EQ(-1, attach(self->table, self->event));
	EXPECT_EQ(EINVAL, errno);
	SAMPLE(self->code, &sample);
	EXPECT_EQ(0, sample.has_info);
	EXPECT_EQ(DUMP_SIZE, sample.dump);
}

/* Function by function; a gap, and rules that are replaced. */
TEST_F(unwind_rules, by_function)
{
	const struct perf_unwind_rule leaf = CFA_SP(8), middle = CFA_SP(64);
	const struct perf_unwind_rule root = { .kind = PERF_UNWIND_OUTERMOST };
	const __u32 leaf_at = CODE_OFFSET(rules_leaf), middle_at = CODE_OFFSET(rules_middle);
	const struct perf_unwind_row at_leaf = { .offset = leaf_at };
	const struct perf_unwind_row at_middle = { .offset = middle_at };
	const struct perf_unwind_row at_root = { .offset = 0 };
	struct sample sample;

	ATTACH();
	ASSERT_EQ(0, load_rules(self->table, self->file, 0, middle_at, &at_root, 1, &root, 1));
	SAMPLE(self->code, &sample);
	EXPECT_TRUE(has_dump(&sample, PERF_UNWIND_END_NO_RULE));
	EXPECT_EQ(0, PERF_UNWIND_INFO_FRAMES(sample.info));
	ASSERT_EQ(0, load_rules(self->table, self->file, leaf_at, leaf_at + 3,
				&at_leaf, 1, &leaf, 1));
	SAMPLE(self->code, &sample);
	EXPECT_TRUE(has_dump(&sample, PERF_UNWIND_END_NO_RULE));
	EXPECT_EQ(1, PERF_UNWIND_INFO_FRAMES(sample.info));
	ASSERT_EQ(0, load_rules(self->table, self->file, middle_at, leaf_at,
				&at_middle, 1, &leaf, 1));
	SAMPLE(self->code, &sample);
	EXPECT_TRUE(has_dump(&sample, PERF_UNWIND_END_NOT_RETURN));
	ASSERT_EQ(0, load_rules(self->table, self->file, middle_at, leaf_at,
				&at_middle, 1, &middle, 1));
	SAMPLE(self->code, &sample);
	EXPECT_TRUE(is_whole(&sample, self->code));
}

TEST_F(unwind_rules, wrong_rules)
{
	static const struct perf_unwind_rule wrong[] = {
		CFA_SP(0), CFA_SP(-64), CFA_SP(0x7ffffff8), CFA_SP(9),
		{ .kind = PERF_UNWIND_DEREF, .base = PERF_UNWIND_BASE_FP, .cfa_off = -8 },
		{ .kind = PERF_UNWIND_DEREF, .cfa_off = -8, .ra_off = -8 },
		{ .kind = PERF_UNWIND_CFA, .base = PERF_UNWIND_BASE_FP, .cfa_off = 16 },
		{ .kind = PERF_UNWIND_CFA, .cfa_off = 8, .ra_off = -0x7ffffff8 },
	};
	const __u32 at = CODE_OFFSET(rules_leaf);
	const struct perf_unwind_row row = { .offset = at };
	struct sample sample;
	unsigned int i;

	ATTACH();
	ASSERT_EQ(0, load_code(self->table, self->file, 0));
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		ASSERT_EQ(0, load_rules(self->table, self->file, at, at + 3,
					&row, 1, &wrong[i], 1));
		SAMPLE(self->code, &sample);
		EXPECT_TRUE(has_dump(&sample, PERF_UNWIND_END_UNREADABLE)) {
			TH_LOG("rule %u: %#lx", i, sample.info);
		}
	}
}

/* The CFA is a word on the stack; below sp, where no dump reaches, it is not read. */
TEST_F(unwind_rules, dereference)
{
	struct perf_unwind_rule rule = {
		.kind = PERF_UNWIND_DEREF, .deref_off = 8, .cfa_off = 16, .ra_off = -8,
	};
	const __u32 at = CODE_OFFSET(rules_leaf);
	const struct perf_unwind_row row = { .offset = at };
	struct sample sample;

	ATTACH();
	ASSERT_EQ(0, load_code(self->table, self->file, 0));
	ASSERT_EQ(0, load_rules(self->table, self->file, at, at + 3, &row, 1, &rule, 1));
	SAMPLE(self->code, &sample);
	EXPECT_TRUE(is_whole(&sample, self->code));
	rule.cfa_off = -8;
	ASSERT_EQ(0, load_rules(self->table, self->file, at, at + 3, &row, 1, &rule, 1));
	SAMPLE(self->code, &sample);
	EXPECT_TRUE(has_dump(&sample, PERF_UNWIND_END_UNREADABLE));
	EXPECT_EQ(0, PERF_UNWIND_INFO_FRAMES(sample.info));
}

TEST_F(unwind_rules, max_stack)
{
	struct perf_event_attr attr;
	struct sample sample;

	close(self->event);
	rules_attr(&attr, self->code + CODE_OFFSET(rules_leaf));
	attr.sample_max_stack = 2;
	OPEN(&attr, -1);
	ATTACH();
	ASSERT_EQ(0, load_code(self->table, self->file, 0));
	SAMPLE(self->code, &sample);
	EXPECT_TRUE(has_dump(&sample, PERF_UNWIND_END_LIMIT));
	EXPECT_GE(2, sample.nr);
}

TEST_F(unwind_rules, unloaded)
{
	struct perf_unwind_unload object = { .size = sizeof(object), .fd = self->file };
	struct perf_unwind_unload all = { .size = sizeof(all), .fd = -1 };
	struct sample sample;

	ATTACH();
	ASSERT_EQ(0, load_code(self->table, self->file, 0));
	ASSERT_EQ(0, ioctl(self->table, PERF_UNWIND_UNLOAD, &object));
	SAMPLE(self->code, &sample);
	EXPECT_TRUE(has_dump(&sample, PERF_UNWIND_END_NO_RULE));
	ASSERT_EQ(0, load_code(self->table, self->file, 0));
	ASSERT_EQ(0, ioctl(self->table, PERF_UNWIND_UNLOAD, &all));
	SAMPLE(self->code, &sample);
	EXPECT_TRUE(has_dump(&sample, PERF_UNWIND_END_NO_RULE));
	ASSERT_EQ(0, load_code(self->table, self->file, 0));
	SAMPLE(self->code, &sample);
	EXPECT_TRUE(is_whole(&sample, self->code));
}

/* Like dlclose() and dlopen(): other code at the address of the loaded object. */
TEST_F(unwind_rules, mapped_over)
{
	int other = code_file(0);
	struct sample sample;

	ATTACH();
	ASSERT_EQ(0, load_code(self->table, self->file, 0));
	ASSERT_EQ(self->code, code_map(other, PROT_READ | PROT_EXEC, self->code));
	SAMPLE(self->code, &sample);
	EXPECT_TRUE(has_dump(&sample, PERF_UNWIND_END_NO_RULE));
	ASSERT_EQ(self->code, code_map(self->file, PROT_READ | PROT_EXEC, self->code));
	SAMPLE(self->code, &sample);
	EXPECT_TRUE(is_whole(&sample, self->code));
}

TEST_F(unwind_rules, moved)
{
	size_t size = 2 * sysconf(_SC_PAGESIZE);
	struct perf_event_attr attr;
	struct sample sample;
	char *to;

	ASSERT_EQ(0, load_code(self->table, self->file, 0));
	to = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, to);
	ASSERT_EQ(to, mremap(self->code, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to));
	close(self->event);
	rules_attr(&attr, to + CODE_OFFSET(rules_leaf));
	OPEN(&attr, -1);
	ATTACH();
	SAMPLE(to, &sample);
	EXPECT_TRUE(is_whole(&sample, to));
}

/* Code that may change under its mapping has no rules; nor has a changed file. */
TEST_F(unwind_rules, rewritten)
{
	struct sample sample;

	ATTACH();
	ASSERT_EQ(0, load_code(self->table, self->file, 0));
	ASSERT_EQ(self->code, code_map(self->file, PROT_READ | PROT_WRITE | PROT_EXEC,
				       self->code));
	SAMPLE(self->code, &sample);
	EXPECT_TRUE(has_dump(&sample, PERF_UNWIND_END_NO_RULE));
	ASSERT_EQ(self->code, code_map(self->file, PROT_READ | PROT_EXEC, self->code));
	SAMPLE(self->code, &sample);
	EXPECT_TRUE(is_whole(&sample, self->code));
	ASSERT_EQ(1, pwrite(self->file, "", 1, 4000));
	SAMPLE(self->code, &sample);
	EXPECT_TRUE(has_dump(&sample, PERF_UNWIND_END_NO_RULE));
	ASSERT_EQ(0, load_code(self->table, self->file, 0));
	SAMPLE(self->code, &sample);
	EXPECT_TRUE(is_whole(&sample, self->code));
}

/* Written to, loaded and written to within one tick, the resolution of a ctime. */
TEST_F(unwind_rules, rewritten_at_once)
{
	struct sample sample;
	int i;

	ATTACH();
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(1, pwrite(self->file, "", 1, 4000));
		ASSERT_EQ(0, load_code(self->table, self->file, 0));
		ASSERT_EQ(1, pwrite(self->file, "", 1, 4000));
		SAMPLE(self->code, &sample);
		EXPECT_TRUE(has_dump(&sample, PERF_UNWIND_END_NO_RULE));
	}
}

/* As a JIT compiler: written to by one mapping, run by another. */
TEST_F(unwind_rules, written_elsewhere)
{
	size_t size = 2 * sysconf(_SC_PAGESIZE);
	struct sample sample;
	char *writable;

	ATTACH();
	ASSERT_EQ(0, load_code(self->table, self->file, 0));
	writable = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, self->file, 0);
	ASSERT_NE(MAP_FAILED, writable);
	SAMPLE(self->code, &sample);
	EXPECT_TRUE(has_dump(&sample, PERF_UNWIND_END_NO_RULE));
	writable[4000] = 1;
	/* Taken as any other, so that nobody learns of it, and not used. */
	EXPECT_EQ(0, load_code(self->table, self->file, 0));
	SAMPLE(self->code, &sample);
	EXPECT_TRUE(has_dump(&sample, PERF_UNWIND_END_NO_RULE));
	/* To a page that is there: nobody sees it. */
	writable[4000] = 2;
	munmap(writable, size);
	SAMPLE(self->code, &sample);
	EXPECT_TRUE(has_dump(&sample, PERF_UNWIND_END_NO_RULE));
	ASSERT_EQ(0, load_code(self->table, self->file, 0));
	SAMPLE(self->code, &sample);
	EXPECT_TRUE(is_whole(&sample, self->code));
}

/* Made writable, written to, and made what it was: it is not what the file has. */
TEST_F(unwind_rules, written_before)
{
	size_t size = 2 * sysconf(_SC_PAGESIZE);
	struct sample sample;

	ATTACH();
	ASSERT_EQ(0, load_code(self->table, self->file, 0));
	ASSERT_EQ(0, mprotect(self->code, size, PROT_READ | PROT_WRITE | PROT_EXEC));
	self->code[4000] = 1;
	ASSERT_EQ(0, mprotect(self->code, size, PROT_READ | PROT_EXEC));
	SAMPLE(self->code, &sample);
	EXPECT_TRUE(has_dump(&sample, PERF_UNWIND_END_NO_RULE));
}

static void run_on(char *stack, const char *code)
{
	asm volatile("mov %%rsp, %%r15\n\t"
		     "mov %0, %%rsp\n\t"
		     "call *%1\n\t"
		     "mov %%r15, %%rsp"
		     : : "r" (stack), "r" (code) : "r15", "rax", "memory", "cc");
}

/* From rules_leaf()'s sp to what @stack was. */
#define STACK_USED	104

/* Rules can read all that a dump would contain, and no byte more. */
TEST_F(unwind_rules, end_of_dump)
{
	const __u32 at = CODE_OFFSET(rules_leaf);
	const struct perf_unwind_row row = { .offset = at };
	const struct perf_unwind_rule last = CFA_SP(DUMP_SIZE);
	const struct perf_unwind_rule after = CFA_SP(DUMP_SIZE + 8);
	long page = sysconf(_SC_PAGESIZE);
	struct sample sample;
	const char **words;
	char *stack;

	stack = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, stack);
	stack += page;
	/* The last word of the dump and the next one: a caller might have left them there. */
	words = (const char **)(stack - STACK_USED + DUMP_SIZE);
	words[-1] = self->code + CODE_OFFSET(rules_middle_ret);
	words[0] = words[-1];
	ATTACH();
	ASSERT_EQ(0, load_code(self->table, self->file, 0));
	run_on(stack, self->code);
	ASSERT_LT(0, ring_last(self->ring, &sample));
	EXPECT_TRUE(is_whole(&sample, self->code));
	ASSERT_EQ(0, load_rules(self->table, self->file, at, at + 3, &row, 1, &last, 1));
	run_on(stack, self->code);
	ASSERT_LT(0, ring_last(self->ring, &sample));
	EXPECT_TRUE(has_dump(&sample, PERF_UNWIND_END_UNREADABLE));
	EXPECT_EQ(1, PERF_UNWIND_INFO_FRAMES(sample.info));
	ASSERT_EQ(0, load_rules(self->table, self->file, at, at + 3, &row, 1, &after, 1));
	run_on(stack, self->code);
	ASSERT_LT(0, ring_last(self->ring, &sample));
	EXPECT_TRUE(has_dump(&sample, PERF_UNWIND_END_UNREADABLE));
	EXPECT_EQ(0, PERF_UNWIND_INFO_FRAMES(sample.info));
}

/* An inherited event uses the table of its parent, whenever that was attached. */
TEST_F(unwind_rules, inherited)
{
	struct perf_event_attr attr;
	struct sample sample;
	int go[2], status;
	char byte;
	pid_t pid;

	close(self->event);
	rules_attr(&attr, self->code + CODE_OFFSET(rules_leaf));
	attr.inherit = 1;
	OPEN(&attr, 0);
	ASSERT_EQ(0, pipe(go));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		if (!go_to_first_cpu() || read(go[0], &byte, 1) != 1)
			_exit(1);
		run(self->code);
		_exit(0);
	}
	ATTACH();
	ASSERT_EQ(0, load_code(self->table, self->file, 0));
	ASSERT_EQ(1, write(go[1], "", 1));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
	ASSERT_LT(0, ring_last(self->ring, &sample));
	EXPECT_EQ(pid, sample.pid);
	EXPECT_TRUE(is_whole(&sample, self->code));
}

/* After fork() both have the table: rules that the child loads serve the parent. */
TEST_F(unwind_rules, forked)
{
	struct sample sample;
	int status;
	pid_t pid;

	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(attach(self->table, self->event) ||
		      load_code(self->table, self->file, 0));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
	EXPECT_EQ(-1, attach(self->table, self->event));
	EXPECT_EQ(EEXIST, errno);
	SAMPLE(self->code, &sample);
	EXPECT_TRUE(is_whole(&sample, self->code));
}

/* This program again, before main(): runs the code of a file, where that was. */
#define EXECUTED	"UNWIND_RULES_FILE"

static void __attribute__((constructor)) executed(void)
{
	const char *file = getenv(EXECUTED);
	const char *code;

	if (!file)
		return;
	code = code_map(atoi(file), PROT_READ | PROT_EXEC, EXECUTED_AT);
	if (code != MAP_FAILED)
		run(code);
	_exit(code == MAP_FAILED);
}

/* The rules serve all who map the file, in other address spaces, too. */
TEST_F(unwind_rules, executed)
{
	struct perf_event_attr attr;
	struct sample sample;
	char file[16];
	int status;
	pid_t pid;

	close(self->event);
	rules_attr(&attr, EXECUTED_AT + CODE_OFFSET(rules_leaf));
	attr.inherit = 1;
	OPEN(&attr, 0);
	ATTACH();
	ASSERT_EQ(0, load_code(self->table, self->file, 0));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		snprintf(file, sizeof(file), "%d", self->file);
		if (go_to_first_cpu() && !setenv(EXECUTED, file, 1))
			execl("/proc/self/exe", "executed", NULL);
		_exit(2);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
	ASSERT_EQ(1, ring_last(self->ring, &sample));
	EXPECT_EQ(pid, sample.pid);
	EXPECT_TRUE(is_whole(&sample, EXECUTED_AT));
}

/* Do two samples have the same chain, registers and stack? */
static bool is_same(const struct sample *a, const struct sample *b)
{
	return a->info == b->info && a->nr == b->nr &&
	       !memcmp(a->ip, b->ip, a->nr * sizeof(*a->ip)) &&
	       a->regs_abi == b->regs_abi && a->reg_bp == b->reg_bp && a->reg_sp == b->reg_sp &&
	       a->reg_ip == b->reg_ip && a->dump == b->dump && a->top == b->top;
}

/* Writes to @page with a frame pointer of 0: so the chain is always the same. */
static void touch(char *page)
{
	asm volatile("push %%rbp\n\t"
		     "xor %%ebp, %%ebp\n\t"
		     "movb $1, (%0)\n\t"
		     "pop %%rbp"
		     : : "r" (page) : "memory", "cc");
}

/*
 * Becomes another user, whose event samples two faults of this task: the first one alone, the
 * second one beside an event of root.  Returns 0 if both samples are the same, or the number of
 * what failed.
 */
static int sample_faults(int ready, int go)
{
	struct perf_event_mmap_page *ring;
	struct sample samples[2];
	struct perf_event_attr attr;
	char *page;
	int event, i;
	char byte;

	software_attr(&attr, PERF_COUNT_SW_PAGE_FAULTS);
	attr.sample_stack_user = 64;
	attr.disabled = 1;
	page = mmap(NULL, 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED || setresuid(1, 1, 1))
		return 2;
	event = event_open(&attr, -1);
	ring = ring_map(event);
	if (event < 0 || ring == MAP_FAILED)
		return 3;
	for (i = 0; i < 2; i++) {
		if (madvise(page, 2, MADV_DONTNEED))
			return 4;
		ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
		touch(page);
		ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
		if (ring_last(ring, &samples[i]) <= i)
			return 5;
		if (!i && (write(ready, "", 1) != 1 || read(go, &byte, 1) != 1))
			return 6;
	}
	return is_same(&samples[0], &samples[1]) ? 0 : 7;
}

TEST_F(unwind_rules, other_user)
{
	int ready[2], go[2], event, status;
	struct perf_event_attr attr;
	char byte;
	pid_t pid;

	if (geteuid())
		SKIP(return, "it takes root to be two users");
	ASSERT_EQ(0, pipe(ready));
	ASSERT_EQ(0, pipe(go));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(sample_faults(ready[1], go[0]));
	close(ready[1]);
	ASSERT_EQ(1, read(ready[0], &byte, 1));
	software_attr(&attr, PERF_COUNT_SW_PAGE_FAULTS);
	event = syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	ASSERT_LE(0, event);
	ASSERT_EQ(0, attach(self->table, event));
	ASSERT_EQ(1, write(go[1], "", 1));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	close(event);
}

/* The event keeps its table, with the rules in it. */
TEST_F(unwind_rules, closed)
{
	struct sample sample;

	ATTACH();
	ASSERT_EQ(0, load_code(self->table, self->file, 0));
	close(self->table);
	close(self->file);
	SAMPLE(self->code, &sample);
	EXPECT_TRUE(is_whole(&sample, self->code));
}

/* And may go first; another one gets the table. */
TEST_F(unwind_rules, closed_first)
{
	struct perf_event_attr attr;
	struct sample sample;

	ATTACH();
	ASSERT_EQ(0, load_code(self->table, self->file, 0));
	munmap(self->ring, (RING_PAGES + 1) * sysconf(_SC_PAGESIZE));
	close(self->event);
	rules_attr(&attr, self->code + CODE_OFFSET(rules_leaf));
	OPEN(&attr, -1);
	ATTACH();
	SAMPLE(self->code, &sample);
	EXPECT_TRUE(is_whole(&sample, self->code));
}

TEST_HARNESS_MAIN
