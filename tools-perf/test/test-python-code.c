// SPDX-License-Identifier: GPL-2.0
/*
 * Code objects of CPython; the process is the test's own.
 */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../hybrid/runtime/walk-interpreter.h"
#include "code-object.h"
#include "names-private.h"
#include "python-world.h"

/* After so long perf compares what it knows with the process, in ns. */
#define CHECK_AFTER	1000000000ULL

/* What of a code object is read, where 3.11 has it; and its line table. */
static struct {
	u64	words[24];
	u64	table[8];
	u64	type;
} code;

static struct text name, file;
static struct python_codes codes;
static struct hybrid_names *names;

/* @name_at: where the code object has the address of its name. */
static u64 word_of(unsigned int file_at, unsigned int name_at, unsigned int table_at)
{
	const struct text *text = (const struct text *)code.words[file_at / 8];
	const struct hybrid_python_string string = { .length = text->length };
	u64 identity = hybrid_python_identity((u64)text, code.words[name_at / 8],
					      code.words[table_at / 8], &string, NULL);

	return (u64)&code | HYBRID_WALK_FUNCTION_MARK(identity);
}

static u64 function_word(void)
{
	return word_of(112, 128, 136);
}

static u64 ip_of(u64 position)
{
	return python_codes__ip(&codes, names, function_word(), position);
}

static void begin_code(void)
{
	begin();
	memset(&code, 0, sizeof(code));
	memset(&codes, 0, sizeof(codes));
	set_text(&name, "f", 1, 1, true);
	set_text(&file, "a.py", 4, 1, true);
	code.words[1] = (u64)&code.type;
	code.words[2] = 6;
	code.words[72 / 8] = 7;
	code.words[112 / 8] = (u64)&file;
	code.words[128 / 8] = (u64)&name;
	code.words[136 / 8] = (u64)code.table;
	code.table[2] = 2;
	memcpy(&code.table[4], "\x85\x12", 2);
	codes.pm = &own.pm;
	codes.layout = &layout;
	codes.type = (u64)&code.type;
	names = hybrid_names__new(HYBRID_LANGUAGE_PYTHON);
}

static void end_code(void)
{
	python_codes__exit(&codes);
	hybrid_names__delete(names);
	end();
}

static void code_objects(void)
{
	u64 first = (u64)&code + 184, start, size, ip;

	begin_code();
	ip = ip_of(first + 4);
	check(ip);
	check(!strcmp(hybrid_names__get(names, 0, &start, &size), "py::f:a.py"));
	same(ip, hybrid_names_ip(start + hybrid_names__start(names), 6, 2));
	/* Before the first instruction, and behind the last one. */
	same(ip_of(first - 2), hybrid_names_ip(start + hybrid_names__start(names), 6, 0));
	same(ip_of(first + 400), hybrid_names_ip(start + hybrid_names__start(names), 6, 0));
	same(hybrid_names__nr(names), 1);
	/* Its line table: all 6 instructions are of its first line. */
	same(names->nr_lines, 1);
	same(names->lines[0].index, 0);
	same(names->lines[0].line, 7);
	end_code();
}

/* What is no code object, or another one than the sample's. */
static void no_code_objects(void)
{
	u64 first = (u64)&code + 184, was, ip;

	begin_code();
	was = function_word();
	check(!python_codes__ip(&codes, names, 8, first));
	code.words[1]++;
	check(!ip_of(first));
	code.words[1]--;
	hybrid_memory_forget(own.memory);
	check(!python_codes__ip(&codes, names, was ^ 1ULL << 50, first));
	ip = ip_of(first);
	check(ip);
	/* Its memory is another one's now, but not that of samples before. */
	hybrid_memory_forget(own.memory);
	code.words[128 / 8] = (u64)&file;
	code.words[112 / 8] = (u64)&name;
	same(hybrid_names__nr(names), 1);
	check(ip_of(first));
	same(python_codes__ip(&codes, names, was, first), ip);
	same(hybrid_names__nr(names), 2);
	end_code();
}

/* 3.9's: its instructions are another object, and a frame has an offset in them, and its line. */
static void older_code_objects(void)
{
	static u64 bytes[6];
	u64 start, size, at;

	begin_code();
	check(!read_version(&layout, PY_3_9, 176));
	code.words[40 / 8] = 7;
	code.words[48 / 8] = (u64)bytes;
	code.words[104 / 8] = (u64)&file;
	code.words[112 / 8] = (u64)&name;
	code.words[120 / 8] = (u64)code.table;
	bytes[2] = 12;
	at = word_of(104, 112, 120);
	check(python_codes__ip(&codes, names, at, 9ULL << 32 | 4));
	check(!strcmp(hybrid_names__get(names, 0, &start, &size), "py::f:a.py"));
	start += hybrid_names__start(names);
	same(python_codes__ip(&codes, names, at, 9ULL << 32 | 4), hybrid_names_ip(start, 6, 2));
	same(python_codes__ip(&codes, names, at, 0xffffffff), hybrid_names_ip(start, 6, 0));
	/* 3.10's counts instructions. */
	check(!read_version(&layout, PY_3_10, 176));
	same(python_codes__ip(&codes, names, at, 4), hybrid_names_ip(start, 6, 4));
	end_code();
}

/* However many there are: what is known stays so when the process has gone. */
static void many_code_objects(void)
{
	struct python_codes copy = { .pm = &own.pm, .layout = &layout };
	static struct text more[3000];
	u64 first = (u64)&code + 184, ips[ARRAY_SIZE(more)], words[ARRAY_SIZE(more)];
	unsigned int i;

	begin_code();
	copy.type = codes.type;
	for (i = 0; i < ARRAY_SIZE(more); i++) {
		set_text(&more[i], &i, 3, 1, false);
		more[i].bytes[24] |= 1;
		code.words[128 / 8] = (u64)&more[i];
		words[i] = function_word();
		hybrid_memory_forget(own.memory);
		ips[i] = ip_of(first);
		check(ips[i]);
	}
	code.words[1] = 0;
	hybrid_memory_forget(own.memory);
	python_codes__inherit(&copy, &codes);
	for (i = 0; i < ARRAY_SIZE(more); i++) {
		same(python_codes__ip(&codes, names, words[i], first), ips[i]);
		same(python_codes__ip(&copy, names, words[i], first), ips[i]);
	}
	python_codes__exit(&copy);
	end_code();
}

/* What a copy of a process has not any more its parent may have. Here another one has it. */
static void parents_code_objects(void)
{
	u64 first = (u64)&code + 184;
	pid_t other;

	begin_code();
	other = fork();
	if (!other) {
		pause();
		_exit(0);
	}
	code.words[1] = 0;
	hybrid_memory_forget(own.memory);
	check(!ip_of(first));
	codes.parent = (struct hybrid_process_memory) {
		.memory = own.memory, .objects = &own.ps.objects, .pid = other,
	};
	check(ip_of(first));
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	end_code();
}

/* What has changed in the process is read anew; what can't be read is as it was. */
static void changed_code_objects(void)
{
	u64 first = (u64)&code + 184, ip;

	begin_code();
	ip = ip_of(first);
	check(ip);
	/* Its first line is not in the mark. */
	code.words[72 / 8] = 9;
	hybrid_memory_forget(own.memory);
	tap_pass(CHECK_AFTER - 1);
	same(ip_of(first), ip);
	tap_pass(1);
	check(ip_of(first) != ip);
	same(hybrid_names__nr(names), 2);
	/* It is the same for a second again, and the same after it. */
	ip = ip_of(first);
	tap_pass(CHECK_AFTER);
	same(ip_of(first), ip);
	code.words[1] = 0;
	hybrid_memory_forget(own.memory);
	tap_pass(CHECK_AFTER);
	same(ip_of(first), ip);
	same(hybrid_names__nr(names), 2);
	end_code();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "code objects",				code_objects },
		{ "what is no code object, or another one",	no_code_objects },
		{ "code objects that change",			changed_code_objects },
		{ "code objects before 3.11",			older_code_objects },
		{ "many code objects, and a copy of them",	many_code_objects },
		{ "code objects of the parent",			parents_code_objects },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
