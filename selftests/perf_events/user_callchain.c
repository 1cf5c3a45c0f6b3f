// SPDX-License-Identifier: GPL-2.0
/*
 * Does the user call chain of a sample name the caller, wherever in a function
 * the sample falls? A breakpoint event samples exactly at each instruction of
 * user_callchain_sites.S, where the callers are known.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

#include "kselftest_harness.h"
#include "user_callchain_sites.h"

#define RING_PAGES	8
#define MAX_CHAIN	64

/* The user's part of one sample's chain. */
struct chain {
	unsigned int	nr;
	unsigned long	ip[MAX_CHAIN];
};

struct ring {
	int				 fd;
	struct perf_event_mmap_page	*page;
	size_t				 size;
};

static bool ring_open(struct ring *ring, struct perf_event_attr *attr)
{
	long page_size = sysconf(_SC_PAGESIZE);

	attr->size = sizeof(*attr);
	attr->sample_period = 1;
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
	attr->exclude_callchain_kernel = 1;
	attr->exclude_hv = 1;
	attr->disabled = 1;
	ring->fd = syscall(SYS_perf_event_open, attr, 0, -1, -1, 0);
	if (ring->fd < 0)
		return false;
	ring->size = (RING_PAGES + 1) * page_size;
	ring->page = mmap(NULL, ring->size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	if (ring->page != MAP_FAILED)
		return true;
	close(ring->fd);
	return false;
}

static void ring_close(struct ring *ring)
{
	munmap(ring->page, ring->size);
	close(ring->fd);
}

static void chain_fill(struct chain *chain, const __u64 *ips, __u64 nr)
{
	__u64 i;

	for (i = 0; i < nr && chain->nr < MAX_CHAIN; i++) {
		if (ips[i] < PERF_CONTEXT_MAX)
			chain->ip[chain->nr++] = ips[i];
	}
}

/*
 * The chain of the first sample, or of the first deferred record; false where
 * there is none. The ring has room for all: nothing wraps around.
 */
static bool ring_first_chain(struct ring *ring, bool deferred, struct chain *chain)
{
	__u64 head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE), at = 0;
	const char *data = (const char *)ring->page + ring->page->data_offset;
	__u32 type = deferred ? PERF_RECORD_CALLCHAIN_DEFERRED : PERF_RECORD_SAMPLE;

	chain->nr = 0;
	while (at < head) {
		const struct perf_event_header *header = (const void *)(data + at);
		const __u64 *words = (const void *)(header + 1);

		/* Both have one word before the chain: ip, or the cookie. */
		if (header->type == type) {
			chain_fill(chain, words + 2, words[1]);
			return true;
		}
		at += header->size;
	}
	return false;
}

static void breakpoint_attr(struct perf_event_attr *attr, unsigned long addr)
{
	memset(attr, 0, sizeof(*attr));
	attr->type = PERF_TYPE_BREAKPOINT;
	attr->bp_type = HW_BREAKPOINT_X;
	attr->bp_addr = addr;
	/* The kernel's sizeof(long), for a 32-bit task too. */
	attr->bp_len = sizeof(__u64);
	attr->exclude_kernel = 1;
}

/* Runs @fn with the event on. Returns whether there was a sample. */
static bool sample(struct perf_event_attr *attr, site_fn fn, long arg, struct chain *chain)
{
	struct ring ring;
	bool sampled;

	if (!ring_open(&ring, attr))
		return false;
	ioctl(ring.fd, PERF_EVENT_IOC_ENABLE, 0);
	outer(fn, arg);
	ioctl(ring.fd, PERF_EVENT_IOC_DISABLE, 0);
	sampled = ring_first_chain(&ring, attr->defer_callchain, chain);
	ring_close(&ring);
	return sampled;
}

/* Does @chain go @ip, [the trampoline, @interrupted,] caller(), outer()? */
static bool chain_is(const struct chain *chain, unsigned long ip, unsigned long interrupted)
{
	unsigned int at = 1;

	if (chain->nr < 3 || chain->ip[0] != ip)
		return false;
	if (interrupted) {
		if (chain->nr < 5 || chain->ip[2] != interrupted)
			return false;
		at = 3;
	}
	return chain->ip[at] == (unsigned long)caller_ret &&
	       chain->ip[at + 1] == (unsigned long)outer_ret;
}

static void print_lost(const char *name, unsigned long offset, const struct chain *chain)
{
	unsigned int i;

	printf("# %s+%#lx:", name, offset);
	for (i = 1; i < chain->nr; i++)
		printf(" %lx", chain->ip[i]);
	printf("\n");
}

FIXTURE(user_callchain) {
	stack_t		alternate;
};

FIXTURE_VARIANT(user_callchain) {
	const char		*name;
	const unsigned long	*sites;
	const unsigned long	*sites_end;
	site_fn			 function;
	site_fn			 handler;
	int			 sa_flags;
};

/* A function that is called, and one that is the handler of a signal. */
#define CALLED(fn)							\
	.name = #fn, .sites = fn##_sites, .sites_end = fn##_sites_end,	\
	.function = fn
#define HANDLER(fn)							\
	.name = #fn, .sites = fn##_sites, .sites_end = fn##_sites_end,	\
	.function = interrupted, .handler = fn

FIXTURE_VARIANT_ADD(user_callchain, framed) { CALLED(framed) };
FIXTURE_VARIANT_ADD(user_callchain, framed_saves) { CALLED(framed_saves) };
FIXTURE_VARIANT_ADD(user_callchain, leaf) { CALLED(leaf) };
FIXTURE_VARIANT_ADD(user_callchain, leaf_saves) { CALLED(leaf_saves) };
FIXTURE_VARIANT_ADD(user_callchain, shrink_wrapped) { CALLED(shrink_wrapped) };
FIXTURE_VARIANT_ADD(user_callchain, tail_call) { CALLED(tail_call) };
FIXTURE_VARIANT_ADD(user_callchain, plt_entry) { CALLED(plt_entry) };

FIXTURE_VARIANT_ADD(user_callchain, signal_leaf) {
	HANDLER(handler_leaf),
};

FIXTURE_VARIANT_ADD(user_callchain, signal_framed) {
	HANDLER(handler_framed),
};

FIXTURE_VARIANT_ADD(user_callchain, signal_leaf_info) {
	HANDLER(handler_leaf), .sa_flags = SA_SIGINFO
};

FIXTURE_VARIANT_ADD(user_callchain, signal_leaf_altstack) {
	HANDLER(handler_leaf), .sa_flags = SA_ONSTACK
};

FIXTURE_VARIANT_ADD(user_callchain, signal_framed_altstack) {
	HANDLER(handler_framed), .sa_flags = SA_ONSTACK | SA_SIGINFO
};

FIXTURE_SETUP(user_callchain)
{
	struct sigaction action = { .sa_flags = variant->sa_flags };

	self->alternate.ss_size = 64 << 10;
	self->alternate.ss_sp = malloc(self->alternate.ss_size);
	ASSERT_FALSE(!self->alternate.ss_sp);
	ASSERT_EQ(0, sigaltstack(&self->alternate, NULL));
	if (variant->handler) {
		action.sa_handler = (void (*)(int))variant->handler;
		ASSERT_EQ(0, sigaction(SIGTRAP, &action, NULL));
	}
}

FIXTURE_TEARDOWN(user_callchain)
{
}

/* Of what a perf_event_open() knows that needs no sample to try it. */
static bool can_defer(void)
{
	struct perf_event_attr attr;
	struct ring ring;

	breakpoint_attr(&attr, (unsigned long)outer);
	attr.defer_callchain = 1;
	attr.defer_output = 1;
	if (!ring_open(&ring, &attr))
		return false;
	ring_close(&ring);
	return true;
}

/* Samples one instruction, by one of the two ways through the function. */
static bool sample_site(const struct _fixture_variant_user_callchain *variant,
			unsigned long site, bool deferred, struct chain *chain)
{
	struct perf_event_attr attr;

	breakpoint_attr(&attr, site);
	attr.defer_callchain = deferred;
	attr.defer_output = deferred;
	return sample(&attr, variant->function, 0, chain) ||
	       sample(&attr, variant->function, 1, chain);
}

/* How many instructions lose their caller; -1: one was not sampled. */
static int count_lost(const struct _fixture_variant_user_callchain *variant, bool deferred)
{
	unsigned long from = variant->handler ? (unsigned long)interrupted_at : 0;
	const unsigned long *site;
	struct chain chain;
	int lost = 0;

	for (site = variant->sites; site < variant->sites_end; site++) {
		if (!sample_site(variant, *site, deferred, &chain))
			return -1;
		if (!chain_is(&chain, *site, from)) {
			print_lost(variant->name, *site - *variant->sites, &chain);
			lost++;
		}
	}
	return lost;
}

TEST_F(user_callchain, every_instruction)
{
	ASSERT_TRUE(variant->sites < variant->sites_end);
	EXPECT_EQ(0, count_lost(variant, false));
}

TEST_F(user_callchain, deferred)
{
	if (!can_defer())
		SKIP(return, "no deferred call chains");
	EXPECT_EQ(0, count_lost(variant, true));
}

/* In the kernel: the chain of the system call's stub, which has no frame. */
TEST(user_callchain_in_kernel)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
	};
	struct chain chain;
	bool slept = false;
	int tries;

	/*
	 * The time may be over before the task sleeps, and another task may
	 * have taken its place before that.
	 */
	for (tries = 0; tries < 1000 && !slept; tries++)
		slept = sample(&attr, sleep_stub, 0, &chain) &&
			chain.ip[0] == (unsigned long)sleep_stub_ret;
	ASSERT_TRUE(slept);
	EXPECT_TRUE(chain_is(&chain, (unsigned long)sleep_stub_ret, 0)) {
		print_lost("sleep_stub_ret", 0, &chain);
	}
}

TEST(user_callchain_in_vdso)
{
	void *vdso = dlopen(sizeof(long) == 8 ? "linux-vdso.so.1" : "linux-gate.so.1",
			    RTLD_LAZY | RTLD_NOLOAD);
	void *entry = vdso ? dlsym(vdso, "__vdso_time") : NULL;
	struct perf_event_attr attr;
	struct chain chain;

	if (!entry)
		SKIP(return, "no __vdso_time");
	/* It calls into another page, of which nothing can be read before it is used. */
	outer(entry, 0);
	breakpoint_attr(&attr, (unsigned long)entry);
	ASSERT_TRUE(sample(&attr, entry, 0, &chain));
	EXPECT_TRUE(chain_is(&chain, (unsigned long)entry, 0)) {
		print_lost("__vdso_time", 0, &chain);
	}
}

TEST_HARNESS_MAIN
