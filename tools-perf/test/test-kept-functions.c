// SPDX-License-Identifier: GPL-2.0
/*
 * What BPF has read with a sample, or before it, is there when the sample is resolved.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "functions.h"
#include "kept-functions.h"
#include "tap.h"
#include "walk-record.h"

#define IDS	(100 | 101ULL << 32)
#define SAMPLE		HYBRID_WALK_RECORD_SAMPLE
#define FUNCTIONS	HYBRID_WALK_RECORD_FUNCTIONS
#define NOTE		HYBRID_WALK_RECORD_NOTE

static u64 words[2 * HYBRID_WALK_FUNCTIONS];

/* A record with @nr functions. */
static void read_record(u64 ids, u64 time, unsigned int nr, enum hybrid_walk_kind kind)
{
	const struct hybrid_walked walked = {
		.ids = ids, .head.id = 7, .head.ip = 0x1000, .head.time = time, .head.kind = kind,
		.functions.nr = !!nr, .functions.of[0] = {
			.words = words, .nr = nr, .are_whole = true, .language = 3,
		},
	};
	unsigned int i;

	for (i = 0; i < 2 * nr; i++)
		words[i] = time * 1000 + i;
	hybrid_kept_functions__read(&walked);
	memset(words, 0, sizeof(words));
}

/* @from: the time that the record of the functions had. */
static void expect(u64 ids, u64 time, unsigned int nr, u64 from)
{
	struct hybrid_sample_functions f = {};
	const u64 *found;
	unsigned int i;

	hybrid_kept_functions__take(ids, time, &f);
	same(f.nr, !!nr);
	same(f.of[0].nr, nr);
	same(f.of[0].language, nr ? 3 : 0);
	same(f.of[0].are_whole, !!nr);
	found = f.of[0].words;
	for (i = 0; i < 2 * f.of[0].nr; i++)
		same(found[i], from * 1000 + i);
}

static void with_sample(void)
{
	read_record(IDS, 1, 2, SAMPLE);
	read_record(IDS, 2, 0, SAMPLE);
	read_record(IDS, 3, HYBRID_WALK_FUNCTIONS, SAMPLE);
	/* Of another thread, or of another time. */
	expect(IDS + 1, 3, 0, 0);
	expect(IDS, 4, 0, 0);
	expect(IDS, 2, 0, 0);
	expect(IDS, 3, HYBRID_WALK_FUNCTIONS, 3);
	expect(IDS, 1, 2, 1);
	/* Once. */
	expect(IDS, 1, 0, 0);
}

/* The sample's own record follows, and has none. */
static void before_sample(void)
{
	read_record(IDS, 5, 2, FUNCTIONS);
	read_record(IDS, 6, 0, SAMPLE);
	expect(IDS, 5, 0, 0);
	expect(IDS, 6, 2, 5);
	/* Of another task: they are of no sample. */
	read_record(IDS, 7, 2, FUNCTIONS);
	read_record(IDS + 1, 8, 0, SAMPLE);
	expect(IDS + 1, 8, 0, 0);
	expect(IDS, 7, 0, 0);
	/* A record without functions: what was before it was of another sample. */
	read_record(IDS, 9, 2, FUNCTIONS);
	read_record(IDS, 10, 0, FUNCTIONS);
	read_record(IDS, 11, 0, SAMPLE);
	expect(IDS, 11, 0, 0);
	/* The kernel writes the sample, of the same time, and BPF has said why. */
	read_record(IDS, 12, 2, FUNCTIONS);
	read_record(IDS, 12, 0, NOTE);
	hybrid_kept_functions__read_other();
	hybrid_kept_functions__read_other();
	expect(IDS, 12, 2, 12);
}

static void read_text(u32 pid, const void *text, u32 size)
{
	const struct hybrid_walked walked = {
		.ids = pid | 7ULL << 32, .text = text, .text_size = size, .language = size % 5,
		.head.kind = HYBRID_WALK_RECORD_TEXT,
	};

	hybrid_kept_functions__read(&walked);
}

static void expect_text(pid_t pid, const char *text, u32 size)
{
	struct hybrid_kept_text *found = hybrid_kept_functions__text(pid);

	if (!text) {
		check(!found);
	} else if (check(found)) {
		same(found->pid, pid);
		same(found->size, size);
		same(found->language, size % 5);
		check(!memcmp(found->text, text, size));
	}
	free(found);
}

/* Of each process in the order in which they were read. */
static void texts(void)
{
	expect_text(1, NULL, 0);
	read_text(1, "one", 3);
	read_text(2, "two", 3);
	read_text(1, "three", 5);
	read_text(2, "", 0);
	expect_text(2, "two", 3);
	expect_text(1, "one", 3);
	expect_text(1, "three", 5);
	expect_text(1, NULL, 0);
	expect_text(2, "", 0);
	expect_text(2, NULL, 0);
}

/* No more than 1 MiB: the newest ones. */
static void bounded(void)
{
	static char text[60000];
	const u32 size = sizeof(text), most = 1048576 / size;
	u32 i;

	for (i = 1; i <= 3 * most; i++) {
		text[0] = i;
		read_text(i, text, size);
	}
	for (i = 1; i <= 3 * most; i++) {
		text[0] = i;
		expect_text(i, i > 2 * most ? text : NULL, size);
	}
	/* What was taken makes room. */
	read_text(1, text, size);
	expect_text(1, text, size);
}

/* Nothing is left; valgrind and ASan see what would be. */
static void ends(void)
{
	read_record(IDS, 20, 2, SAMPLE);
	read_record(IDS, 21, 2, FUNCTIONS);
	read_text(1, "one", 3);
	hybrid_kept_functions__exit();
	expect(IDS, 20, 0, 0);
	expect_text(1, NULL, 0);
	read_record(IDS, 22, 0, SAMPLE);
	expect(IDS, 22, 0, 0);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "kept-functions: with their sample", with_sample },
		{ "kept-functions: before their sample", before_sample },
		{ "kept-functions: texts", texts },
		{ "kept-functions: bound of texts", bounded },
		{ "kept-functions: the end", ends },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
