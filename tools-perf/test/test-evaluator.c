// SPDX-License-Identifier: GPL-2.0
/*
 * The parts of the function that interprets a language: which of them are found, and which
 * addresses are in them.
 */
#include <string.h>
#include "evaluator.h"
#include "made-cfi.h"
#include "own-memory.h"
#include "elf-file.h"
#include "tap.h"

#define TEXT_SIZE	0x4000
#define MAX_SIZE	0x100000
#define BIAS		0x7e0000000000ULL
#define OTHER_BIAS	0x7d0000000000ULL

/* Functions of the file that is made: the evaluator, and what it may jump to. */
#define EVALUATOR	MADE_TEXT
#define EVALUATOR_SIZE	0x100
#define OTHER(i)	(MADE_TEXT + 0x1000 + 0x100 * (i))
#define NR_OTHERS	10
#define NO_FUNCTION	(OTHER(NR_OTHERS) + 0x20)

static const struct made_bytes nothing;
static u8 text[TEXT_SIZE];
static unsigned int jump_at;

/* The evaluator has no jumps yet: it is code of one byte an instruction. */
static void begin(void)
{
	memset(text, 0x90, sizeof(text));
	jump_at = 0;
}

/* je TARGET */
static void jump_to(u64 target)
{
	s32 by = target - (MADE_TEXT + jump_at + 6);

	text[jump_at++] = 0x0f;
	text[jump_at++] = 0x84;
	memcpy(text + jump_at, &by, sizeof(by));
	jump_at += sizeof(by);
}

/* What is found at an address, if the evaluator has so many bytes. */
static struct hybrid_evaluator find(u64 vaddr, u64 size)
{
	struct hybrid_evaluator evaluator = { .nr = 5 };
	static struct made_cfi cfi;
	struct hybrid_mapping mapping = {};
	struct elf_made elf;
	unsigned int i;

	made_cfi_begin(&cfi);
	made_usual_cie(&cfi);
	made_fde(&cfi, EVALUATOR, size, &nothing);
	if (size <= EVALUATOR_SIZE) {
		for (i = 0; i < NR_OTHERS; i++)
			made_fde(&cfi, OTHER(i), 0x100, &nothing);
	}
	elf_made_begin(&elf);
	elf_made_loaded(&elf, ".text", SHF_EXECINSTR, MADE_TEXT, text, sizeof(text));
	elf_made_loaded(&elf, ".eh_frame", 0, MADE_FRAMES, cfi.frames, cfi.size);
	mapping.object = elf_made_object(&elf);
	hybrid_evaluator__find(&evaluator, &mapping, vaddr);
	same(evaluator.object_id, mapping.object->id);
	elf_made_close(mapping.object);
	return evaluator;
}

static void parts(void)
{
	struct hybrid_evaluator found;
	unsigned int i;

	begin();
	found = find(EVALUATOR + 8, EVALUATOR_SIZE);
	same(found.nr, 1);
	same(found.parts[0].start, EVALUATOR);
	same(found.parts[0].end, EVALUATOR + EVALUATOR_SIZE);
	/* No parts: its own code, what is in no function, and functions from their beginning. */
	jump_to(EVALUATOR + 1);
	jump_to(EVALUATOR + EVALUATOR_SIZE - 1);
	jump_to(NO_FUNCTION);
	jump_to(OTHER(1));
	same(find(EVALUATOR, EVALUATOR_SIZE).nr, 1);
	jump_to(OTHER(2) + 1);
	jump_to(OTHER(2) + 0xff);
	jump_to(OTHER(0) + 16);
	found = find(EVALUATOR, EVALUATOR_SIZE);
	same(found.nr, 3);
	same(found.parts[1].start, OTHER(2));
	same(found.parts[1].end, OTHER(3));
	same(found.parts[2].start, OTHER(0));
	/* There is room for eight. */
	begin();
	for (i = 0; i < NR_OTHERS; i++)
		jump_to(OTHER(i) + 4);
	found = find(EVALUATOR, EVALUATOR_SIZE);
	same(found.nr, HYBRID_EVALUATOR_PARTS);
	same(found.parts[HYBRID_EVALUATOR_PARTS - 1].start, OTHER(HYBRID_EVALUATOR_PARTS - 2));
}

/* Jumps up to the end of the evaluator. */
static void end_of_code(void)
{
	begin();
	jump_at = EVALUATOR_SIZE - 6;
	jump_to(OTHER(1) + 4);
	jump_to(OTHER(2) + 4);
	same(find(EVALUATOR, EVALUATOR_SIZE).nr, 2);
}

static void no_function(void)
{
	begin();
	same(find(0, EVALUATOR_SIZE).nr, 0);
	same(find(NO_FUNCTION, EVALUATOR_SIZE).nr, 0);
	same(find(EVALUATOR + EVALUATOR_SIZE, EVALUATOR_SIZE).nr, 0);
	/* The file has less code than that. */
	same(find(EVALUATOR, MAX_SIZE).nr, 1);
	same(find(EVALUATOR, MAX_SIZE + 1).nr, 0);
}

static const char file[] = "interpreter-php.so";
static struct hybrid_evaluator evaluator;

static unsigned int of(u64 ip)
{
	return hybrid_evaluator__of(&evaluator, own.pm.space, ip);
}

/* The process has an interpreter, and another file with functions at the same addresses. */
static void begin_process(void)
{
	u64 at = elf_file_symbol(file, "execute_ex");

	own_begin();
	elf_file_map(&own.ps, own.pm.pid, file, BIAS);
	elf_file_map(&own.ps, own.pm.pid, "interpreter-python.so", OTHER_BIAS);
	memset(&evaluator, 0, sizeof(evaluator));
	hybrid_evaluator__find(&evaluator, hybrid_space_find(own.pm.space, BIAS + at), at);
	same(evaluator.nr, 2);
}

static void addresses(void)
{
	struct hybrid_evaluator restart;
	const struct hybrid_fde *part;
	unsigned int i;

	begin_process();
	for (i = 0; i < evaluator.nr; i++) {
		part = &evaluator.parts[i];
		same(of(BIAS + part->start), HYBRID_EVALUATOR_OWN);
		same(of(BIAS + part->end - 1), HYBRID_EVALUATOR_OWN);
		/* The same address of another file. */
		check(hybrid_space_find(own.pm.space, OTHER_BIAS + part->start));
		same(of(OTHER_BIAS + part->start), 0);
	}
	same(of(BIAS + evaluator.parts[1].end), 0);
	same(of(BIAS + evaluator.parts[0].start - 1), 0);
	same(of(8), 0);
	restart = evaluator;
	restart.parts[0] = restart.parts[1];
	restart.nr = 1;
	evaluator.restart = &restart;
	same(of(BIAS + evaluator.parts[0].start), HYBRID_EVALUATOR_OWN);
	same(of(BIAS + evaluator.parts[1].start), HYBRID_EVALUATOR_OWN | HYBRID_EVALUATOR_RESTART);
	evaluator.nr = 1;
	same(of(BIAS + restart.parts[0].start), HYBRID_EVALUATOR_RESTART);
	/* Code that the process has made is of the evaluator whatever is there. */
	evaluator.made_start = 0x20000;
	evaluator.made_end = 0x20010;
	same(of(0x1ffff), 0);
	same(of(0x20000), HYBRID_EVALUATOR_OWN);
	same(of(0x2000f), HYBRID_EVALUATOR_OWN);
	same(of(0x20010), 0);
	evaluator.made_restarts = true;
	same(of(0x20000), HYBRID_EVALUATOR_OWN | HYBRID_EVALUATOR_RESTART);
	own_end();
}

static bool has_ended(u64 ip)
{
	return hybrid_evaluator__has_ended(&evaluator, own.pm.space, ip);
}

static void ends(void)
{
	u64 end = elf_file_symbol(file, "ends");

	begin_process();
	/* @ip is that of a call's last byte. */
	check(has_ended(BIAS + end - 1));
	check(!has_ended(BIAS + elf_file_symbol(file, "called") - 1));
	check(!has_ended(OTHER_BIAS + end - 1));
	check(!has_ended(8));
	evaluator.object_id++;
	check(!has_ended(BIAS + end - 1));
	own_end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "evaluator: its parts",			parts },
		{ "evaluator: where its code ends",		end_of_code },
		{ "evaluator: what is none",			no_function },
		{ "evaluator: addresses in it",			addresses },
		{ "evaluator: calls after which it returns",	ends },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
