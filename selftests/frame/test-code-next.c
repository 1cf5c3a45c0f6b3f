// SPDX-License-Identifier: GPL-2.0
/*
 * The bounds of a walk by code and of its searches, the switches, and when a step is tried. Prints
 * TAP.
 */
#include "code-state.h"

/* Returns one after another: so many steps by code, and no more. */
static void check_limit(void)
{
	struct unwind_user_state before;
	unsigned int i;
	bool ok = true;

	begin(8);
	user_map(1, STACK, 2 * WORDS * 8, 0);
	for (i = 0; i < 2 * WORDS; i++)
		user_put_word(STACK + 8 * i, RETURN(i), 8);
	user_put(CODE, "\xc3", 1);
	state->topmost = true;
	for (i = 0; i < UNWIND_USER_CODE_MAX; i++)
		ok &= unwind_user_code_next(state) && state->ip == RETURN(i) &&
		      state->sp == STACK + 8 * (i + 1) && state->ask_code && !state->topmost &&
		      state->arch.nr_code == i + 1;
	before = *state;
	user.reads = 0;
	ok &= !unwind_user_code_next(state) && same(state, &before) && !user.reads;
	ok &= !state->ask_code && state->arch.nr_code == UNWIND_USER_CODE_MAX;
	report(ok, "next: 8 steps by code, and no more");
}

/* A step is tried for the interrupted frame, and if the step before was by code. */
static void check_ask(void)
{
	bool ok;

	begin(8);
	user_put_word(STACK, RETURN(0), 8);
	user_put(CODE, "\xc3", 1);
	ok = !unwind_user_code_next(state) && !user.reads && !state->arch.nr_code;
	state->ask_code = true;
	ok &= unwind_user_code_next(state) && state->ip == RETURN(0);
	/* The next word is no return address. */
	ok &= !unwind_user_code_next(state) && !state->ask_code && state->arch.nr_code == 2;
	ok &= state->ip == RETURN(0) && state->sp == STACK + 8;
	report(ok, "next: only after a step by code");
}

/* After a call that never returns comes the entry of another function. */
static void check_noreturn(void)
{
	bool ok;

	begin(8);
	user_put(RETURN(1), "\x55\x48\x89\xe5", 4);
	user_put_word(STACK, RETURN(0), 8);
	state->ip = RETURN(1);
	state->ask_code = true;
	ok = !unwind_user_code_next(state) && state->ip == RETURN(1) && state->sp == STACK;
	state->topmost = true;
	ok &= unwind_user_code_next(state) && state->ip == RETURN(0) && !state->topmost;
	report(ok, "next: no step by the entry of the function after a noreturn call");
}

/* The analysis rejects the path, after it has made a rule of it: bp is in use, not restored. */
static void check_unknown(void)
{
	unsigned int i;
	bool ok = true;

	begin(8);
	user_put(CODE + 0x10, "\x48\x89\xef\xe8\0\x10\0\0\x58\xc3", 10);
	for (i = 0; i < WORDS; i++)
		user_put_word(STACK + 8 * i, RETURN(i), 8);
	/* Searched, from the cache, and in task context. */
	for (i = 0; i < 3; i++) {
		state->ip = CODE + 0x10;
		state->topmost = true;
		state->in_task = i == 2;
		search_credit = UNWIND_USER_CREDIT_MAX;
		ok &= !unwind_user_code_next(state) && state->ip == CODE + 0x10;
	}
	report(ok, "next: no step by a rule that was rejected");
}

static void check_switches(void)
{
	bool ok = true;

	begin(8);
	user_put_word(STACK, RETURN(0), 8);
	user_put(CODE, "\xc3", 1);
	user_put(CODE + 0x10, "\x48\x01\xd8\xc3", 4);
	state->topmost = true;
	unwind_user_code_enabled.key = false;
	ok &= !unwind_user_code_next(state) && !unwind_user_code_exact(state);
	ok &= !unwind_user_at_trampoline(state, TRAMPOLINE(X86_SIGRETURN_64)) && !user.reads;
	unwind_user_code_enabled.key = true;
	report(ok, "off: nothing is read");
	unwind_user_search_enabled.key = false;
	state->ip = CODE + 0x10;
	ok = !unwind_user_code_next(state);
	state->in_task = true;
	ok &= !unwind_user_code_next(state);
	state->ip = CODE;
	ok &= unwind_user_code_next(state);
	unwind_user_search_enabled.key = true;
	report(ok, "no search: a look only");
	begin(8);
	user_put_word(STACK, RETURN(0), 8);
	user_put(CODE + 0x10, "\x48\x01\xd8\xc3", 4);
	state->ip = CODE + 0x10;
	state->topmost = true;
	state->in_task = true;
	walk_no_memory = true;
	ok = !unwind_user_code_next(state);
	state->ip = CODE + 0x13;
	ok &= unwind_user_code_next(state);
	walk_no_memory = false;
	state->ip = CODE + 0x10;
	state->sp = STACK;
	state->topmost = true;
	ok &= unwind_user_code_next(state) && !walk_allocated;
	report(ok, "no memory for a search: a look only");
}

/* Exact states only: of the look, and no others. */
static void check_exact(void)
{
	struct unwind_user_state before;
	bool ok;

	begin(8);
	user_put(CODE + 0x10, "\x48\x01\xd8\xc3", 4);
	user_put_word(STACK, RETURN(0), 8);
	state->topmost = true;
	state->ip = CODE + 0x10;
	before = *state;
	ok = !unwind_user_code_exact(state) && same(state, &before);
	state->ip = TRAMPOLINE(X86_SIGRETURN_64);
	before = *state;
	ok &= !unwind_user_code_exact(state) && same(state, &before);
	state->ip = CODE + 0x13;
	before = *state;
	user_put_word(STACK, PLAIN(0), 8);
	ok &= !unwind_user_code_exact(state) && same(state, &before);
	user_put_word(STACK, RETURN(0), 8);
	ok &= unwind_user_code_exact(state) && state->ip == RETURN(0) && !state->topmost &&
	      state->sp == STACK + 8;
	report(ok, "exact: by a look only");
}

/* What may be searched: by the time that is left, and by the CPU's credit. */
static void check_search_limit(void)
{
#ifndef MODULE
	static const u64 times[] = { 0, 1, 49, 50, X86_FRAME_INSNS / 8 * 50 - 1,
		X86_FRAME_INSNS / 8 * 50, X86_FRAME_INSNS / 8 * 50 + 49,
		X86_FRAME_INSNS * 50 - 1, X86_FRAME_INSNS * 50, 1ULL << 40, ~0ULL };
	unsigned int i, want;
	int credit;
	bool ok = true;

	for (i = 0; i < ARRAY_SIZE(times); i++)
		for (credit = -3; credit <= 3; credit++) {
			time_left = times[i];
			want = times[i] / 50 > X86_FRAME_INSNS ? X86_FRAME_INSNS : times[i] / 50;
			if (want < X86_FRAME_INSNS / 8 || credit <= 0)
				want = 0;
			ok &= search_limit(credit) == want;
		}
	time_left = ~0ULL;
	report(ok, "searches: as much as there is time for");
#endif
}

static void check_credit(void)
{
	struct x86_frame_mem mem = code_of(state);
	struct x86_frame_rule rule;
	struct x86_frame_cache *cache;
	bool ok = true;
	int credit;

	for (credit = -100; credit <= UNWIND_USER_CREDIT_MAX; credit++) {
		int want = credit + 160 > 8192 ? 8192 : credit + 160;

		search_credit = credit;
		state->arch.nr_code = 2;
		bring_credit(state);
		ok &= search_credit == credit;
		state->arch.nr_code = 1;
		bring_credit(state);
		ok &= search_credit == want;
	}
	report(ok, "searches: a walk brings its credit once");

	begin(8);
	mem = code_of(state);
	user_put(CODE, "\x48\x01\xd8\x48\x01\xd8\xc3", 7);
	cache = cache_get();
	ok = cache && walk_preempt_count == 1 && !cache_get() && walk_preempt_count == 1;
	search_credit = 1;
	state->arch.spent = 7;
	ok &= search_bounded(state, cache, &mem, &rule) == X86_FRAME_SCAN_SP;
	ok &= cache->work.took && state->arch.spent == 7 + cache->work.took &&
	      search_credit == 1 - (int)cache->work.took && cache->spent == 7;
	mm.context.ctx_id++;
	state->arch.spent = 0;
	search_credit = 0;
	ok &= search_bounded(state, cache, &mem, &rule) == X86_FRAME_UNKNOWN &&
	      cache->spent == X86_FRAME_INSNS;
	cache_put();
	ok &= !walk_preempt_count && cache_get() == cache;
	cache_put();
	report(ok, "searches: all of a walk share one limit, and use up the credit");
	/* Of a walk whose only step is found in the cache. */
	state->arch.nr_code = 1;
	state->ip = CODE;
	ok = find_rule(state, &mem, &rule) == X86_FRAME_SCAN_SP;
	search_credit = 5;
	ok &= find_rule(state, &mem, &rule) == X86_FRAME_SCAN_SP && search_credit == 165;
	report(ok, "searches: each walk brings credit");
	search_credit = UNWIND_USER_CREDIT_MAX;
}

static void check_prepare(void)
{
	void *kept;
	bool ok;

	walk_no_memory = true;
	ok = unwind_user_code_prepare() == -ENOMEM && !frame_cache;
	unwind_user_code_release();
	walk_no_memory = false;
	ok &= !unwind_user_code_prepare() && frame_cache == walk_kept;
	kept = walk_kept;
	/* For a second CPU that was added, and after an error. */
	ok &= !unwind_user_code_prepare() && frame_cache == kept && walk_kept == kept;
	unwind_user_code_release();
	ok &= !frame_cache && !cache_get() && !walk_preempt_count;
	ok &= !unwind_user_code_prepare() && frame_cache;
	report(ok, "prepare: once for each CPU");
}

#ifndef MODULE
static void check_sysctl(void)
{
	static const struct { const char *name; void *data; } want[] = {
		{ "unwind_user_code", &unwind_user_code_enabled.key },
		{ "unwind_user_search", &unwind_user_search_enabled.key },
	};
	bool ok = !walk_initcall() && walk_nr_sysctl == ARRAY_SIZE(want);
	unsigned int i;

	for (i = 0; ok && i < ARRAY_SIZE(want); i++)
		ok = !strcmp(walk_sysctl[i].procname, want[i].name) &&
		     walk_sysctl[i].data == want[i].data && walk_sysctl[i].mode == 0644 &&
		     walk_sysctl[i].proc_handler == proc_do_static_key;
	report(ok, "sysctl: both switches, which root alone may set");
}
#endif

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	check_prepare();
#ifndef MODULE
	check_sysctl();
#endif
	check_search_limit();
	check_limit();
	check_ask();
	check_noreturn();
	check_unknown();
	check_switches();
	check_exact();
	check_credit();
	unwind_user_code_release();
	printf("1..%d\n", nr_tests);
	return !!nr_failed;
}
