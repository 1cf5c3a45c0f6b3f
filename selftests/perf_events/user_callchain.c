// SPDX-License-Identifier: GPL-2.0
/*
 * Does the user call chain of a sample show the caller, wherever in a function
 * the sample falls? A breakpoint event samples exactly at each instruction of
 * user_callchain_sites.S, where the callers are known. So do uprobes.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef __x86_64__
#include <ucontext.h>
#endif

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

/* Runs @fn while the event is on. Returns whether there was a sample. */
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

/* What is sampled, and the callers that its chain must show. */
struct target {
	const char		*name;
	const unsigned long	*sites;
	const unsigned long	*sites_end;
	site_fn			 function;
	/* A signal handler; @interrupted is the address at which @function is interrupted. */
	site_fn			 handler;
	const char		*interrupted;
	/* The return address of a call between caller() and the sampled function. */
	const char		*through;
	int			 sa_flags;
};

/* Is @chain: @ip, [the trampoline, @interrupted,] [@through,] caller(), outer()? */
static bool chain_is(const struct chain *chain, unsigned long ip, const struct target *target)
{
	unsigned int at = 1;

	if (chain->nr < 3 || chain->ip[0] != ip)
		return false;
	if (target && target->interrupted) {
		if (chain->nr < 5 || chain->ip[2] != (unsigned long)target->interrupted)
			return false;
		at = 3;
	}
	if (target && target->through) {
		if (chain->nr < 4 || chain->ip[1] != (unsigned long)target->through)
			return false;
		at = 2;
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

/* A function that is called, and one that is the handler of a signal. */
#define CALLED(fn)							\
	.name = #fn, .sites = fn##_sites, .sites_end = fn##_sites_end,	\
	.function = (fn)
#define HANDLER(fn, from)						\
	.name = #fn, .sites = fn##_sites, .sites_end = fn##_sites_end,	\
	.function = (from), .handler = (fn), .interrupted = from##_at

/* Not all machines have breakpoints, and not all users may use them. */
static bool can_sample(bool deferred)
{
	struct perf_event_attr attr;
	struct ring ring;

	breakpoint_attr(&attr, (unsigned long)outer);
	attr.defer_callchain = deferred;
	attr.defer_output = deferred;
	if (!ring_open(&ring, &attr))
		return false;
	ring_close(&ring);
	return true;
}

/* Samples one instruction, by one of the two ways through the function. */
static bool sample_site(struct perf_event_attr *attr, const struct target *target,
			struct chain *chain)
{
	return sample(attr, target->function, 0, chain) ||
	       sample(attr, target->function, 1, chain);
}

/* How many instructions from @site on lose their caller; -1: one was not sampled. */
static int count_lost_from(const struct target *target, const unsigned long *site, bool deferred)
{
	struct perf_event_attr attr;
	struct chain chain;
	int lost = 0;

	for (; site < target->sites_end; site++) {
		breakpoint_attr(&attr, *site);
		attr.defer_callchain = deferred;
		attr.defer_output = deferred;
		if (!sample_site(&attr, target, &chain))
			return -1;
		if (!chain_is(&chain, *site, target)) {
			print_lost(target->name, *site - *target->sites, &chain);
			lost++;
		}
	}
	return lost;
}

static int count_lost(const struct target *target, bool deferred)
{
	return count_lost_from(target, target->sites, deferred);
}

/* The offset of a byte of this program in its file; 0 if it is in no mapping. */
static unsigned long file_offset(unsigned long addr)
{
	unsigned long start, end, offset, found = 0;
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 &&
		    addr >= start && addr < end)
			found = addr - start + offset;
	}
	if (maps)
		fclose(maps);
	return found;
}

/* A uprobe at @addr; with @at_return, where the function that starts there returns. */
static bool uprobe_attr(struct perf_event_attr *attr, unsigned long addr, bool at_return)
{
	FILE *file = fopen("/sys/bus/event_source/devices/uprobe/type", "r");
	unsigned int type;
	bool known;

	known = file && fscanf(file, "%u", &type) == 1;
	if (file)
		fclose(file);
	if (!known)
		return false;
	memset(attr, 0, sizeof(*attr));
	attr->type = type;
	attr->config = at_return;
	attr->uprobe_path = (unsigned long)"/proc/self/exe";
	attr->probe_offset = file_offset(addr);
	return true;
}

/* Can this user probe this program? */
static bool can_probe(void)
{
	struct perf_event_attr attr;
	struct ring ring;

	if (!uprobe_attr(&attr, (unsigned long)outer, false) || !ring_open(&ring, &attr))
		return false;
	ring_close(&ring);
	return true;
}

/* The same as count_lost(), by a probe on each instruction. */
static int count_lost_by_probe(const struct target *target)
{
	struct perf_event_attr attr;
	const unsigned long *site;
	struct chain chain;
	int lost = 0;

	for (site = target->sites; site < target->sites_end; site++) {
		if (!uprobe_attr(&attr, *site, false) || !sample_site(&attr, target, &chain))
			return -1;
		if (!chain_is(&chain, *site, target)) {
			print_lost(target->name, *site - *target->sites, &chain);
			lost++;
		}
	}
	return lost;
}

/* What a test changes for its process. */
struct handling {
	stack_t			alternate;
	stack_t			old_alternate;
	struct sigaction	old_action;
};

static bool handling_set(struct handling *handling, const struct target *target)
{
	struct sigaction action = { .sa_flags = target->sa_flags };

	handling->alternate.ss_size = 64 << 10;
	handling->alternate.ss_sp = malloc(handling->alternate.ss_size);
	action.sa_handler = target->handler ? (void (*)(int))target->handler : SIG_DFL;
	if (handling->alternate.ss_sp &&
	    !sigaltstack(&handling->alternate, &handling->old_alternate) &&
	    !sigaction(SIGTRAP, &action, &handling->old_action))
		return true;
	free(handling->alternate.ss_sp);
	handling->alternate.ss_sp = NULL;
	return false;
}

static void handling_restore(struct handling *handling)
{
	if (!handling->alternate.ss_sp)
		return;
	sigaction(SIGTRAP, &handling->old_action, NULL);
	sigaltstack(&handling->old_alternate, NULL);
	free(handling->alternate.ss_sp);
}

FIXTURE(user_callchain) {
	struct handling		handling;
};

FIXTURE_VARIANT(user_callchain) {
	struct target		target;
};

FIXTURE_VARIANT_ADD(user_callchain, framed) { { CALLED(framed) } };
FIXTURE_VARIANT_ADD(user_callchain, framed_saves) { { CALLED(framed_saves) } };
FIXTURE_VARIANT_ADD(user_callchain, leaf) { { CALLED(leaf) } };
FIXTURE_VARIANT_ADD(user_callchain, leaf_saves) { { CALLED(leaf_saves) } };
FIXTURE_VARIANT_ADD(user_callchain, shrink_wrapped) { { CALLED(shrink_wrapped) } };
FIXTURE_VARIANT_ADD(user_callchain, tail_call) { { CALLED(tail_call) } };
FIXTURE_VARIANT_ADD(user_callchain, plt_entry) { { CALLED(plt_entry) } };

FIXTURE_VARIANT_ADD(user_callchain, signal_in_body) {
	{ HANDLER(handler_framed, interrupted_body) }
};

FIXTURE_VARIANT_ADD(user_callchain, signal_in_body_info) {
	{ HANDLER(handler_framed, interrupted_body), .sa_flags = SA_SIGINFO }
};

FIXTURE_VARIANT_ADD(user_callchain, signal_in_body_altstack) {
	{ HANDLER(handler_framed, interrupted_body), .sa_flags = SA_ONSTACK | SA_SIGINFO }
};

FIXTURE_VARIANT_ADD(user_callchain, signal_in_prologue) {
	{ HANDLER(handler_framed, interrupted_prologue) }
};

FIXTURE_VARIANT_ADD(user_callchain, signal_in_epilogue) {
	{ HANDLER(handler_framed, interrupted_epilogue) }
};

FIXTURE_VARIANT_ADD(user_callchain, signal_at_ret) {
	{ HANDLER(handler_framed, interrupted_ret) }
};

FIXTURE_VARIANT_ADD(user_callchain, signal_leaf) {
	{ HANDLER(handler_leaf, interrupted) }
};

FIXTURE_VARIANT_ADD(user_callchain, signal_framed) {
	{ HANDLER(handler_framed, interrupted) }
};

FIXTURE_VARIANT_ADD(user_callchain, signal_leaf_info) {
	{ HANDLER(handler_leaf, interrupted), .sa_flags = SA_SIGINFO }
};

FIXTURE_VARIANT_ADD(user_callchain, signal_leaf_altstack) {
	{ HANDLER(handler_leaf, interrupted), .sa_flags = SA_ONSTACK }
};

FIXTURE_VARIANT_ADD(user_callchain, signal_framed_altstack) {
	{ HANDLER(handler_framed, interrupted), .sa_flags = SA_ONSTACK | SA_SIGINFO }
};

FIXTURE_SETUP(user_callchain)
{
	if (!can_sample(false))
		SKIP(return, "no breakpoint events");
	ASSERT_TRUE(handling_set(&self->handling, &variant->target));
}

FIXTURE_TEARDOWN(user_callchain)
{
	handling_restore(&self->handling);
}

TEST_F(user_callchain, every_instruction)
{
	ASSERT_TRUE(variant->target.sites < variant->target.sites_end);
	EXPECT_EQ(0, count_lost(&variant->target, false));
}

TEST_F(user_callchain, deferred)
{
	if (!can_sample(true))
		SKIP(return, "no deferred call chains");
	EXPECT_EQ(0, count_lost(&variant->target, true));
}

/* The handler of a probe sees the probed instruction, not the breakpoint. */
TEST_F(user_callchain, uprobe)
{
	if (!can_probe())
		SKIP(return, "no uprobes");
	EXPECT_EQ(0, count_lost_by_probe(&variant->target));
}

/*
 * While a return probe waits for the function, the return address is that of a trampoline, for
 * which the kernel puts the original one into the chain.
 */
TEST_F(user_callchain, uretprobe)
{
	const struct target *target = &variant->target;
	const unsigned long *site;
	struct perf_event_attr attr;
	struct chain chain;
	struct ring probe;

	if (target->handler)
		SKIP(return, "a signal handler returns to its trampoline");
	if (!can_probe())
		SKIP(return, "no uprobes");
	ASSERT_TRUE(uprobe_attr(&attr, *target->sites, true));
	ASSERT_TRUE(sample(&attr, target->function, 0, &chain));
	EXPECT_EQ((unsigned long)caller_ret, chain.ip[0]);
	EXPECT_EQ((unsigned long)outer_ret, chain.ip[1]);

	ASSERT_TRUE(ring_open(&probe, &attr));
	ioctl(probe.fd, PERF_EVENT_IOC_ENABLE, 0);
	/* The breakpoint of the probe hides the first byte, which may be that of a push. */
	site = target->sites + 1;
	if (*site == *target->sites + 1)
		site++;
	EXPECT_EQ(0, count_lost_from(target, site, false));
	ring_close(&probe);
}

/* Code and stack that are no prologue, epilogue or signal frame, although they look like one. */
FIXTURE(lookalike) {
};

FIXTURE_VARIANT(lookalike) {
	struct target		target;
};

FIXTURE_VARIANT_ADD(lookalike, prologue) { { CALLED(like_prologue) } };
FIXTURE_VARIANT_ADD(lookalike, ret) { { CALLED(like_ret) } };
FIXTURE_VARIANT_ADD(lookalike, trampoline) {
	{ CALLED(like_trampoline), .through = like_trampoline_ret }
};

FIXTURE_SETUP(lookalike)
{
	if (!can_sample(false))
		SKIP(return, "no breakpoint events");
}

FIXTURE_TEARDOWN(lookalike)
{
}

TEST_F(lookalike, same_chain)
{
	ASSERT_TRUE(variant->target.sites < variant->target.sites_end);
	EXPECT_EQ(0, count_lost(&variant->target, false));
	EXPECT_EQ(0, can_sample(true) ? count_lost(&variant->target, true) : 0);
}

#ifdef __x86_64__
/* A signal frame whose registers lead back to it: a walk has to leave it some time. */
TEST(signal_frame_in_a_circle)
{
	struct {
		unsigned long	fp;
		unsigned long	restorer;
		ucontext_t	uc;
	} frame = { .restorer = (unsigned long)circle_restorer };
	greg_t *regs = frame.uc.uc_mcontext.gregs;
	struct perf_event_attr attr;
	struct chain chain;

	if (!can_sample(false))
		SKIP(return, "no breakpoint events");
	regs[REG_RIP] = *circle_sites;
	regs[REG_RSP] = (unsigned long)&frame;
	regs[REG_RBP] = (unsigned long)&frame;
	regs[REG_CSGSFS] = 0x33;
	breakpoint_attr(&attr, *circle_sites);
	ASSERT_TRUE(sample(&attr, circle, (long)&frame, &chain));
	EXPECT_EQ(*circle_sites, chain.ip[0]);
	EXPECT_EQ((unsigned long)circle_restorer, chain.ip[1]);
	EXPECT_GE(20, chain.nr);
	if (can_sample(true)) {
		attr.defer_callchain = 1;
		attr.defer_output = 1;
		ASSERT_TRUE(sample(&attr, circle, (long)&frame, &chain));
		EXPECT_GE(20, chain.nr);
	}
}
#endif

/* Without the look at the code, chains are those of frame pointers. */
FIXTURE(turned_off) {
	int			was;
};

#define UNWIND_USER_CODE	"/proc/sys/kernel/unwind_user_code"

static int sysctl_read(void)
{
	FILE *file = fopen(UNWIND_USER_CODE, "r");
	int value = -1;

	if (file) {
		if (fscanf(file, "%d", &value) != 1)
			value = -1;
		fclose(file);
	}
	return value;
}

static bool sysctl_write(int value)
{
	FILE *file = fopen(UNWIND_USER_CODE, "w");
	bool written;

	if (!file)
		return false;
	written = fprintf(file, "%d\n", value) > 0;
	return !fclose(file) && written;
}

FIXTURE_SETUP(turned_off)
{
	self->was = -1;
	if (!can_sample(false))
		SKIP(return, "no breakpoint events");
	if (sysctl_read() < 0)
		SKIP(return, "no " UNWIND_USER_CODE);
	self->was = sysctl_read();
	if (!sysctl_write(0)) {
		self->was = -1;
		SKIP(return, UNWIND_USER_CODE " can't be written");
	}
}

FIXTURE_TEARDOWN(turned_off)
{
	if (self->was >= 0)
		sysctl_write(self->was);
}

static const struct target framed_target = { CALLED(framed) };

TEST_F(turned_off, loses_callers)
{
	EXPECT_LT(0, count_lost(&framed_target, false));
	EXPECT_LT(0, can_sample(true) ? count_lost(&framed_target, true) : 1);
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
	EXPECT_TRUE(chain_is(&chain, (unsigned long)sleep_stub_ret, NULL)) {
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
	if (!can_sample(false))
		SKIP(return, "no breakpoint events");
	ASSERT_TRUE(sample(&attr, entry, 0, &chain));
	EXPECT_TRUE(chain_is(&chain, (unsigned long)entry, NULL)) {
		print_lost("__vdso_time", 0, &chain);
	}
}

TEST_HARNESS_MAIN
