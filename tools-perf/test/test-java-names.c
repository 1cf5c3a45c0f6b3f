// SPDX-License-Identifier: GPL-2.0
/*
 * The methods of a JVM's frames, by what the process says of them: this one.
 */
#include <sys/mman.h>
#include "java-names-world.h"
#include "tap.h"

static void check_compiled(u32 jdk)
{
	u64 out[HYBRID_NAMES_OF_FRAME];

	named_begin(jdk);
	same(named_frame(named_compiled(10), 0, 0, out), 1);
	same(out[0], named_function("org.example.Main.zero", 2));
	/* What stands between two descriptions is of the next one. */
	same(named_frame(named_compiled(11), 0, 0, out), 3);
	same(out[0], named_function("org.example.Main.two", 0));
	same(out[1], named_function("org.example.Main.one", 3));
	same(out[2], named_function("org.example.Main.zero", 2));
	same(named_frame(named_compiled(20), 0, 0, out), 3);
	same(out[2], named_function("org.example.Main.zero", 2));
	same(hybrid_names__nr(named.names), 3);
	named_end();
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

	named_begin(25);
	named.data->pcs[1] = (struct named_desc) { .pc = 40, .scope = 7 };
	for (i = 2; i < 5; i++)
		named.data->pcs[i].pc = 40 + i;
	memcpy((void *)named_compiled(6), jumps, sizeof(jumps));
	memcpy((void *)named_compiled(14), code, sizeof(code));
	same(named_frame(named_compiled(2), 0, 0, out), 1);
	same(out[0], named_function("org.example.Main.zero", 0));
	for (i = 0; i < sizeof(steps); i++) {
		same(named_frame(named_compiled(14 + steps[i]), 0, 0, out), 1);
		same(out[0], named_function("org.example.Main.zero", 12));
	}
	same(named_frame(named_compiled(11), 0, 0, out), 1);
	same(named_frame(named_compiled(9), 0, 0, out), 3);
	same(named_frame(named_compiled(6), 0, 0, out), 3);
	same(named_frame(named_compiled(37), 0, 0, out), 3);
	/* jmp: to what leaves it. */
	memcpy((void *)named_compiled(6), (u8 []) { 0xeb, 6 }, 2);
	same(named_frame(named_compiled(5), 0, 0, out), 1);
	named_end();
	named_begin(25);
	/* A description before the end of the frame. */
	named.data->pcs[1] = (struct named_desc) { .pc = 18, .scope = 7 };
	memcpy((void *)named_compiled(14), code, sizeof(code));
	same(named_frame(named_compiled(14), 0, 0, out), 3);
	named_end();
}

/* What leaves a frame has several forms; what is like one of them and may go on leaves none. */
static void test_leaving_forms(void)
{
	static const struct {
		u8	bytes[20];
		u8	size;
		bool	leaves;
	} forms[] = {
		/* add $0x120,%rsp; pop %rbp; ret */
		{ { 0x48, 0x81, 0xc4, 0x20, 1, 0, 0, 0x5d, 0xc3 }, 9, true },
		/* cmp 0x128(%r15),%rsp; ja; ret */
		{ { 0x49, 0x3b, 0xa7, 0x28, 1, 0, 0, 0x0f, 0x87, 1, 2, 3, 4, 0xc3 }, 14, true },
		/* ja; ret */
		{ { 0x0f, 0x87, 1, 2, 3, 4, 0xc3 }, 7, true },
		/* add $0x20,%rsp; ret */
		{ { 0x48, 0x83, 0xc4, 0x20, 0xc3 }, 5, true },
		/* jmp over a conditional jump, to pop %rbp; ret */
		{ { 0xe9, 2, 0, 0, 0, 0x75, 0, 0x5d, 0xc3 }, 9, true },
		/* jmp: back, to before the code */
		{ { 0xe9, 0, 0xff, 0xff, 0xff, 0xc3 }, 6, false },
		/* add; jne; ret, and so on */
		{ { 0x48, 0x83, 0xc4, 0x20, 0x75, 0, 0xc3 }, 7, false },
		{ { 0x48, 0x81, 0xc4, 0x20, 1, 0, 0, 0x75, 0, 0xc3 }, 10, false },
		{ { 0x49, 0x3b, 0xa7, 0x28, 1, 0, 0, 0x75, 0, 0xc3 }, 10, false },
		{ { 0x0f, 0x84, 1, 2, 3, 4, 0xc3 }, 7, false },
	};
	u64 out[HYBRID_NAMES_OF_FRAME];
	unsigned int i, at;

	for (i = 0; i < ARRAY_SIZE(forms); i++) {
		named_begin(25);
		named.data->pcs[1] = (struct named_desc) { .pc = 40, .scope = 7 };
		for (at = 2; at < 5; at++)
			named.data->pcs[at].pc = 40 + at;
		/* Conditional jumps follow. */
		for (at = 14; at < 40; at++)
			*(u8 *)named_compiled(at) = at % 2 ? 0 : 0x75;
		memcpy((void *)named_compiled(14), forms[i].bytes, forms[i].size);
		same(named_frame(named_compiled(14), 0, 0, out), forms[i].leaves ? 1 : 3);
		named_end();
	}
}

/* Behind what is described in a loop, and before its jump back. */
static void test_loop(void)
{
	/* mov %rax,%rdx; cmp; jl */
	u8 code[] = { 0x48, 0x8b, 0xd0, 0x83, 0xfe, 0x01, 0x7c, -14 };
	static const u8 near[][6] = {
		{ 0x0f, 0x8c, 0xf4, 0xff, 0xff, 0xff }, { 0x0f, 0x8c, 0xf9, 0xff, 0xff, 0xff },
	};
	u64 out[HYBRID_NAMES_OF_FRAME];
	unsigned int i;

	named_begin(25);
	memcpy((void *)named_compiled(12), code, sizeof(code));
	same(named_frame(named_compiled(12), 0, 0, out), 1);
	same(out[0], named_function("org.example.Main.zero", 2));
	same(named_frame(named_compiled(18), 0, 0, out), 1);
	same(named_frame(named_compiled(20), 0, 0, out), 3);
	named_end();
	/* The same, by jumps of 6 bytes. */
	for (i = 0; i < ARRAY_SIZE(near); i++) {
		named_begin(25);
		memcpy((void *)named_compiled(12), near[i], sizeof(near[i]));
		same(named_frame(named_compiled(12), 0, 0, out), i ? 3 : 1);
		named_end();
	}
	named_begin(25);
	/* To behind what is described. */
	code[7] = -4;
	memcpy((void *)named_compiled(12), code, sizeof(code));
	same(named_frame(named_compiled(12), 0, 0, out), 3);
	named_end();
}

static void test_inside(void)
{
	check_compiled(17);
}

static void test_outside(void)
{
	check_compiled(25);
}

/* The numbers of scopes changed with JDK 20. */
static void test_packed(void)
{
	check_compiled(19);
	check_compiled(20);
}

/* What has made a hidden class is in its name. */
static void test_hidden_class(void)
{
	u64 out[HYBRID_NAMES_OF_FRAME];

	named_begin(25);
	named.symbols[0].body[14] = '+';
	same(named_frame(named_compiled(10), 0, 0, out), 1);
	same(out[0], named_function("org.example.Ma/n.zero", 2));
	named_end();
}

static void test_interpreted(void)
{
	u64 out[HYBRID_NAMES_OF_FRAME], loop;
	u8 *code = named.bodies[1].bytes;

	named_begin(25);
	loop = java_code_at(NAMED_INTERPRETER) + JAVA_LOOP;
	same(named_frame(loop, (u64)&named.methods[1], (u64)code + 5, out), 1);
	same(out[0], named_function("org.example.Main.one", 5));
	/* A place that is not in it. */
	same(named_frame(loop, (u64)&named.methods[1], (u64)code + 12, out), 1);
	same(out[0], named_function("org.example.Main.one", 0));
	named_end();
}

/* Another class has the memory of one that was unloaded. */
static void test_replaced(void)
{
	u64 out[HYBRID_NAMES_OF_FRAME], loop;
	u8 *code = named.bodies[1].bytes;

	named_begin(25);
	loop = java_code_at(NAMED_INTERPRETER) + JAVA_LOOP;
	same(named_frame(loop, (u64)&named.methods[1], (u64)code, out), 1);
	named.bodies[1].m.name = 3;
	tap_pass(1100000000);
	same(named_frame(loop, (u64)&named.methods[1], (u64)code, out), 1);
	same(out[0], named_function("org.example.Main.two", 0));
	named_end();
}

/* The process ends, and with it what a name was read from a second ago. */
static void test_gone(void)
{
	struct named_method *method = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	u64 out[HYBRID_NAMES_OF_FRAME], loop, i;
	u8 *code = named.bodies[1].bytes;

	named_begin(25);
	check(method != MAP_FAILED);
	*method = named.methods[1];
	loop = java_code_at(NAMED_INTERPRETER) + JAVA_LOOP;
	same(named_frame(loop, (u64)method, (u64)code, out), 1);
	munmap(method, 4096);
	tap_pass(1100000000);
	/* Nor is it forgotten for others that can't be read. */
	for (i = 1; i < 16000; i++)
		named_frame(loop, i << 16, (u64)code, out);
	same(named_frame(loop, (u64)method, (u64)code, out), 1);
	same(out[0], named_function("org.example.Main.one", 0));
	named_end();
}

/* A method of a frame that could not be read is read the next time. */
static void test_read_later(void)
{
	u64 out[HYBRID_NAMES_OF_FRAME];

	named_begin(25);
	named.data->metadata[1] = NULL;
	same(named_frame(named_compiled(15), 0, 0, out), 1);
	same(out[0], named_function("org.example.Main.zero", 0));
	named.data->metadata[1] = &named.methods[1];
	same(named_frame(named_compiled(15), 0, 0, out), 3);
	named_end();
}

static void test_stub(void)
{
	const struct hybrid_function f = { .name = "Interpreter", .size = 1 };
	u64 out[HYBRID_NAMES_OF_FRAME], loop;

	named_begin(25);
	loop = java_code_at(NAMED_INTERPRETER) + JAVA_LOOP;
	same(named_frame(loop, 0, 0, out), 1);
	same(out[0], hybrid_names_ip(hybrid_names__function(named.names, &named.quota, &f), 1, 0));
	/* As where the frame holds no method. */
	same(named_frame(loop, 0x12345670, 0, out), 1);
	same(out[0], hybrid_names_ip(hybrid_names__function(named.names, &named.quota, &f), 1, 0));
	named_end();
}

/* Scopes in circles, and of a method that there is not: then it is the compiled method. */
static void test_lies(void)
{
	u64 out[HYBRID_NAMES_OF_FRAME];

	named_begin(25);
	same(named_frame(named_compiled(30), 0, 0, out), HYBRID_NAMES_OF_FRAME);
	same(out[0], out[HYBRID_NAMES_OF_FRAME - 1]);
	same(named_frame(named_compiled(40), 0, 0, out), 1);
	same(out[0], named_function("org.example.Main.zero", 0));
	named_end();
}

static void test_long_names(void)
{
	u64 out[HYBRID_NAMES_OF_FRAME];

	named_begin(25);
	named.symbols[0].length = 0xffff;
	named.pool.length = 3;
	check(named_frame(named_compiled(10), 0, 0, out) <= HYBRID_NAMES_OF_FRAME);
	named.pool.length = 0xffffffff;
	named.pool.source = 0xffff;
	named.bodies[0].m.size = 0xffffffff;
	named.bodies[0].m.code_size = 0xffff;
	check(named_frame(named_compiled(20), 0, 0, out) <= HYBRID_NAMES_OF_FRAME);
	named_end();
}

/* Bytes that anybody may have written: nothing is read or written that should not be. */
static void test_random(void)
{
	u64 out[HYBRID_NAMES_OF_FRAME];
	unsigned int i, n;

	for (n = 0; n < 300; n++) {
		struct { void *at; size_t size; } parts[] = {
			{ &named.outside, sizeof(named.outside) },
			{ &named.pool, sizeof(named.pool) },
			{ named.bodies, sizeof(named.bodies) },
			{ named.symbols, sizeof(named.symbols) },
			{ named.tail, sizeof(*named.tail) },
			{ named.methods, sizeof(named.methods) },
			{ &named.klass, sizeof(named.klass) },
		};

		named_begin(n % 2 ? 17 : 25);
		parts[4].at = named.tail;
		for (i = 0; i < 3; i++) {
			unsigned int part = tap_random() % ARRAY_SIZE(parts);

			((u8 *)parts[part].at)[tap_random() % parts[part].size] = tap_random();
		}
		for (i = 0; i < 50; i += 5)
			check(named_frame(named_compiled(i), 0, 0, out) <= HYBRID_NAMES_OF_FRAME);
		named_end();
	}
}

static const struct tap_test tests[] = {
	{ "inlined methods, as JDK 17 describes them", test_inside },
	{ "inlined methods, as JDK 25 describes them", test_outside },
	{ "inlined methods, as JDK 19 and 20 describe them", test_packed },
	{ "a hidden class", test_hidden_class },
	{ "where the frame is made and left", test_outside_frame },
	{ "what leaves a frame", test_leaving_forms },
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
