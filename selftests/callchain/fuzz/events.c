// SPDX-License-Identifier: GPL-2.0
/* Random events of a process: opened, read and closed. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../perf_events/unwind_rules.h"
#include "fuzz.h"

#define FUZZ_RING_PAGES	16
#define MAX_CONTEXTS	8
#define NR_TABLES	2

static int tables[NR_TABLES] = { -1, -1 };

void events_load_rules(int fd)
{
	int i;

	for (i = 0; i < NR_TABLES; i++) {
		if (tables[i] < 0)
			tables[i] = unwind_table_open();
		if (fd >= 0)
			load_code(tables[i], fd, 0);
	}
}

/* What all events have: a callchain and what belongs to it. */
static void random_attr(struct perf_event_attr *attr, struct rng *rng)
{
	static const unsigned int depths[] = { 1, 2, 5, 32, 127, 127, 127 };

	attr->size = sizeof(*attr);
	attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
			    PERF_SAMPLE_STACK_USER;
	attr->sample_regs_user = 1ULL << PERF_REG_X86_IP | 1ULL << PERF_REG_X86_SP |
				 1ULL << PERF_REG_X86_BP;
	attr->sample_stack_user = 256;
	attr->sample_max_stack = depths[rng_below(rng, ARRAY_SIZE(depths))];
	attr->exclude_callchain_kernel = one_in(rng, 2);
	attr->inherit = 1;
	if (one_in(rng, 3)) {
		attr->defer_callchain = 1;
		attr->defer_output = 1;
	}
	/* Those without it can't have a table. */
	attr->unwind_rules = !one_in(rng, 8);
}

int events_add(struct events *events, struct rng *rng, struct perf_event_attr *attr, pid_t pid,
	       int cpu)
{
	void *ring = NULL;
	int fd;

	if (events->nr_fds == ARRAY_SIZE(events->fds))
		return -1;
	random_attr(attr, rng);
	fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	/* A kernel that cannot defer callchains refuses these events. */
	if (fd < 0 && attr->defer_callchain) {
		attr->defer_callchain = 0;
		attr->defer_output = 0;
		fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	}
	if (fd < 0)
		return -1;
	count(EVENTS, 1);
	if (!attr->defer_callchain && one_in(rng, 2))
		attach(tables[rng_below(rng, NR_TABLES)], fd);
	/* Small: it may be full, and then samples are lost after their chain was taken. */
	if (events->nr_rings < MAX_RINGS)
		ring = mmap(NULL, (FUZZ_RING_PAGES + 1) * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
			    fd, 0);
	if (ring && ring != MAP_FAILED)
		events->rings[events->nr_rings++] = ring;
	events->fds[events->nr_fds++] = fd;
	return fd;
}

/* The number of the PMU of the test module, which samples in NMI; -1: it is not loaded. */
static int nmi_type(void)
{
	static int type = -2;
	FILE *file;

	if (type != -2)
		return type;
	file = fopen("/sys/bus/event_source/devices/nmi_test/type", "r");
	if (!file || fscanf(file, "%d", &type) != 1)
		type = -1;
	if (file)
		fclose(file);
	return type;
}

/*
 * So long that a victim runs, too: in a VM without KVM a kernel with KASAN takes up to a
 * millisecond of its clock for a sample. Events that are counted come as often as they like.
 */
static unsigned long some_period(struct rng *rng)
{
	return 2000000 + rng_below(rng, 8000000);
}

static bool pick_clock(struct perf_event_attr *attr, struct rng *rng)
{
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = one_in(rng, 2) ? PERF_COUNT_SW_CPU_CLOCK : PERF_COUNT_SW_TASK_CLOCK;
	attr->sample_period = some_period(rng);
	return true;
}

static bool pick_software(struct perf_event_attr *attr, struct rng *rng)
{
	static const unsigned int configs[] = {
		PERF_COUNT_SW_PAGE_FAULTS, PERF_COUNT_SW_PAGE_FAULTS, PERF_COUNT_SW_PAGE_FAULTS,
		PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_COUNT_SW_CPU_MIGRATIONS,
		PERF_COUNT_SW_ALIGNMENT_FAULTS, PERF_COUNT_SW_EMULATION_FAULTS,
	};

	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = configs[rng_below(rng, ARRAY_SIZE(configs))];
	attr->sample_period = 1 + (one_in(rng, 4) ? rng_below(rng, 8) : 0);
	return true;
}

static bool pick_nmi(struct perf_event_attr *attr, struct rng *rng)
{
	int type = nmi_type();

	if (type < 0)
		return false;
	attr->type = type;
	attr->sample_period = some_period(rng);
	return true;
}

/* Reads of the stack by a walk, too: its sample is taken within that walk, as if in NMI. */
static bool pick_breakpoint(struct perf_event_attr *attr, struct rng *rng,
			    const struct watched *watched)
{
	attr->type = PERF_TYPE_BREAKPOINT;
	attr->sample_period = 1;
	if (one_in(rng, 3)) {
		attr->bp_type = HW_BREAKPOINT_X;
		attr->bp_addr = watched->code[rng_below(rng, 2)];
	} else {
		attr->bp_type = one_in(rng, 4) ? HW_BREAKPOINT_W : HW_BREAKPOINT_RW;
		attr->bp_addr = watched->data[rng_below(rng, 2)];
	}
	attr->bp_len = sizeof(long);
	return attr->bp_addr;
}

static bool pick(struct perf_event_attr *attr, struct rng *rng, const struct watched *watched)
{
	memset(attr, 0, sizeof(*attr));
	switch (rng_below(rng, 4)) {
	case 0: return pick_clock(attr, rng);
	case 1: return pick_software(attr, rng);
	case 2: return pick_nmi(attr, rng);
	default: return pick_breakpoint(attr, rng, watched);
	}
}

/* On all CPUs: an event that children inherit has a ring buffer only for one of them. */
void events_open(struct events *events, struct rng *rng, pid_t pid,
		 const struct watched *watched)
{
	long nr_cpus = sysconf(_SC_NPROCESSORS_ONLN), cpu, i;
	long nr = 2 + rng_below(rng, MAX_EVENTS / 2 - 2);
	struct perf_event_attr attr;

	memset(events, 0, sizeof(*events));
	for (i = 0; i < nr; i++) {
		/* The first ones sample at any rate. */
		if (i ? !pick(&attr, rng, watched) :
			(memset(&attr, 0, sizeof(attr)), !pick_clock(&attr, rng)))
			continue;
		for (cpu = 0; cpu < nr_cpus && cpu < MAX_RINGS; cpu++)
			events_add(events, rng, &attr, pid, cpu);
	}
}

static void count_sample(const struct perf_event_header *header)
{
	/* The process and thread come first, then the chain. */
	const uint64_t *words = (const void *)(header + 1);
	uint64_t nr = words[1], i;

	count(SAMPLES, 1);
	if (nr > 127 + 2 * MAX_CONTEXTS || (nr + 2) * sizeof(*words) > header->size) {
		count(TOO_LONG, 1);
		return;
	}
	count(FRAMES, nr);
	for (i = 0; i + 1 < nr; i++) {
		if (words[2 + i] == PERF_CONTEXT_USER_RULES &&
		    PERF_UNWIND_INFO_END(words[3 + i]) == PERF_UNWIND_END_OUTERMOST)
			count(BY_RULES, 1);
	}
}

static void read_ring(struct perf_event_mmap_page *ring)
{
	static char copy[65536] __attribute__((aligned(8)));
	const struct perf_event_header *header = (const void *)copy;
	uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE), i;
	uint64_t tail = ring->data_tail, mask = ring->data_size - 1;
	const char *data = (const char *)ring + ring->data_offset;

	while (tail < head) {
		for (i = 0; i < sizeof(*header); i++)
			copy[i] = data[(tail + i) & mask];
		for (; i < header->size; i++)
			copy[i] = data[(tail + i) & mask];
		if (header->type == PERF_RECORD_SAMPLE)
			count_sample(header);
		else if (header->type == PERF_RECORD_CALLCHAIN_DEFERRED)
			count(DEFERRED, 1);
		if (header->size < sizeof(*header)) {
			count(TOO_LONG, 1);
			break;
		}
		tail += header->size;
	}
	__atomic_store_n(&ring->data_tail, head, __ATOMIC_RELEASE);
}

void events_read(struct events *events)
{
	unsigned int i;

	for (i = 0; i < events->nr_rings; i++)
		read_ring(events->rings[i]);
}

static void unmap_rings(struct events *events)
{
	unsigned int i;

	for (i = 0; i < events->nr_rings; i++)
		munmap(events->rings[i], (FUZZ_RING_PAGES + 1) * PAGE);
}

/* In any order; the ring buffers before or after. */
void events_close(struct events *events, struct rng *rng)
{
	bool rings_first = one_in(rng, 2);
	unsigned int i;

	events_read(events);
	for (i = events->nr_fds; i > 1; i--) {
		unsigned int other = rng_below(rng, i);
		int fd = events->fds[i - 1];

		events->fds[i - 1] = events->fds[other];
		events->fds[other] = fd;
	}
	if (rings_first)
		unmap_rings(events);
	for (i = 0; i < events->nr_fds; i++)
		close(events->fds[i]);
	if (!rings_first)
		unmap_rings(events);
	events->nr_rings = 0;
	events->nr_fds = 0;
}
