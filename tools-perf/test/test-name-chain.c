// SPDX-License-Identifier: GPL-2.0
/*
 * Functions of a runtime in callchains, by a namer that knows some addresses.
 */
#include <linux/perf_event.h>
#include <string.h>
#include "name-chain.h"
#include "synthetic-frame.h"
#include "tap.h"

#define CUT_OFF	hybrid_synthetic_ip(HYBRID_SYNTHETIC_CUT_OFF)
#define GUESSED	hybrid_synthetic_ip(HYBRID_SYNTHETIC_GUESSED)

/* Native code is below, compiled methods begin here, and interpreted ones behind. */
#define COMPILED	0x1000
#define INTERPRETED	0x2000

static struct hybrid_names_quota quota;

static u64 function(struct hybrid_names *names, const char *name)
{
	const struct hybrid_function f = { .name = name, .size = 4 };

	return hybrid_names_ip(hybrid_names__function(names, &quota, &f), f.size, 0);
}

/* Each compiled method has another one inlined; of an interpreted one the CFA tells which. */
static unsigned int name(struct hybrid_namer *namer __maybe_unused, struct hybrid_names *names,
			 const struct hybrid_frame *frame, u64 ip, u64 *out, unsigned int room)
{
	if (ip < COMPILED)
		return 0;
	if (ip < INTERPRETED) {
		if (room > 0)
			out[0] = function(names, "inlined");
		if (room > 1)
			out[1] = function(names, "compiled");
		return 2;
	}
	if (frame->ip != ip)
		return 0;
	if (room)
		out[0] = function(names, frame->cfa == 1 ? "one" : "two");
	return 1;
}

struct scene {
	struct hybrid_names		*names;
	struct hybrid_frame		 frames[16];
	u64				 chain[16];
	u64				 out[32];
	struct hybrid_named_chain	 c;
};

/* The user part may hold marks, which are no frames. */
static void run(struct scene *s, const u64 *chain, unsigned int nr, unsigned int max)
{
	static struct hybrid_namer namer = { .language = HYBRID_LANGUAGE_JAVA, .name = name };
	unsigned int i, user = nr;

	memset(s, 0, sizeof(*s));
	s->names = hybrid_names__new(HYBRID_LANGUAGE_JAVA);
	memcpy(s->chain, chain, nr * sizeof(*chain));
	for (i = 0; i < nr; i++) {
		if (i > user && chain[i] != CUT_OFF && chain[i] != GUESSED) {
			s->frames[s->c.nr_frames].ip = chain[i];
			s->frames[s->c.nr_frames].cfa = s->c.nr_frames;
			s->c.nr_frames++;
		}
		if (chain[i] == PERF_CONTEXT_USER)
			user = i;
	}
	s->c.chain = s->chain;
	s->c.nr = nr;
	s->c.frames = s->frames;
	s->c.out = s->out;
	s->c.max = max;
	hybrid_name_chain(&namer, s->names, &s->c);
}

static void check_expanded(void)
{
	const u64 chain[] = { PERF_CONTEXT_USER, COMPILED, 0x10, COMPILED, 0x20 };
	struct scene s;
	u64 inlined, compiled;

	run(&s, chain, ARRAY_SIZE(chain), 32);
	inlined = function(s.names, "inlined");
	compiled = function(s.names, "compiled");
	check(s.c.is_named && !s.c.is_cut_off);
	same(s.c.nr_out, 7);
	same(s.out[0], PERF_CONTEXT_USER);
	same(s.out[1], inlined);
	same(s.out[2], compiled);
	same(s.out[3], 0x10);
	same(s.out[4], inlined);
	same(s.out[5], compiled);
	same(s.out[6], 0x20);
	same(s.c.first, inlined);
	hybrid_names__delete(s.names);
}

static void check_kernel(void)
{
	const u64 chain[] = { PERF_CONTEXT_KERNEL, COMPILED, PERF_CONTEXT_USER, 0x10, COMPILED };
	struct scene s;

	run(&s, chain, ARRAY_SIZE(chain), 32);
	same(s.c.nr_out, 6);
	same(s.out[1], COMPILED);
	same(s.out[3], 0x10);
	/* The innermost user frame is native. */
	same(s.c.first, 0);
	hybrid_names__delete(s.names);
}

/* Marks stand between the frames. */
static void check_marks(void)
{
	const u64 chain[] = { PERF_CONTEXT_USER, 0x10, INTERPRETED, GUESSED, INTERPRETED, CUT_OFF };
	struct scene s;

	run(&s, chain, ARRAY_SIZE(chain), 32);
	same(s.c.nr_out, 6);
	same(s.out[2], function(s.names, "one"));
	same(s.out[3], GUESSED);
	same(s.out[4], function(s.names, "two"));
	same(s.out[5], CUT_OFF);
	hybrid_names__delete(s.names);
}

static void check_native(void)
{
	const u64 chain[] = { PERF_CONTEXT_USER, 0x10, 0x20 }, only[] = { PERF_CONTEXT_KERNEL, 1 };
	struct scene s;

	run(&s, chain, ARRAY_SIZE(chain), 32);
	check(!s.c.is_named);
	same(s.c.nr_out, 3);
	same(s.c.first, 0);
	hybrid_names__delete(s.names);
	run(&s, only, ARRAY_SIZE(only), 32);
	check(!s.c.is_named);
	same(s.c.nr_out, 2);
	hybrid_names__delete(s.names);
	run(&s, only, 0, 32);
	same(s.c.nr_out, 0);
	hybrid_names__delete(s.names);
}

/* No room for what frames become. */
static void check_full(void)
{
	const u64 chain[] = { PERF_CONTEXT_USER, COMPILED, 0x10, COMPILED, 0x20 };
	struct scene s;

	run(&s, chain, ARRAY_SIZE(chain), 5);
	check(s.c.is_cut_off);
	same(s.c.nr_out, 5);
	same(s.out[3], 0x10);
	same(s.out[4], CUT_OFF);
	hybrid_names__delete(s.names);
	run(&s, chain, ARRAY_SIZE(chain), 7);
	check(!s.c.is_cut_off);
	same(s.out[6], 0x20);
	hybrid_names__delete(s.names);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "a frame becomes one for each function",	check_expanded },
		{ "frames of the kernel are none of a runtime",	check_kernel },
		{ "marks stay where they are",			check_marks },
		{ "a chain without a runtime stays as it is",	check_native },
		{ "a chain that gets too long is cut off",	check_full },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
