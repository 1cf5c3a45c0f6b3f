// SPDX-License-Identifier: GPL-2.0
/*
 * A program that says it is Perl 5.36, and lies: what perf reads of it has no end, or leads
 * nowhere.
 *
 * usage: liar circles|nowhere|names SECONDS
 *
 * circles: stacks that are their own callers, operations that go on with themselves. nowhere: at
 * what is not there, or not readable; arrays that end before they begin. names: of control
 * characters, and longer than all memory.
 */
#include "../python/liar.h"

/* In words: tools-perf/hybrid/runtime/perl/perl-layout.c and perl-sub.c. */
enum {
	VERSION		= 36,
	SIZE		= 3768,
	NEXTSTATE	= 195,
	ENTERTRY	= 347,
	STATEMENT	= 208 / 8,
	STACK		= 224 / 8,
	NR_FRAMES	= 300,
	FRAME_WORDS	= 13,
	FRAME_COP	= 2,
	FRAME_RETOP	= 6,
	FRAME_NAME	= 8,
	FRAME_SUB	= 9,
	SUB		= 9,
	EVAL		= 11,
	IS_SUB		= 13,
	IS_SYMBOL	= 9,
	IS_PACKAGE	= 12 | 0x02000000,
};

exported const uint8_t PL_version = VERSION;
exported const uint16_t PL_interp_size = SIZE;
exported pthread_key_t PL_thr_key;
exported uint64_t PL_ppaddr[420];
exported uint64_t *PL_curinterp;

static uint64_t interpreter[SIZE / 8], stack[6], frames[NR_FRAMES][FRAME_WORDS];
static uint64_t cop[8], sub[3], sub_body[13], symbol[3], symbol_body[6], package[3];
static uint64_t package_body[8], text[3];
static struct {
	uint32_t hash;
	int32_t	 length;
	char	 bytes[32];
} name = { .length = 8, .bytes = "a\x1b[2J\n\r;" };

exported __attribute__((noinline)) unsigned int Perl_runops_standard(double end)
{
	unsigned int n = 0;

	pthread_setspecific(PL_thr_key, interpreter);
	while (now() < end) {
		/* Not to be worked out when it is compiled. */
		while (++n % 100000)
			asm("" : "+r"(n));
		/* "nowhere" is not all that it is. */
		if (stack[4] == 0x7fffffff)
			stack[4] = NR_FRAMES - 1;
	}
	return n;
}

static void set_value(uint64_t *value, const void *body, uint32_t flags)
{
	value[0] = at(body);
	value[1] = (uint64_t)flags << 32;
}

static void build(void)
{
	unsigned int i;

	PL_curinterp = interpreter;
	for (i = 0; i < sizeof(PL_ppaddr) / sizeof(*PL_ppaddr); i++)
		PL_ppaddr[i] = at((void *)(uintptr_t)Perl_runops_standard) + i;
	interpreter[STATEMENT] = at(cop);
	interpreter[STACK] = at(stack);
	stack[1] = at(frames);
	stack[4] = NR_FRAMES - 1;
	stack[5] = NR_FRAMES - 1;
	cop[2] = PL_ppaddr[NEXTSTATE];
	cop[4] = 7ULL << 32;
	cop[6] = at(name.bytes);
	for (i = 0; i < NR_FRAMES; i++) {
		frames[i][0] = i % 3 ? SUB : EVAL;
		frames[i][FRAME_COP] = at(cop);
		frames[i][FRAME_RETOP] = i % 2;
		frames[i][FRAME_NAME] = at(text);
		frames[i][FRAME_SUB] = at(sub);
	}
	set_value(sub, sub_body, IS_SUB);
	sub_body[5] = at(cop);
	sub_body[6] = at(cop);
	sub_body[7] = at(symbol);
	sub_body[8] = at(name.bytes);
	set_value(symbol, symbol_body, IS_SYMBOL);
	symbol_body[4] = at(&name);
	symbol_body[5] = at(package);
	set_value(package, package_body, IS_PACKAGE);
	package_body[4] = at(&name);
	text[2] = at(name.bytes);
}

static void lie(const char *kind)
{
	if (!strcmp(kind, "circles")) {
		stack[2] = at(stack);
		cop[0] = at(cop);
		cop[5] = at(cop);
		cop[2] = 0;
		symbol_body[4] = at(symbol);
		symbol_body[5] = at(symbol);
	} else if (!strcmp(kind, "nowhere")) {
		stack[2] = 1ULL << 46;
		stack[4] = 0x7fffffff;
		frames[7][FRAME_SUB] = ~0ULL;
		frames[8][FRAME_COP] = 0x10;
		frames[9][FRAME_NAME] = 1ULL << 46;
		sub_body[7] = 0x10;
		interpreter[2608 / 8] = at(stack);
		interpreter[2616 / 8] = ~0ULL;
	} else {
		name.length = 0x7fffffff;
		package_body[7] = 1ULL << 32;
		sub_body[8] = 1ULL << 46;
	}
}

int main(int argc, char **argv)
{
	static const struct liar me = {
		.build = build, .lie = lie, .run = Perl_runops_standard,
	};

	return pthread_key_create(&PL_thr_key, NULL) ? 2 : liar_main(&me, argc, argv);
}
