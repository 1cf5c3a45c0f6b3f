// SPDX-License-Identifier: GPL-2.0
/*
 * Which processor's samples are of which moments, what an instruction leaves, and what is
 * made of a sample whose parts are of different moments.
 */
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include "insn-effect.h"
#include "precise.h"
#include "scene.h"
#include "tap.h"
#include "x86_frame.h"

#define CALL_AT	0x1000

static enum hybrid_skid moment(unsigned int precise, u64 type, const char *pmu,
			       const char *cpuid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .precise_ip = precise, .sample_type = type,
	};

	return hybrid_skid(&attr, pmu, cpuid);
}

static void moments(void)
{
	const u64 intr = PERF_SAMPLE_REGS_INTR;

	same(moment(0, 0, "cpu", "AuthenticAMD,25,1,1"), HYBRID_SKID_NONE);
	same(moment(2, 0, "cpu", "AuthenticAMD,25,1,1"), HYBRID_SKID_ADDRESS);
	same(moment(0, 0, "ibs_op", "AuthenticAMD,25,1,1"), HYBRID_SKID_ADDRESS);
	same(moment(2, 0, NULL, "HygonGenuine,24,1,1"), HYBRID_SKID_ADDRESS);
	same(moment(3, 0, "cpu", "GenuineIntel,6,85,4"), HYBRID_SKID_ADDRESS);
	same(moment(3, intr, "cpu", "GenuineIntel,6,85,4"), HYBRID_SKID_STACK);
	same(moment(3, 0, "cpu", "GenuineIntel,6,106,6"), HYBRID_SKID_STACK);
	same(moment(3, 0, "cpu_atom", "GenuineIntel,6,151,2"), HYBRID_SKID_STACK);
	same(moment(2, 0, "cpu", "GenuineIntel,19,1,1"), HYBRID_SKID_STACK);
	same(moment(1, 0, "cpu", "GenuineIntel,6,106,6"), HYBRID_SKID_UNKNOWN);
	same(moment(2, 0, "cpu", "CentaurHauls,7,11,0"), HYBRID_SKID_UNKNOWN);
	same(moment(2, 0, "cpu", NULL), HYBRID_SKID_UNKNOWN);
	same(moment(2, 0, "cpu", "GenuineIntel,six"), HYBRID_SKID_UNKNOWN);
}

struct code {
	const char	*bytes;
	unsigned int	 len;
};

/* 15 bytes from the instruction on can be read: it, and nops. */
static int read_code(void *ctx, unsigned long addr, void *dst, unsigned int len)
{
	const struct code *code = ctx;
	unsigned int i;

	for (i = 0; i < len; i++) {
		u64 at = addr + i - CALL_AT;

		((u8 *)dst)[i] = at < code->len ? code->bytes[at] : 0x90;
	}
	return 0;
}

static void leaves(const char *bytes, unsigned int len, enum hybrid_effect want)
{
	struct code code = { bytes, len };
	struct x86_frame_mem mem = { .read = read_code, .ctx = &code, .is_64bit = true };
	u64 next;

	same(hybrid_insn_effect(&mem, CALL_AT, &next), want);
	same(next, CALL_AT + len);
}

static void after(void)
{
	leaves("\x55", 1, HYBRID_EFFECT_NEXT);
	leaves("\xc9", 1, HYBRID_EFFECT_NEXT);
	leaves("\x48\x83\xec\x18", 4, HYBRID_EFFECT_NEXT);
	leaves("\xff\x35\x00\x00\x00\x00", 6, HYBRID_EFFECT_NEXT);
	leaves("\xe8\x00\x01\x00\x00", 5, HYBRID_EFFECT_CALL);
	leaves("\x41\xff\xd4", 3, HYBRID_EFFECT_CALL);
	leaves("\xc3", 1, HYBRID_EFFECT_RETURN);
	leaves("\xf3\xc3", 2, HYBRID_EFFECT_RETURN);
	leaves("\x74\x10", 2, HYBRID_EFFECT_SAME);
	leaves("\x0f\x84\x00\x01\x00\x00", 6, HYBRID_EFFECT_SAME);
	leaves("\xff\x25\x00\x01\x00\x00", 6, HYBRID_EFFECT_SAME);
	leaves("\x0f\x05", 2, HYBRID_EFFECT_SAME);
	leaves("\xc5\xf8\x77", 3, HYBRID_EFFECT_NEXT);
}

/* The kernel's chain begins at @interrupt; 0: it has no user's part. */
static bool unwind(struct scene *s, enum hybrid_skid moment, u64 interrupt,
		   struct hybrid_precise *precise)
{
	bool unwound;

	*precise = (struct hybrid_precise) { .moment = moment };
	s->u.user = &interrupt;
	s->u.nr_user = interrupt ? 1 : 0;
	unwound = hybrid_precise_unwind(&scene_unwinder, &s->u, precise);
	s->u.user = NULL;
	return unwound;
}

/* What pushed() has saved, and what calls it: bpframe(), the outermost. */
static void push_callers(struct scene *s, u64 saved_rbx)
{
	u64 bp;

	scene_push(s, saved_rbx);
	scene_push(s, scene_at("bpframe_ret"));
	bp = scene_push(s, 0);
	scene_push(s, 0);
	scene_reg(s, HYBRID_X86_64_BP, bp);
}

/* leaf() was sampled, and has returned. */
static void interrupt(void)
{
	struct hybrid_precise precise;
	struct scene s;

	scene_start(&s, scene_at("leaf_at"));
	scene_fill(&s, 2, 0);
	push_callers(&s, 1);
	check(unwind(&s, HYBRID_SKID_ADDRESS, scene_at("pushed_ret"), &precise));
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("pushed_ret"),
		     scene_at("bpframe_ret") - 1);
	same(precise.first, 0);
	same(precise.ways[HYBRID_PRECISE_INTERRUPT], 1);

	/* In the same function: what was sampled stands first. */
	s.u.regs.value[HYBRID_X86_64_IP] = scene_at("pushed_at");
	check(unwind(&s, HYBRID_SKID_ADDRESS, scene_at("pushed_ret"), &precise));
	same(s.u.frames[0].ip, scene_at("pushed_ret"));
	same(precise.first, scene_at("pushed_at"));
}

static void retired(void)
{
	struct hybrid_precise precise;
	struct scene s;

	/* The push has run: one word more is on the stack than its own rule says. */
	scene_start(&s, scene_at("pushed"));
	push_callers(&s, 1);
	check(unwind(&s, HYBRID_SKID_STACK, scene_at("pushed_at"), &precise));
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("pushed_one"),
		     scene_at("bpframe_ret") - 1);
	same(precise.first, scene_at("pushed"));

	/* The call has, too, and its return address is no caller of the caller. */
	scene_start(&s, scene_at("pushed_at"));
	scene_push(&s, scene_at("pushed_ret"));
	scene_fill(&s, 2, 0);
	push_callers(&s, 1);
	check(unwind(&s, HYBRID_SKID_STACK, scene_at("leaf"), &precise));
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("pushed_at"),
		     scene_at("bpframe_ret") - 1);
	same(precise.ways[HYBRID_PRECISE_RETIRED], 1);

	/* The return has: its caller is where the interrupt is. */
	scene_start(&s, scene_at("pushed_end"));
	scene_push(&s, 0);
	scene_push(&s, 0);
	scene_reg(&s, HYBRID_X86_64_BP, SCENE_STACK);
	check(unwind(&s, HYBRID_SKID_STACK, scene_at("bpframe_ret"), &precise));
	same(s.u.frames[0].ip, scene_at("bpframe_ret"));
	same(precise.ways[HYBRID_PRECISE_INTERRUPT], 1);
}

/* No call stands before what the stack holds. */
static void refuted(void)
{
	struct hybrid_precise precise;
	struct scene s;

	scene_start(&s, scene_at("leaf_at"));
	scene_push(&s, scene_at("leaf_at"));
	scene_fill(&s, 8, 0);
	check(!unwind(&s, HYBRID_SKID_STACK, scene_at("leaf_at"), &precise));
	same(precise.ways[HYBRID_PRECISE_REFUTED], 1);
	/* Without the kernel's chain: what was sampled, and no more. */
	s.u.regs.value[HYBRID_X86_64_IP] = scene_at("leaf_at");
	check(unwind(&s, HYBRID_SKID_ADDRESS, 0, &precise));
	same(s.u.nr, 1);
	same(s.u.stop, HYBRID_STOP_BAD_FRAME);
}

/* Of a processor that is not known, what fits one moment only tells which. */
static void unknown(void)
{
	struct hybrid_precise precise = { .moment = HYBRID_SKID_UNKNOWN };
	u64 at = scene_at("pushed");
	unsigned int i;
	struct scene s;

	for (i = 0; i < 64; i++) {
		scene_start(&s, scene_at("pushed"));
		push_callers(&s, 1);
		s.u.user = &at;
		s.u.nr_user = 1;
		check(hybrid_precise_unwind(&scene_unwinder, &s.u, &precise));
		same(s.u.frames[0].ip, scene_at("pushed_one"));
	}
	same(precise.moment, HYBRID_SKID_STACK);
}

static void kernel(void)
{
	struct hybrid_precise precise;
	struct scene s;

	scene_start(&s, scene_at("pushed"));
	s.u.regs.value[HYBRID_X86_64_SP] = 0xffffc90000123e58ULL;
	check(!unwind(&s, HYBRID_SKID_ADDRESS, scene_at("pushed_at"), &precise));
	same(precise.ways[HYBRID_PRECISE_KERNEL], 1);
	same(precise.first, scene_at("pushed"));
	check(!unwind(&s, HYBRID_SKID_UNKNOWN, 0, &precise));
	same(precise.first, 0);
}

/* Registers and stack are the interrupt's, whatever processor it is. */
static void walked(void)
{
	struct hybrid_precise precise = { .moment = HYBRID_SKID_STACK };
	struct scene s;

	scene_start(&s, scene_at("pushed_ret"));
	scene_fill(&s, 2, 0);
	push_callers(&s, 1);
	hybrid_unwind(&scene_unwinder, &s.u);
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("pushed_ret"),
		     scene_at("bpframe_ret") - 1);
	hybrid_precise_walked(&scene_unwinder, &s.u, &precise, scene_at("pushed_at"));
	same(precise.first, scene_at("pushed_at"));
	same(precise.ways[HYBRID_PRECISE_INTERRUPT], 1);
	/* What was sampled has returned, or is the kernel's. */
	hybrid_precise_walked(&scene_unwinder, &s.u, &precise, scene_at("leaf_at"));
	same(precise.first, 0);
	hybrid_precise_walked(&scene_unwinder, &s.u, &precise, 0xffffffff81000010ULL);
	same(precise.first, 0);
	same(precise.ways[HYBRID_PRECISE_INTERRUPT], 3);
	/* No precise event: the address is the interrupt's, too. */
	precise = (struct hybrid_precise) { .moment = HYBRID_SKID_NONE };
	hybrid_precise_walked(&scene_unwinder, &s.u, &precise, scene_at("pushed_at"));
	same(precise.first, 0);
	same(precise.ways[HYBRID_PRECISE_INTERRUPT], 0);
}

static void first(void)
{
	struct hybrid_precise precise = { .first = 1 };
	u64 chain[] = { PERF_CONTEXT_KERNEL, 2, PERF_CONTEXT_USER, 3, 4 };

	/* It ends with its context. */
	hybrid_precise_put_first(&precise, chain, 3);
	same(chain[3], 3);
	hybrid_precise_put_first(&precise, chain, ARRAY_SIZE(chain));
	check(chain[1] == 2 && chain[3] == 1 && chain[4] == 4);
	precise.first = 0;
	chain[3] = 3;
	hybrid_precise_put_first(&precise, chain, ARRAY_SIZE(chain));
	same(chain[3], 3);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "precise: which processor", moments },
		{ "precise: what an instruction leaves", after },
		{ "precise: from where the interrupt was", interrupt },
		{ "precise: from behind the instruction", retired },
		{ "precise: what the calls refute", refuted },
		{ "precise: a processor that is not known", unknown },
		{ "precise: an interrupt in the kernel", kernel },
		{ "precise: walked by the kernel's rules", walked },
		{ "precise: the first entry", first },
	};
	int status = tap_run(tests, ARRAY_SIZE(tests));

	scene_exit();
	return status;
}
