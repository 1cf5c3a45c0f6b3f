// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * perf record --call-graph hybrid: walks the user stack of a sample by the rules that
 * perf compiled. A sample whose stack it walks to the outermost frame it writes by
 * itself, and the kernel drops it before the stack is copied. Of others it writes the
 * dump; the kernel does where nothing can be walked, or dumped.
 */
#include "walk.bpf.h"
#include "dump.bpf.h"
#include "count.bpf.h"
#include "off_cpu.bpf.h"
#include "traced.bpf.h"

/* Dumps that the room for them is to do for. */
#define DUMPS_AT_ONCE	2

/* What the sample's interrupt came into. */
enum interrupted {
	NOT_KNOWN,
	IN_USER,
	IN_KERNEL,
};

static long kernel_part(__u32 i, void *arg)
{
	struct loop *loop = arg;
	struct state *st = loop->st;

	if (i >= HYBRID_WALK_KERNEL_IPS || st->record.ips[i] == (__u64)PERF_CONTEXT_USER)
		return 1;
	st->record.head.nr_kernel = i + 1;
	return 0;
}

/* The callchain that the kernel has made; 0 entries where there is none, or too many. */
static __always_inline __u32 copy_chain(struct state *st)
{
	void *chain = (void *)st->callchain;
	__u64 nr = 0;

	if (!chain || bpf_probe_read_kernel(&nr, sizeof(nr), chain) ||
	    nr > HYBRID_WALK_KERNEL_IPS)
		return 0;
	return bpf_probe_read_kernel(st->record.ips, nr * 8, chain + 8) ? 0 : nr;
}

/* The kernel's part of the callchain goes in front. */
static __always_inline bool copy_kernel_part(struct loop *loop)
{
	__u32 nr = copy_chain(loop->st);

	bpf_loop(nr, kernel_part, loop, 0);
	return nr;
}

/*
 * What the kernel is going to write of the sample. Before Linux 6.3 nothing is made but what
 * the overflow brings, and the callchain where the program calls bpf_get_stack(): the rest
 * as perf_prepare_sample() makes it. Where there is no time it is that of the program's record.
 */
static __always_inline void prepare(struct state *st, struct sampled *ctx)
{
	struct perf_event___h *event = (void *)st->event, *parent;
	struct hybrid_walk_head *head = &st->record.head;
	const __u32 size = bpf_core_type_size(struct perf_sample_data___h);
	__u64 made;

	if (size > WINDOW || bpf_probe_read_kernel(st->window, size, (void *)st->data))
		return;
	made = PART(st, struct perf_sample_data___h, sample_flags);
	head->time = made & PERF_SAMPLE_TIME ? PART(st, struct perf_sample_data___h, time) : 0;
	head->period = PART(st, struct perf_sample_data___h, period);
	head->addr = made & PERF_SAMPLE_ADDR ? PART(st, struct perf_sample_data___h, addr) : 0;
	st->callchain = PART(st, struct perf_sample_data___h, callchain);
	if (made & PERF_SAMPLE_REGS_USER) {
		head->ip = PART(st, struct perf_sample_data___h, ip);
		head->id = PART(st, struct perf_sample_data___h, id);
		return;
	}
	bpf_get_stack(ctx, st->window, sizeof(__u64), 0);
	parent = BPF_CORE_READ(event, parent);
	head->ip = ctx->regs[REGS_IP];
	head->id = BPF_CORE_READ(parent ?: event, id);
}

/*
 * Where the interrupt was. The callchain is that of the interrupt; the registers of a
 * precise event's sample are not, or not all of them: their code segment is that of the
 * sampled address. A guest's callchain has no address.
 */
static __always_inline enum interrupted where_interrupted(struct state *st, bool sampled_user)
{
	struct perf_event___h *event = (void *)st->event;
	void *chain = (void *)st->callchain;
	/* Of the program's stack there is little. */
	const struct perf_event_attr *attr = (const void *)st->window;
	/* Their number, the first context word, and an address. */
	const __u64 *words = (const __u64 *)st->window;

	if (!chain || bpf_probe_read_kernel(st->window, 3 * sizeof(__u64), chain) ||
	    words[0] < 2 || words[2] >= (__u64)PERF_CONTEXT_MAX)
		return NOT_KNOWN;
	if (words[1] == (__u64)PERF_CONTEXT_KERNEL)
		return IN_KERNEL;
	if (words[1] != (__u64)PERF_CONTEXT_USER)
		return NOT_KNOWN;
	if (sampled_user)
		return IN_USER;
	/* Where the kernel's part is not asked for: of no precise event, bpf-attach.c. */
	if (bpf_probe_read_kernel(st->window, PERF_ATTR_SIZE_VER0, &event->attr))
		return NOT_KNOWN;
	return attr->exclude_callchain_kernel ? IN_KERNEL : IN_USER;
}

/*
 * The kernel was interrupted: are the user's registers in their place? An NMI may come while
 * they are being put there, or copied from another stack. That is a few calls deep at
 * most (error_entry() and what it calls), and the stack pointer is not below them.
 */
static __always_inline bool is_entering(const struct state *st, const struct sampled *ctx)
{
	/* As a number: the verifier does not let the pointer be reckoned with. */
	__u64 user = READ_WORD(&st->regs);

	return st->record.head.nr_kernel <= 1 + ENTRY_DEPTH &&
	       user - ctx->regs[REGS_SP] >= THREAD_STACK;
}

/* Of the sampled address, as perf_misc_flags() has it. */
static __always_inline __u16 misc_of(const struct sampled *ctx, bool sampled_user)
{
	__u16 exact = ctx->regs[REGS_FLAGS] & EFLAGS_EXACT ? PERF_RECORD_MISC_EXACT_IP : 0;

	return exact | (sampled_user ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL);
}

/*
 * The registers to walk from, and what else is written of the sample; false: nothing can
 * be walked. The stack is that of the interrupt's moment, and so are the registers which
 * the task came into the kernel with, be it by the interrupt itself.
 */
static __always_inline bool begin(struct state *st, struct sampled *ctx,
				  struct task_struct___h *task)
{
	struct pt_regs___h *user = (void *)bpf_task_pt_regs((void *)task);
	bool sampled_user = (ctx->regs[REGS_CS] & 3) == 3;
	struct loop loop = { .st = st };
	enum interrupted where;

	__builtin_memset(&st->record.head, 0, sizeof(st->record.head));
	prepare(st, ctx);
	where = where_interrupted(st, sampled_user);
	if (where == NOT_KNOWN || task->flags & (PF_KTHREAD | PF_USER_WORKER) ||
	    (user->cs & 0xffff) != HYBRID_USER_CS)
		return false;
	begin_at(st, user);
	if (where == IN_KERNEL &&
	    (may_be_overwritten(task, user) || !copy_kernel_part(&loop) || is_entering(st, ctx)))
		return false;
	st->record.head.misc = misc_of(ctx, sampled_user);
	return true;
}

/* perf's: are the registers of struct pt_regs all that the samples are to have? */
const volatile bool may_dump_samples;

/*
 * The kernel's callchain, and what perf is to unwind. The less room there is the smaller a
 * dump, so that there is some for the next ones. The last one goes beyond the room: perf
 * empties a ring before that even where its samples have to wait (HYBRID_ORDER_KEEP). Returns
 * false where the kernel is to write the sample.
 */
static __always_inline bool dump_sample(void *ctx, struct state *st, struct mm_struct___h *mm,
					__u64 room, __u64 most)
{
	__u64 pages = room / DUMPS_AT_ONCE / PAGE, nr;
	long err;

	nr = copy_chain(st);
	if (!may_dump_samples || !nr || nr > HYBRID_WALK_DUMP_IPS)
		return false;
	if (pages >= dump_pages)
		pages = dump_pages - 1;
	/* Of the first page there may be little. */
	st->dump.head.nr_kernel = nr;
	err = write_dump(ctx, st, mm, (pages ?: 1) + 1, most);
	/* The kernel has counted it as lost: for the sample itself there is no room, either. */
	if (err == -ENOSPC)
		st->counts.full++;
	else if (err > 0)
		st->counts.dumped++;
	return err == -ENOSPC || err > 0;
}

static __always_inline long write_record(void *ctx, struct state *st, __u32 nr)
{
	__u64 size = sizeof(st->record.head) + (__u64)nr * 8;

	/* What is compared is what is passed: the verifier of 6.1 sees no other way. */
	barrier_var(size);
	if (size > sizeof(st->record))
		return -E2BIG;
	return bpf_perf_event_output(ctx, &output, st->output, &st->record, size);
}

/*
 * A walk that has come to the outermost frame; or the sample without its dump, for which there
 * is no room, and the kernel's callchain. Returns false where that can't be written.
 */
static __always_inline bool write_chain_of(void *ctx, struct state *st, __u32 nr)
{
	long err = write_record(ctx, st, nr);

	if (err && err != -ENOSPC)
		return false;
	/* The kernel has counted it as lost: for the sample itself there is no room, either. */
	if (err)
		st->counts.full++;
	else if (st->end == PERF_UNWIND_END_OUTERMOST)
		st->counts.whole++;
	else
		st->counts.shed++;
	return true;
}

/*
 * Writes the sample with the first @nr addresses of the kernel's callchain, and without a dump. If
 * there are none it writes only why the stack was not walked, and returns false: the kernel is to
 * write the sample.
 */
static __always_inline bool write_kernel_chain(void *ctx, struct state *st, __u32 nr)
{
	st->record.head.kind = nr ? HYBRID_WALK_RECORD_SAMPLE : HYBRID_WALK_RECORD_NOTE;
	st->record.head.nr_kernel = nr;
	if (nr)
		return write_chain_of(ctx, st, nr);
	write_record(ctx, st, 0);
	return false;
}

/* Returns false where the kernel is to write the sample. */
static __always_inline bool write_sample(void *ctx, struct state *st, struct mm_struct___h *mm)
{
	struct hybrid_walk_head *head = &st->record.head;
	__u64 room, most;

	head->info = st->end | PERF_UNWIND_INNERMOST_RULE << 8 | (st->nr & 0xffff) << 16;
	if (st->end == PERF_UNWIND_END_OUTERMOST) {
		append_parts(st);
		return write_chain_of(ctx, st, st->nr_words);
	}
	write_interpreted(ctx, st);
	room = room_for_dumps(st, &most);
	if (room && dump_sample(ctx, st, mm, room, most))
		return true;
	return write_kernel_chain(ctx, st, room ? 0 : copy_chain(st));
}

/* Returns false where the kernel is to write the sample. */
static __always_inline bool walk_sample(void *ctx, struct state *st, struct task_struct___h *task,
					struct mm_struct___h *mm)
{
	__u32 at = st->record.head.nr_kernel;
	__u64 most;

	if (!has_time(st, task)) {
		st->counts.over_time++;
		st->end = PERF_UNWIND_END_NONE;
		return write_sample(ctx, st, mm);
	}
	if (at < HYBRID_WALK_IPS)
		st->record.ips[at] = st->ip;
	walk(st, task, mm);
	follow_natives(st);
	read_functions(st, task);
	if (st->nr_untold)
		tell_functions(ctx, st, room_for_dumps(st, &most));
	return write_sample(ctx, st, mm);
}

/* What the kernel has of the sample, and the event. */
static __always_inline bool find_sample(struct state *st, void *ctx)
{
	const __u32 size = bpf_core_type_size(struct bpf_perf_event_data_kern___h);

	if (size > WINDOW || bpf_probe_read_kernel(st->window, size, ctx))
		return false;
	st->data = PART(st, struct bpf_perf_event_data_kern___h, data);
	st->event = PART(st, struct bpf_perf_event_data_kern___h, event);
	st->callchain = 0;
	return true;
}

SEC("perf_event")
int hybrid_walk(void *ctx)
{
	struct task_struct___h *task = (void *)bpf_get_current_task_btf();
	__u32 cpu = bpf_get_smp_processor_id();
	struct state *st = bpf_map_lookup_elem(&states, &cpu);
	struct mm_struct___h *mm = task->mm;
	bool written;

	if (!st || !find_sample(st, ctx))
		return 1;
	st->output = by_thread ? bpf_get_attach_cookie(ctx) : BPF_F_CURRENT_CPU;
	note_run(st, (void *)st->event);
	if (mm && begin(st, ctx, task)) {
		written = walk_sample(ctx, st, task, mm);
		take_time(st, task);
		if (written)
			return 0;
	}
	st->counts.dumped++;
	return 1;
}

char _license[] SEC("license") = "Dual BSD/GPL";
