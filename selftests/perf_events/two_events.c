// SPDX-License-Identifier: GPL-2.0
/*
 * Two software events sample one page fault.  Does the sample of each have what that event
 * asks for, and not what the other one does?
 */
#include <string.h>
#include <unistd.h>

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <linux/perf_event.h>

#include "kselftest_harness.h"

static int event_open(bool has_chain, __u32 *stack)
{
	struct perf_event_attr attr = {
		.type			= PERF_TYPE_SOFTWARE,
		.size			= sizeof(attr),
		.config			= PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period		= 1,
		.sample_type		= PERF_SAMPLE_ADDR | PERF_SAMPLE_CALLCHAIN |
					  PERF_SAMPLE_STACK_USER,
		.sample_stack_user	= has_chain ? 512 : 64,
		.exclude_kernel		= 1,
		.exclude_hv		= 1,
		.exclude_callchain_kernel = 1,
		.exclude_callchain_user	= !has_chain,
		.disabled		= 1,
	};

	*stack = attr.sample_stack_user;
	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

static struct perf_event_mmap_page *ring_map(int event)
{
	return mmap(NULL, 9 * sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
}

/* The sample of a fault at @addr: its words, or NULL. */
static const __u64 *sample_of(const struct perf_event_mmap_page *page, const void *addr)
{
	__u64 head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), at;
	const char *data = (const char *)page + page->data_offset;
	const struct perf_event_header *header;
	const __u64 *words;

	for (at = 0; at < head; at += header->size) {
		header = (const void *)(data + at);
		words = (const void *)(header + 1);
		if (header->type == PERF_RECORD_SAMPLE && words[0] == (unsigned long)addr)
			return words;
	}
	return NULL;
}

/* The event that is enabled last is the first to sample. */
FIXTURE(two_events) {
	int	event[2];
};

FIXTURE_VARIANT(two_events) {
	bool	has_chain[2];
};

FIXTURE_VARIANT_ADD(two_events, with_chain_first) {
	.has_chain = { false, true }
};

FIXTURE_VARIANT_ADD(two_events, without_chain_first) {
	.has_chain = { true, false }
};

FIXTURE_SETUP(two_events)
{
}

FIXTURE_TEARDOWN(two_events)
{
}

TEST_F(two_events, one_fault)
{
	struct perf_event_mmap_page *ring[2];
	const __u64 *words;
	__u32 stack[2];
	char *fault;
	int i;

	fault = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, fault);
	for (i = 0; i < 2; i++) {
		self->event[i] = event_open(variant->has_chain[i], &stack[i]);
		ASSERT_LE(0, self->event[i]);
		ring[i] = ring_map(self->event[i]);
		ASSERT_NE(MAP_FAILED, ring[i]);
		ioctl(self->event[i], PERF_EVENT_IOC_ENABLE, 0);
	}
	*fault = 1;
	for (i = 0; i < 2; i++)
		ioctl(self->event[i], PERF_EVENT_IOC_DISABLE, 0);
	for (i = 0; i < 2; i++) {
		words = sample_of(ring[i], fault);
		ASSERT_NE(NULL, words);
		/* The chain's length, the chain, the size of the stack's copy. */
		EXPECT_EQ(variant->has_chain[i], !!words[1]);
		ASSERT_GT(64, words[1]);
		EXPECT_EQ(stack[i], words[2 + words[1]]);
	}
}

TEST_HARNESS_MAIN
