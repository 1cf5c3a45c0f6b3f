// SPDX-License-Identifier: GPL-2.0
/*
 * Return probes: the kernel's chain has the addresses that their trampoline replaced.
 */
#include <stdlib.h>
#include <string.h>
#include "merge-scene.h"
#include "kernel-chain.h"
#include "uretprobe.h"
#include "tap.h"

#define BP	HYBRID_X86_64_BP

/* The last page of user space: [uprobes], which no record tells of. */
#define TRAMPOLINE	0x7fffffffe000

/* Frame @i of merge_recurse() returns to there, and the kernel knows where that leads. */
static void probe_return(unsigned int i)
{
	s.stack[4 * i + 3] = TRAMPOLINE;
}

/* Return probes of any of the frames, and a dump of any size. */
static void return_probes(void)
{
	unsigned int round, words, i;

	for (round = 0; round < 200; round++) {
		merge_recurse(10);
		for (i = 0; i < 10; i++) {
			if (round == 0 || tap_random() % 2)
				probe_return(i);
		}
		same(merge(), HYBRID_COMPLETE);
		merge_expect_recursion(10, __LINE__);
	}
	for (words = 4; words < 40; words++) {
		merge_recurse(10);
		probe_return(2);
		probe_return(7);
		s.u.dump_size = words * 8;
		if (merge() == HYBRID_STITCHED)
			merge_expect_recursion(10, __LINE__);
		else
			same(m.nr, 4 + 1 + words / 4 + 1);
	}
	merge_finish();
}

/* The kernel found the innermost caller otherwise, and has that before the others. */
static void return_probes_one_more(void)
{
	static const u64 start[] = { USER };
	enum hybrid_outcome outcome;
	unsigned int round, one_more, i;

	for (round = 0; round < 400; round++) {
		one_more = round % 2;
		scene_start(&s, scene_at("bpframe_entry"));
		scene_push(&s, scene_at("bpframe_ret"));
		chain_start(start, 1);
		chain_add(scene_at("bpframe_entry"));
		if (one_more)
			chain_add(scene_at("bpframe_ret"));
		for (i = 0; i < 4; i++) {
			scene_fill(&s, 2, 0xdead);
			if (!i)
				scene_reg_top(&s, BP);
			chain_add(scene_at(i < 3 ? "bpframe_ret" : "outer_ret"));
			scene_push_bpframe(&s, i < 3 ? scene_top(&s) + 32 : 0,
					   tap_random() % 2 ? TRAMPOLINE : chain[nr_chain - 1]);
		}
		outcome = merge();
		/* What is not clear is not taken: only where all that tells is replaced. */
		if (outcome != HYBRID_COMPLETE) {
			check(one_more && s.stack[s.nr - 1] == TRAMPOLINE);
			same(outcome, HYBRID_NO_MAP);
			continue;
		}
		merge_expect(USER, scene_at("bpframe_entry"), scene_at("bpframe_ret") - 1,
			     scene_at("bpframe_ret") - 1, scene_at("bpframe_ret") - 1,
			     scene_at("bpframe_ret") - 1, scene_at("outer_ret") - 1);
	}
	merge_finish();
}

/* Nothing is made up of a chain that does not know. */
static void return_probes_unknown(void)
{
	/* It has no user part. */
	merge_recurse(10);
	probe_return(2);
	nr_chain = 3;
	same(merge(), HYBRID_NO_MAP);
	same(m.nr, 3 + 1 + 3 + 1);
	/* It has another address than one of the frames before. */
	merge_recurse(10);
	probe_return(2);
	chain[5] = scene_at("pushed_ret");
	same(merge(), HYBRID_NO_MAP);
	same(m.nr, 4 + 3 + 1);
	/* What it has is no return address; or the trampoline, on an old kernel. */
	merge_recurse(10);
	probe_return(2);
	chain[7] = scene_at("bpframe_entry");
	same(merge(), HYBRID_NO_MAP);
	chain[7] = TRAMPOLINE;
	same(merge(), HYBRID_NO_MAP);
	same(m.nr, 4 + 3 + 1);
	/* It ends before. */
	nr_chain = 7;
	same(merge(), HYBRID_NO_MAP);
	merge_finish();
}

/* Code without CFI, which only a call before the return address confirms. */
static void return_probes_no_cfi(void)
{
	u64 bare_at = SCENE_NOCFI + elf_file_symbol("nocfi.so", "bare_at");
	u64 bare_ret = SCENE_NOCFI + elf_file_symbol("nocfi.so", "bare_ret");
	static const u64 start[] = { USER };

	scene_start(&s, bare_at);
	scene_reg(&s, BP, SCENE_STACK);
	scene_push_bpframe(&s, SCENE_STACK + 16, TRAMPOLINE);
	scene_push_bpframe(&s, 0, TRAMPOLINE);
	chain_start(start, 1);
	chain_add(bare_at);
	chain_add(bare_ret);
	chain_add(scene_at("outer_ret"));
	same(merge(), HYBRID_COMPLETE);
	merge_expect(USER, bare_at, bare_ret - 1, scene_at("outer_ret") - 1);
	merge_finish();
}

/* Frames that it does not go through are not known to it, but those above are. */
static void return_probes_frameless(void)
{
	static const u64 start[] = { USER };
	unsigned int i;

	for (i = 0; i < 3; i++) {
		scene_start(&s, scene_at("leaf_at"));
		scene_push(&s, i == 2 ? TRAMPOLINE : scene_at("pushed_ret"));
		scene_push_pushed(&s, 0, scene_at("bpframe_ret"));
		scene_reg_top(&s, BP);
		scene_push_bpframe(&s, 0, i ? TRAMPOLINE : scene_at("outer_ret"));
		chain_start(start, 1);
		chain_add(scene_at("leaf_at"));
		chain_add(scene_at("outer_ret"));
		same(merge(), i < 2 ? HYBRID_COMPLETE : HYBRID_NO_MAP);
		if (i < 2)
			merge_expect(USER, scene_at("leaf_at"), scene_at("pushed_ret") - 1,
				     scene_at("bpframe_ret") - 1, scene_at("outer_ret") - 1);
		else
			merge_expect(USER, scene_at("leaf_at"), CUT_OFF);
	}
	merge_finish();
}

/* Where a chain has user addresses: after its mark, up to another mark. */
static void user_parts(void)
{
	static const struct {
		u64		chain[6];
		unsigned int	nr, first, nr_user;
	} parts[] = {
		{ { 1, 2 }, 2, 0, 0 }, { { USER }, 1, 1, 0 }, { { 1, USER, 2, 3 }, 4, 2, 2 },
		{ { 1, USER, 2, (u64)PERF_CONTEXT_MAX, 3 }, 5, 2, 1 },
		{ { 1, USER, 2, (u64)PERF_CONTEXT_MAX - 1, 3 }, 5, 2, 3 }, { { 0 }, 0, 0, 0 },
		{ { USER, USER, 2 }, 3, 1, 0 },
	};
	const struct hybrid_kernel_chain *kernel;
	const u64 *user;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		kernel = kernel_chain(parts[i].chain, parts[i].nr);
		user = parts[i].chain + parts[i].first;
		check(parts[i].first ? kernel->user == user : !kernel->user);
		same(kernel->has_user, !!parts[i].first);
		same(kernel->nr_user, parts[i].nr_user);
		same(kernel->nr_kernel, parts[i].first ? parts[i].first - 1 : parts[i].nr);
	}
}

#define MOST	6

/* Frames with bp, the innermost first: where they are, and their return addresses. */
static struct {
	u64		fp[MOST], ret[MOST];
	unsigned int	nr;
} model;

/* A few values, so that they are often the same. */
static u64 any_return(bool trampoline)
{
	u64 n = tap_random() % (trampoline ? 4 : 2);

	return n < 2 ? scene_at(n ? "bpframe_ret" : "pushed_ret") : TRAMPOLINE;
}

static void make_frames(void)
{
	unsigned int i;
	u64 end;

	scene_start(&s, scene_at("bpframe_at"));
	scene_fill(&s, tap_random() % 3, 1);
	model.nr = tap_random() % MOST;
	scene_reg_top(&s, BP);
	for (i = 0; i < model.nr; i++) {
		unsigned int gap = tap_random() % 2;

		model.fp[i] = scene_top(&s);
		model.ret[i] = any_return(true);
		/* The last one leads nowhere, down, to itself, or out of the dump. */
		end = (const u64[]) { 0, scene_top(&s) - 8, scene_top(&s), scene_top(&s) + 800 }
			[tap_random() % 4];
		scene_push(&s, i + 1 < model.nr ? scene_top(&s) + 16 + 8 * gap : end);
		scene_push(&s, model.ret[i]);
		scene_fill(&s, gap, 2);
	}
}

/* Do the frames' return addresses, or trampolines, follow each other from @at on? */
static bool fits(const u64 *user, unsigned int nr_user, unsigned int at)
{
	unsigned int i;

	for (i = 0; i < model.nr; i++) {
		if (at + i >= nr_user)
			return false;
		if (model.ret[i] != TRAMPOLINE && model.ret[i] != user[at + i])
			return false;
	}
	return true;
}

static u64 returns_to(const u64 *user, bool plain, bool one_more, u64 at)
{
	unsigned int i;

	for (i = 0; i < model.nr; i++) {
		if (model.fp[i] + 8 != at)
			continue;
		if (plain && (!one_more || user[1 + i] == user[2 + i]))
			return user[1 + i];
		if (one_more && !plain)
			return user[2 + i];
	}
	return 0x1234;
}

static void against_model(void)
{
	unsigned int round, nr_user, i, nr_known = 0;
	bool plain, one_more;
	u64 user[MOST + 4], *copy, at, found;

	for (round = 0; round < 50000; round++) {
		make_frames();
		nr_user = tap_random() % ARRAY_SIZE(user);
		user[0] = USER;
		for (i = 1; i < ARRAY_SIZE(user); i++)
			user[i] = tap_random() % 4 && i >= 2 && i - 2 < model.nr &&
				  model.ret[i - 2] != TRAMPOLINE ?
				  model.ret[i - 2] : any_return(false);
		/* Nothing is read beyond its end. */
		nr_user = min(nr_user, MOST + 3U);
		copy = malloc((1 + nr_user) * sizeof(u64));
		if (!check(copy))
			return;
		memcpy(copy, user, (1 + nr_user) * sizeof(u64));
		s.u.user = kernel_chain(copy, 1 + nr_user)->user;
		s.u.nr_user = kernel_chain(copy, 1 + nr_user)->nr_user;
		s.u.user_at = 0;
		s.u.nr = 1 + tap_random() % 2;
		s.frames[1].ret = any_return(false);
		plain = fits(user + 1, s.u.nr_user, 1);
		one_more = s.u.nr > 1 && s.u.nr_user > 1 && user[2] == s.frames[1].ret &&
			   fits(user + 1, s.u.nr_user, 2);
		for (at = s.u.dump_start; at < scene_top(&s) + 16; at += 8) {
			found = hybrid_uretprobe_return(&s.u, at, 0x1234);
			same(found, returns_to(user + 1, plain, one_more, at));
			nr_known += found != 0x1234;
		}
		free(copy);
	}
	check(nr_known > 1000);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "return probes: the user part of a chain", user_parts },
		{ "return probes: as a model", against_model },
		{ "merge: return probes", return_probes },
		{ "merge: return probes, and a caller by sp", return_probes_one_more },
		{ "merge: return probes that the kernel's chain has not", return_probes_unknown },
		{ "merge: return probes in code without CFI", return_probes_no_cfi },
		{ "merge: return probes of frames without a pointer", return_probes_frameless },
	};
	int status = tap_run(tests, ARRAY_SIZE(tests));

	scene_exit();
	return status;
}
