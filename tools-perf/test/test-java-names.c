// SPDX-License-Identifier: GPL-2.0
/*
 * The methods of a JVM's frames, by what the process says of them: this one.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "java-world.h"
#include "tap.h"

#define COMPILED	0x1000
#define INTERP		0x3000
#define FILE_NAME	"org/example/Main.java"

struct symbol {
	u32	hash;
	u16	length;
	u8	body[64];
};

struct klass {
	u64		 first;
	struct symbol	*name;
};

struct pool {
	struct klass	*holder;
	u32		 length;
	u16		 source;
	struct symbol	*entries[8];
};

struct const_method {
	struct pool	*pool;
	u32		 size;
	u32		 flags;
	u16		 code_size;
	u16		 name;
	u32		 pad;
};

/* Its bytecode, and behind that its line table. */
struct whole_method {
	struct const_method	m;
	u8			bytes[52];
};

struct method {
	u64			 first;
	struct whole_method	*m;
};

/* A description of an address, as HotSpot has it. */
struct desc {
	s32	pc;
	s32	scope;
	s32	objects;
	s32	flags;
};

/* What stands in the blob of a compiled method, in place of its code's end. */
struct tail {
	u64	scopes_data;	/* until JDK 22 */
	u64	immutable;	/* since */
	u64	mutable;
	s32	immutable_size;
	s32	mutable_size;
	s32	relocation_size;
	s32	metadata;
	s32	pcs;
	s32	dependencies;
	s32	data;
};

#define CODE_SIZE	64

/* Behind 16 bytes of something else, the methods; the descriptions, and then the scopes. */
struct data {
	u64		relocation[2];
	struct method	*metadata[4];
	struct desc	pcs[5];
	u8		scopes[64];
};

static struct symbol symbols[8];
static struct klass klass;
static struct pool pool;
static struct whole_method bodies[3];
static struct method methods[3];
static struct data outside, *data;
static struct tail *tail;
static u32 version;
static struct hybrid_names *names;
static struct hybrid_names_quota quota;

static const struct hybrid_name_line lines[] = { { 0, 10 }, { 3, 11 }, { 9, 300 } };

/* The same lines as HotSpot packs them: two short entries, and a long one. */
static const u8 new_lines[] = { 0xff, 1, 21, 3 << 3 | 1, 0xff, 13, 0xc3, 7, 0 };
static const u8 old_lines[] = { 0xff, 0, 20, 3 << 3 | 1, 0xff, 12, 0xc2, 6, 0 };

static void add_fields(void)
{
	java_add_field("Method", "_constMethod", "ConstMethod*", offsetof(struct method, m));
	java_add_field("ConstMethod", "_constants", "ConstantPool*",
		       offsetof(struct const_method, pool));
	java_add_field("ConstMethod", version < 20 ? "_flags" : "_flags._flags", "u4",
		       offsetof(struct const_method, flags));
	java_add_field("ConstMethod", "_code_size", "u2",
		       offsetof(struct const_method, code_size));
	java_add_field("ConstMethod", "_name_index", "u2", offsetof(struct const_method, name));
	java_add_field("ConstMethod", "_constMethod_size", "int",
		       offsetof(struct const_method, size));
	java_add_field("ConstantPool", "_pool_holder", "InstanceKlass*",
		       offsetof(struct pool, holder));
	java_add_field("ConstantPool", "_length", "int", offsetof(struct pool, length));
	java_add_field("ConstantPool", "_source_file_name_index", "u2",
		       offsetof(struct pool, source));
	java_add_field("Klass", "_name", "Symbol*", offsetof(struct klass, name));
	java_add_field("Symbol", "_length", "u2", offsetof(struct symbol, length));
	java_add_field("Symbol", "_body", NULL, offsetof(struct symbol, body));
	java_add_field("PcDesc", "_pc_offset", "int", offsetof(struct desc, pc));
	java_add_field("PcDesc", "_scope_decode_offset", "int", offsetof(struct desc, scope));
	java_add_static("Abstract_VM_Version", "_vm_major_version", &version);
	java_add_type("ConstMethod", sizeof(struct const_method));
	java_add_type("ConstantPool", offsetof(struct pool, entries));
	java_add_type("PcDesc", sizeof(struct desc));
	java_add_int("ConstMethod::_has_linenumber_table", 1);
}

#define TAIL(field)	(sizeof(struct java_test_blob) + CODE_SIZE + offsetof(struct tail, field))

static void add_layout(void)
{
	java_add_field("nmethod", "_scopes_pcs_offset", "int", TAIL(pcs));
	if (version < 20) {
		java_add_field("CompiledMethod", "_scopes_data_begin", "address",
			       TAIL(scopes_data));
		java_add_field("nmethod", "_dependencies_offset", "int", TAIL(dependencies));
		java_add_field("nmethod", "_metadata_offset", "int", TAIL(metadata));
		return;
	}
	java_add_field("nmethod", "_scopes_data_offset", "int", TAIL(data));
	java_add_field("nmethod", "_immutable_data", "address", TAIL(immutable));
	java_add_field("nmethod", "_immutable_data_size", "int", TAIL(immutable_size));
	java_add_field("CodeBlob", "_mutable_data", "address", TAIL(mutable));
	java_add_field("CodeBlob", "_mutable_data_size", "int", TAIL(mutable_size));
	java_add_field("CodeBlob", "_relocation_size", "int", TAIL(relocation_size));
}

static struct symbol *symbol(unsigned int i, const char *text)
{
	symbols[i].length = strlen(text);
	memcpy(symbols[i].body, text, strlen(text));
	return &symbols[i];
}

/* org.example.Main.zero(), one() and two(), whose code is @size bytes each. */
static void add_methods(u16 size)
{
	const u8 *table = version < 20 ? old_lines : new_lines;
	unsigned int i;

	klass.name = symbol(0, "org/example/Main");
	pool = (struct pool) {
		.holder = &klass, .length = 8, .source = 4,
		.entries = { NULL, symbol(1, "zero"), symbol(2, "one"), symbol(3, "two"),
			     symbol(4, "Main.java") },
	};
	for (i = 0; i < 3; i++) {
		bodies[i].m = (struct const_method) {
			.pool = &pool, .size = sizeof(bodies[i]) / 8, .flags = 1,
			.code_size = size, .name = i + 1,
		};
		memcpy(bodies[i].bytes + size, table, sizeof(new_lines));
		methods[i].m = &bodies[i];
	}
}

/* The scopes' numbers begin one higher since JDK 20, so that no byte is 0. */
static void add_scopes(void)
{
	/* The first byte is no scope. One: around it nothing, method 1, bytecode 2. */
	static const u8 scopes[] = {
		0,
		0, 1, 2 + 1,		/* at 1: zero(), place 2 */
		1, 2, 3 + 1,		/* at 4: one(), place 3, in that */
		4, 3, 0,		/* at 7: two(), where it begins, in that */
		10, 1, 1,		/* at 10: zero(), in itself */
		0, 9, 1,		/* at 13: a method that there is not */
	};
	unsigned int i;

	for (i = 1; i < sizeof(scopes); i++)
		data->scopes[i] = scopes[i] + (version >= 20);
	memcpy(data->pcs, (struct desc[5]) {
		{ -1, 0, 0, 0 }, { 10, 1, 0, 0 }, { 20, 7, 0, 0 }, { 30, 10, 0, 0 },
		{ 40, 13, 0, 0 },
	}, sizeof(data->pcs));
	for (i = 0; i < 3; i++)
		data->metadata[i] = &methods[i];
}

static void add_compiled(void)
{
	u8 code[CODE_SIZE + sizeof(struct tail) + sizeof(struct data)];
	u64 blob = JAVA_CODE + COMPILED + 8;
	struct java_test_blob *added;

	memset(code, 0x90, sizeof(code));
	added = java_add(COMPILED, "nmethod", code, sizeof(code));
	added->method = (u64)&methods[0];
	added->complete = 4;
	tail = (void *)added->code + CODE_SIZE;
	data = version < 20 ? (void *)(tail + 1) : &outside;
	memset(data, 0, sizeof(*data));
	*tail = (struct tail) {
		.scopes_data = (u64)data->scopes,
		.immutable = (u64)data->pcs, .mutable = (u64)data, .data = sizeof(data->pcs),
		.immutable_size = sizeof(data->pcs) + sizeof(data->scopes),
		.mutable_size = offsetof(struct data, pcs),
		.relocation_size = sizeof(data->relocation),
	};
	if (version < 20) {
		/* There the scopes come first. */
		tail->scopes_data = (u64)data->pcs;
		tail->metadata = (u64)data->metadata - blob;
		tail->pcs = (u64)data->scopes - blob;
		tail->dependencies = tail->pcs + sizeof(data->pcs);
	}
	add_scopes();
}

/* In JDK 17 and 21 the descriptions stand behind the scopes. */
static void swap_parts(void)
{
	u8 scopes[64];
	struct desc pcs[5];

	if (version >= 20)
		return;
	memcpy(scopes, data->scopes, sizeof(scopes));
	memcpy(pcs, data->pcs, sizeof(pcs));
	memcpy(data->pcs, scopes, sizeof(scopes));
	memcpy((u8 *)data->pcs + sizeof(scopes), pcs, sizeof(pcs));
	tail->pcs = (u8 *)data->pcs + sizeof(scopes) - (u8 *)(JAVA_CODE + COMPILED + 8);
	tail->dependencies = tail->pcs + sizeof(pcs);
}

static void begin(u32 jdk)
{
	version = jdk;
	java_begin();
	add_fields();
	add_layout();
	add_methods(12);
	add_compiled();
	swap_parts();
	java_add_interpreter(INTERP);
	memset(&quota, 0, sizeof(quota));
	names = hybrid_names__new(HYBRID_RUNTIME_JAVA);
}

static void end(void)
{
	hybrid_names__delete(names);
	java_end();
}

/* The functions of a frame at @ip, which is met by a walk before; out of the interpreter's. */
static unsigned int name(u64 ip, u64 method, u64 position, u64 *out)
{
	const struct hybrid_frame frame = {
		.ip = ip, .ret = ip, .function = method, .position = position,
	};
	struct hybrid_namer *namer;

	java_pass();
	java_unwind(ip);
	namer = hybrid_runtime_namer(java.unwinder.runtimes, getpid(), 0, java.u.space, false);
	return check(namer) ? namer->name(namer, names, &frame, ip, out, HYBRID_NAMES_OF_FRAME) : 0;
}

static u64 function(const char *method, u32 bci)
{
	const struct hybrid_function f = {
		.name = method, .file = FILE_NAME, .size = 12, .lines = lines, .nr_lines = 3,
	};

	return hybrid_names_ip(hybrid_names__function(names, &quota, &f), f.size, bci);
}

static u64 compiled(unsigned int at)
{
	return java_code_at(COMPILED) + at;
}

static void check_compiled(u32 jdk)
{
	u64 out[HYBRID_NAMES_OF_FRAME];

	begin(jdk);
	same(name(compiled(10), 0, 0, out), 1);
	same(out[0], function("org.example.Main.zero", 2));
	/* What stands between two descriptions is of the next one. */
	same(name(compiled(11), 0, 0, out), 3);
	same(out[0], function("org.example.Main.two", 0));
	same(out[1], function("org.example.Main.one", 3));
	same(out[2], function("org.example.Main.zero", 2));
	same(name(compiled(20), 0, 0, out), 3);
	same(out[2], function("org.example.Main.zero", 2));
	same(hybrid_names__nr(names), 3);
	end();
}

/* Where the frame is made and left, the next description is of a method that was inlined. */
static void test_outside_frame(void)
{
	/* add $1,%rax; mov %rax,%rdx; and what leaves it. */
	static const u8 code[] = {
		0x48, 0x83, 0xc0, 0x01, 0x48, 0x8b, 0xd0,
		0x48, 0x83, 0xc4, 0x20, 0x5d, 0x49, 0x3b, 0x67, 0x28,
		0x0f, 0x87, 0, 0, 0, 0, 0xc3,
	};
	/* cmp; jge: to what is after it; mov. */
	static const u8 jumps[] = { 0x83, 0xfe, 0x01, 0x7d, 0x20, 0x48, 0x8b, 0xd0 };
	static const u8 steps[] = { 0, 4, 7, 11, 12, 16, 22 };
	u64 out[HYBRID_NAMES_OF_FRAME];
	unsigned int i;

	begin(25);
	data->pcs[1] = (struct desc) { .pc = 40, .scope = 7 };
	for (i = 2; i < 5; i++)
		data->pcs[i].pc = 40 + i;
	memcpy((void *)compiled(6), jumps, sizeof(jumps));
	memcpy((void *)compiled(14), code, sizeof(code));
	same(name(compiled(2), 0, 0, out), 1);
	same(out[0], function("org.example.Main.zero", 0));
	for (i = 0; i < sizeof(steps); i++) {
		same(name(compiled(14 + steps[i]), 0, 0, out), 1);
		same(out[0], function("org.example.Main.zero", 12));
	}
	same(name(compiled(11), 0, 0, out), 1);
	same(name(compiled(9), 0, 0, out), 3);
	same(name(compiled(6), 0, 0, out), 3);
	same(name(compiled(37), 0, 0, out), 3);
	/* jmp: to what leaves it. */
	memcpy((void *)compiled(6), (u8 []) { 0xeb, 6 }, 2);
	same(name(compiled(5), 0, 0, out), 1);
	end();
	begin(25);
	/* A description before the end of the frame. */
	data->pcs[1] = (struct desc) { .pc = 18, .scope = 7 };
	memcpy((void *)compiled(14), code, sizeof(code));
	same(name(compiled(14), 0, 0, out), 3);
	end();
}

/* Behind what is described in a loop, and before its jump back. */
static void test_loop(void)
{
	/* mov %rax,%rdx; cmp; jl */
	u8 code[] = { 0x48, 0x8b, 0xd0, 0x83, 0xfe, 0x01, 0x7c, -14 };
	u64 out[HYBRID_NAMES_OF_FRAME];

	begin(25);
	memcpy((void *)compiled(12), code, sizeof(code));
	same(name(compiled(12), 0, 0, out), 1);
	same(out[0], function("org.example.Main.zero", 2));
	same(name(compiled(18), 0, 0, out), 1);
	same(name(compiled(20), 0, 0, out), 3);
	end();
	begin(25);
	/* To behind what is described. */
	code[7] = -4;
	memcpy((void *)compiled(12), code, sizeof(code));
	same(name(compiled(12), 0, 0, out), 3);
	end();
}

static void test_inside(void)
{
	check_compiled(17);
}

static void test_outside(void)
{
	check_compiled(25);
}

static void test_interpreted(void)
{
	u64 out[HYBRID_NAMES_OF_FRAME], loop;
	u8 *code = bodies[1].bytes;

	begin(25);
	loop = java_code_at(INTERP) + JAVA_LOOP;
	same(name(loop, (u64)&methods[1], (u64)code + 5, out), 1);
	same(out[0], function("org.example.Main.one", 5));
	/* A place that is not in it. */
	same(name(loop, (u64)&methods[1], (u64)code + 12, out), 1);
	same(out[0], function("org.example.Main.one", 0));
	end();
}

/* Another class has the memory of one that was unloaded. */
static void test_replaced(void)
{
	u64 out[HYBRID_NAMES_OF_FRAME], loop;
	u8 *code = bodies[1].bytes;

	begin(25);
	loop = java_code_at(INTERP) + JAVA_LOOP;
	same(name(loop, (u64)&methods[1], (u64)code, out), 1);
	bodies[1].m.name = 3;
	usleep(1100000);
	same(name(loop, (u64)&methods[1], (u64)code, out), 1);
	same(out[0], function("org.example.Main.two", 0));
	end();
}

/* The process ends, and with it what a name was read from a second ago. */
static void test_gone(void)
{
	struct method *method = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	u64 out[HYBRID_NAMES_OF_FRAME], loop, i;
	u8 *code = bodies[1].bytes;

	begin(25);
	check(method != MAP_FAILED);
	*method = methods[1];
	loop = java_code_at(INTERP) + JAVA_LOOP;
	same(name(loop, (u64)method, (u64)code, out), 1);
	munmap(method, 4096);
	usleep(1100000);
	/* Nor is it forgotten for others that can't be read. */
	for (i = 1; i < 16000; i++)
		name(loop, i << 16, (u64)code, out);
	same(name(loop, (u64)method, (u64)code, out), 1);
	same(out[0], function("org.example.Main.one", 0));
	end();
}

/* A method of a frame that could not be read is read the next time. */
static void test_read_later(void)
{
	u64 out[HYBRID_NAMES_OF_FRAME];

	begin(25);
	data->metadata[1] = NULL;
	same(name(compiled(15), 0, 0, out), 1);
	same(out[0], function("org.example.Main.zero", 0));
	data->metadata[1] = &methods[1];
	same(name(compiled(15), 0, 0, out), 3);
	end();
}

static void test_stub(void)
{
	const struct hybrid_function f = { .name = "Interpreter", .size = 1 };
	u64 out[HYBRID_NAMES_OF_FRAME], loop;

	begin(25);
	loop = java_code_at(INTERP) + JAVA_LOOP;
	same(name(loop, 0, 0, out), 1);
	same(out[0], hybrid_names_ip(hybrid_names__function(names, &quota, &f), 1, 0));
	/* As where the frame holds no method. */
	same(name(loop, 0x12345670, 0, out), 1);
	same(out[0], hybrid_names_ip(hybrid_names__function(names, &quota, &f), 1, 0));
	end();
}

/* Scopes in circles, and of a method that there is not: then it is the compiled method. */
static void test_lies(void)
{
	u64 out[HYBRID_NAMES_OF_FRAME];

	begin(25);
	same(name(compiled(30), 0, 0, out), HYBRID_NAMES_OF_FRAME);
	same(out[0], out[HYBRID_NAMES_OF_FRAME - 1]);
	same(name(compiled(40), 0, 0, out), 1);
	same(out[0], function("org.example.Main.zero", 0));
	end();
}

static void test_long_names(void)
{
	u64 out[HYBRID_NAMES_OF_FRAME];

	begin(25);
	symbols[0].length = 0xffff;
	pool.length = 3;
	check(name(compiled(10), 0, 0, out) <= HYBRID_NAMES_OF_FRAME);
	pool.length = 0xffffffff;
	pool.source = 0xffff;
	bodies[0].m.size = 0xffffffff;
	bodies[0].m.code_size = 0xffff;
	check(name(compiled(20), 0, 0, out) <= HYBRID_NAMES_OF_FRAME);
	end();
}

/* Bytes that anybody may have written: nothing is read or written that should not be. */
static void test_random(void)
{
	u64 out[HYBRID_NAMES_OF_FRAME];
	unsigned int i, n;

	for (n = 0; n < 300; n++) {
		struct { void *at; size_t size; } parts[] = {
			{ &outside, sizeof(outside) }, { &pool, sizeof(pool) },
			{ bodies, sizeof(bodies) }, { symbols, sizeof(symbols) },
			{ tail, sizeof(*tail) }, { methods, sizeof(methods) },
			{ &klass, sizeof(klass) },
		};

		begin(n % 2 ? 17 : 25);
		parts[4].at = tail;
		for (i = 0; i < 3; i++) {
			unsigned int part = tap_random() % ARRAY_SIZE(parts);

			((u8 *)parts[part].at)[tap_random() % parts[part].size] = tap_random();
		}
		for (i = 0; i < 50; i += 5)
			check(name(compiled(i), 0, 0, out) <= HYBRID_NAMES_OF_FRAME);
		end();
	}
}

static const struct tap_test tests[] = {
	{ "inlined methods, as JDK 17 describes them", test_inside },
	{ "inlined methods, as JDK 25 describes them", test_outside },
	{ "where the frame is made and left", test_outside_frame },
	{ "the end of a loop", test_loop },
	{ "an interpreted method", test_interpreted },
	{ "a method that another one has the memory of", test_replaced },
	{ "a method of a process that ends", test_gone },
	{ "a method that is read later", test_read_later },
	{ "stubs", test_stub },
	{ "scopes that lie", test_lies },
	{ "names and sizes that lie", test_long_names },
	{ "random bytes", test_random },
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
