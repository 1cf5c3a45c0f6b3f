// SPDX-License-Identifier: GPL-2.0
/*
 * Chains of a JVM that were named before: they are named without a look at the process, as long
 * as BPF says that they came through the same blobs. Stubs have the names of their blobs.
 */
#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>
#include "java-world.h"
#include "tap.h"
#include "../hybrid/runtime/java/java-code-hash.h"

#define INNER	0x1000
#define OUTER	0x2000
#define HOLE	0x3000
#define NR	4

static struct java_test_blob *inner, *outer;
static struct hybrid_names *names;
static struct hybrid_names_quota quota;
static u64 chain[NR], out[16], walked[2], gen;
static struct hybrid_frame frames[NR - 1];

/* The outermost frame. */
static u64 last;

static struct hybrid_named_chain named;

static void begin(void)
{
	u8 code[64];

	memset(code, 0x90, sizeof(code));
	java_begin();
	inner = java_add(INNER, "an inner stub", code, sizeof(code));
	outer = java_add(OUTER, "an outer stub", code, sizeof(code));
	last = 0x1234;
	names = hybrid_names__new(HYBRID_LANGUAGE_JAVA);
	memset(&quota, 0, sizeof(quota));
}

static void end(void)
{
	hybrid_names__delete(names);
	java_end();
}

/* As BPF finds it. */
static u64 code_hash(void)
{
	const struct java_test_blob *blobs[] = { inner, outer };
	u64 word = 0;
	int i;

	for (i = 0; i < 2; i++)
		word = hybrid_java_code_hash(word, (u64)blobs[i], (u64)blobs[i]->name,
					     blobs[i]->compile_id, blobs[i]->frame_size);
	return word;
}

/* A chain of the inner stub, the outer one, and native code. */
static void run(unsigned int at, u64 is, unsigned int nr_walked)
{
	const u64 ips[NR] = {
		PERF_CONTEXT_USER, java_code_at(INNER) + at, java_code_at(OUTER) + 8, last,
	};
	struct hybrid_namer *namer;
	unsigned int i;

	memcpy(chain, ips, sizeof(chain));
	for (i = 0; i < NR - 1; i++)
		frames[i] = (struct hybrid_frame) { .ip = ips[i + 1], .ret = ips[i + 1] };
	named = (struct hybrid_named_chain) {
		.chain = chain, .nr = NR, .frames = frames, .nr_frames = NR - 1, .code_hash = is,
		.walked = walked, .nr_walked = nr_walked, .gen = gen, .out = out, .max = 16,
	};
	java_pass();
	java_unwind(ips[1]);
	namer = hybrid_runtime_namer(java.unwinder.runtimes, getpid(), 0, java.u.space, false);
	if (check(namer))
		hybrid_name_chain(namer, names, &named);
}

static u64 stub(const char *name)
{
	const struct hybrid_function f = { .name = name, .size = 1 };

	return hybrid_names_ip(hybrid_names__function(names, &quota, &f), 1, 0);
}

static void is_named(const char *first, const char *second)
{
	check(named.is_named);
	same(named.nr_out, NR);
	same(out[0], PERF_CONTEXT_USER);
	same(out[1], stub(first));
	same(named.first, stub(first));
	same(out[2], stub(second));
	same(out[3], last);
}

/* The chain is kept for that hash: what the process has now does not change its names. */
static void is_kept(unsigned int at, u64 hash)
{
	run(at, hash, 0);
	is_named("an inner stub", "an outer stub");
	outer->name = "another stub";
	run(at, hash, 0);
	is_named("an inner stub", "an outer stub");
}

/* A frame in the code cache that is in no blob has no part in the hash. */
static void test_hole(void)
{
	begin();
	last = java_code_at(HOLE);
	is_kept(4, code_hash());
	end();
}

/* A blob without a name, or with one that can't be read, is none. */
static void test_no_name(void)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		begin();
		inner->name = (const char *)(8UL * i);
		run(4, 0, 0);
		same(named.nr_out, NR);
		same(out[1], chain[1]);
		same(out[2], stub("an outer stub"));
		end();
	}
}

static void test_same(void)
{
	begin();
	/* What the process has now is not that of the sample: BPF has seen what it was then. */
	is_kept(4, code_hash());
	run(4, code_hash(), 0);
	is_named("an inner stub", "another stub");
	end();
}

/* The number of a compilation, and nothing else. */
static void test_replaced(void)
{
	begin();
	run(4, code_hash(), 0);
	inner->compile_id++;
	outer->name = "another stub";
	run(4, code_hash(), 0);
	is_named("an inner stub", "another stub");
	end();
}

/* What perf reads is not what BPF has walked through: the chain is not kept. */
static void test_not_that(void)
{
	u64 other;

	begin();
	other = code_hash() + 1;
	run(4, other, 0);
	is_named("an inner stub", "an outer stub");
	outer->name = "another stub";
	run(4, other, 0);
	is_named("an inner stub", "another stub");
	/* Nor is one without a code_hash. */
	run(4, 0, 0);
	outer->name = "a third stub";
	run(4, 0, 0);
	is_named("an inner stub", "a third stub");
	end();
}

static void test_first(void)
{
	u64 before;

	begin();
	before = code_hash();
	run(4, before, 0);
	/* An address that no sample had. */
	is_kept(12, before);
	end();
}

/* The interpreter runs another method, or it is a second later. */
static void test_functions(void)
{
	u64 before;

	begin();
	before = code_hash();
	run(4, before, 1);
	outer->name = "another stub";
	walked[1]++;
	run(4, before, 1);
	is_named("an inner stub", "another stub");
	outer->name = "a third stub";
	tap_pass(1100000000);
	run(4, before, 1);
	is_named("an inner stub", "a third stub");
	end();
}

/* The chain as BPF has walked it, of which no frame was looked at. */
static bool is_known(u64 in_gen, unsigned int at)
{
	chain[1] = java_code_at(INNER) + at;
	frames[0].ip = chain[1];
	frames[0].ret = chain[1];
	named.nr_frames = 1;
	named.gen = in_gen;
	named.is_unseen = true;
	return hybrid_name_known(hybrid_runtime_namer(java.unwinder.runtimes, getpid(), 0,
						      java.u.space, false), names, &named);
}

static void test_unseen(void)
{
	begin();
	run(4, code_hash(), 0);
	/* It was not complete, so that each frame has to be looked at. */
	check(!is_known(0, 4));
	check(!is_known(7, 4));
	gen = 7;
	run(4, code_hash(), 0);
	gen = 0;
	check(is_known(7, 4));
	is_named("an inner stub", "an outer stub");
	check(is_known(7, 12));
	is_named("an inner stub", "an outer stub");
	/* Other mappings: what is at its addresses may be another file. */
	check(!is_known(8, 4));
	end();
}

/* The first frame is in a file: whether it is one is not known. */
static void test_unseen_native(void)
{
	begin();
	gen = 7;
	run(4, code_hash(), 0);
	gen = 0;
	check(!is_known(7, 0x100000));
	named.knows_first = true;
	check(is_known(7, 0x100000));
	same(out[1], chain[1]);
	same(named.first, 0);
	end();
}

/* There is room for what it was before, and no more. */
static void test_room(void)
{
	begin();
	run(4, code_hash(), 0);
	named.max = NR - 1;
	hybrid_name_chain(hybrid_runtime_namer(java.unwinder.runtimes, getpid(), 0, java.u.space,
					       false), names, &named);
	check(named.is_cut_off);
	same(named.nr_out, NR - 1);
	end();
}

static const struct tap_test tests[] = {
	{ "the same chain", test_same },
	{ "a frame between blobs", test_hole },
	{ "a blob without a name", test_no_name },
	{ "another method in the place of one", test_replaced },
	{ "a chain that perf can't have read", test_not_that },
	{ "another address of the first frame", test_first },
	{ "what the interpreter runs", test_functions },
	{ "a chain of which no frame was looked at", test_unseen },
	{ "the same, with a first frame in a file", test_unseen_native },
	{ "a chain that has no room", test_room },
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
