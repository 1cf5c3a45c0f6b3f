// SPDX-License-Identifier: GPL-2.0
/*
 * Which native frames run which functions, of an evaluator that another function may begin anew:
 * evals of Perl.
 */
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <string.h>
#include "../hybrid/runtime/walk-interpreter.h"
#include "elf-file.h"
#include "own-memory.h"
#include "run-chains.h"
#include "tap.h"

#define MOST		8
#define BIAS		0x7e0000000000ULL
#define ENDS		HYBRID_WALK_RUN_ENDS
#define CROSSES		(HYBRID_WALK_RUN_ENDS | HYBRID_RUN_CROSSES)

static const char file[] = "interpreter-php.so";
static struct hybrid_evaluator evaluator, restart;
static struct hybrid_runs runs;
static struct hybrid_run_chains chains;

/* Two parts of a function of a file: the evaluator, and what begins it anew. */
static void begin_process(void)
{
	u64 at = elf_file_symbol(file, "execute_ex");

	own_begin();
	elf_file_map(&own.ps, own.pm.pid, file, BIAS);
	hybrid_evaluator__find(&evaluator, hybrid_space_find(own.pm.space, BIAS + at), at);
	restart = evaluator;
	restart.parts[0] = evaluator.parts[1];
	restart.nr = 1;
	evaluator.nr = 1;
	evaluator.restart = &restart;
}

static u64 ip_of(void *arg __maybe_unused, struct hybrid_names *names __maybe_unused,
		 u64 function, u64 position __maybe_unused)
{
	return function & HYBRID_WALK_FUNCTION_ADDR;
}

static const struct hybrid_run_names how = { .ip_of = ip_of };

static void begin(struct hybrid_namer *namer __maybe_unused, const struct hybrid_named_chain *c)
{
	hybrid_runs__begin(&runs, &evaluator, own.pm.space, c);
}

static unsigned int name(struct hybrid_namer *namer __maybe_unused,
			 struct hybrid_names *names __maybe_unused,
			 const struct hybrid_frame *frame __maybe_unused, u64 ip, u64 *out,
			 unsigned int room)
{
	return hybrid_runs__name(&runs, &how, ip, out, room);
}

static bool whole(struct hybrid_namer *namer, struct hybrid_names *names __maybe_unused,
		  struct hybrid_named_chain *c)
{
	runs.evaluator = &evaluator;
	runs.space = own.pm.space;
	return hybrid_run_chains__whole(&chains, &runs, &how, namer, c);
}

static void keep(struct hybrid_namer *namer, const struct hybrid_named_chain *c)
{
	hybrid_run_chains__keep(&chains, &runs, &how, namer, c);
}

static struct hybrid_namer namer = {
	.begin = begin, .name = name, .whole = whole, .keep = keep,
};

/* A letter for each native frame: evaluator, what begins it anew, other code; and its address. */
static u64 frame_of(char letter)
{
	const struct hybrid_evaluator *of = letter == 'E' ? &evaluator : &restart;

	return letter == '-' ? 0x1000 : BIAS + of->parts[0].start + 1;
}

static char letter_of(u64 ip)
{
	static const char letters[] = "ER-";
	unsigned int i;

	for (i = 0; i < strlen(letters); i++) {
		if (ip == frame_of(letters[i]))
			return letters[i];
	}
	return 'a' + ip / 8 - 1;
}

/*
 * The native @frames, from the innermost on, and the functions that they run: letters, each with a
 * "." behind it if its run ends, and a "/" if it crosses. Compares what comes out with @want.
 */
static bool is_named(const char *frames, const char *functions, const char *want)
{
	u64 chain[MOST + 1] = { PERF_CONTEXT_USER }, words[2 * MOST] = {}, out[4 * MOST];
	struct hybrid_frame of_chain[MOST] = {};
	struct hybrid_named_chain c = {
		.chain = chain, .frames = of_chain, .functions = words, .is_whole = true,
		.functions_are_whole = true, .gen = 1, .out = out, .max = ARRAY_SIZE(out),
	};
	char text[4 * MOST] = "";
	unsigned int i;

	for (; frames[c.nr_frames]; c.nr_frames++) {
		chain[c.nr_frames + 1] = frame_of(frames[c.nr_frames]);
		of_chain[c.nr_frames].ip = chain[c.nr_frames + 1];
		of_chain[c.nr_frames].ret = of_chain[c.nr_frames].ip + !!c.nr_frames;
	}
	c.nr = c.nr_frames + 1;
	for (; *functions; functions++) {
		if (*functions == '.')
			words[2 * c.nr_functions - 2] |= ENDS;
		else if (*functions == '/')
			words[2 * c.nr_functions - 2] |= CROSSES;
		else
			words[2 * c.nr_functions++] = 8 * (*functions - 'a' + 1);
	}
	hybrid_name_chain(&namer, NULL, &c);
	for (i = 1; i < c.nr_out; i++)
		text[i - 1] = letter_of(out[i]);
	return !strcmp(text, want);
}

static void evals(void)
{
	begin_process();
	/* In the block of an eval, which is a frame of the sub that it is in; then after it. */
	check(is_named("-ERE-E", "abb/bc.d.", "-EabbREbc-Ed"));
	check(is_named("-ERE-E", "abbc.d.", "-EabbcRE-Ed"));
	/* The block itself runs. */
	check(is_named("ERE-E", "b/bc.d.", "EbREbc-Ed"));
	/* Evals in what C code calls in an eval; one of them is over. */
	check(is_named("ERE-ERE", "a/b.c/d.", "EaREb-EcREd"));
	check(is_named("ERE-ERE", "ab.c/d.", "EabRE-EcREd"));
	check(is_named("ERE-ERE", "a/b.cd.", "EaREb-EcdRE"));
	check(is_named("ERE-ERE", "ab.cd.", "EabRE-EcdRE"));
	own_end();
}

/* Before the evaluator of the eval runs, and when it has returned. */
static void edges(void)
{
	begin_process();
	/* setjmp(): the eval is not there yet. It is; the evaluator that is begun is not. */
	check(is_named("-RE-E", "bc.d.", "-REbc-Ed"));
	check(is_named("-RE-E", "b/bc.d.", "-bREbc-Ed"));
	check(is_named("-RE-ERE", "b/bc.d/e.", "-bREbc-EdREe"));
	/* All that C code has called has returned. */
	check(is_named("ERE-E", "d.", "ERE-Ed"));
	check(is_named("-RE-E", "d.", "-RE-Ed"));
	/* C code calls a sub, which has no evaluator yet. */
	check(is_named("-ERE-E", "a.b/bc.d.", "-aEbREbc-Ed"));
	/* The function that begins the evaluator anew was not found. */
	evaluator.restart = NULL;
	check(is_named("-E-E-E", "ab/bc.d.", "-Eab-Ebc-Ed"));
	own_end();
}

/* Chains that differ in their first run alone have the names of their own. */
static void kept(void)
{
	unsigned int i;

	begin_process();
	chains.names_first = true;
	for (i = 0; i < 3; i++) {
		check(is_named("ERE-E-E", "a/b.c.d.", "EaREb-Ec-Ed"));
		check(is_named("ERE-E-E", "e/b.c.d.", "EeREb-Ec-Ed"));
		check(is_named("ERE-E-E", "a.b.c.", "EaRE-Eb-Ec"));
		check(is_named("ERE-E-E", "e.b.c.", "EeRE-Eb-Ec"));
		check(is_named("ERE-ERE", "a.b/c.", "EaRE-EbREc"));
		check(is_named("ERE-ERE", "a/b.c.", "EaREb-EcRE"));
	}
	chains.names_first = false;
	hybrid_run_chains__exit(&chains);
	own_end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "evals",				evals },
		{ "an eval that begins, and ends",	edges },
		{ "chains that were named before",	kept },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
