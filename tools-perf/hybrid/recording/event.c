// SPDX-License-Identifier: GPL-2.0
/*
 * The events of perf record --call-graph hybrid: what the kernel is asked for,
 * and what the file says of it.
 */
#include <sys/resource.h>
#include <sys/stat.h>
#include <internal/lib.h>
#include <linux/log2.h>
#include <perf/cpumap.h>
#include <perf/threadmap.h>
#include "../../callchain.h"
#include "../../cap.h"
#include "../../debug.h"
#include "../../event.h"
#include "../../evlist.h"
#include "../../evsel.h"
#include "../../record.h"
#include "../../util.h"
#include "../glue/evsel.h"
#include "../glue/skid-evsel.h"
#include "../records/ring-order.h"
#include "../unwind/unwind.h"
#include "../walkers/walker.h"
#include "event.h"
#include "record.h"

/* As libperf counts them: one for each CPU, or for each thread. */
static unsigned long nr_rings(struct evlist *evlist)
{
	const struct perf_evlist *core = evlist__core(evlist);
	unsigned long nr = perf_cpu_map__nr(core->all_cpus);

	if (perf_cpu_map__has_any_cpu_or_is_empty(core->all_cpus))
		nr += perf_thread_map__nr(core->threads) - 1;
	return nr;
}

static void size_dumps(struct evlist *evlist, unsigned long ring_size)
{
	u32 size = hybrid_order_dump_size(ring_size);
	struct evsel *evsel;

	evlist__for_each_entry(evlist, evsel) {
		if (evsel__has_default_dump_size(evsel))
			evsel->core.attr.sample_stack_user = size;
	}
}

/* USER_NS_INIT_INO, which include/uapi/linux/nsfs.h has since Linux 6.18. */
#define FIRST_USER_NS	0xeffffffdU

/* Root in a container mostly may not, and capabilities in a user namespace say nothing. */
static bool may_lock_all(void)
{
	struct stat st;

	return perf_event_paranoid() < 0 ||
	       (perf_cap__capable(CAP_IPC_LOCK) &&
		(stat("/proc/self/ns/user", &st) || st.st_ino == FIRST_USER_NS));
}

/*
 * Bytes that each of @nr rings may have. Beyond perf_event_mlock_kb, which all recordings of
 * a user share, they count against RLIMIT_MEMLOCK (kernel: perf_mmap_calc_limits()).
 */
static unsigned long most_locked(unsigned long nr)
{
	struct rlimit limit;

	if (may_lock_all() || getrlimit(RLIMIT_MEMLOCK, &limit) ||
	    limit.rlim_cur == RLIM_INFINITY)
		return ULONG_MAX;
	return limit.rlim_cur / nr - min(limit.rlim_cur / nr, (rlim_t)page_size);
}

void hybrid_record__size_rings(struct evlist *evlist, unsigned int *mmap_pages)
{
	unsigned long dump_size = 0, size, nr = nr_rings(evlist), most = most_locked(nr);
	bool few_dumps = hybrid_walker__serves_all(evlist);
	struct evsel *evsel;
	bool by_size;

	size = evlist__mmap_size(*mmap_pages) - page_size;
	by_size = *mmap_pages == UINT_MAX && perf_event_paranoid_check(-1) && most > size;
	if (!by_size)
		size_dumps(evlist, size);
	else
		size_dumps(evlist, few_dumps ? 0 : min(hybrid_order_most_ring(nr), most));
	evlist__for_each_entry(evlist, evsel) {
		if (evsel__has_hybrid_callchain(evsel))
			dump_size = max_t(unsigned long, dump_size,
					  evsel->core.attr.sample_stack_user);
	}
	if (by_size) {
		size = few_dumps ? hybrid_order_few_dumps_ring(dump_size, nr) :
				   hybrid_order_ring_size(dump_size, nr);
		while (size > most)
			size /= 2;
		*mmap_pages = size / page_size;
	}
	size = evlist__mmap_size(*mmap_pages) - page_size;
	if (dump_size && !few_dumps && size < dump_size + page_size)
		pr_warning("hybrid: rings of %lu bytes have no room for samples with %lu bytes of stack, which are lost; -m %lu has\n",
			   size, dump_size, roundup_pow_of_two(dump_size / page_size + 2));
	size = min(size / 4, max(128 * dump_size, 64UL << 10));
	evlist__for_each_entry(evlist, evsel) {
		if (!evsel__has_hybrid_callchain(evsel) || evsel->core.attr.watermark ||
		    evsel->core.attr.wakeup_events)
			continue;
		evsel->core.attr.watermark = 1;
		evsel->core.attr.wakeup_watermark = size;
	}
}

/*
 * An event whose callchain bits perf took back (offcpu-time, call-graph=no)
 * still has the sizes that went with them: they would stand in the file.
 */
static void drop_sizes(struct perf_event_attr *attr)
{
	if (!(attr->sample_type & PERF_SAMPLE_REGS_USER))
		attr->sample_regs_user = 0;
	if (!(attr->sample_type & PERF_SAMPLE_STACK_USER))
		attr->sample_stack_user = 0;
}

void hybrid_event__init(struct hybrid_event *event, struct evsel *evsel,
			const struct record_opts *opts, unsigned int max_stack)
{
	struct perf_event_attr *attr = &evsel->core.attr;

	drop_sizes(attr);
	if (!evsel__has_hybrid_callchain(evsel))
		return;
	event->hybrid = true;
	event->at_probe = evsel__may_be_uprobe(evsel);
	event->max_stack = min_t(unsigned int, attr->sample_max_stack ?: max_stack,
				 HYBRID_MAX_FRAMES);
	event->layout.attr = *attr;
	event->precise.moment = hybrid_skid__evsel(evsel, NULL);
	event->layout.file_regs = opts->sample_user_regs;
	event->layout.branch_counters = evsel__has_br_stack(evsel) &&
		evsel__leader(evsel) && evsel__leader(evsel)->br_cntr_nr > 0;

	/* From here on the attr says what the file holds. */
	attr->sample_type &= ~PERF_SAMPLE_STACK_USER;
	attr->sample_stack_user = 0;
	/* Of the user, and of the kernel: as many as perf report is to show. */
	attr->sample_max_stack = min_t(unsigned int, event->max_stack + sysctl__max_stack(),
				       UINT16_MAX);
	if (attr->watermark) {
		attr->watermark = 0;
		attr->wakeup_watermark = 0;
	}
	attr->sample_regs_user = opts->sample_user_regs;
	if (!opts->sample_user_regs)
		attr->sample_type &= ~PERF_SAMPLE_REGS_USER;
}
