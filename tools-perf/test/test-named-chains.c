// SPDX-License-Identifier: GPL-2.0
/*
 * Callers of chains that were named before: addresses and functions decide their names.
 */
#include <string.h>
#include <linux/kernel.h>
#include "named-chains.h"
#include "short-memory.h"
#include "tap.h"

#define NR_FUNCTIONS	2

static u64 ips[] = { 10, 20, 30 }, functions[NR_FUNCTIONS], out[8];

/* A chain of three frames, of which the first one is named. */
static struct hybrid_named_chain chain_of(u64 gen, bool is_unseen)
{
	out[0] = 1;
	return (struct hybrid_named_chain) {
		.chain = ips, .nr = 3, .out = out, .max = 8, .nr_out = 1, .rest = 1, .gen = gen,
		.is_unseen = is_unseen,
	};
}

static void begin(void)
{
	memcpy(ips, (u64 []) { 10, 20, 30 }, sizeof(ips));
	memcpy(functions, (u64 []) { 3, 4 }, sizeof(functions));
	memset(out, 0, sizeof(out));
}

static struct hybrid_kept_chain *keep(struct hybrid_named_chains *known, u64 gen)
{
	struct hybrid_named_chain c = chain_of(gen, false);
	struct hybrid_chain_key key = hybrid_chain_key(&c, 5, functions, NR_FUNCTIONS);

	out[1] = 77;
	out[2] = 30;
	c.nr_out = 3;
	return hybrid_named_chains__keep(known, &c, &key);
}

static bool is_named(struct hybrid_named_chains *known, u64 tag, unsigned int max)
{
	struct hybrid_named_chain c = chain_of(0, false);
	struct hybrid_chain_key key = hybrid_chain_key(&c, tag, functions, NR_FUNCTIONS);
	struct hybrid_kept_chain *chain = hybrid_named_chains__find(known, &c, &key);

	c.max = max;
	memset(&out[1], 0, 2 * sizeof(*out));
	return chain && hybrid_named_chains__put(chain, &c) && c.nr_out == 3 && out[1] == 77 &&
	       out[2] == 30;
}

static void test_key(void)
{
	struct hybrid_named_chains known = {};

	begin();
	check(!is_named(&known, 5, 8));
	check(keep(&known, 0));
	check(is_named(&known, 5, 8));
	/* The first frame may be another one. */
	ips[0] = 11;
	check(is_named(&known, 5, 8));
	check(!is_named(&known, 5, 2));
	check(!is_named(&known, 6, 8));
	ips[2] = 31;
	check(!is_named(&known, 5, 8));
	ips[2] = 30;
	/* Equal frames that run other functions. */
	functions[0] ^= 1ULL << 60;
	check(!is_named(&known, 5, 8));
	functions[0] ^= 1ULL << 60;
	functions[1]++;
	check(!is_named(&known, 5, 8));
	functions[1]--;
	check(is_named(&known, 5, 8));
	hybrid_named_chains__exit(&known);
}

static bool is_found(struct hybrid_named_chains *known, u64 gen, bool is_unseen)
{
	struct hybrid_named_chain c = chain_of(gen, is_unseen);
	struct hybrid_chain_key key = hybrid_chain_key(&c, 5, functions, NR_FUNCTIONS);
	struct hybrid_kept_chain *chain = hybrid_named_chains__find(known, &c, &key);

	return chain && hybrid_named_chains__put(chain, &c);
}

/* Nobody has looked whether they come to the outermost frame. */
static void test_unseen(void)
{
	struct hybrid_named_chains known = {};

	begin();
	check(keep(&known, 0));
	check(!is_found(&known, 0, true));
	check(!is_found(&known, 7, true));
	check(is_found(&known, 7, false));
	check(is_found(&known, 7, true));
	/* One that is not complete changes nothing. */
	check(is_found(&known, 0, false));
	check(is_found(&known, 7, true));
	check(!is_found(&known, 8, true));
	check(keep(&known, 8));
	check(is_found(&known, 8, true));
	check(!is_found(&known, 7, true));
	hybrid_named_chains__exit(&known);
}

/* They share sets: the newest ones are there. */
static void test_many(void)
{
	struct hybrid_named_chains known = {};
	unsigned int i, nr = 0;

	begin();
	for (i = 0; i < 100000; i++) {
		ips[1] = i;
		check(keep(&known, 0));
	}
	for (i = 100000 - 100; i < 100000; i++) {
		ips[1] = i;
		nr += is_named(&known, 5, 8);
	}
	check(nr >= 90);
	hybrid_named_chains__exit(&known);
}

#define NR_PROCESSES	24
#define LONG		900

/* Keeps a chain of LONG words of that number, as one that has no functions. */
static bool keep_long(struct hybrid_named_chains *known, u64 number)
{
	static u64 words[LONG], named[1] = { 77 };
	struct hybrid_named_chain c = {
		.chain = words, .nr = LONG, .out = named, .max = 1, .nr_out = 1,
	};
	struct hybrid_chain_key key;

	words[1] = number;
	key = hybrid_chain_key(&c, 5, NULL, 0);
	return hybrid_named_chains__keep(known, &c, &key) &&
	       hybrid_named_chains__find(known, &c, &key);
}

/* What one process kept before there were others goes as it keeps more. */
static void test_all(void)
{
	static struct hybrid_named_chains known[NR_PROCESSES];
	unsigned int process, i, nr = 0;
	u64 words = 0;

	for (process = 0; process < NR_PROCESSES; process++) {
		for (i = 0; i < 2000; i++)
			nr += keep_long(&known[process], i);
	}
	for (process = 0; process < NR_PROCESSES; process++)
		words += known[process].nr_words;
	check(words > HYBRID_CHAINS_ALL_WORDS / 2 && words <= 2 * HYBRID_CHAINS_ALL_WORDS);
	check(known[NR_PROCESSES - 1].nr_words >= HYBRID_CHAINS_ALL_WORDS / NR_PROCESSES - LONG);
	same(nr, NR_PROCESSES * 2000);
	for (i = 0; i < 2000; i++)
		nr -= keep_long(&known[0], i);
	check(known[0].nr_words <= HYBRID_CHAINS_ALL_WORDS / NR_PROCESSES);
	for (process = 0; process < NR_PROCESSES; process++) {
		hybrid_named_chains__exit(&known[process]);
		same(known[process].nr_words, 0);
	}
	/* The next ones have all that there is. */
	for (i = 0; i < 2000; i++)
		check(keep_long(&known[0], i));
	check(known[0].nr_words > 1500ULL * LONG);
	hybrid_named_chains__exit(&known[0]);
}

/* Functions are taken for the same for a second, and addresses for good. */
static void test_old(void)
{
	struct hybrid_named_chain c = chain_of(0, false);
	struct hybrid_chain_key key = hybrid_chain_key(&c, 5, functions, NR_FUNCTIONS);
	struct hybrid_named_chains known = {};
	struct hybrid_kept_chain *chain;
	bool is_old = true;

	begin();
	check(keep(&known, 0));
	tap_pass(999999999);
	check(hybrid_named_chains__find(&known, &c, &key));
	chain = hybrid_named_chains__find_old(&known, &c, &key, &is_old);
	check(chain && !is_old);
	tap_pass(1);
	check(!hybrid_named_chains__find(&known, &c, &key));
	check(hybrid_named_chains__find_old(&known, &c, &key, &is_old) == chain && is_old);
	hybrid_named_chains__renew(chain);
	check(hybrid_named_chains__find(&known, &c, &key));
	key = hybrid_chain_key(&c, 5, NULL, 0);
	c.nr_out = 2;
	check(hybrid_named_chains__keep(&known, &c, &key));
	tap_pass(2000000000);
	check(hybrid_named_chains__find_old(&known, &c, &key, &is_old) && !is_old);
	hybrid_named_chains__exit(&known);
}

/* A chain of @nr entries, which become @nr_named words. */
static struct hybrid_kept_chain *keep_words(struct hybrid_named_chains *known, u32 nr,
					    u32 nr_named)
{
	static u64 words[HYBRID_CHAIN_WORDS + 2], named[HYBRID_CHAIN_WORDS + 2];
	struct hybrid_named_chain c = {
		.chain = words, .nr = nr, .out = named, .nr_out = nr_named,
	};
	struct hybrid_chain_key key = hybrid_chain_key(&c, 5, NULL, 0);
	u32 i;

	for (i = 0; i < nr_named; i++)
		named[i] = 1000 * nr_named + i;
	return hybrid_named_chains__keep(known, &c, &key);
}

static void check_words(const struct hybrid_kept_chain *chain, u32 nr_named)
{
	u32 i;

	if (!check(chain))
		return;
	same(chain->nr_named, nr_named);
	for (i = 0; i < nr_named; i++)
		same(hybrid_kept_chain_named(chain)[i], 1000 * nr_named + i);
}

/* As many words as are kept of a chain; and one that is kept again has room for what it is now. */
static void test_lengths(void)
{
	struct hybrid_named_chains known = {};

	check_words(keep_words(&known, HYBRID_CHAIN_WORDS / 2 + 1, HYBRID_CHAIN_WORDS / 2),
		    HYBRID_CHAIN_WORDS / 2);
	same(known.nr_words, HYBRID_CHAIN_WORDS);
	check(!keep_words(&known, HYBRID_CHAIN_WORDS / 2 + 2, HYBRID_CHAIN_WORDS / 2));
	check(!keep_words(&known, HYBRID_CHAIN_WORDS / 2 + 1, HYBRID_CHAIN_WORDS / 2 + 1));
	same(known.nr_words, HYBRID_CHAIN_WORDS);
	hybrid_named_chains__exit(&known);
	/* Its first frame alone: it is kept, in a word. */
	check_words(keep_words(&known, 1, 0), 0);
	same(known.nr_words, 1);
	hybrid_named_chains__exit(&known);
	check_words(keep_words(&known, 3, 4), 4);
	same(known.nr_words, 6);
	check_words(keep_words(&known, 3, 2), 2);
	check_words(keep_words(&known, 3, 4), 4);
	same(known.nr_words, 6);
	check_words(keep_words(&known, 3, 5), 5);
	same(known.nr_words, 7);
	hybrid_named_chains__exit(&known);
	same(known.nr_words, 0);
}

/* Of chains that share a set the one goes that was used longest ago. */
static void test_least_used(void)
{
	enum { NR = 1 << (HYBRID_CHAINS_BITS + 3) };
	struct hybrid_named_chains known = {};
	unsigned int i;

	begin();
	check(keep(&known, 0));
	for (i = 0; i < NR; i++) {
		ips[1] = 1000 + i;
		check(keep(&known, 0));
		ips[1] = 20;
		check(is_named(&known, 5, 8));
	}
	hybrid_named_chains__exit(&known);
}

static void test_short(void)
{
	struct hybrid_named_chains known = {};
	unsigned int nr;

	begin();
	for (nr = 0; nr < 2; nr++) {
		short_memory_begin(nr);
		check(!keep(&known, 0));
		check(short_memory_end());
		check(!is_named(&known, 5, 8));
		same(known.nr_words, 0);
	}
	check(keep(&known, 0));
	check(is_named(&known, 5, 8));
	hybrid_named_chains__exit(&known);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "what decides the names of callers",	test_key },
		{ "chains that nobody has looked at",	test_unseen },
		{ "many chains",			test_many },
		{ "chains of all processes",		test_all },
		{ "chains that were named long ago",	test_old },
		{ "chains of all lengths",		test_lengths },
		{ "which chain goes",			test_least_used },
		{ "chains without memory",		test_short },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
