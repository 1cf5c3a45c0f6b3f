// SPDX-License-Identifier: GPL-2.0
/*
 * The names and line tables of Java's methods.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <linux/compiler.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include "../../rules/clock.h"
#include "method.h"

#define MAX_HEADER	256
#define MAX_CODE	65535
#define MAX_SYMBOL	1024
#define MAX_LINES	4096
#define CHECK_AFTER	1000000000ULL

enum field {
	METHOD_CONST,
	CONST_POOL,
	CONST_FLAGS,
	CONST_CODE_SIZE,
	CONST_NAME,
	CONST_SIZE,
	POOL_HOLDER,
	POOL_LENGTH,
	POOL_SOURCE,
	KLASS_NAME,
	SYMBOL_LENGTH,
	SYMBOL_BODY,
};

enum type {
	TYPE_CONST,
	TYPE_POOL,
};

/* A second name is that of other versions. */
static const struct {
	const char	*type;
	const char	*name;
	const char	*other;
} field_names[] = {
	[METHOD_CONST]		= { "Method", "_constMethod" },
	[CONST_POOL]		= { "ConstMethod", "_constants" },
	[CONST_FLAGS]		= { "ConstMethod", "_flags", "_flags._flags" },
	[CONST_CODE_SIZE]	= { "ConstMethod", "_code_size" },
	[CONST_NAME]		= { "ConstMethod", "_name_index" },
	[CONST_SIZE]		= { "ConstMethod", "_constMethod_size" },
	[POOL_HOLDER]		= { "ConstantPool", "_pool_holder" },
	[POOL_LENGTH]		= { "ConstantPool", "_length" },
	[POOL_SOURCE]		= { "ConstantPool", "_source_file_name_index" },
	[KLASS_NAME]		= { "Klass", "_name" },
	[SYMBOL_LENGTH]		= { "Symbol", "_length" },
	[SYMBOL_BODY]		= { "Symbol", "_body" },
};

/**
 * struct reading - a method that is read
 * @methods: of the JVM
 * @const_method: address of its struct ConstMethod
 * @header: of that
 * @pool: address of its struct ConstantPool
 * @pool_header: of that
 * @class: its name, with dots
 * @text: name of class and method
 * @file: of the source, with the folders of the package
 * @lines: its line table
 * @nr_lines: number of @lines
 */
struct reading {
	struct java_methods	*methods;
	u64			 const_method;
	u8			 header[MAX_HEADER];
	u64			 pool;
	u8			 pool_header[MAX_HEADER];
	char			 class[MAX_SYMBOL];
	char			 text[2 * MAX_SYMBOL];
	char			 file[2 * MAX_SYMBOL];
	struct hybrid_name_line	 lines[MAX_LINES];
	unsigned int		 nr_lines;
};

static bool read_byte(struct java_stream *stream, u8 *byte)
{
	if (stream->at >= stream->size)
		return false;
	*byte = stream->bytes[stream->at++];
	return true;
}

bool java_stream__u32(struct java_stream *stream, u32 *value)
{
	/* The 64 highest values of a byte say that another byte follows, up to five. */
	unsigned int i;
	u8 byte;

	*value = 0;
	for (i = 0; i < 5; i++) {
		if (!read_byte(stream, &byte) || byte < stream->excluded)
			return false;
		*value += (u32)(byte - stream->excluded) << (6 * i);
		if (byte < 256 - 64)
			break;
	}
	return true;
}

static bool read_signed(struct java_stream *stream, u32 *value)
{
	if (!java_stream__u32(stream, value))
		return false;
	*value = (*value >> 1) ^ -(*value & 1);
	return true;
}

/* Since JDK 20 no packed number has a byte of 0. */
static u8 excluded_of(struct java_vm *vm)
{
	u32 major = 0;
	u64 address;

	if (java_vm__static(vm, "Abstract_VM_Version", "_vm_major_version", &address) &&
	    java_vm__read(vm, address, &major, sizeof(major)))
		major = 0;
	return major >= 20;
}

int java_methods__init(struct java_methods *methods, struct java_vm *vm)
{
	unsigned int i;

	BUILD_BUG_ON(ARRAY_SIZE(field_names) > ARRAY_SIZE(methods->fields));
	methods->vm = vm;
	for (i = 0; i < ARRAY_SIZE(field_names); i++) {
		if (!java_vm__field(vm, field_names[i].type, field_names[i].name,
				    &methods->fields[i]) &&
		    (!field_names[i].other ||
		     !java_vm__field(vm, field_names[i].type, field_names[i].other,
				     &methods->fields[i])))
			return -1;
	}
	if (!java_vm__type_size(vm, "ConstMethod", &methods->sizes[TYPE_CONST]) ||
	    !java_vm__type_size(vm, "ConstantPool", &methods->sizes[TYPE_POOL]) ||
	    methods->sizes[TYPE_CONST] > MAX_HEADER || methods->sizes[TYPE_POOL] > MAX_HEADER)
		return -1;
	if (!java_vm__constant(vm, "ConstMethod::_has_linenumber_table", &methods->has_lines))
		java_vm__constant(vm, "ConstMethodFlags::_misc_has_linenumber_table",
				  &methods->has_lines);
	methods->excluded = excluded_of(vm);
	return 0;
}

static bool read_pointer(struct java_methods *methods, u64 addr, enum field field, u64 *value)
{
	return !java_vm__read(methods->vm, addr + methods->fields[field].offset, value,
			      sizeof(*value));
}

static u64 value_of(const struct java_methods *methods, const void *header, enum type type,
		    enum field field)
{
	s64 value = 0;

	java_field_value(&methods->fields[field], header, methods->sizes[type], &value);
	return value;
}

/* Bytes of a struct Symbol, and a 0; what does not fit is cut off. */
static bool read_symbol(struct java_methods *methods, u64 symbol, char *text)
{
	u16 length;

	if (!symbol || java_vm__read(methods->vm, symbol + methods->fields[SYMBOL_LENGTH].offset,
				     &length, sizeof(length)))
		return false;
	length = min_t(u32, length, MAX_SYMBOL - 1U);
	text[length] = 0;
	return !java_vm__read(methods->vm, symbol + methods->fields[SYMBOL_BODY].offset, text,
			      length);
}

/* A symbol by its number in the pool. */
static bool read_entry(struct reading *r, u64 number, char *text)
{
	struct java_methods *methods = r->methods;
	u64 symbol;

	if (!number || number >= value_of(methods, r->pool_header, TYPE_POOL, POOL_LENGTH) ||
	    java_vm__read(methods->vm, r->pool + methods->sizes[TYPE_POOL] + number * sizeof(u64),
			  &symbol, sizeof(symbol)))
		return false;
	return read_symbol(methods, symbol, text);
}

static bool read_headers(struct reading *r, u64 method)
{
	struct java_methods *methods = r->methods;

	if (!read_pointer(methods, method, METHOD_CONST, &r->const_method) ||
	    java_vm__read(methods->vm, r->const_method, r->header, methods->sizes[TYPE_CONST]))
		return false;
	r->pool = value_of(methods, r->header, TYPE_CONST, CONST_POOL);
	return !java_vm__read(methods->vm, r->pool, r->pool_header, methods->sizes[TYPE_POOL]);
}

/* "java/util/HashMap" becomes "java.util.HashMap", as in stack traces of Java. */
static bool read_class(struct reading *r)
{
	u64 holder = value_of(r->methods, r->pool_header, TYPE_POOL, POOL_HOLDER), symbol;
	char *c;

	if (!read_pointer(r->methods, holder, KLASS_NAME, &symbol) ||
	    !read_symbol(r->methods, symbol, r->class))
		return false;
	for (c = r->class; *c; c++) {
		if (*c == '/')
			*c = '.';
		else if (*c == '+')
			*c = '/';
	}
	return *r->class;
}

/* "java/util/HashMap.java"; what it has in front of it is not known. */
static void read_file(struct reading *r)
{
	const char *package = strrchr(r->class, '.');
	int length = package ? package - r->class + 1 : 0, i;

	memcpy(r->file, r->class, length);
	for (i = 0; i < length; i++) {
		if (r->file[i] == '.')
			r->file[i] = '/';
	}
	if (!read_entry(r, value_of(r->methods, r->pool_header, TYPE_POOL, POOL_SOURCE),
			r->file + length))
		*r->file = 0;
}

/* One entry of a line table; false at its end. CompressedLineNumberReadStream::read_pair() */
static bool next_line(struct java_stream *stream, struct hybrid_name_line *line)
{
	u32 places, lines;
	u8 byte;

	if (!read_byte(stream, &byte) || !byte)
		return false;
	if (byte != 0xff) {
		line->index += byte >> 3;
		line->line += byte & 7;
		return true;
	}
	if (!read_signed(stream, &places) || !read_signed(stream, &lines))
		return false;
	line->index += places;
	line->line += lines;
	return true;
}

/* It stands behind the bytecode. */
static void read_lines(struct reading *r, u64 code, u32 size)
{
	struct java_methods *methods = r->methods;
	u64 room = value_of(methods, r->header, TYPE_CONST, CONST_SIZE) * sizeof(u64);
	u64 start = code + size - r->const_method;
	struct java_stream stream = { .excluded = methods->excluded };
	struct hybrid_name_line line = {};
	u8 bytes[16384];

	if (!(value_of(methods, r->header, TYPE_CONST, CONST_FLAGS) & methods->has_lines) ||
	    room <= start)
		return;
	stream.bytes = bytes;
	stream.size = min_t(u64, room - start, sizeof(bytes));
	if (java_vm__read(methods->vm, code + size, bytes, stream.size))
		return;
	while (r->nr_lines < MAX_LINES && next_line(&stream, &line))
		r->lines[r->nr_lines++] = line;
}

static bool read_method(struct reading *r, u64 method, struct hybrid_function *function)
{
	char name[MAX_SYMBOL];
	u64 code;

	if (!read_headers(r, method) || !read_class(r) ||
	    !read_entry(r, value_of(r->methods, r->header, TYPE_CONST, CONST_NAME), name))
		return false;
	snprintf(r->text, sizeof(r->text), "%s.%s", r->class, name);
	read_file(r);
	code = r->const_method + r->methods->sizes[TYPE_CONST];
	function->name = r->text;
	function->file = r->file;
	function->size = value_of(r->methods, r->header, TYPE_CONST, CONST_CODE_SIZE) & MAX_CODE;
	read_lines(r, code, function->size);
	function->lines = r->lines;
	function->nr_lines = r->nr_lines;
	return true;
}

/* What a method's ConstMethod, @words[0], has of the pool and of the names. */
static bool read_words(struct java_methods *methods, u64 *words)
{
	return read_pointer(methods, words[0], CONST_POOL, &words[1]) &&
	       !java_vm__read(methods->vm, words[0] + methods->fields[CONST_CODE_SIZE].offset,
			      &words[2], sizeof(words[2]));
}

static bool is_same(struct java_methods *methods, struct java_known_method *known)
{
	u64 time = hybrid_clock_ns(CLOCK_MONOTONIC_COARSE), words[3];

	if (time - known->checked < CHECK_AFTER)
		return true;
	known->checked = time;
	/* The process ends: it was the same until then. */
	if (!read_pointer(methods, known->method, METHOD_CONST, &words[0]))
		return true;
	return read_words(methods, words) && !memcmp(words, known->words, sizeof(words));
}

/* Apart: what is read takes 40 KiB of stack, and nearly all methods are known. */
static noinline bool read_known(struct java_methods *methods, struct hybrid_names *names,
				u64 method, struct java_known_method *known)
{
	struct reading reading = { .methods = methods };
	struct hybrid_function function = {};

	if (!read_pointer(methods, method, METHOD_CONST, &known->words[0]) ||
	    !read_words(methods, known->words) || !read_method(&reading, method, &function))
		return false;
	known->function = hybrid_names__function(names, &methods->quota, &function);
	known->checked = hybrid_clock_ns(CLOCK_MONOTONIC_COARSE);
	known->code = reading.const_method + methods->sizes[TYPE_CONST];
	known->size = max(function.size, 1U);
	return known->function;
}

/* What is known of a method, else the place for it. */
static struct java_known_method *find_method(struct java_methods *methods, u64 method)
{
	struct java_known_method *set = methods->known[hash_64(method, JAVA_METHODS_BITS)];
	struct java_known_method *oldest = set;
	unsigned int i;

	for (i = 0; i < JAVA_METHODS_WAYS; i++) {
		if (set[i].method == method)
			return &set[i];
		if (set[i].used < oldest->used)
			oldest = &set[i];
	}
	return oldest;
}

const struct java_known_method *java_methods__get(struct java_methods *methods,
						  struct hybrid_names *names, u64 method)
{
	struct java_known_method *known, read = { .method = method };

	if (!method || method % sizeof(u64))
		return NULL;
	known = find_method(methods, method);
	if (known->method == method && !is_same(methods, known))
		known->method = 0;
	if (known->method != method) {
		if (!read_known(methods, names, method, &read))
			return NULL;
		*known = read;
	}
	known->used = ++methods->clock;
	return known;
}
