/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the tests of user-supplied unwind rules */
#ifndef _SELFTESTS_UNWIND_RULES_H
#define _SELFTESTS_UNWIND_RULES_H

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <linux/perf_unwind_rules.h>
#include <asm/perf_regs.h>

#define DUMP_SIZE	1024
#define RING_PAGES	8

/* unwind_rules_code.S; rules_code is the root. */
extern const char rules_code[], rules_code_end[], rules_root_ret[];
extern const char rules_middle[], rules_middle_ret[], rules_leaf[];

#define CODE_OFFSET(symbol)	((__u32)((symbol) - rules_code))

/* What one sample says of the user's stack. */
struct sample {
	unsigned long	info;
	unsigned int	has_info;	/* how many such words */
	unsigned int	nr;
	unsigned long	ip[64];
	unsigned long	regs_abi;
	unsigned long	reg_bp;
	unsigned long	reg_sp;
	unsigned long	reg_ip;
	unsigned long	dump;
	unsigned long	top;
	int		pid;
};

static inline void rules_attr(struct perf_event_attr *attr, const void *addr)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->type = PERF_TYPE_BREAKPOINT;
	attr->bp_type = HW_BREAKPOINT_X;
	attr->bp_addr = (unsigned long)addr;
	attr->bp_len = sizeof(long);
	attr->sample_period = 1;
	attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN |
			    PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->sample_regs_user = 1ULL << PERF_REG_X86_IP | 1ULL << PERF_REG_X86_SP |
				 1ULL << PERF_REG_X86_BP;
	attr->sample_stack_user = DUMP_SIZE;
	attr->unwind_rules = 1;
	attr->exclude_callchain_kernel = 1;
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
}

/* The same of a software event, in place of the breakpoint. */
static inline void software_attr(struct perf_event_attr *attr, __u64 config)
{
	rules_attr(attr, NULL);
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = config;
	attr->bp_type = 0;
	attr->bp_len = 0;
}

/* On this task; @cpu: -1 for all, which no ring of an inherited event takes. */
static inline int event_open(struct perf_event_attr *attr, int cpu)
{
	return syscall(SYS_perf_event_open, attr, 0, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static inline int unwind_table_open(void)
{
	return open("/dev/perf_unwind_rules", O_RDWR | O_CLOEXEC);
}

static inline int attach(int table, int event)
{
	struct perf_unwind_attach arg = { .size = sizeof(arg), .fd = event };

	return ioctl(table, PERF_UNWIND_ATTACH, &arg);
}

static inline struct perf_event_mmap_page *ring_map(int event)
{
	return mmap(NULL, (RING_PAGES + 1) * sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
		    MAP_SHARED, event, 0);
}

static inline void parse(const struct perf_event_header *header, struct sample *sample)
{
	const __u64 *at = (const void *)(header + 1);
	__u64 i, nr;

	memset(sample, 0, sizeof(*sample));
	sample->pid = (__u32)*at++;
	nr = *at++;
	for (i = 0; i < nr; i++) {
		if (at[i] == PERF_CONTEXT_USER_RULES && i + 1 < nr)
			sample->info = at[++i], sample->has_info++;
		else if (at[i] < PERF_CONTEXT_MAX && sample->nr < 64)
			sample->ip[sample->nr++] = at[i];
	}
	at += nr;
	sample->regs_abi = *at++;
	if (sample->regs_abi != PERF_SAMPLE_REGS_ABI_NONE) {
		sample->reg_bp = *at++;
		sample->reg_sp = *at++;
		sample->reg_ip = *at++;
	}
	sample->dump = *at++;
	if (sample->dump)
		sample->top = *at;
}

/*
 * The sample with that number, or the last one before it, in a ring that nothing was
 * taken out of and that did not wrap around; returns how many there are up to there.
 */
static inline int ring_nth(struct perf_event_mmap_page *page, int last, struct sample *sample)
{
	__u64 head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), at = 0;
	const char *data = (const char *)page + page->data_offset;
	int nr = 0;

	while (at < head && nr <= last) {
		const struct perf_event_header *header = (const void *)(data + at);

		if (header->type == PERF_RECORD_SAMPLE) {
			parse(header, sample);
			nr++;
		}
		at += header->size;
	}
	return nr;
}

/* The last one of all. */
static inline int ring_last(struct perf_event_mmap_page *page, struct sample *sample)
{
	return ring_nth(page, INT_MAX - 1, sample);
}

/* Makes @fd a file of two pages that holds the code from @offset on. */
static inline int code_write(int fd, unsigned int offset)
{
	size_t size = rules_code_end - rules_code;

	return ftruncate(fd, 2 * sysconf(_SC_PAGESIZE)) ||
	       pwrite(fd, rules_code, size, offset) != (ssize_t)size ? -1 : 0;
}

/*
 * A file that holds the code from @offset on, open for reading and writing.  Not in /tmp: the
 * kernel takes no rules for files of a tmpfs.
 */
static inline int code_file(unsigned int offset)
{
	char name[] = "/var/tmp/unwind_rules.XXXXXX";
	int fd = mkstemp(name);

	if (fd >= 0 && code_write(fd, offset)) {
		close(fd);
		fd = -1;
	}
	/* Not before: some network file systems write to no file without a name. */
	unlink(name);
	return fd;
}

static inline char *code_map(int fd, int prot, void *at)
{
	return mmap(at, 2 * sysconf(_SC_PAGESIZE), prot, MAP_PRIVATE | (at ? MAP_FIXED : 0),
		    fd, 0);
}

static inline int load_rules(int table, int fd, __u32 start, __u32 end,
			     const struct perf_unwind_row *rows, unsigned int nr_rows,
			     const struct perf_unwind_rule *rules, unsigned int nr_rules)
{
	struct perf_unwind_load arg = {
		.size = sizeof(arg), .fd = fd, .start = start, .end = end,
		.rows = (unsigned long)rows, .nr_rows = nr_rows,
		.rules = (unsigned long)rules, .nr_rules = nr_rules,
		.row_size = sizeof(*rows), .rule_size = sizeof(*rules),
	};

	return ioctl(table, PERF_UNWIND_LOAD, &arg);
}

#define CFA_SP(off)	{ .kind = PERF_UNWIND_CFA, .base = PERF_UNWIND_BASE_SP,	\
			  .cfa_off = (off), .ra_off = -8 }

/* What the CFI of unwind_rules_code.S would say, where there is a call. */
static inline int load_code(int table, int fd, unsigned int offset)
{
	static const struct perf_unwind_rule rules[] = {
		{ .kind = PERF_UNWIND_OUTERMOST }, CFA_SP(64), CFA_SP(8),
	};
	const struct perf_unwind_row rows[] = {
		{ .offset = offset, .rule = 0 },
		{ .offset = offset + CODE_OFFSET(rules_middle), .rule = 1 },
		{ .offset = offset + CODE_OFFSET(rules_leaf), .rule = 2 },
	};

	return load_rules(table, fd, offset, offset + CODE_OFFSET(rules_code_end), rows, 3,
			  rules, 3);
}

/* Is it rules_leaf(), rules_middle(), rules_code() of a copy at @code? */
static inline bool is_whole(const struct sample *sample, const char *code)
{
	return PERF_UNWIND_INFO_END(sample->info) == PERF_UNWIND_END_OUTERMOST &&
	       PERF_UNWIND_INFO_FRAMES(sample->info) == 2 &&
	       PERF_UNWIND_INFO_INNERMOST(sample->info) == PERF_UNWIND_INNERMOST_RULE &&
	       sample->regs_abi == PERF_SAMPLE_REGS_ABI_NONE &&
	       sample->dump == 0 && sample->nr == 3 &&
	       sample->ip[0] == (unsigned long)code + CODE_OFFSET(rules_leaf) &&
	       sample->ip[1] == (unsigned long)code + CODE_OFFSET(rules_middle_ret) &&
	       sample->ip[2] == (unsigned long)code + CODE_OFFSET(rules_root_ret);
}

/* Did the walk by rules end for that reason, so that the sample has a stack dump? */
static inline bool has_dump(const struct sample *sample, enum perf_unwind_end end)
{
	return PERF_UNWIND_INFO_END(sample->info) == end &&
	       sample->regs_abi == PERF_SAMPLE_REGS_ABI_64 && sample->dump == DUMP_SIZE;
}

#endif /* _SELFTESTS_UNWIND_RULES_H */
