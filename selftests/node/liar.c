// SPDX-License-Identifier: GPL-2.0
/*
 * A program that says it is V8 12.4, and lies: what perf reads of it has no end, or leads nowhere.
 *
 * usage: liar circles|nowhere|names|scopes SECONDS
 *
 * circles: strings that consist of themselves, functions that are their own bytecode. nowhere: at
 * what is not there, or not readable. names: of control characters, and longer than all memory.
 * scopes: strings that are parts of themselves, a source in the kernel.
 */
#include <sys/mman.h>
#include "../python/liar.h"

#define SAYS(name, value)	exported const int v8dbg_##name = value

/* tools-perf/hybrid/runtime/v8/v8-layout.c */
SAYS(off_fp_function, -16);
SAYS(off_fp_context, -8);
SAYS(FirstNonstringType, 128);
SAYS(OneByteStringTag, 8);
SAYS(CodeKindBaseline, 10);
SAYS(type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE, 262);
SAYS(type_ScopeInfo__SCOPE_INFO_TYPE, 261);
SAYS(type_Script__SCRIPT_TYPE, 167);
SAYS(type_BytecodeArray__BYTECODE_ARRAY_TYPE, 191);
SAYS(type_ByteArray__BYTE_ARRAY_TYPE, 190);
SAYS(type_Code__CODE_TYPE, 206);
SAYS(type_InstructionStream__INSTRUCTION_STREAM_TYPE, 210);
SAYS(class_Map__instance_type__uint16_t, 12);
SAYS(class_JSFunction__shared__SharedFunctionInfo, 24);
SAYS(class_SharedFunctionInfo__name_or_scope_info__Object, 16);
SAYS(class_SharedFunctionInfo__script_or_debug_info__Object, 32);
SAYS(class_SharedFunctionInfo__flags__int, 48);
SAYS(class_Code__wrapper__Tagged_CodeWrapper_, 24);
SAYS(class_Code__flags__uint32_t, 48);
SAYS(class_Code__instruction_size__int, 52);
SAYS(class_InstructionStream__instruction_start__uintptr_t, 32);
SAYS(class_Script__name__Object, 16);
SAYS(class_Script__source__Object, 8);
SAYS(class_String__length__int32_t, 12);
SAYS(class_SeqOneByteString__chars__char, 16);
SAYS(class_ConsString__first__String, 16);
SAYS(class_ConsString__second__String, 24);
SAYS(scopeinfo_idx_ncontextlocals, 2);
SAYS(scopeinfo_idx_first_vars, 3);
exported const int _ZN2v88internal7Version6major_E = 12;
exported const int _ZN2v88internal7Version6minor_E = 4;
exported const unsigned int v8_Default_embedded_blob_code_size_ = 64;

enum {
	SEQ = 8, CONS = 41, EXTERNAL = 42, SLICED = 43, THIN = 45, SCRIPT = 167,
	BYTES = 190, BYTECODE = 191, CODE = 206, STREAM = 210,
	SCOPE_INFO = 261, SHARED = 262, TURBOFAN = 12,
};

#define TAG(object)	(at(object) + 1)
#define SMI(number)	((uint64_t)(number) << 32)

static uint64_t maps[512][2], function[8], context[8], shared[8], script[8], text[8], cons[4];
static uint64_t scope[16], slice[4], source[4], thin[4];
static uint64_t code[16], data[32], translation[8], bytecode[8];

/* push %rbp; mov %rsp,%rbp; push what frames of V8 have there; call *%rdx; leave; ret */
static const unsigned char instructions[] = {
	0x55, 0x48, 0x89, 0xe5, 0x56, 0x57, 0x50, 0x50, 0x6a, 0x00, 0x48, 0x83, 0xec, 0x08,
	0xff, 0xd2, 0xc9, 0xc3,
};

/* The table of calls: one, after which the code has the exit 0. */
static const unsigned char table[] = { 1, 0, 0, 0, 0x91, 0, 0, 0, 16, 1, 0 };

/* One function, at the bytecode 3. */
static const unsigned char description[] = { 12, 0, 2, 2, 1, 6, 0, 0 };

static unsigned int (*compiled)(void *function, void *context, unsigned int (*run)(double),
				double end);

exported void v8_Default_embedded_blob_code_(void)
{
	asm volatile(".skip 64, 0x90");
}

static void set_type(uint64_t *object, unsigned int type)
{
	maps[type][1] = (uint64_t)type << 32;
	object[0] = TAG(maps[type]);
}

static void build_code(void)
{
	unsigned int sizes[3] = { TURBOFAN, sizeof(instructions), sizeof(table) };
	unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t *stream = (uint64_t *)(page + 32);

	if (page == MAP_FAILED)
		exit(1);
	set_type(stream, STREAM);
	stream[1] = TAG(code);
	memcpy(page + 64, instructions, sizeof(instructions));
	memcpy(page + 64 + sizeof(instructions), table, sizeof(table));
	memcpy(&compiled, &(void *){ page + 64 }, sizeof(compiled));
	set_type(code, CODE);
	code[1] = TAG(data);
	memcpy(&code[6], sizes, sizeof(sizes));
	/* An array of 11 words, and three for an exit. */
	data[0] = TAG(maps[BYTES]);
	data[1] = SMI(14);
	data[2] = TAG(translation);
	data[4] = TAG(data);
	data[10] = SMI(sizeof(instructions));
	data[12] = SMI(1);
	set_type(translation, BYTES);
	translation[1] = SMI(sizeof(description));
	memcpy(translation + 2, description, sizeof(description));
}

static void build(void)
{
	function[3] = TAG(shared);
	set_type(shared, SHARED);
	shared[1] = TAG(bytecode);
	shared[2] = TAG(text);
	shared[4] = TAG(script);
	set_type(script, SCRIPT);
	script[1] = TAG(text);
	script[2] = TAG(text);
	set_type(text, SEQ);
	text[1] = SMI(8);
	memcpy(text + 2, "a\x1b[2J\n\r;", 8);
	set_type(bytecode, BYTECODE);
	build_code();
}

static void lie_about_scopes(void)
{
	set_type(slice, SLICED);
	slice[1] = SMI(1 << 30);
	slice[2] = TAG(slice);
	slice[3] = SMI(~0U);
	set_type(scope, SCOPE_INFO);
	/* One local; the name, and positions that are none. */
	scope[3] = SMI(1);
	scope[6] = TAG(slice);
	scope[7] = SMI(7);
	scope[8] = SMI(~0U);
	shared[2] = TAG(scope);
	set_type(source, EXTERNAL);
	source[1] = SMI(~0U);
	source[3] = 0xffffffff81000000ULL;
	script[1] = TAG(source);
	set_type(thin, THIN);
	thin[1] = SMI(8);
	thin[2] = TAG(thin);
	script[2] = TAG(thin);
}

static void lie(const char *kind)
{
	if (!strcmp(kind, "circles")) {
		set_type(cons, CONS);
		cons[1] = SMI(1 << 20);
		cons[2] = TAG(cons);
		cons[3] = TAG(cons);
		shared[2] = TAG(cons);
		script[1] = TAG(cons);
		shared[1] = TAG(shared);
	} else if (!strcmp(kind, "nowhere")) {
		shared[2] = 0xffffffff81000001ULL;
		script[1] = 0x11;
		script[2] = (1ULL << 46) + 1;
		data[2] = (1ULL << 46) + 1;
		memset((unsigned char *)code + 56, 0xff, 4);
	} else if (!strcmp(kind, "scopes")) {
		lie_about_scopes();
	} else {
		text[1] = ~0ULL >> 1;
		data[1] = SMI(~0U >> 1);
		bytecode[4] = TAG(data);
	}
}

exported __attribute__((noinline)) unsigned int js_run(double end)
{
	return spin_until(end);
}

static unsigned int run(double end)
{
	return compiled((char *)function + 1, (char *)context + 1, js_run, end);
}

int main(int argc, char **argv)
{
	static const struct liar me = { .build = build, .lie = lie, .run = run };

	return liar_main(&me, argc, argv);
}
