// SPDX-License-Identifier: GPL-2.0
/*
 * What is read of the file that V8 is in, before any process has run it.
 */
#include <fcntl.h>
#include <string.h>
#include "abi.h"
#include "elf-file.h"
#include "elf-made.h"
#include "tap.h"
#include "v8-layout.h"

static int read_layout(struct v8_layout *layout, const char *file)
{
	struct hybrid_ident ident = { .path = elf_file_path(file) };
	struct hybrid_objects objects;
	struct hybrid_object *object;
	int err;

	hybrid_objects_init(&objects, NULL, hybrid_x86_abi);
	object = hybrid_object_get(&objects, &ident);
	same(hybrid_object_open(object, open(ident.path, O_RDONLY | O_CLOEXEC)), 0);
	err = v8_layout__read(layout, object);
	hybrid_object_put(object);
	hybrid_objects_exit(&objects);
	return err;
}

/* The code segment of these files begins at a page, and has the blob first. */
static void expect_layout(const char *file)
{
	struct v8_layout layout;

	same(read_layout(&layout, file), 0);
	same(layout.walk.code % 4096, elf_file_symbol(file, "blob") % 4096);
	same(layout.walk.code_end - layout.walk.code, 192);
	same(layout.walk.below_function, 16);
	same(layout.walk.below_context, 8);
	same(layout.walk.shared, 24);
	same(layout.version, 12 << 8 | 4);
	same(layout.type_script, 167);
	/* In .bss. */
	same(layout.scope_nr_locals, 0);
	same(layout.scope_first_vars, 3);
}

static void returned(void)
{
	expect_layout("v8.so");
}

static void by_pointer(void)
{
	expect_layout("v8-pointer.so");
}

static void own_symbols(void)
{
	expect_layout("v8-hidden.so");
}

static void none(void)
{
	struct v8_layout layout;

	same(read_layout(&layout, "symbols.so"), -1);
}

/* Addresses of the file that is made. */
#define CODE		0x10000
#define SIZE_CODE	0x10040
#define BLOB		0x10080
#define DATA		0x20000

#define MAX_SIZE	(64U << 20)

/* The operand of an instruction of @size bytes at @from that refers to @to. */
#define RIP(from, size, to)	((u32)((to) - (from) - (size)))

/**
 * struct value - a number in the data of the file, and its symbol
 * @name: of the symbol
 * @value: the number
 */
struct value {
	const char	*name;
	s32		 value;
};

enum {
	SIZE, POINTER, POINTER_HIGH, MAJOR, MINOR, FP_FUNCTION, FP_CONTEXT, FP_POSITION,
	FIRST_FIELD,
};

/* As of V8 12.4. The first three have no symbols. */
static const struct value usual[] = {
	[SIZE] = { "", 192 }, [POINTER] = { "", BLOB }, [POINTER_HIGH] = { "", 0 },
	[MAJOR] = { "_ZN2v88internal7Version6major_E", 12 },
	[MINOR] = { "_ZN2v88internal7Version6minor_E", 4 },
	[FP_FUNCTION] = { "v8dbg_off_fp_function", -16 },
	[FP_CONTEXT] = { "v8dbg_off_fp_context", -8 },
	[FP_POSITION] = { "v8dbg_off_fp_bytecode_offset", -32 },
	[FIRST_FIELD] = { "v8dbg_FirstNonstringType", 128 },
	{ "v8dbg_OneByteStringTag", 8 },
	{ "v8dbg_type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE", 262 },
	{ "v8dbg_type_ScopeInfo__SCOPE_INFO_TYPE", 261 },
	{ "v8dbg_type_Script__SCRIPT_TYPE", 167 },
	{ "v8dbg_class_Map__instance_type__uint16_t", 12 },
	{ "v8dbg_class_JSFunction__shared__SharedFunctionInfo", 24 },
	{ "v8dbg_class_SharedFunctionInfo__name_or_scope_info__Tagged_NameOrScopeInfoT_", 16 },
	{ "v8dbg_class_SharedFunctionInfo__script__Tagged_HeapObject_", 32 },
	{ "v8dbg_class_SharedFunctionInfo__flags__int", 48 },
	{ "v8dbg_class_Script__name__Object", 16 },
	{ "v8dbg_class_String__length__int32_t", 12 },
	{ "v8dbg_class_SeqOneByteString__chars__char", 16 },
	{ "v8dbg_class_ConsString__first__String", 16 },
	{ "v8dbg_class_ConsString__second__String", 24 },
	{ "v8dbg_scopeinfo_idx_first_vars", 3 },
	{ "v8dbg_scopeinfo_idx_ncontextlocals", 4 },
	/* Other names, which a file does not have unless a test says so. */
	{ NULL, 88 }, { NULL, 96 },
};

#define NR_VALUES	ARRAY_SIZE(usual)
#define OTHER_NAME	(NR_VALUES - 2)
#define SHARED_NAME	(FIRST_FIELD + 7)

static const char code_name[] = "_ZN2v88internal23DefaultEmbeddedBlobCodeEv";
static const char size_name[] = "_ZN2v88internal27DefaultEmbeddedBlobCodeSizeEv";

/* lea BLOB(%rip),%rax; mov SIZE(%rip),%eax */
static u8 code_bytes[16], size_bytes[16];
static struct value values[NR_VALUES];
/* Of symbols that are not exported; 0: there are none. */
static u64 own_code, own_size;
/* The number that the file does not have, as it is in .bss; 0: it has all. */
static unsigned int in_bss;
/* Nor does it have the function that returns the size. */
static bool has_no_function;

static u64 value_at(unsigned int i)
{
	return DATA + i * sizeof(s32) + (i > SIZE ? sizeof(s32) : 0);
}

static void set_code(u8 *to, const char *opcode, unsigned int nr, u32 operand, const char *rest)
{
	memset(to, 0x90, sizeof(code_bytes));
	memcpy(to, opcode, nr);
	memcpy(to + nr, &operand, sizeof(operand));
	memcpy(to + nr + sizeof(operand), rest, strlen(rest));
}

static void begin(void)
{
	memcpy(values, usual, sizeof(values));
	own_code = 0;
	own_size = 0;
	in_bss = 0;
	has_no_function = false;
	set_code(code_bytes, "\x48\x8d\x05", 3, RIP(CODE, 7, BLOB), "\xc3");
	set_code(size_bytes, "\x8b\x05", 2, RIP(SIZE_CODE, 6, value_at(SIZE)), "\xc3");
}

/**
 * struct symbols - a table of symbols that is made
 * @symbols: of it
 * @nr: number of @symbols
 * @names: of them
 * @size: of @names
 * @hash: .gnu.hash of one bucket: its header, its filter, the bucket, and the hashes
 */
struct symbols {
	Elf64_Sym	symbols[NR_VALUES + 3];
	unsigned int	nr;
	char		names[4096];
	unsigned int	size;
	u32		hash[7 + NR_VALUES + 3];
};

static void add_symbol(struct symbols *to, const char *name, u64 value)
{
	u32 hash = 5381;
	const char *at;

	for (at = name; *at; at++)
		hash = hash * 33 + (u8)*at;
	to->hash[7 + to->nr - 1] = hash & ~1U;
	to->symbols[to->nr++] = (Elf64_Sym) {
		.st_name = to->size, .st_shndx = 1, .st_value = value,
	};
	strcpy(to->names + to->size, name);
	to->size += strlen(name) + 1;
}

static unsigned int add_table(struct elf_made *elf, struct symbols *from, u32 type)
{
	unsigned int names = elf_made_section(elf, ".names", (Elf64_Shdr) { .sh_type = SHT_STRTAB },
					      from->names, from->size);

	return elf_made_section(elf, ".symbols",
				(Elf64_Shdr) { .sh_type = type, .sh_link = names,
					       .sh_entsize = sizeof(Elf64_Sym) },
				from->symbols, from->nr * sizeof(Elf64_Sym));
}

static void add_exported(struct elf_made *elf)
{
	struct symbols to = { .nr = 1, .size = 1, .hash = { 1, 1, 1, 0, 0, 0, 1 } };
	unsigned int i, table;

	add_symbol(&to, code_name, CODE);
	add_symbol(&to, size_name, has_no_function ? DATA + 0x8000 : SIZE_CODE);
	for (i = MAJOR; i < NR_VALUES; i++) {
		if (values[i].name)
			add_symbol(&to, values[i].name,
				   i == in_bss ? DATA + 0x8000 : value_at(i));
	}
	to.hash[7 + to.nr - 2] |= 1;
	table = add_table(elf, &to, SHT_DYNSYM);
	elf_made_section(elf, ".gnu.hash",
			 (Elf64_Shdr) { .sh_type = SHT_GNU_HASH, .sh_link = table }, to.hash,
			 (7 + to.nr - 1) * sizeof(*to.hash));
}

static void add_own(struct elf_made *elf)
{
	struct symbols to = { .nr = 1, .size = 1 };

	if (own_code)
		add_symbol(&to, "v8_Default_embedded_blob_code_data_", own_code);
	if (own_size)
		add_symbol(&to, "v8_Default_embedded_blob_code_size_", own_size);
	add_table(elf, &to, SHT_SYMTAB);
}

/* What is read of the file as it is now. */
static int read_made(struct v8_layout *layout)
{
	u8 text[0x1000] = {}, data[(NR_VALUES + 2) * sizeof(s32)] = {};
	struct hybrid_object *object;
	struct elf_made elf;
	unsigned int i;
	int err;

	memcpy(text, code_bytes, sizeof(code_bytes));
	memcpy(text + SIZE_CODE - CODE, size_bytes, sizeof(size_bytes));
	for (i = 0; i < NR_VALUES; i++)
		memcpy(data + value_at(i) - DATA, &values[i].value, sizeof(values[i].value));
	elf_made_begin(&elf);
	elf_made_loaded(&elf, ".text", SHF_EXECINSTR, CODE, text, sizeof(text));
	elf_made_loaded(&elf, ".data", SHF_WRITE, DATA, data, sizeof(data));
	add_exported(&elf);
	add_own(&elf);
	object = elf_made_object(&elf);
	err = v8_layout__read(layout, object);
	elf_made_close(object);
	return err;
}

static int read_value_of(unsigned int i, s32 value)
{
	struct v8_layout layout;

	begin();
	values[i].value = value;
	return read_made(&layout);
}

static void bounds(void)
{
	static const unsigned int below[] = { FP_FUNCTION, FP_CONTEXT, FP_POSITION };
	unsigned int i;

	same(read_value_of(FIRST_FIELD, 65535), 0);
	same(read_value_of(FIRST_FIELD, 65536), -1);
	same(read_value_of(FIRST_FIELD, -255), 0);
	same(read_value_of(FIRST_FIELD, -256), -1);
	for (i = 0; i < ARRAY_SIZE(below); i++) {
		same(read_value_of(below[i], -8), 0);
		same(read_value_of(below[i], 0), -1);
		same(read_value_of(below[i], 8), -1);
		same(read_value_of(below[i], -12), -1);
		same(read_value_of(below[i], -248), 0);
	}
	same(read_value_of(MAJOR, 65535), 0);
	same(read_value_of(MAJOR, 65536), -1);
	same(read_value_of(MINOR, 65536), -1);
	same(read_value_of(SIZE, 0), -1);
	same(read_value_of(SIZE, 1), 0);
	same(read_value_of(SIZE, MAX_SIZE), 0);
	same(read_value_of(SIZE, MAX_SIZE + 1), -1);
}

/* Which of them a file without symbol @i can do without. */
static void missing(void)
{
	struct v8_layout layout;
	unsigned int i;

	for (i = MAJOR; i < OTHER_NAME; i++) {
		begin();
		values[i].name = NULL;
		same(read_made(&layout), i == FP_POSITION ? 0 : -1);
	}
	begin();
	same(read_made(&layout), 0);
	same(layout.walk.below_position, 32);
	values[FP_POSITION].name = NULL;
	same(read_made(&layout), 0);
	same(layout.walk.below_position, 40);
}

/* What is 0 is not in the file; and of two names of a field the last one counts. */
static void zeros(void)
{
	struct v8_layout layout;

	begin();
	same(read_made(&layout), 0);
	same(layout.version, 12 << 8 | 4);
	same(layout.walk.objects.name, 16);
	in_bss = MAJOR;
	same(read_made(&layout), 0);
	same(layout.version, 4);
	in_bss = MINOR;
	same(read_made(&layout), 0);
	same(layout.version, 12 << 8);
	in_bss = 0;
	values[OTHER_NAME].name = "v8dbg_class_SharedFunctionInfo__name_or_scope_info__Object";
	same(read_made(&layout), 0);
	same(layout.walk.objects.name, 16);
	in_bss = SHARED_NAME;
	same(read_made(&layout), 0);
	same(layout.walk.objects.name, 0);
	values[SHARED_NAME].name = NULL;
	same(read_made(&layout), 0);
	same(layout.walk.objects.name, 88);
}

/* What a file says besides, and what follows from it. */
static void versions(void)
{
	struct v8_layout layout;

	begin();
	same(read_made(&layout), 0);
	same(layout.type_stream, 0);
	same(layout.code_deopt, 16);
	same(layout.code_bytecode, 16);
	same(layout.bytecode_positions, 32);
	check(!layout.walk.objects.positions_first);
	/* From 12.8 on. */
	values[MINOR].value = 7;
	same(read_made(&layout), 0);
	check(!layout.walk.objects.positions_first);
	values[MINOR].value = 8;
	same(read_made(&layout), 0);
	check(layout.walk.objects.positions_first);
	/* Without a type of their own instructions are in the code. */
	values[OTHER_NAME].name = "v8dbg_type_Code__CODE_TYPE";
	same(read_made(&layout), 0);
	same(layout.type_code, 88);
	same(layout.type_stream, 88);
	values[OTHER_NAME + 1].name = "v8dbg_type_InstructionStream__INSTRUCTION_STREAM_TYPE";
	same(read_made(&layout), 0);
	same(layout.type_code, 88);
	same(layout.type_stream, 96);
	values[OTHER_NAME].name = "v8dbg_class_Code__wrapper__Tagged_CodeWrapper_";
	values[OTHER_NAME + 1].name = "v8dbg_class_BytecodeArray__wrapper__Tagged_BytecodeWrapper_";
	same(read_made(&layout), 0);
	same(layout.code_deopt, 88 - 16);
	same(layout.code_bytecode, 88 - 16);
	same(layout.bytecode_positions, 96 + 8);
}

/* All that BPF reads of objects. */
static void objects(void)
{
	static const struct hybrid_walk_v8_objects want = {
		.map_type = 12, .name = 16, .script_name = 16, .script_source = 8,
		.string_length = 12, .string_chars = 16, .external_chars = 24, .cons_first = 16,
		.cons_second = 24, .sliced_parent = 16, .sliced_offset = 24, .thin_actual = 16,
		.first_nonstring = 128, .type_shared = 262, .type_scope_info = 261,
		.type_script = 167, .one_byte = 8, .scope_nr_locals = 32, .scope_vars = 24,
	};
	struct v8_layout layout;

	begin();
	same(read_made(&layout), 0);
	check(!memcmp(&layout.walk.objects, &want, sizeof(want)));
	same(layout.walk.owner, 32);
	same(layout.walk.mark, 48 + 4);
}

/* Of the file as it is now. */
static void same_blob(int line, u64 at, u32 size)
{
	struct v8_layout layout;
	int err = read_made(&layout);

	tap_same(err, at ? 0 : -1, __FILE__, line, "err");
	if (err || !at)
		return;
	/* The code is in the file from the page where the data of its first section is. */
	tap_same(layout.walk.code, ELF_MADE_DATA + at - CODE, __FILE__, line, "code");
	tap_same(layout.walk.code_end - layout.walk.code, size, __FILE__, line, "size");
}

#define SAME_BLOB(at, size) same_blob(__LINE__, at, size)

static void forms(void)
{
	const u64 pointer = value_at(POINTER);

	begin();
	SAME_BLOB(BLOB, 192);
	/* lea pointer(%rip),%rax; mov (%rax),%rax */
	set_code(code_bytes, "\x48\x8d\x05", 3, RIP(CODE, 7, pointer), "\x48\x8b");
	code_bytes[9] = 0;
	SAME_BLOB(BLOB, 192);
	/* lea blob(%rip),%rax; and what does not load from there */
	set_code(code_bytes, "\x48\x8d\x05", 3, RIP(CODE, 7, BLOB), "\x48\x8b\x01");
	SAME_BLOB(BLOB, 192);
	set_code(code_bytes, "\x48\x8d\x05", 3, RIP(CODE, 7, BLOB), "\x48\x8a");
	code_bytes[9] = 0;
	SAME_BLOB(BLOB, 192);
	set_code(code_bytes, "\x48\x8d\x05", 3, RIP(CODE, 7, BLOB), "\x49\x8b");
	code_bytes[9] = 0;
	SAME_BLOB(BLOB, 192);
	/* mov pointer(%rip),%rax */
	set_code(code_bytes, "\x48\x8b\x05", 3, RIP(CODE, 7, pointer), "\xc3");
	SAME_BLOB(BLOB, 192);
	/* mov $blob,%eax */
	set_code(code_bytes, "\xb8", 1, BLOB, "\xc3");
	SAME_BLOB(BLOB, 192);
	/* The operand is not that of an instruction that is one byte longer. */
	set_code(code_bytes, "\xb8", 1, BLOB + 16, "\xc3");
	SAME_BLOB(BLOB + 16, 192);
	/* lea blob(%rip),%rcx; mov pointer(%rip),%rcx */
	set_code(code_bytes, "\x48\x8d\x0d", 3, RIP(CODE, 7, BLOB), "\xc3");
	SAME_BLOB(0, 0);
	set_code(code_bytes, "\x48\x8b\x0d", 3, RIP(CODE, 7, pointer), "\xc3");
	SAME_BLOB(0, 0);
	/* A pointer to nothing, or to what is no pointer. */
	set_code(code_bytes, "\x48\x8b\x05", 3, RIP(CODE, 7, pointer + 4), "\xc3");
	SAME_BLOB(0, 0);
	/* The address of the size: lea size(%rip),%rax; mov $size,%eax */
	begin();
	set_code(size_bytes, "\x48\x8d\x05", 3, RIP(SIZE_CODE, 7, value_at(SIZE)), "\xc3");
	SAME_BLOB(BLOB, 192);
	set_code(size_bytes, "\x48\x8d\x05", 3, RIP(SIZE_CODE, 7, value_at(SIZE)), "\x48\x8b");
	size_bytes[9] = 0;
	SAME_BLOB(BLOB, 192);
	set_code(size_bytes, "\xb8", 1, value_at(SIZE), "\xc3");
	SAME_BLOB(BLOB, 192);
	/* mov size(%rip),%ecx */
	set_code(size_bytes, "\x8b\x0d", 2, RIP(SIZE_CODE, 6, value_at(SIZE)), "\xc3");
	SAME_BLOB(0, 0);
	/* What is in no section has no size. */
	set_code(size_bytes, "\xb8", 1, DATA + 0x8000, "\xc3");
	SAME_BLOB(0, 0);
	/* Code that is in no segment. */
	begin();
	set_code(code_bytes, "\xb8", 1, DATA + 0x8000, "\xc3");
	SAME_BLOB(0, 0);
}

/* If one of the two functions returns nothing, the symbols of the data have both. */
static void one_function(void)
{
	begin();
	own_code = BLOB + 16;
	own_size = value_at(MAJOR);
	SAME_BLOB(BLOB, 192);
	memset(size_bytes, 0x90, sizeof(size_bytes));
	SAME_BLOB(BLOB + 16, 12);
	begin();
	own_code = BLOB + 16;
	own_size = value_at(MAJOR);
	memset(code_bytes, 0x90, sizeof(code_bytes));
	SAME_BLOB(BLOB + 16, 12);
	own_size = 0;
	SAME_BLOB(0, 0);
	begin();
	own_code = BLOB + 16;
	own_size = value_at(MAJOR);
	set_code(code_bytes, "\x48\x8b\x05", 3, RIP(CODE, 7, value_at(POINTER) + 4), "\xc3");
	SAME_BLOB(BLOB + 16, 12);
	set_code(code_bytes, "\xb8", 1, BLOB, "\xc3");
	has_no_function = true;
	SAME_BLOB(BLOB + 16, 12);
	own_size = value_at(MAJOR);
	own_code = 0;
	SAME_BLOB(0, 0);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "V8 layout: functions return it",	returned },
		{ "V8 layout: as a pointer has it",	by_pointer },
		{ "V8 layout: symbols of the data",	own_symbols },
		{ "V8 layout: of a file without V8",	none },
		{ "V8 layout: bounds of numbers",	bounds },
		{ "V8 layout: symbols that are missing", missing },
		{ "V8 layout: numbers that are 0",	zeros },
		{ "V8 layout: versions",		versions },
		{ "V8 layout: objects",			objects },
		{ "V8 layout: what functions return",	forms },
		{ "V8 layout: one function of two",	one_function },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
