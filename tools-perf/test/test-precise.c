// SPDX-License-Identifier: GPL-2.0
/*
 * Which processor's samples are of which moments, what an instruction leaves, and what is
 * made of a sample whose parts are of different moments.
 */
#include <stdio.h>
#include <stdlib.h>
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

/* Events that the processor does not count; and names that are like those of IBS. */
static void events(void)
{
	static const struct {
		u32			type;
		enum hybrid_skid	want;
	} types[] = {
		{ PERF_TYPE_HARDWARE, HYBRID_SKID_ADDRESS },
		{ PERF_TYPE_RAW, HYBRID_SKID_ADDRESS },
		{ PERF_TYPE_HW_CACHE, HYBRID_SKID_ADDRESS },
		{ PERF_TYPE_SOFTWARE, HYBRID_SKID_NONE },
		{ PERF_TYPE_TRACEPOINT, HYBRID_SKID_NONE },
		{ PERF_TYPE_BREAKPOINT, HYBRID_SKID_NONE },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		struct perf_event_attr attr = { .type = types[i].type, .precise_ip = 1 };

		same(hybrid_skid(&attr, NULL, "AuthenticAMD,25,1,1"), types[i].want);
		attr.precise_ip = 0;
		same(hybrid_skid(&attr, NULL, "AuthenticAMD,25,1,1"), HYBRID_SKID_NONE);
		same(hybrid_skid(&attr, "ibs_fetch", NULL), HYBRID_SKID_ADDRESS);
	}
	check(!hybrid_pmu_is_ibs("ibs") && !hybrid_pmu_is_ibs("ibsop") && !hybrid_pmu_is_ibs(""));
	check(hybrid_pmu_is_ibs("ibs_"));
}

/* Family 6 before Ice Lake; Pentium 4; what has the same model number is another processor. */
static void intel_models(void)
{
	static const unsigned int old[] = {
		0x0f, 0x16, 0x17, 0x1a, 0x1c, 0x1d, 0x1e, 0x1f, 0x25, 0x26, 0x27, 0x2a, 0x2c, 0x2d,
		0x2e, 0x2f, 0x35, 0x36, 0x37, 0x3a, 0x3c, 0x3d, 0x3e, 0x3f, 0x45, 0x46, 0x47, 0x4a,
		0x4c, 0x4d, 0x4e, 0x4f, 0x55, 0x56, 0x57, 0x5a, 0x5c, 0x5d, 0x5e, 0x5f, 0x65, 0x66,
		0x6e, 0x75, 0x7a, 0x85, 0x8e, 0x9e, 0xa5, 0xa6,
	};
	unsigned int model, at = 0;
	char cpuid[64];

	for (model = 0; model < 256; model++) {
		bool is_old = at < ARRAY_SIZE(old) && old[at] == model;

		at += is_old;
		snprintf(cpuid, sizeof(cpuid), "GenuineIntel,6,%u,1", model);
		same(moment(3, 0, "cpu", cpuid), is_old ? HYBRID_SKID_ADDRESS : HYBRID_SKID_STACK);
		snprintf(cpuid, sizeof(cpuid), "GenuineIntel,18,%u,1", model);
		same(moment(3, 0, "cpu", cpuid), HYBRID_SKID_STACK);
		snprintf(cpuid, sizeof(cpuid), "GenuineIntel,15,%u,1", model);
		same(moment(3, 0, "cpu", cpuid), HYBRID_SKID_ADDRESS);
	}
	same(at, ARRAY_SIZE(old));
	same(moment(1, PERF_SAMPLE_REGS_INTR, "cpu", "GenuineIntel,6,85,4"), HYBRID_SKID_UNKNOWN);
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

/* After so many samples that fit one moment only, and with how few of the other. */
static void learns(void)
{
	static const struct {
		u64			interrupt;
		u64			retired;
		bool			known;
	} cases[] = {
		{ 31, 0, false }, { 32, 0, true }, { 32, 4, true }, { 32, 5, false },
		{ 39, 5, false }, { 40, 5, true },
	};
	u64 at = scene_at("pushed_ret");
	struct hybrid_precise precise;
	unsigned int i;
	struct scene s;
	bool known;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		known = cases[i].known;
		/* leaf() has returned: what stands at its sp is no return address. */
		scene_start(&s, scene_at("leaf_at"));
		scene_fill(&s, 2, scene_at("leaf_at"));
		push_callers(&s, 1);
		s.u.user = &at;
		s.u.nr_user = 1;
		precise = (struct hybrid_precise) {
			.moment = HYBRID_SKID_UNKNOWN,
			.interrupt = cases[i].interrupt, .retired = cases[i].retired,
		};
		check(hybrid_precise_unwind(&scene_unwinder, &s.u, &precise));
		same(precise.interrupt, cases[i].interrupt + 1);
		same(precise.retired, cases[i].retired);
		same(precise.moment, known ? HYBRID_SKID_ADDRESS : HYBRID_SKID_UNKNOWN);
		same(precise.ways[HYBRID_PRECISE_INTERRUPT], 1);
		same(s.u.frames[0].ip, at);
		same(s.u.nr, 2);
		/* And the other moment. */
		scene_start(&s, scene_at("pushed"));
		push_callers(&s, 1);
		at = scene_at("pushed");
		s.u.user = &at;
		s.u.nr_user = 1;
		precise = (struct hybrid_precise) {
			.moment = HYBRID_SKID_UNKNOWN,
			.interrupt = cases[i].retired, .retired = cases[i].interrupt,
		};
		check(hybrid_precise_unwind(&scene_unwinder, &s.u, &precise));
		same(precise.retired, cases[i].interrupt + 1);
		same(precise.interrupt, cases[i].retired);
		same(precise.moment, known ? HYBRID_SKID_STACK : HYBRID_SKID_UNKNOWN);
		at = scene_at("pushed_ret");
	}
}

/* The first calls of a chain are looked at: one that leads elsewhere refutes it. */
static void refuted_further_out(void)
{
	struct hybrid_precise precise;
	unsigned int wrong, i;
	struct scene s;

	for (wrong = 0; wrong < 12; wrong++) {
		scene_start(&s, scene_at("bpframe_at"));
		scene_reg_top(&s, HYBRID_X86_64_BP);
		for (i = 0; i < 12; i++)
			scene_push_bpframe(&s, scene_top(&s) + 16,
					   scene_at(i == wrong ? "once_ret" : "bpframe_ret"));
		/* once() has a frame of two words by sp; the next one's is by rbp again. */
		if (wrong < 11)
			s.stack[2 * wrong] = SCENE_STACK + (2 * wrong + 2 + 2) * 8;
		/* The call has run, with what it pushes. */
		s.u.regs.value[HYBRID_X86_64_SP] -= 8;
		check(unwind(&s, HYBRID_SKID_STACK, 0, &precise));
		same(s.u.nr == 1, wrong < 8);
		same(precise.ways[HYBRID_PRECISE_REFUTED], wrong < 8);
		same(precise.ways[HYBRID_PRECISE_RETIRED], wrong >= 8);
	}
}

/* What a signal has interrupted has called nothing, and refutes nothing. */
static void through_signal(void)
{
	struct hybrid_precise precise;
	struct scene s;

	scene_start(&s, scene_at("leaf_at"));
	scene_push(&s, scene_at("sigframe_ret"));
	scene_fill(&s, 22, 0);
	s.stack[1 + 20] = scene_top(&s);
	s.stack[1 + 21] = scene_at("leaf_at");
	scene_push(&s, scene_at("pushed_ret"));
	scene_fill(&s, 3, 0);
	scene_push(&s, scene_at("outer_ret"));
	check(unwind(&s, HYBRID_SKID_ADDRESS, 0, &precise));
	scene_expect(&s, HYBRID_STOP_OUTERMOST, scene_at("leaf_at"), scene_at("sigframe_ret"),
		     scene_at("leaf_at"), scene_at("pushed_ret") - 1, scene_at("outer_ret") - 1);
	same(precise.ways[HYBRID_PRECISE_RETIRED], 1);
}

/* Nothing is known of the code, or nothing is mapped there. */
static void unknown_code(void)
{
	struct hybrid_precise precise;
	struct scene s;

	scene_start(&s, 0x1000);
	scene_push(&s, scene_at("pushed_ret"));
	check(unwind(&s, HYBRID_SKID_STACK, 0, &precise));
	same(s.u.nr, 1);
	same(s.u.sure, 1);
	same(s.u.stop, HYBRID_STOP_BAD_FRAME);
	same(precise.ways[HYBRID_PRECISE_REFUTED], 1);
	same(precise.first, 0x1000);
	/* Without a file, and nobody to be asked: as it was. */
	scene_start(&s, SCENE_JIT + 8);
	scene_reg_top(&s, HYBRID_X86_64_BP);
	scene_push_bpframe(&s, 0, scene_at("bpframe_ret"));
	scene_push(&s, 0);
	unwind(&s, HYBRID_SKID_STACK, 0, &precise);
	same(s.u.frames[0].ip, SCENE_JIT + 8);
	same(precise.first, SCENE_JIT + 8);
}

static void same_print(const struct hybrid_precise *precise, const char *want)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	hybrid_precise_print(precise, out);
	fclose(out);
	same_text(text, want);
	free(text);
}

#define ACCOUNT	"hybrid: precise event: 1 from where the interrupt was, "	\
		"22 from the sampled instruction, 333 interrupted in the kernel, " \
		"4444 that fit neither\n"

static void account(void)
{
	struct hybrid_precise precise = {
		.moment = HYBRID_SKID_STACK, .ways = { 1, 22, 333, 4444 },
	};

	same_print(&precise, ACCOUNT);
	precise.moment = HYBRID_SKID_NONE;
	same_print(&precise, "");
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
		{ "precise: which events", events },
		{ "precise: models of Intel's", intel_models },
		{ "precise: how many samples tell the moment", learns },
		{ "precise: calls that are looked at", refuted_further_out },
		{ "precise: a signal's frames", through_signal },
		{ "precise: code that is not known", unknown_code },
		{ "precise: the account", account },
		{ "precise: an interrupt in the kernel", kernel },
		{ "precise: walked by the kernel's rules", walked },
		{ "precise: the first entry", first },
	};
	int status = tap_run(tests, ARRAY_SIZE(tests));

	scene_exit();
	return status;
}
