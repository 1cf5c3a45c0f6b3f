// SPDX-License-Identifier: GPL-2.0
/*
 * A program that says it is CRuby 3.1, and lies: what perf reads of it has no end, or leads
 * nowhere.
 *
 * usage: liar circles|nowhere|names SECONDS
 *
 * circles: a method that is its own class and definition, frames up to the end of all memory.
 * nowhere: at what is not there, or not readable. names: of control characters, and longer than all
 * memory.
 */
#include "../python/liar.h"

/* In words: tools-perf/hybrid/runtime/ruby/ruby-layout.c. */
enum {
	STACK_WORDS	= 4096,
	FRAME_WORDS	= 8,
	NR_FRAMES	= 200,
	FRAME_PC	= 0,
	FRAME_CODE	= 2,
	FRAME_EP	= 4,
	CODE_BODY	= 2,
	BODY_WORDS	= 1,
	BODY_PATH	= 8,
	BODY_LABEL	= 10,
	BODY_LINES	= 15,
	BODY_NR_LINES	= 17,
	BODY_TABLE	= 18,
	CODE		= 0x701a,
	ENTRY		= 0x601a,
	TEXT		= 5,
	TEXT_APART	= 0x2000,
	FINISH		= 0x20,
	METHOD		= 0x11110001,
	DUMMY		= 0x79990001,
};

exported const char ruby_version[] = "3.1.2";
exported __thread uint64_t *ruby_current_ec;

static uint64_t context[8], stack[STACK_WORDS], env[3], dummy[3], code[5], body[40], words[8];
static uint64_t text[5], entry[8];
static const char bytes[] = "a\x1b[2J\n\r;";

/* By this code perf finds the variable: of a library, as __tls_get_addr() finds it. */
exported __attribute__((noinline)) uint64_t *rb_thread_current(void)
{
	return ruby_current_ec;
}

static uint64_t *frame(unsigned int i)
{
	return stack + STACK_WORDS - (NR_FRAMES - i) * FRAME_WORDS;
}

exported __attribute__((noinline)) unsigned int rb_vm_exec(double end);

static void build(void)
{
	unsigned int i;

	context[0] = at(stack);
	context[1] = STACK_WORDS;
	context[2] = at(frame(0));
	env[2] = METHOD | FINISH;
	dummy[2] = DUMMY | FINISH;
	for (i = 0; i < NR_FRAMES; i++) {
		frame(i)[FRAME_PC] = at(words + 1);
		frame(i)[FRAME_CODE] = at(code);
		frame(i)[FRAME_EP] = at(&env[2]);
	}
	frame(NR_FRAMES - 1)[FRAME_EP] = at(&dummy[2]);
	code[0] = CODE;
	code[CODE_BODY] = at(body);
	body[0] = 8ULL << 32;
	body[BODY_WORDS] = at(words);
	words[0] = at((void *)(uintptr_t)rb_vm_exec);
	body[BODY_PATH] = at(text);
	body[BODY_LABEL] = at(text);
	text[0] = TEXT | TEXT_APART;
	text[2] = 8;
	text[3] = at(bytes);
}

static void lie(const char *kind)
{
	if (!strcmp(kind, "circles")) {
		context[1] = ~0ULL >> 4;
		env[0] = at(entry);
		entry[0] = ENTRY;
		entry[2] = at(entry);
		entry[4] = at(entry);
		frame(NR_FRAMES - 1)[FRAME_EP] = at(&env[2]);
	} else if (!strcmp(kind, "nowhere")) {
		frame(1)[FRAME_EP] = 0x10;
		frame(0)[FRAME_PC] = ~0ULL;
		body[BODY_LINES] = 1ULL << 46;
		body[BODY_TABLE] = 1ULL << 46;
		body[0] = ~0ULL;
	} else {
		text[2] = ~0ULL >> 1;
		body[BODY_LINES] = at(text);
		body[BODY_TABLE] = at(text);
		body[BODY_NR_LINES] = ~0ULL;
	}
}

unsigned int rb_vm_exec(double end)
{
	ruby_current_ec = context;
	/* perf takes no small function for an evaluator. */
	asm volatile("jmp 1f\n\t.skip 8192, 0x90\n1:");
	return spin_until(end);
}

/* The program is a library that runs itself: see selftests/real/ruby.sh. */
exported int liar(int argc, char **argv)
{
	static const struct liar me = { .build = build, .lie = lie, .run = rb_vm_exec };

	return liar_main(&me, argc, argv);
}
