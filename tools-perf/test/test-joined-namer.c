// SPDX-License-Identifier: GPL-2.0
/*
 * Functions of several languages in one chain: each stands behind the native frames of its own
 * evaluator.
 */
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <string.h>
#include "joined-namer.h"
#include "runs.h"
#include "tap.h"

#define MOST		32
#define NATIVE		0x1000
#define ENDS		HYBRID_WALK_RUN_ENDS
#define PYTHON		HYBRID_LANGUAGE_PYTHON
#define PERL		HYBRID_LANGUAGE_PERL

/* Code that the process has made is enough of an evaluator. */
#define EVALUATOR(language)	((language) * 0x10000 + 0x10)

/**
 * struct language - names functions by their addresses
 * @namer: the interface
 * @evaluator: of the language
 * @runs: of the chain
 */
struct language {
	struct hybrid_namer	namer;
	struct hybrid_evaluator	evaluator;
	struct hybrid_runs	runs;
};

static struct hybrid_space space;
static struct language languages[HYBRID_SAMPLE_LANGUAGES];
static struct hybrid_joined_namer joined;
static u64 out[MOST];

static u64 ip_of(void *arg __maybe_unused, struct hybrid_names *names __maybe_unused,
		 u64 function, u64 position)
{
	return (function & HYBRID_WALK_FUNCTION_ADDR) + position;
}

static void begin(struct hybrid_namer *namer, const struct hybrid_named_chain *c)
{
	struct language *language = container_of(namer, struct language, namer);

	hybrid_runs__begin(&language->runs, &language->evaluator, &space, c);
}

static unsigned int name(struct hybrid_namer *namer, struct hybrid_names *names,
			 const struct hybrid_frame *frame __maybe_unused, u64 ip, u64 *to,
			 unsigned int room)
{
	struct language *language = container_of(namer, struct language, namer);
	const struct hybrid_run_names how = { .names = names, .ip_of = ip_of };

	return hybrid_runs__name(&language->runs, &how, ip, to, room);
}

/* Words of a chain, or of the functions of Python and of Perl: how many each has. */
struct words {
	unsigned int	nr;
	u64		words[12];
	unsigned int	python, perl;
};

/* Names a chain of several languages, and compares it with @want. */
static bool is_named(const struct words *chain, const struct words *words, unsigned int max,
		     const struct words *want)
{
	const struct hybrid_functions parts[] = {
		{ .language = PYTHON, .words = words->words, .nr = words->python,
		  .are_whole = true },
		{ .language = PERL, .words = words->words + 2 * words->python, .nr = words->perl,
		  .are_whole = true },
	};
	struct hybrid_named_chain c = {
		.chain = chain->words, .nr = chain->nr, .is_whole = true, .out = out, .max = max,
	};
	unsigned int i;

	hybrid_joined_namer__init(&joined);
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		languages[i].namer = (struct hybrid_namer) { .begin = begin, .name = name };
		languages[i].evaluator = (struct hybrid_evaluator) {
			.made_start = EVALUATOR(parts[i].language) - 0x10,
			.made_end = EVALUATOR(parts[i].language) + 0x100,
		};
		hybrid_joined_namer__add(&joined, &languages[i].namer, NULL, &parts[i]);
	}
	hybrid_joined_namer__name_chain(&joined, &c);
	return c.nr_out == want->nr && !memcmp(out, want->words, want->nr * sizeof(*out));
}

/* Perl has called Python, which has called Perl. */
static void check_nested(void)
{
	static const struct words chain = { 7, {
		PERF_CONTEXT_USER, EVALUATOR(PERL), NATIVE, EVALUATOR(PYTHON), NATIVE + 1,
		EVALUATOR(PERL) + 8, NATIVE + 2,
	} };
	static const struct words words = { 10, {
		0x500000, 1, 0x500010 | ENDS, 2,
		0x600000 | ENDS, 1, 0x600010, 2, 0x600020 | ENDS, 3,
	}, 2, 3 };
	static const struct words want = { 12, {
		PERF_CONTEXT_USER, EVALUATOR(PERL), 0x600001, NATIVE, EVALUATOR(PYTHON), 0x500001,
		0x500012, NATIVE + 1, EVALUATOR(PERL) + 8, 0x600012, 0x600023, NATIVE + 2,
	} };

	check(is_named(&chain, &words, MOST, &want));
}

/* Both begin to run something: the innermost frame is none of an evaluator. */
static void check_beginning(void)
{
	static const struct words chain = { 4, {
		PERF_CONTEXT_USER, NATIVE, EVALUATOR(PERL), EVALUATOR(PYTHON),
	} };
	static const struct words words = { 8, {
		0x500000 | ENDS, 1, 0x500010 | ENDS, 2, 0x600000 | ENDS, 1, 0x600010 | ENDS, 2,
	}, 2, 2 };
	static const struct words want = { 8, {
		PERF_CONTEXT_USER, NATIVE, 0x500001, 0x600001, EVALUATOR(PERL), 0x600012,
		EVALUATOR(PYTHON), 0x500012,
	} };

	check(is_named(&chain, &words, MOST, &want));
}

/* The chain has room for some of the functions: the last frame is the mark. */
static void check_room(void)
{
	static const struct words chain = { 3, { PERF_CONTEXT_USER, NATIVE, EVALUATOR(PERL) } };
	static const struct words words = { 6, {
		0x500000 | ENDS, 1, 0x600000 | ENDS, 1, 0x600010 | ENDS, 2,
	}, 1, 2 };
	u64 untouched = 0x1234567;
	unsigned int max;

	for (max = 3; max < 6; max++) {
		out[max] = untouched;
		is_named(&chain, &words, max, &chain);
		same(out[max], untouched);
	}
}

/* What a namer was asked to name at once: its names, and the functions of the chain. */
static struct {
	const struct hybrid_names	*names;
	const void			*functions;
	unsigned int			 nr;
	bool				 are_whole;
} whole;

static bool name_whole(struct hybrid_namer *namer __maybe_unused, struct hybrid_names *names,
		       struct hybrid_named_chain *c)
{
	whole.names = names;
	whole.functions = c->functions;
	whole.nr = c->nr_functions;
	whole.are_whole = c->functions_are_whole;
	return true;
}

/* One language alone may name a chain at once; of several each has some of its functions. */
static void check_one(void)
{
	const u64 chain[] = { PERF_CONTEXT_USER, NATIVE }, words[4] = { 0x500000 | ENDS, 1 };
	const struct hybrid_functions first = {
		.language = PYTHON, .words = words, .nr = 1, .are_whole = true,
	};
	const struct hybrid_functions second = {
		.language = PERL, .words = words + 2, .nr = 1,
	};
	struct hybrid_names *names = hybrid_names__new(HYBRID_LANGUAGE_PYTHON);
	struct hybrid_named_chain c = {
		.chain = chain, .nr = ARRAY_SIZE(chain), .is_whole = true, .out = out, .max = MOST,
	};
	unsigned int nr;

	for (nr = 1; nr <= 2; nr++) {
		memset(&whole, 0, sizeof(whole));
		hybrid_joined_namer__init(&joined);
		languages[0].namer = (struct hybrid_namer) {
			.begin = begin, .name = name, .whole = name_whole,
		};
		languages[1].namer = (struct hybrid_namer) { .begin = begin, .name = name };
		hybrid_joined_namer__add(&joined, &languages[0].namer, names, &first);
		if (nr > 1)
			hybrid_joined_namer__add(&joined, &languages[1].namer, NULL, &second);
		hybrid_joined_namer__name_chain(&joined, &c);
		check(whole.names == (nr > 1 ? NULL : names));
		check(whole.functions == (nr > 1 ? NULL : words));
		same(whole.nr, nr == 1);
		same(whole.are_whole, nr == 1);
	}
	hybrid_names__delete(names);
}

/* The words in memory of one's own, of each language those that it had. */
static void check_copy(void)
{
	const u64 words[] = { 0x500000, 1, 0x600000, 2, 0x600010, 3 };
	struct hybrid_sample_functions functions = {
		.nr = 2,
		.of = {
			{ .language = PERL, .words = words + 2, .nr = 2 },
			{ .language = PYTHON, .words = words, .nr = 1, .are_whole = true },
		},
	};
	u64 copy[ARRAY_SIZE(words)];

	same(hybrid_sample_functions__size(&functions), sizeof(copy));
	hybrid_sample_functions__copy(&functions, copy);
	check(functions.of[0].words == copy && functions.of[1].words == copy + 4);
	check(!memcmp(copy, words + 2, 32) && !memcmp(copy + 4, words, 16));
	same(functions.nr, 2);
	same(functions.of[0].nr, 2);
	check(functions.of[1].are_whole && functions.of[1].language == PYTHON);
	check(hybrid_sample_functions__get(&functions, 1) == &functions.of[1]);
	/* What is left of an earlier sample is not this one's. */
	functions.nr = 0;
	same(hybrid_sample_functions__size(&functions), 0);
	check(!hybrid_sample_functions__get(&functions, 0)->nr &&
	      !hybrid_sample_functions__get(&functions, 0)->language &&
	      !hybrid_sample_functions__get(&functions, 0)->words);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "languages that call each other",		check_nested },
		{ "two languages that begin to run a function",	check_beginning },
		{ "no more than there is room for",		check_room },
		{ "one language, and two",			check_one },
		{ "functions of all languages in a copy",	check_copy },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
