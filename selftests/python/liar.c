// SPDX-License-Identifier: GPL-2.0
/*
 * A program that says it is CPython 3.11, and lies: what perf reads of it has no end, or leads
 * nowhere.
 *
 * usage: liar circles|nowhere|names|flood SECONDS
 *
 * circles: of interpreters, threads and frames; of a thread that runs none of them. nowhere: at
 * what is not there, or not readable. names: of control characters, and longer than all memory.
 * flood: each moment other functions, of which each has as many bytes as there may be.
 */
#include "liar.h"

/* Offsets in words: tools-perf/hybrid/runtime/python/layout-table.c. */
enum {
	RUNTIME_FIRST	= 40 / 8,
	INTERP_NEXT	= 0 / 8,
	INTERP_THREADS	= 16 / 8,
	THREAD_NEXT	= 8 / 8,
	THREAD_INTERP	= 16 / 8,
	THREAD_FRAME	= 56 / 8,
	THREAD_ID	= 152 / 8,
	CFRAME_FRAME	= 8 / 8,
	FRAME_CODE	= 32 / 8,
	FRAME_CALLER	= 48 / 8,
	FRAME_POSITION	= 56 / 8,
	FRAME_IS_ENTRY	= 68 / 8,	/* its upper half */
	TYPE_BASICSIZE	= 32 / 8,
	CODE_TYPE	= 8 / 8,
	CODE_SIZE	= 16 / 8,
	CODE_LINE	= 72 / 8,
	CODE_FILE	= 112 / 8,
	CODE_NAME	= 128 / 8,
	CODE_TABLE	= 136 / 8,
	CODE_CODE	= 184 / 8,
	TEXT_LENGTH	= 16 / 8,
	TEXT_STATE	= 32 / 8,
	TEXT_HASH	= 24 / 8,
	TEXT_ASCII	= 48 / 8,
};

/* Functions. */
#define FLOOD	100

exported const unsigned long Py_Version = 0x030b02f0;
exported uint64_t _PyRuntime[64];
exported uint64_t PyCode_Type[8];

static uint64_t interp[64], thread[64], cframe[8], frames[4][64], code[64], text[64];
static uint64_t flood_frames[FLOOD][64], flood_codes[FLOOD][64], flood_text[512], flood_table[4096];

static void build(void)
{
	_PyRuntime[RUNTIME_FIRST] = at(interp);
	interp[INTERP_THREADS] = at(thread);
	PyCode_Type[TYPE_BASICSIZE] = 184;
	thread[THREAD_INTERP] = at(interp);
	thread[THREAD_ID] = (uint64_t)pthread_self();
	thread[THREAD_FRAME] = at(cframe);
	cframe[CFRAME_FRAME] = at(frames[0]);
	frames[0][FRAME_CODE] = at(code);
	frames[0][FRAME_POSITION] = at(&code[CODE_CODE]);
	frames[0][FRAME_IS_ENTRY] = 1ULL << 32;
	code[CODE_TYPE] = at(PyCode_Type);
	code[CODE_SIZE] = 4;
	code[CODE_FILE] = at(text);
	code[CODE_NAME] = at(text);
	text[TEXT_LENGTH] = 8;
	text[TEXT_STATE] = 1 << 2 | 1 << 5 | 1 << 6;
	memcpy(&text[TEXT_ASCII], "a\x1b[2J\n\r;", 8);
}

static void build_flood(void)
{
	int i;

	memset(flood_text, 'x', sizeof(flood_text));
	flood_text[TEXT_LENGTH] = 2000;
	flood_text[TEXT_STATE] = 1 << 2 | 1 << 5 | 1 << 6;
	flood_table[CODE_SIZE] = sizeof(flood_table) - 64;
	for (i = 0; i < FLOOD; i++) {
		memcpy(flood_codes[i], code, sizeof(code));
		flood_codes[i][CODE_FILE] = at(flood_text);
		flood_codes[i][CODE_NAME] = at(flood_text);
		flood_codes[i][CODE_TABLE] = at(flood_table);
		memcpy(flood_frames[i], frames[0], sizeof(frames[0]));
		flood_frames[i][FRAME_CODE] = at(flood_codes[i]);
		flood_frames[i][FRAME_CALLER] = i + 1 < FLOOD ? at(flood_frames[i + 1]) : 0;
	}
	frames[0][FRAME_CALLER] = at(flood_frames[0]);
}

static void lie(const char *kind)
{
	if (!strcmp(kind, "circles")) {
		frames[0][FRAME_CALLER] = at(frames[1]);
		frames[1][FRAME_CALLER] = at(frames[0]);
		frames[1][FRAME_CODE] = at(code);
		interp[INTERP_NEXT] = at(interp);
		thread[THREAD_NEXT] = at(thread);
	} else if (!strcmp(kind, "nowhere")) {
		frames[0][FRAME_CALLER] = at(frames[1]);
		frames[1][FRAME_CALLER] = 0xffffffff81000000ULL;
		frames[1][FRAME_CODE] = 0x10;
		frames[1][FRAME_POSITION] = ~0ULL;
		code[CODE_TABLE] = 1ULL << 46;
		code[CODE_SIZE] = ~0ULL;
	} else if (!strcmp(kind, "flood")) {
		build_flood();
	} else {
		text[TEXT_LENGTH] = ~0ULL >> 1;
		code[CODE_LINE] = ~0ULL;
		code[CODE_TABLE] = at(code);
	}
}

exported __attribute__((noinline)) unsigned int _PyEval_EvalFrameDefault(double end)
{
	unsigned int n = 0;

	while (now() < end) {
		/* Not to be worked out when it is compiled. */
		while (++n % 100000)
			asm("" : "+r"(n));
		/* All functions of the flood are others now. */
		flood_text[TEXT_HASH]++;
	}
	return n;
}

int main(int argc, char **argv)
{
	static const struct liar me = {
		.build = build, .lie = lie, .run = _PyEval_EvalFrameDefault,
	};

	return liar_main(&me, argc, argv);
}
