// SPDX-License-Identifier: GPL-2.0
/*
 * A goroutine that needs a larger stack: its caller is found by what newstack() has copied, if what
 * newstack() called was sampled.
 */
#include "merge-scene.h"
#include "tap.h"

#define BIAS	0x7e0000000000ULL

/* The bp of the goroutine that waits. */
#define GO_BP	0xc000007e08ULL

static u64 at(const char *label)
{
	return BIAS + elf_file_symbol("gopclntab.so", label);
}

/* newstack() was sampled, or what it called, which has no frame. */
static void start(bool is_called)
{
	static const u64 user[] = { USER };

	scene_start(&s, 0);
	elf_file_map(&scene_ps, SCENE_PID, "gopclntab.so", BIAS);
	scene_start(&s, at(is_called ? "copies" : "newstack_ret"));
	if (is_called)
		scene_push(&s, at("newstack_ret"));
	scene_reg(&s, HYBRID_X86_64_BP, scene_top(&s) + 6 * 8);
	scene_fill(&s, 2, 0xdead);
	/* struct gobuf begins with sp and pc. */
	scene_push(&s, GO_BP - 0x10);
	scene_push(&s, at("starter_small"));
	scene_fill(&s, 2, 0xdead);
	scene_push(&s, GO_BP);
	scene_push(&s, at("grows_ret"));
	scene_fill(&s, 8, 0xdead);
	chain_start(user, ARRAY_SIZE(user));
	chain_add(at(is_called ? "copies" : "newstack_ret"));
	chain_add(at("grows_ret"));
	chain_add(at("top") + 1);
}

/* newstack() itself may not have copied it yet: what stands there is of an earlier call. */
static void sampled(void)
{
	start(true);
	same(merge(), HYBRID_STITCHED);
	merge_expect(USER, at("copies"), at("newstack_ret") - 1, at("grows_ret") - 1,
		     at("small_ret") - 1, at("starter_small") - 1, at("top"));
	merge_finish();
	scene_exit();
	start(false);
	same(merge(), HYBRID_BAD_CFI);
	merge_expect(USER, at("newstack_ret"), at("grows_ret") - 1, CUT_OFF);
	merge_finish();
	scene_exit();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "stack growth: newstack() was sampled, or what it called", sampled },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
