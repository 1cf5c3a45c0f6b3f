// SPDX-License-Identifier: GPL-2.0
/*
 * How tables of unwind rules are attached to events, and the chains of their samples. Prints TAP.
 */
#include "rules-state.h"

static struct file table_file = { .private_data = &table, .f_cred = &opener, .refs = 1 };

static struct perf_event_attr good_attr(void)
{
	return (struct perf_event_attr) {
		.sample_type = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
			       PERF_SAMPLE_STACK_USER,
		.sample_regs_user = 1 << 6 | 1 << 7 | 1 << 8,
		.sample_stack_user = WORDS * 8,
		.unwind_rules = 1,
	};
}

/* Attaching fails, and leaves both files and the event as they were. */
static bool refused(int fd, int err)
{
	const struct file *table_before = event.unwind_table;
	int refs = table_file.refs;

	return perf_unwind_attach(&table_file, fd) == err && event_file.refs == 1 &&
	       table_file.refs == refs && event.unwind_table == table_before;
}

static void check_attach(void)
{
	static const struct cred others[] = {
		{ .euid = { 1001 } },
		{ .euid = { 1000 }, .user_ns = (struct user_namespace *)&opener },
	};
	unsigned int i, bit;
	bool ok = true;

	event = (struct perf_event) { .attr = good_attr() };
	ok &= refused(EVENT_FD + 1, -EBADF);
	table_security = -EACCES;
	ok &= refused(EVENT_FD, -EACCES);
	table_security = 0;
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		event_file.f_cred = &others[i];
		ok &= refused(EVENT_FD, -EPERM);
	}
	event_file.f_cred = &opener;
	/* All sample types and registers that a walk needs, and others. */
	for (bit = 0; bit < 24; bit++) {
		event.attr = good_attr();
		if (!(event.attr.sample_type & 1ULL << bit))
			continue;
		event.attr.sample_type = ~(1ULL << bit);
		ok &= refused(EVENT_FD, -EINVAL);
	}
	for (bit = 6; bit <= 8; bit++) {
		event.attr = good_attr();
		event.attr.sample_regs_user = ~(1ULL << bit);
		ok &= refused(EVENT_FD, -EINVAL);
	}
	event.attr = good_attr();
	event.attr.sample_stack_user = 0;
	ok &= refused(EVENT_FD, -EINVAL);
	event.attr = good_attr();
	event.attr.unwind_rules = 0;
	ok &= refused(EVENT_FD, -EINVAL);
	event.attr = good_attr();
	event.attr.exclude_callchain_user = 1;
	ok &= refused(EVENT_FD, -EINVAL);
	event.attr = good_attr();
	event.attr.defer_callchain = 1;
	ok &= refused(EVENT_FD, -EINVAL);
	event.attr = good_attr();
	event.attr.sample_type = ~0ULL;
	event.attr.sample_regs_user = ~0ULL;
	event.attr.sample_stack_user = 8;
	ok &= !perf_unwind_has_table(&event);
	perf_unwind_free(&event);
	ok &= !perf_unwind_attach(&table_file, EVENT_FD) && event.unwind_table == &table_file &&
	      table_file.refs == 2 && event_file.refs == 1;
	ok &= perf_unwind_has_table(&event) && refused(EVENT_FD, -EEXIST);
	perf_unwind_free(&event);
	ok &= table_file.refs == 1;
	report(ok, "attach: only to events of the same opener that sample what a walk needs");
}

/* The chain of a sample: 2 kernel frames, and what the walk adds. Returns the info word. */
static u64 sample(struct perf_event *event, short contexts)
{
	memset(chain, 0, sizeof(chain));
	ctx = (struct perf_callchain_entry_ctx) {
		.entry = (struct perf_callchain_entry *)chain, .max_stack = MAX_STACK,
		.contexts = contexts,
	};
	perf_callchain_store(&ctx, 0xa);
	perf_callchain_store(&ctx, 0xb);
	nr_fallbacks = 0;
	vma_checks = 0;
	perf_unwind_callchain_user(&ctx, event, &regs);
	return chain[4];
}

/* Rejected: the chain is the kernel's own, after the word that describes the walk. */
static bool is_fallback(u64 info, enum perf_unwind_end end)
{
	return PERF_UNWIND_INFO_END(info) == end && nr_fallbacks == 1 && chain[0] == 7 &&
	       ctx.nr == 4 && chain[5] == (u64)PERF_CONTEXT_USER && chain[6] == regs.ip &&
	       chain[7] == 0x1111 && !perf_unwind_is_whole(ctx.entry);
}

static void check_samples(void)
{
	static const unsigned long sps[] = {
		TASK_SIZE - 8, TASK_SIZE, TASK_SIZE + PAGE_SIZE, -8UL,
	};
	struct perf_event child = { .parent = &event };
	unsigned int i;
	u64 info;
	bool ok;

	event.unwind_table = &table_file;
	event.attr = good_attr();
	child.attr = event.attr;
	make_frames();
	info = sample(&event, 1);
	ok = info == (PERF_UNWIND_END_OUTERMOST | PERF_UNWIND_INNERMOST_RULE << 8 | 7 << 16);
	ok &= chain[0] == 2 + 3 + 8 && ctx.nr == 2 + 8 && ctx.contexts == 4 && !nr_fallbacks;
	ok &= chain[3] == (u64)PERF_CONTEXT_USER_RULES && chain[5] == (u64)PERF_CONTEXT_USER;
	ok &= chain[6] == regs.ip && chain[7] == RETURN(1, 0) && chain[13] == RETURN(7, 0);
	ok &= perf_unwind_is_whole(ctx.entry);
	ok &= sample(&child, 1) == info && !nr_fallbacks && perf_unwind_has_table(&child);
	report(ok, "samples: a whole chain");

	ok = vma_checks == 2;
	for (i = 1; i <= 2; i++) {
		make_frames();
		vma_changes_at = i;
		info = sample(&event, 1);
		/* Of a mapping that was looked up: as if there were no rule. */
		ok &= is_fallback(info, i == 1 ? PERF_UNWIND_END_NO_RULE : PERF_UNWIND_END_BUSY);
	}
	make_frames();
	vma_busy = true;
	ok &= is_fallback(sample(&event, 1), PERF_UNWIND_END_BUSY) && !vma_checks;
	make_frames();
	table.rules = NULL;
	ok &= is_fallback(sample(&event, 1), PERF_UNWIND_END_BUSY) && !vma_checks;
	table.rules = &rules.rules;
	report(ok, "samples: mappings that change meanwhile");

	make_frames();
	rule_of(3)->kind = PERF_UNWIND_UNKNOWN;
	info = sample(&event, 1);
	ok = is_fallback(info, PERF_UNWIND_END_NO_RULE) && PERF_UNWIND_INFO_FRAMES(info) == 3 &&
	     PERF_UNWIND_INFO_INNERMOST(info) == PERF_UNWIND_INNERMOST_RULE;
	report(ok, "samples: the kernel's own chain if rules end early");

	/* No word after the end of the dump is read, and none if sp is no user address. */
	words_from = STACK;
	words_end = STACK + 8 * 8;
	has_strayed = false;
	event.attr.sample_stack_user = 8 * 8;
	make_frames();
	ok = is_fallback(sample(&event, 1), PERF_UNWIND_END_UNREADABLE) &&
	     PERF_UNWIND_INFO_FRAMES(chain[4]) == 4 && !has_strayed;
	for (i = 0; i < ARRAY_SIZE(sps); i++) {
		make_frames();
		regs.sp = sps[i];
		words_from = sps[i];
		words_end = max(TASK_SIZE, sps[i]);
		ok &= is_fallback(sample(&event, 1), PERF_UNWIND_END_UNREADABLE) && !has_strayed;
	}
	event.attr = good_attr();
	report(ok, "samples: only what a dump has is read");

	/* No room for three words. */
	make_frames();
	ok = true;
	for (i = MAX_CONTEXTS - 3; i <= MAX_CONTEXTS; i++) {
		sample(&event, i);
		ok &= i == MAX_CONTEXTS - 3 ? ctx.nr == 10 : ctx.nr == 2 && ctx.contexts_maxed &&
		      !vma_checks && !nr_fallbacks;
	}
	report(ok, "samples: too many contexts");
}

/* A sample has 16 bits for the number of frames. */
static void check_many(void)
{
	enum { MANY = 0x10000 + 5 };
	struct perf_callchain_entry_ctx big = { .max_stack = MANY + 1 };
	unsigned int n, i;
	bool ok = true;

	for (n = 0xfffe; n <= 0x10000; n++) {
		make_frames();
		user_map(1, STACK, MANY * 8, 0);
		event.attr.sample_stack_user = MANY * 8;
		rule_of(0)->cfa_off = 8;
		for (i = 0; i < n; i++)
			user_put_word(STACK + 8 * i, i + 1 < n ? RETURN(0, 1) : RETURN(7, 1), 8);
		big.entry = calloc(1, (MANY + 8) * 8);
		big.nr = 0;
		big.contexts = 0;
		perf_unwind_callchain_user(&big, &event, &regs);
		ok &= PERF_UNWIND_INFO_FRAMES(big.entry->ip[1]) == (n < 0xffff ? n : 0xffff);
		ok &= !(big.entry->ip[1] >> 32) && big.nr == n + 1;
		free(big.entry);
	}
	report(ok, "samples: 65535 frames, or more");
}

/* All short chains of these words. */
static void check_whole(void)
{
	static const u64 words[] = {
		PERF_CONTEXT_USER_RULES, PERF_UNWIND_END_OUTERMOST | 0x500, PERF_UNWIND_END_NO_RULE,
	};
	struct perf_callchain_entry *entry;
	unsigned int nr, number, i, at, n;
	bool ok = true, want;

	for (nr = 0, number = 1; nr <= 5; nr++, number *= 3)
		for (i = 0; i < number; i++) {
			/* ASan sees a look beyond the end. */
			entry = malloc(sizeof(*entry) + nr * 8);
			entry->nr = nr;
			for (at = 0, n = i; at < nr; at++, n /= 3)
				entry->ip[at] = words[n % 3];
			for (at = 0; at < nr && entry->ip[at] != (u64)PERF_CONTEXT_USER_RULES; at++)
				;
			want = at + 1 < nr && (entry->ip[at + 1] & 0xff) == 1;
			ok &= perf_unwind_is_whole(entry) == want;
			free(entry);
		}
	report(ok, "samples: whole or not");
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	make_table();
	check_attach();
	check_samples();
	check_many();
	check_whole();
	free(object.rows);
	printf("1..%d\n", nr_tests);
	return !!nr_failed;
}
