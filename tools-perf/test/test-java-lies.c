// SPDX-License-Identifier: GPL-2.0
/*
 * A process that says it is a JVM and lies: what it says is bounded, and no lie ends the test.
 */
#include <string.h>
#include "abi.h"
#include "elf-file.h"
#include "java-world.h"
#include "../hybrid/runtime/java/java-walk.h"
#include "tap.h"

#define METHOD	0x1000
#define INTERP	0x3000
#define ROUNDS	3000

static const u8 code[] = { 0x55, 0x48, 0x83, 0xec, 0x20, 0x90, 0x90, 0x90, 0x90, 0xc3 };

static void begin(void)
{
	java_begin();
	java_add(METHOD, "nmethod", code, sizeof(code))->complete = 5;
	java_add_interpreter(INTERP);
	java.stack[5] = java_code_at(METHOD) + 8;
}

/* All that is asked of a runtime. */
static void ask(u64 ip)
{
	struct hybrid_runtime_range range;

	java_pass();
	java_unwind(ip);
	check(java.u.nr >= 1 && java.u.nr <= java.u.max_frames);
	if (hybrid_runtime_range(java.unwinder.runtimes, &java.u, 0, &range)) {
		check(range.compiled || (java.frames[0].ret >= range.start &&
					 java.frames[0].ret < range.end));
		check(!range.compiled || range.compiled->size <= HYBRID_WALK_BLOB);
	}
	hybrid_runtime_namer(java.unwinder.runtimes, java.u.pid, 0, java.u.space, false);
}

static bool is_readable(void)
{
	pid_t pid;

	return !hybrid_runtimes_failed(java.unwinder.runtimes, &pid);
}

/* The tables' words, before anything was read. */
static void test_tables(void)
{
	static const struct {
		const char	*symbol;
		u64		 value;
	} lies[] = {
		{ "gHotSpotVMStructs", 0 },
		{ "gHotSpotVMStructs", 0x1234 },
		{ "gHotSpotVMStructs", ~0ULL - 8 },
		{ "gHotSpotVMStructEntryArrayStride", 0 },
		{ "gHotSpotVMStructEntryArrayStride", 1ULL << 63 },
		{ "gHotSpotVMStructEntryTypeNameOffset", 4096 },
		{ "gHotSpotVMIntConstantEntryArrayStride", 3 },
		{ "gHotSpotVMLongConstantEntryValueOffset", ~0ULL },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lies); i++) {
		begin();
		*java_word(lies[i].symbol) = lies[i].value;
		ask(java_code_at(METHOD) + 5);
		check(!is_readable());
		java_end();
	}
	begin();
	ask(java_code_at(METHOD) + 5);
	check(is_readable());
	java_end();
}

/* How many runtimes were opened, after a sample in code that one has compiled. */
static u64 opened(void)
{
	java_unwind(java_code_at(METHOD) + 5);
	return hybrid_runtimes_opened(java.unwinder.runtimes);
}

/* The process has the words later, and its mappings are the same. */
static void test_words_later(void)
{
	u64 *word, was;

	begin();
	word = java_word("gHotSpotVMStructs");
	was = *word;
	*word = 0;
	same(opened(), 0);
	check(!is_readable());
	*word = was;
	/* Once in a pass. */
	same(opened(), 0);
	java_pass();
	same(opened(), 1);
	check(is_readable());
	java_end();
}

static int open_later(const struct hybrid_mapping *mapping __maybe_unused)
{
	return HYBRID_OPEN_LATER;
}

/* The file is not open when the process is looked at first. */
static void test_file_later(void)
{
	begin();
	java.ps.objects.open = open_later;
	same(opened(), 0);
	java.ps.objects.open = elf_file_open;
	same(opened(), 0);
	java_pass();
	same(opened(), 1);
	java_end();
}

/* A table that has more entries than are read. */
static void test_endless(void)
{
	static const char *name = "endless";
	static u64 entries[3 * 16384];
	unsigned int i;

	begin();
	for (i = 0; i < ARRAY_SIZE(entries); i++)
		entries[i] = (u64)name;
	*java_word("gHotSpotVMLongConstants") = (u64)entries;
	*java_word("gHotSpotVMLongConstantEntryNameOffset") = 0;
	*java_word("gHotSpotVMLongConstantEntryValueOffset") = 0;
	ask(java_code_at(METHOD) + 5);
	check(!is_readable());
	java_end();
}

/* Segments that lead back for ever, or to before the heap. */
static void test_segments(void)
{
	unsigned int i;

	begin();
	for (i = 0; i < JAVA_CODE_SIZE / JAVA_SEGMENT; i++)
		*java_segment(i) = 1 + i % 254;
	for (i = 0; i < JAVA_CODE_SIZE; i += 64)
		ask(JAVA_CODE + i);
	java_end();
}

/* Any byte of the code's memory, and of the code's map. */
static void test_random(void)
{
	unsigned int i;
	u64 random;

	begin();
	tap_seed(1);
	for (i = 0; i < ROUNDS; i++) {
		random = tap_random();
		((u8 *)JAVA_CODE)[(random >> 8) % JAVA_CODE_SIZE] = random;
		((u8 *)JAVA_CODE)[METHOD + (random >> 24) % 256] = random >> 40;
		*java_segment((random >> 32) % (JAVA_CODE_SIZE / JAVA_SEGMENT)) = random >> 48;
		ask(i % 3 ? JAVA_CODE + (tap_random() % JAVA_CODE_SIZE) :
			    java_code_at(METHOD) + i % 16);
		/* What is there once more, with other lies. */
		if (i % 64 == 63) {
			java_end();
			begin();
		}
	}
	java_end();
}

static const struct tap_test tests[] = {
	{ "tables that are none", test_tables },
	{ "words that are there later", test_words_later },
	{ "a file that is opened later", test_file_later },
	{ "a table without an end", test_endless },
	{ "segments that lead in circles", test_segments },
	{ "any byte", test_random },
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
