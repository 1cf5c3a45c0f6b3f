// SPDX-License-Identifier: GPL-2.0
/*
 * Walks in the kernel through addresses that are known: copied only if all of it is.
 */
#include <string.h>
#include "known-walk.h"
#include "merge-scene.h"
#include "tap.h"
#include "walk.h"

static u64 unwound[MERGE_MAX];

/* The user part of the chain that chain_of_walk() has made, and where its frames are to be. */
static const u64 *user_ips(void)
{
	return chain + nr_chain - s.u.nr;
}

static void forget(void)
{
	memset(scene_unwinder.cache, 0, sizeof(scene_unwinder.cache));
}

static bool known(void)
{
	return hybrid_known_walk(&scene_unwinder, s.u.space, user_ips(), s.u.nr, out);
}

static void learn(void)
{
	hybrid_known_walk_learn(&scene_unwinder, s.u.space, user_ips(), s.u.nr,
				m.out + m.nr - s.u.nr);
}

/* A pushed() stack as BPF has walked it, merged. */
static void walked_pushed(unsigned int nr)
{
	merge_pushed(nr);
	hybrid_unwind(&scene_unwinder, &s.u);
	chain_of_walk(OUTERMOST);
	same(merge_walk(), HYBRID_COMPLETE);
}

/* Known after the first time: the same frames, and of other lengths of the same stack, too. */
static void known_again(void)
{
	unsigned int nr, i;

	forget();
	walked_pushed(3);
	check(!known());
	learn();
	merge_finish();
	for (nr = 3; nr < 20; nr++) {
		walked_pushed(nr);
		memcpy(unwound, out + m.nr - s.u.nr, s.u.nr * sizeof(*unwound));
		check(known());
		for (i = 0; i < s.u.nr; i++)
			same(out[i], unwound[i]);
		merge_finish();
	}
}

/* Each address in its place: an unknown one, one of another place, or the end in the middle. */
static void known_places(void)
{
	unsigned int nr, wrong;
	u64 *ips, first, caller;

	forget();
	walked_pushed(4);
	learn();
	nr = s.u.nr;
	ips = chain + nr_chain - nr;
	for (wrong = 0; wrong < nr; wrong++) {
		ips[wrong]++;
		check(!known());
		ips[wrong]--;
	}
	check(known());
	s.u.nr--;
	nr_chain--;
	check(!known());
	s.u.nr++;
	nr_chain++;
	/* A return address as the sampled one. */
	first = ips[0];
	ips[0] = ips[1] - 1;
	check(!known());
	ips[0] = first;
	/* And the sampled one as a caller's. */
	caller = ips[1];
	ips[1] = first + 1;
	check(!known());
	ips[1] = caller;
	check(known());
	/* Other mappings. */
	s.u.space->gen++;
	check(!known());
	s.u.space->gen--;
	check(known());
	merge_finish();
}

/* The walk before counts in its own mappings only: in others each address is looked up. */
static void other_mappings(void)
{
	struct hybrid_cache_entry *entry;

	forget();
	walked_pushed(20);
	learn();
	check(known());
	entry = hybrid_cache_find(&scene_unwinder, s.u.space->gen, user_ips()[s.u.nr - 2] - 1);
	if (check(entry && entry->is_known_caller)) {
		entry->is_known_caller = false;
		check(known());
		scene_unwinder.last_walk.gen++;
		check(!known());
	}
	merge_finish();
}

/* A whole chain that is not copied when it comes again. */
static void complete_and_unknown(const u64 *ips, unsigned int nr)
{
	forget();
	walk_chain(ips, nr);
	same(merge_walk(), HYBRID_COMPLETE);
	learn();
	check(!known());
	merge_finish();
}

/* A signal's frames are no return addresses: each time anew. */
static void known_signal(void)
{
	const u64 ips[] = {
		scene_at("leaf_at"), scene_at("sigframe_ret"), scene_at("bpframe_entry"),
		scene_at("outer_ret"),
	};

	complete_and_unknown(ips, ARRAY_SIZE(ips));
}

/* Code without CFI: whether it was called depends on what called it. */
static void known_by_code(void)
{
	const u64 ips[] = {
		SCENE_NOCFI + elf_file_symbol("nocfi.so", "bare_at"),
		SCENE_NOCFI + elf_file_symbol("nocfi.so", "bare_ret"),
		scene_at("outer_ret"),
	};

	complete_and_unknown(ips, ARRAY_SIZE(ips));
}

/* Code that no file has can be a caller: as often as it is met. */
static void made_code(void)
{
	const u64 ips[] = {
		scene_at("leaf_at"), SCENE_JIT + 200, SCENE_JIT + 300, scene_at("outer_ret"),
	};
	unsigned int i;

	forget();
	for (i = 0; i < 3; i++) {
		walk_chain(ips, ARRAY_SIZE(ips));
		same(s.u.stop, HYBRID_STOP_OUTERMOST);
		same(s.u.nr, ARRAY_SIZE(ips));
		same(s.u.sure, ARRAY_SIZE(ips));
		same(s.frames[1].ip, SCENE_JIT + 199);
	}
	check(!known());
	same(merge_walk(), HYBRID_COMPLETE);
	learn();
	check(known());
	same(out[2], SCENE_JIT + 299);
	/* Nor is it the first or the last one of a chain that is copied. */
	check(!hybrid_known_walk_first(&scene_unwinder, s.u.space, SCENE_JIT + 199));
	check(!hybrid_known_walk(&scene_unwinder, s.u.space, user_ips(), 3, out));
	/* What was sampled may be in it. */
	merge_finish();
	{
		const u64 first[] = { SCENE_JIT + 8, SCENE_JIT + 200, scene_at("outer_ret") };

		walk_chain(first, ARRAY_SIZE(first));
		same(merge_walk(), HYBRID_COMPLETE);
		learn();
		check(known());
		check(hybrid_known_walk_first(&scene_unwinder, s.u.space, SCENE_JIT + 8));
		merge_finish();
	}
}

/* One frame is no walk, and two are one. */
static void known_short(void)
{
	const u64 ips[] = { scene_at("leaf_at"), scene_at("outer_ret") };

	forget();
	walk_chain(ips, ARRAY_SIZE(ips));
	same(merge_walk(), HYBRID_COMPLETE);
	learn();
	check(known());
	check(!hybrid_known_walk(&scene_unwinder, s.u.space, user_ips(), 1, out));
	check(!hybrid_known_walk(&scene_unwinder, s.u.space, user_ips(), 0, out));
	merge_finish();
}

#define LONGEST	(HYBRID_LAST_WALK + 2)

static u64 made[LONGEST], with_last[LONGEST], without[LONGEST];

/* The walk before it changes neither whether a walk is known nor its frames. */
static bool known_either_way(const struct hybrid_space *space, unsigned int nr)
{
	struct hybrid_last_walk last = scene_unwinder.last_walk;
	bool is_known, is_known_alone;

	is_known = hybrid_known_walk(&scene_unwinder, space, made, nr, with_last);
	memset(&scene_unwinder.last_walk, 0, sizeof(scene_unwinder.last_walk));
	is_known_alone = hybrid_known_walk(&scene_unwinder, space, made, nr, without);
	same(is_known, is_known_alone);
	if (is_known && is_known_alone)
		check(!memcmp(with_last, without, nr * sizeof(*made)));
	if (!is_known)
		scene_unwinder.last_walk = last;
	return is_known;
}

/* Chains that differ in any way from the walk before. */
static void known_by_last(void)
{
	struct hybrid_space *other = hybrid_space_new();
	unsigned int nr, i, at, nr_known = 0;
	u64 all[MERGE_MAX], unknown = 0x4711;

	forget();
	walked_pushed(19);
	learn();
	nr = s.u.nr;
	memcpy(all, user_ips(), nr * sizeof(*all));
	for (i = 0; i < 20000; i++) {
		unsigned int left_out = tap_random() % 4, from = tap_random() % nr;

		memcpy(made, all, nr * sizeof(*all));
		at = tap_random() % nr;
		switch (tap_random() % 6) {
		case 0:
			made[at] = unknown;
			break;
		case 1:
			made[at] = all[from];
			break;
		case 2:
			made[at] = all[at] + 1;
			break;
		default:
			break;
		}
		if (left_out >= nr - 2)
			left_out = 0;
		memmove(made + 1, made + 1 + left_out, (nr - 1 - left_out) * sizeof(*made));
		nr_known += known_either_way(s.u.space, nr - left_out);
	}
	check(nr_known > 1000 && nr_known < i);
	/* The same addresses are others in another space. */
	memcpy(made, all, nr * sizeof(*all));
	check(known_either_way(s.u.space, nr));
	check(!known_either_way(other, nr));
	check(known_either_way(s.u.space, nr));
	merge_finish();
	hybrid_space_put(other);
}

/* As long as what is kept, and longer. */
static void known_long(void)
{
	unsigned int nr, i;

	forget();
	walked_pushed(19);
	learn();
	for (nr = LONGEST - 4; nr <= LONGEST; nr++) {
		/* The innermost one, the same recursion again and again, the outermost ones. */
		for (i = 0; i < nr; i++)
			made[i] = user_ips()[i < 2 ? i : i + 3 > nr ? s.u.nr + i - nr : 2];
		check(known_either_way(s.u.space, nr) == known_either_way(s.u.space, nr));
		check(scene_unwinder.last_walk.nr <= HYBRID_LAST_WALK);
	}
	merge_finish();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "known: through known addresses, other chains too", known_again },
		{ "known: each address in its place", known_places },
		{ "known: other mappings", other_mappings },
		{ "known: never through a signal's frame", known_signal },
		{ "known: never through code without CFI", known_by_code },
		{ "known: through code without a file", made_code },
		{ "known: the shortest walk", known_short },
		{ "known: the walk before", known_by_last },
		{ "known: as long a walk as is kept", known_long },
	};
	int ret = tap_run(tests, ARRAY_SIZE(tests));

	scene_exit();
	return ret;
}
