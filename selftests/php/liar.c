// SPDX-License-Identifier: GPL-2.0
/*
 * A program that says it is PHP 8.2, and lies: what perf reads of it has no end, or leads nowhere.
 *
 * usage: liar circles|nowhere|names SECONDS
 *
 * circles: generators that have delegated to themselves, a frame that is its own caller's,
 * functions that make themselves. nowhere: at what is not there, or not readable. names: of
 * control characters, and longer than all memory.
 */
#include "../python/liar.h"

/* In words: tools-perf/hybrid/runtime/php/php-layout.c. */
enum {
	GLOBALS_FRAME	= 61,
	TABLE_ENTRIES	= 2,
	FRAME_WORDS	= 10,
	NR_FRAMES	= 200,
	FRAME_OPLINE	= 0,
	FRAME_FUNCTION	= 3,
	FRAME_OBJECT	= 4,
	FRAME_FLAGS	= 5,
	FRAME_CALLER	= 6,
	IS_OBJECT	= 8,
	CODE		= 0x10000,
	TOP		= 0x20000,
	FUNCTION_NAME	= 1,
	FUNCTION_CLASS	= 2,
	FUNCTION_LAST	= 10,
	FUNCTION_CODE	= 11,
	FUNCTION_FILE	= 19,
	FUNCTION_MAKES	= 22,
	FUNCTION_MADE	= 24,
	GENERATOR_FRAME	= 7,
	GENERATOR_NEXT	= 19,
	GENERATOR_FAKE	= 23,
};

exported uint64_t executor_globals[256];
exported uint64_t module_registry[7];

static struct {
	uint16_t size;
	uint32_t api;
	uint64_t others[20];
} module = { 168, 20220829, { 0 } };

static uint64_t entries[4], frames[NR_FRAMES][FRAME_WORDS], function[32], generator[40], ops[64];
static struct {
	uint64_t head;
	uint64_t hash;
	uint64_t length;
	char	 bytes[64];
} text = { 1, 0x8000000012345678, 8, "a\x1b[2J\n\r;" };

/* "mov 0x1e8(%rax),%rax": by this code perf finds the frame. */
exported void zend_get_executed_scope(void);
asm("	.globl zend_get_executed_scope\n\t"
	".type zend_get_executed_scope, @function\n"
	"zend_get_executed_scope:\n\t"
	".byte 0x48, 0x8b, 0x80, 0xe8, 0x01, 0x00, 0x00\n\t"
	"ret\n\t"
	".skip 64, 0x90\n\t"
	".size zend_get_executed_scope, . - zend_get_executed_scope\n");

static void build(void)
{
	unsigned int i;

	executor_globals[GLOBALS_FRAME] = at(frames[0]);
	module_registry[TABLE_ENTRIES] = at(entries);
	entries[0] = at(&module);
	for (i = 0; i < NR_FRAMES; i++) {
		frames[i][FRAME_OPLINE] = at(ops);
		frames[i][FRAME_FUNCTION] = at(function);
		frames[i][FRAME_CALLER] = i + 1 < NR_FRAMES ? at(frames[i + 1]) : 0;
	}
	frames[NR_FRAMES - 1][FRAME_FLAGS] = TOP | CODE;
	function[0] = 2;
	function[FUNCTION_NAME] = at(&text);
	function[FUNCTION_LAST] = 8;
	function[FUNCTION_CODE] = at(ops);
	function[FUNCTION_FILE] = at(&text);
}

static void lie(const char *kind)
{
	uint64_t *fake = generator + GENERATOR_FAKE;

	if (!strcmp(kind, "circles")) {
		((uint32_t *)function)[2 * FUNCTION_MAKES + 1] = 64;
		function[FUNCTION_MADE] = at(&function[FUNCTION_MADE + 1]);
		function[FUNCTION_MADE + 1] = at(function);
		frames[0][FRAME_CALLER] = at(fake);
		fake[FRAME_OBJECT] = at(generator);
		fake[FRAME_FLAGS] = IS_OBJECT;
		fake[FRAME_CALLER] = at(fake);
		generator[GENERATOR_NEXT] = at(generator);
		generator[GENERATOR_FRAME] = at(frames[3]);
	} else if (!strcmp(kind, "nowhere")) {
		frames[3][FRAME_FUNCTION] = 1ULL << 46;
		frames[4][FRAME_OPLINE] = ~0ULL;
		frames[9][FRAME_CALLER] = ~0ULL << 4;
		function[FUNCTION_CLASS] = 1ULL << 46;
		function[FUNCTION_LAST] = ~0ULL;
		function[FUNCTION_CODE] = 8;
	} else {
		text.length = ~0ULL >> 1;
		((uint32_t *)function)[2 * FUNCTION_MAKES + 1] = ~0U;
		function[FUNCTION_MADE] = at(&text);
		function[FUNCTION_LAST] = 0xfffff;
	}
}

exported __attribute__((noinline)) unsigned int execute_ex(double end)
{
	return spin_until(end);
}

int main(int argc, char **argv)
{
	static const struct liar me = { .build = build, .lie = lie, .run = execute_ex };

	return liar_main(&me, argc, argv);
}
