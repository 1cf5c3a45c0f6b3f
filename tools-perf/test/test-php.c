// SPDX-License-Identifier: GPL-2.0
/*
 * Versions, functions, closures and files of PHP; the process is the test's own.
 */
#include <string.h>
#include "evaluator.h"
#include "own-memory.h"
#include "php-code.h"
#include "php-functions.h"
#include "tap.h"

#define PHP_8_2	20220829
#define PHP_8_4	20240924

/* struct _zend_string. */
struct text {
	u64	head;
	u64	hash;
	u64	length;
	char	bytes[32];
};

/* module_registry, the entry of its first module, the module; and the accessor's code. */
static struct {
	u64	table[7];
	u64	entry[4];
	struct {
		u16	size;
		u32	api;
		u8	debug;
		u8	zts;
	} module;
	u8	code[64];
} process;

static const struct php_file file = {
	.registry = (u64)process.table, .accessor = (u64)process.code,
};

static const struct php_layout *layout;

static void set_process(u32 api)
{
	/* lea 0x298329(%rip),%rax; mov 0x1e8(%rax),%rax */
	static const u8 code[] = {
		0x48, 0x8d, 0x05, 0x29, 0x83, 0x29, 0, 0x48, 0x8b, 0x80, 0xe8, 0x01, 0, 0,
	};

	memset(&process, 0, sizeof(process));
	process.table[2] = (u64)process.entry;
	process.entry[0] = (u64)&process.module;
	process.module.size = 168;
	process.module.api = api;
	memcpy(process.code, code, sizeof(code));
	hybrid_memory_forget(own.memory);
}

static const struct php_layout *find(void)
{
	hybrid_memory_forget(own.memory);
	return php_layout__find(&own.pm, &file);
}

static void versions(void)
{
	own_begin();
	set_process(PHP_8_2);
	layout = find();
	check(layout && layout->walk.code == 88 && layout->walk.file == 152);
	process.module.api = PHP_8_4;
	layout = find();
	check(layout && layout->walk.code == 104 && layout->globals_frame == 0x1e8);
	process.module.api = 20190902;
	check(!find());
	own_end();
}

static void no_versions(void)
{
	own_begin();
	set_process(PHP_8_2);
	process.module.zts = 1;
	check(!find());
	process.module.zts = 0;
	process.module.debug = 1;
	check(!find());
	process.module.debug = 0;
	process.module.size = 160;
	check(!find());
	process.module.size = 168;
	check(find());
	/* The frame is elsewhere, or there is no such code. */
	process.code[10] = 0xf0;
	check(!find());
	memset(process.code, 0, sizeof(process.code));
	check(!find());
	set_process(PHP_8_2);
	process.table[2] = 8;
	check(!find());
	process.table[2] = 0;
	check(!find());
	own_end();
}

static struct text name, class_name, path;
static u64 class[2];

/* Functions of 8.2: one that makes the other; and one in C. */
static u64 function[30], closure[30], internal[30], closures[1];
static u8 ops[8][PHP_OP], closure_ops[4][PHP_OP];

static struct php_functions functions;
static struct hybrid_names *names;

static void set_text(struct text *text, const char *bytes)
{
	memset(text, 0, sizeof(*text));
	text->hash = 0x8000000012345678;
	text->length = strlen(bytes);
	memcpy(text->bytes, bytes, text->length);
}

static void set_function(u64 *words, struct text *called, void *code, u32 nr)
{
	memset(words, 0, sizeof(function));
	words[0] = 2;
	words[1] = (u64)called;
	words[10] = nr;
	words[11] = (u64)code;
	words[19] = (u64)&path;
}

static void set_line(u8 *op, u32 line)
{
	memcpy(op + PHP_OP_LINE, &line, sizeof(line));
}

static void begin(void)
{
	own_begin();
	set_process(PHP_8_2);
	layout = find();
	set_text(&name, "spam");
	set_text(&class_name, "Eggs");
	set_text(&path, "/a.php");
	class[1] = (u64)&class_name;
	set_function(function, &name, ops, 8);
	set_line(ops[0], 3);
	set_line(ops[1], 3);
	set_line(ops[2], 5);
	memset(&functions, 0, sizeof(functions));
	functions.pm = &own.pm;
	functions.layout = layout;
	names = hybrid_names__new(HYBRID_LANGUAGE_PHP);
}

static void end(void)
{
	php_functions__exit(&functions);
	hybrid_names__delete(names);
	own_end();
}

static u64 word_of(const u64 *words)
{
	return (u64)words | HYBRID_WALK_FUNCTION_MARK(words[(u8)words[0] == PHP_INTERNAL ? 1 : 11]);
}

static u64 ip_of(u64 word, u64 position)
{
	hybrid_memory_forget(own.memory);
	return php_functions__ip(&functions, names, word, position);
}

static bool is_named(u32 i, const char *expected)
{
	u64 start, size;

	return i < hybrid_names__nr(names) &&
	       !strcmp(hybrid_names__get(names, i, &start, &size), expected);
}

static void code(void)
{
	u64 first = (u64)ops, ip;

	begin();
	ip = ip_of(word_of(function), first);
	check(ip);
	check(is_named(0, "php::spam:/a.php"));
	same(ip_of(word_of(function) | HYBRID_WALK_RUN_ENDS, first + 2 * PHP_OP), ip + 4);
	/* What is no instruction of it, as one behind the last. */
	same(ip_of(word_of(function), first + 8 * PHP_OP), ip);
	same(ip_of(word_of(function), first + 3), ip);
	same(ip_of(word_of(function), 0), ip);
	same(hybrid_names__nr(names), 1);
	/* Another one, none; what is known stays so. */
	check(!ip_of(word_of(function) ^ 1ULL << 50, first + 8 * PHP_OP));
	check(!ip_of(8, first + 8 * PHP_OP));
	function[1] = 0;
	same(ip_of(word_of(function), first), ip);
	php_functions__exit(&functions);
	check(!ip_of(word_of(function), first));
	end();
}

static void methods(void)
{
	begin();
	function[2] = (u64)class;
	check(ip_of(word_of(function), (u64)ops));
	check(is_named(0, "php::Eggs::spam:/a.php"));
	/* In C: without a file, and what has its position says nothing. */
	set_function(internal, &name, NULL, 0);
	internal[0] = PHP_INTERNAL;
	internal[19] = 0;
	internal[2] = (u64)class;
	check(ip_of(word_of(internal), 12345));
	check(is_named(1, "php::Eggs::spam"));
	same(hybrid_names__nr(names), 2);
	/* 8.4's closures have the class in their names. */
	set_text(&name, "{closure:Eggs::spam():3}");
	php_functions__exit(&functions);
	check(ip_of(word_of(function), (u64)ops));
	check(is_named(2, "php::{closure:Eggs::spam():3}:/a.php"));
	end();
}

/* Its name is not in the mark: a second later it is compared with the process. */
static void changed(void)
{
	u64 ip;

	begin();
	ip = ip_of(word_of(function), (u64)ops);
	function[1] = (u64)&class_name;
	tap_pass(999999999);
	same(ip_of(word_of(function), (u64)ops), ip);
	tap_pass(1);
	check(ip_of(word_of(function), (u64)ops) != ip && is_named(1, "php::Eggs:/a.php"));
	/* What can't be read is as it was, and so is what has not changed. */
	ip = ip_of(word_of(function), (u64)ops);
	function[1] = 0;
	tap_pass(1000000000);
	same(ip_of(word_of(function), (u64)ops), ip);
	function[1] = (u64)&class_name;
	tap_pass(1000000000);
	same(ip_of(word_of(function), (u64)ops), ip);
	same(hybrid_names__nr(names), 2);
	end();
}

static void lines(void)
{
	struct hybrid_name_line out[8];

	begin();
	same(php_lines(&own.pm, (u64)ops, 3, out, 8), 2);
	same(out[0].index, 0);
	same(out[0].line, 3);
	same(out[1].index, 2);
	same(out[1].line, 5);
	same(php_lines(&own.pm, (u64)ops, 3, out, 1), 1);
	same(php_lines(&own.pm, 8, ~0U, out, 8), 0);
	/* A number of instructions that nobody has. */
	function[10] = ~0U;
	check(!ip_of(word_of(function), (u64)ops));
	end();
}

/* The closure's copy is gone, or another's: its instructions are those of what made it. */
static void copies(void)
{
	static struct text anonymous;
	u64 copy[30], gone;

	begin();
	set_text(&anonymous, "{closure}");
	set_function(closure, &anonymous, closure_ops, 4);
	memcpy(copy, closure, sizeof(copy));
	gone = word_of(copy);
	memset(copy, 0, sizeof(copy));
	check(!ip_of(gone, (u64)closure_ops));
	function[2] = (u64)class;
	((u32 *)function)[45] = 1;
	function[24] = (u64)closures;
	closures[0] = (u64)closure;
	check(ip_of(word_of(function), (u64)ops));
	check(is_named(1, "php::Eggs::{closure}:/a.php"));
	check(ip_of(gone, (u64)closure_ops));
	same(ip_of(gone, (u64)closure_ops), ip_of(word_of(closure), (u64)closure_ops));
	same(hybrid_names__nr(names), 2);
	/* Not what has other instructions. */
	check(!ip_of((u64)copy | HYBRID_WALK_FUNCTION_MARK((u64)ops + 1024), (u64)closure_ops));
	check(!ip_of(gone ^ 64, (u64)closure_ops + 4 * PHP_OP));
	/* Numbers and addresses that lead nowhere. */
	php_functions__exit(&functions);
	((u32 *)function)[45] = ~0U;
	check(ip_of(word_of(function), (u64)ops));
	closures[0] = 8;
	function[24] = 8;
	php_functions__exit(&functions);
	check(ip_of(word_of(function), (u64)ops));
	end();
}

static u64 file_ip(u64 word, u64 line)
{
	hybrid_memory_forget(own.memory);
	return php_functions__file_ip(&functions, names, word, line);
}

static void files(void)
{
	u64 word, ip;

	begin();
	word = (u64)&path | HYBRID_WALK_FUNCTION_MARK(path.hash) | HYBRID_WALK_PHP_FILE;
	ip = file_ip(word, 1);
	check(ip);
	check(is_named(0, "php::{main}:/a.php"));
	same(file_ip(word | HYBRID_WALK_RUN_ENDS, 7), ip + 12);
	/* No line is told there. */
	same(file_ip(word, ~0ULL), ip - 2);
	/* It is another string by now. */
	check(!file_ip(word ^ 1ULL << 50, 1));
	check(!file_ip(8 | HYBRID_WALK_PHP_FILE, 1));
	path.length = ~0ULL;
	same(file_ip(word, 1), ip);
	php_functions__exit(&functions);
	path.hash = 0;
	check(!file_ip(word, 1));
	end();
}

/* A copy of the process knows what that knew. */
static void copy_of_process(void)
{
	struct php_functions copy = { .pm = &own.pm };
	u64 ip, first = (u64)ops;

	begin();
	copy.layout = layout;
	php_functions__inherit(&copy, &functions);
	same(copy.known.bits, 0);
	ip = ip_of(word_of(function), first);
	php_functions__inherit(&copy, &functions);
	php_functions__exit(&functions);
	function[1] = 0;
	hybrid_memory_forget(own.memory);
	same(php_functions__ip(&copy, names, word_of(function), first), ip);
	php_functions__exit(&copy);
	end();
}

/* However many there are: the table grows, and begins anew. */
static void many(void)
{
	static u64 more[300][30];
	unsigned int i;

	begin();
	for (i = 0; i < ARRAY_SIZE(more); i++) {
		set_function(more[i], &name, ops, 8);
		check(ip_of(word_of(more[i]), (u64)ops));
	}
	same(functions.known.nr, ARRAY_SIZE(more));
	same(hybrid_names__nr(names), 1);
	end();
}

/* What opcache has compiled runs in the evaluator's frame. */
static void compiled(void)
{
	const struct hybrid_evaluator evaluator = { .made_start = 0x10000, .made_end = 0x20000 };
	const struct hybrid_evaluator none = { .object_id = 0 };

	own_begin();
	check(hybrid_evaluator__of(&evaluator, own.pm.space, 0x10000));
	check(hybrid_evaluator__of(&evaluator, own.pm.space, 0x1ffff));
	check(!hybrid_evaluator__of(&evaluator, own.pm.space, 0x20000));
	check(!hybrid_evaluator__of(&none, own.pm.space, 0x10000));
	own_end();
}

/* BPF has read it; at the address is another one by now, or nothing. */
static void told(void)
{
	struct hybrid_told_text told = { .line = 3, .pieces = { "Eggs", "spam", "/a.php" } };
	u64 word = word_of(function) ^ 1ULL << 50, ip;

	begin();
	told.function = word;
	php_functions__text(&functions, names, &told);
	ip = ip_of(word, (u64)ops);
	check(ip && is_named(0, "php::Eggs::spam:/a.php"));
	same(ip_of(word | HYBRID_WALK_RUN_ENDS, 12345), ip);
	/* Told again, as another one. */
	memcpy(told.pieces[1], "ham", sizeof("ham"));
	php_functions__text(&functions, names, &told);
	check(ip_of(word, (u64)ops) != ip && is_named(1, "php::Eggs::ham:/a.php"));
	/* What can be read is read: it has lines. */
	told.function = word_of(function);
	php_functions__text(&functions, names, &told);
	ip = ip_of(word_of(function), (u64)ops);
	same(ip_of(word_of(function), (u64)ops + 2 * PHP_OP), ip + 4);
	check(is_named(2, "php::spam:/a.php"));
	/* A file's outermost code. */
	told.function = 0x12345678 | HYBRID_WALK_PHP_FILE;
	php_functions__text(&functions, names, &told);
	check(php_functions__file_ip(&functions, names, told.function, 7));
	check(is_named(3, "php::{main}:/a.php"));
	/* Without a name, or an address. */
	*told.pieces[1] = 0;
	told.function = word ^ 1ULL << 51;
	php_functions__text(&functions, names, &told);
	told.function = 0;
	php_functions__text(&functions, names, &told);
	same(hybrid_names__nr(names), 4);
	end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "php: versions",				versions },
		{ "php: what is no version that is known",	no_versions },
		{ "php: functions",				code },
		{ "php: methods, and functions in C",		methods },
		{ "php: functions that change",			changed },
		{ "php: lines",					lines },
		{ "php: closures whose copy is gone",		copies },
		{ "php: files, by their names",			files },
		{ "php: a copy of the process",			copy_of_process },
		{ "php: many functions",			many },
		{ "php: compiled code",				compiled },
		{ "php: functions that BPF has read",		told },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
