// SPDX-License-Identifier: GPL-2.0
/*
 * Processes that run Perl, PHP, Python and Ruby: perf finds the interpreter in what they map, and
 * puts their functions after the native frames of the evaluator. The process is the test's own.
 */
#include <string.h>
#include <sys/mman.h>
#include "../hybrid/runtime/walk-interpreter.h"
#include "../hybrid/runtime/ruby/ruby-walk.h"
#include "elf-file.h"
#include "interpreter-world.h"
#include "run-namer.h"
#include "runtime-private.h"
#include "tap.h"

#define ENDS	HYBRID_WALK_RUN_ENDS

/* No process has this number, or one that is a little less. */
#define CHILD	0x7fffffff

#define BIAS	0x50000000ULL

/* Functions that nobody can read in the process: BPF has. */
#define A	0x11000ULL
#define B	0x12000ULL
#define UNTOLD	0x13000ULL

static u64 at(const char *label)
{
	return interpreter_at(label);
}

/* BPF has read a function: its name is a letter. Of Ruby, @label is the first word of its code. */
static void tell(u64 function, const char *letter, u64 label)
{
	static struct hybrid_walk_text text;
	size_t size = offsetof(struct hybrid_walk_text, bytes);

	text = (struct hybrid_walk_text) {
		.function = function, .type = 0x1000, .size = label, .line = 10,
		.states = { 8, 0 }, .sizes = { 0, 1, 2 },
	};
	memcpy(text.bytes, letter, 1);
	memcpy(text.bytes + 1, "/f", 2);
	if (interp.language == HYBRID_LANGUAGE_PYTHON) {
		text.type = at("PyCode_Type");
		text.size = 8;
		text.states[0] = 0x20 | 1 << 2;
		text.states[1] = text.states[0];
		text.sizes[0] = 1;
		text.sizes[2] = 0;
		memcpy(text.bytes, "f", 1);
		memcpy(text.bytes + 1, letter, 1);
	}
	size += text.sizes[0] + text.sizes[1] + text.sizes[2];
	interp.namer->text(interp.namer, interp.names, &text, size);
}

static const u64 a_and_b[] = { A | ENDS, A + 8, B | ENDS, B + 8 };
static const u64 b_and_a[] = { B | ENDS, B + 8, A | ENDS, A + 8 };

/* Where BPF finds the interpreter's frames, as an offset from the mapping of its code. */
static void check_interpreter(const char *data, u64 offset)
{
	struct hybrid_walk_interpreter interpreter;
	const struct hybrid_mapping *mapping = interpreter_is_told(at("out"), &interpreter);

	same(interpreter.runtime - mapping->pgoff + mapping->start, at(data) + offset);
}

/* Words of chains that are kept: their names need not be looked up again. */
static u64 kept_words(void)
{
	return container_of(interp.namer, struct hybrid_run_namer, namer)->chains.known.nr_words;
}

static void perl(void)
{
	const u64 block[] = { ENDS, A + 16, A | ENDS, A + 8 };
	unsigned int i;
	u64 kept;

	interpreter_begin("interpreter-perl.so", "PL_thr_key", HYBRID_LANGUAGE_PERL);
	tell(A, "A", 0);
	tell(B, "B", 0);
	/* As chains that are named first, that are known, and that were named long ago. */
	for (i = 0; i < 3; i++) {
		if (i == 2)
			tap_pass(2000000000);
		/* What docatch() has called goes on with what its caller ran. */
		same_chain(a_and_b, "..A....B.", "out called restarted called out in_cold out");
		kept = kept_words();
		/* A block is a part of what the next frame runs. */
		same_chain(block, ".A..A.", "called out called out");
		check(kept_words() > kept || i);
		same_chain(block, "..A..A.", "out called out called out");
	}
	check_interpreter("PL_thr_key", 0);
	interpreter_end();
}

/* Are ranges of 64 KiB, within what was made? */
static void check_ranges(struct hybrid_unwind *u, struct hybrid_frame *frame, u64 made)
{
	struct hybrid_runtime_range range;
	u64 end = made + MADE, start;

	for (start = made & ~0xffffULL; start < end; start += 0x10000) {
		frame->ip = max(start, made) + 1;
		frame->ret = frame->ip;
		check(hybrid_runtime_range(interp.runtimes, u, 0, &range));
		same(range.start, max(start, made));
		same(range.end, min(start + 0x10000, end));
		check(!range.compiled);
	}
	/* The return address is elsewhere. */
	frame->ret = made - 1;
	check(!hybrid_runtime_range(interp.runtimes, u, 0, &range));
	frame->ret = end;
	check(!hybrid_runtime_range(interp.runtimes, u, 0, &range));
}

/* What opcache has compiled runs in the frame of execute_ex(), and is in shared memory. */
static void php_made(u64 shared, u64 private)
{
	struct hybrid_frame frame = { .ip = private + 16, .ret = private + 16 };
	struct hybrid_unwind u = interpreter_walk(&frame);
	struct hybrid_rule rule;

	interpreter_map_code(private);
	interpreter_map_code(shared);
	check(!hybrid_runtime_rule(interp.runtimes, &u, 0, &rule));
	frame.ip = at("called");
	check(!hybrid_runtime_rule(interp.runtimes, &u, 0, &rule));
	frame.ip = shared + 16;
	check(hybrid_runtime_rule(interp.runtimes, &u, 0, &rule));
	same(rule.kind, HYBRID_RULE_CFA);
	same(rule.cfa_off, 56);
	check_ranges(&u, &frame, shared);
	same_chain(a_and_b, "..A..B.", "out made out in_cold out");
	munmap((void *)shared, MADE);
	munmap((void *)private, MADE);
}

static void php(void)
{
	const u64 untold[] = { UNTOLD | ENDS, 8, A | ENDS, 8 };
	const u64 whole_file[] = { A | ENDS | HYBRID_WALK_PHP_FILE, 7 };
	u64 private = interpreter_make_code(MAP_PRIVATE);
	u64 shared = interpreter_make_code(MAP_SHARED);
	struct hybrid_namer *child;
	unsigned int i;

	interpreter_begin("interpreter-php.so", "executor_globals", HYBRID_LANGUAGE_PHP);
	tell(A, "A", 0);
	tell(B, "B", 0);
	for (i = 0; i < 2; i++)
		same_chain(a_and_b, "..A..B.", "out called out in_cold out");
	same_chain(whole_file, "..?.", "out called out");
	same(interp.namer->nr_unread, 1);
	tell(A | HYBRID_WALK_PHP_FILE, "", 0);
	php_made(shared, private);
	check_interpreter("executor_globals", 488);
	/* A copy of the process knows what that knew. */
	child = interpreter_namer(CHILD, own.pm.pid);
	check(child && child != interp.namer);
	interp.namer = child;
	same(hybrid_runtimes_opened(interp.runtimes), 2);
	same_chain(a_and_b, "..A..B.", "out called out in_cold out");
	interp.namer = interpreter_namer(own.pm.pid, 0);
	interp.namer->nr_unread = 0;
	same_chain(untold, "..?..A.", "out called out called out");
	same(interp.namer->nr_unread, 1);
	interpreter_end();
}

/* Which of the evaluator's frames run what, if there are more or fewer of them than runs. */
static void python(void)
{
	struct hybrid_namer *child;
	unsigned int i;

	interpreter_begin("interpreter-python.so", "_PyRuntime", HYBRID_LANGUAGE_PYTHON);
	tell(A, "A", 0);
	tell(B, "B", 0);
	for (i = 0; i < 2; i++) {
		same_chain(a_and_b, "..A..B.", "out called out in_cold out");
		/* The innermost run has no frame yet. */
		same_chain(a_and_b, ".A.B.", "out called out");
		/* The innermost frame has just begun, or its last call is not over. */
		same_chain(a_and_b, "..A.B", "called called called");
		same_chain(a_and_b, "....A.B", "out ends out called in_cold");
	}
	/* Else the outermost frame is of no run: a greenlet lies on the stack of what began it. */
	same_chain(b_and_a, "..B..A..", "out called out called out called");
	/* An idle frame is one more than that. */
	same_chain(b_and_a, "..B..A..", "out ends out called out called");
	same_chain(b_and_a, "....B..A..", "out ends out called out called out called");
	check_interpreter("_PyRuntime", 0);
	child = interpreter_namer(CHILD, own.pm.pid);
	check(child && child != interp.namer);
	interp.namer = child;
	same_chain(a_and_b, "..A..B.", "out called out in_cold out");
	interpreter_end();
}

/* Code of CRuby 3.1. @label: its first word, an address in the evaluator; what BPF writes of it */
static u64 code_object(u64 label)
{
	static u64 object[5], body[40], words[8];

	words[0] = label;
	object[0] = RUBY_IS_CODE;
	object[2] = (u64)body;
	body[0] = (u64)ARRAY_SIZE(words) << 32;
	body[1] = (u64)words;
	hybrid_memory_forget(own.memory);
	return (u64)object | ENDS |
	       HYBRID_WALK_FUNCTION_MARK(hybrid_ruby_identity(object[2], 0, 0));
}

/* What YJIT has compiled has pushed a number of words, the return address above them. */
static void ruby_made(u64 made)
{
	struct hybrid_frame frame = { .ip = made + 16, .ret = made + 16 };
	struct hybrid_unwind u = interpreter_walk(&frame);
	struct hybrid_runtime_range range;
	u64 stack[20], word = at("called");
	struct hybrid_rule rule;
	unsigned int nr;

	interpreter_map_code(made);
	u.regs.value[u.abi->sp] = 0x7ffc00010000;
	u.regs.known = 1U << u.abi->sp;
	u.dump = (const u8 *)stack;
	u.dump_start = u.regs.value[u.abi->sp];
	for (nr = 0; nr < ARRAY_SIZE(stack); nr++) {
		memset(stack, 0, sizeof(stack));
		stack[nr] = word;
		u.dump_size = sizeof(stack);
		same(hybrid_runtime_rule(interp.runtimes, &u, 0, &rule), nr <= 16);
		if (nr <= 16) {
			same(rule.kind, HYBRID_RULE_CFA);
			same(rule.base, HYBRID_BASE_SP);
			same(rule.cfa_off, 8 * (nr + 1));
			same(rule.ra_off, -8);
		}
		same(hybrid_runtime_range(interp.runtimes, &u, 0, &range), nr == 3);
		/* The dump ends before it. */
		u.dump_size = nr * sizeof(u64);
		check(!hybrid_runtime_rule(interp.runtimes, &u, 0, &rule));
	}
	/* No call is before it; and what has a file is no such code. */
	memset(stack, 0, sizeof(stack));
	stack[3] = word + 1;
	u.dump_size = sizeof(stack);
	check(!hybrid_runtime_rule(interp.runtimes, &u, 0, &rule));
	stack[3] = word;
	frame.ip = at("called");
	check(!hybrid_runtime_rule(interp.runtimes, &u, 0, &rule));
	check_ranges(&u, &frame, made);
	/* It goes on with what the evaluator ran that has called it. */
	same_chain(a_and_b, "..A...B.", "out made called out in_cold out");
	munmap((void *)made, MADE);
}

static void ruby(void)
{
	u64 made = interpreter_make_code(MAP_PRIVATE), code[4] = { 0, 8, B | ENDS, 8 };
	unsigned int way, i;

	for (way = 0; way < 2; way++) {
		interpreter_begin("interpreter-ruby.so", "ruby_version", HYBRID_LANGUAGE_RUBY);
		/* What leads elsewhere, or to a part that is too small, shows no evaluator. */
		tell(A, "A", at("in_cold"));
		tell(B, "B", 0);
		same_chain(a_and_b, ".....", "out called out in_cold out");
		code[0] = code_object(at("called"));
		if (way)
			same_chain(code, "..?..B.", "out called out in_cold out");
		else
			tell(A, "A", at("called"));
		for (i = 0; i < 2; i++)
			same_chain(a_and_b, "..A..B.", "out called out in_cold out");
		if (way)
			ruby_made(made);
		check_interpreter("variable", 0);
		interpreter_end();
	}
}

/* Files that have an interpreter's symbol, and not what is needed; perf says so. */
static void unreadable(void)
{
	static const struct {
		const char	*file;
		u32		language;
	} files[] = {
		{ "perl-old.so", HYBRID_LANGUAGE_PERL },
		{ "perl-elsewhere.so", HYBRID_LANGUAGE_PERL },
		{ "php-old.so", HYBRID_LANGUAGE_PHP },
		{ "python-other.so", HYBRID_LANGUAGE_PYTHON },
		{ "ruby-other.so", HYBRID_LANGUAGE_RUBY },
		{ "v8-lies.so", HYBRID_LANGUAGE_V8 },
	};
	struct hybrid_walk_interpreter interpreter;
	const struct hybrid_mapping *mapping;
	unsigned int i, k;
	u64 vaddr;
	pid_t pid;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		own_begin();
		elf_file_map(&own.ps, own.pm.pid, files[i].file, BIAS);
		interp.runtimes = hybrid_runtimes_new(&own.ps.objects, own.memory);
		same(hybrid_runtimes_failed(interp.runtimes, &pid), 0);
		for (k = 0; k < 2; k++)
			check(!hybrid_runtime_namer(interp.runtimes, own.pm.pid, 0, own.pm.space,
						    files[i].language));
		same(hybrid_runtimes_failed(interp.runtimes, &pid), 1);
		same(pid, own.pm.pid);
		same(hybrid_runtimes_opened(interp.runtimes), 0);
		mapping = hybrid_space_find(own.pm.space, BIAS + 0x1000);
		/* What is in another mapping only a process can show. */
		if (check(mapping && mapping->object) && i != 1)
			check(!hybrid_runtime_file(interp.runtimes, mapping, &interpreter,
						   &vaddr));
		hybrid_runtimes_delete(interp.runtimes);
		own_end();
	}
}

/* What is open belongs to a process that is known. */
static unsigned int count_open(void)
{
	const struct runtime_process *process;
	unsigned int nr = 0, i, kind;

	for (i = 0; i < SETS * WAYS; i++) {
		process = &interp.runtimes->processes[i / WAYS][i % WAYS];
		for (kind = 0; kind < HYBRID_NR_LANGUAGES; kind++)
			nr += !!process->runtimes[kind].runtime;
	}
	return nr;
}

/* Processes are forgotten, those that were asked for longest ago, and are opened again. */
static void many_processes(void)
{
	unsigned int nr = 3 * WAYS, i;

	interpreter_begin("interpreter-php.so", "executor_globals", HYBRID_LANGUAGE_PHP);
	tell(A, "A", 0);
	tell(B, "B", 0);
	/* All of one set; the first one's parent is there. */
	for (i = 0; i < nr; i++) {
		interp.namer = interpreter_namer(CHILD - i * SETS, i ? 0 : own.pm.pid);
		check(interp.namer);
		same_chain(a_and_b, i ? "..?..?." : "..A..B.", "out called out in_cold out");
	}
	same(hybrid_runtimes_opened(interp.runtimes), 1 + nr);
	for (i = nr - WAYS; i < nr; i++)
		check(interpreter_namer(CHILD - i * SETS, 0));
	same(hybrid_runtimes_opened(interp.runtimes), 1 + nr);
	check(interpreter_namer(CHILD, 0));
	same(hybrid_runtimes_opened(interp.runtimes), 2 + nr);
	/* The one that was asked for longest ago had to go. */
	check(interpreter_namer(CHILD - (nr - WAYS + 1) * SETS, 0));
	same(hybrid_runtimes_opened(interp.runtimes), 2 + nr);
	check(interpreter_namer(CHILD - (nr - WAYS) * SETS, 0));
	same(hybrid_runtimes_opened(interp.runtimes), 3 + nr);
	same(interp.runtimes->nr_open, count_open());
	/* Without a language only a process that was asked for has one. */
	check(hybrid_runtime_namer(interp.runtimes, CHILD, 0, own.pm.space, 0));
	check(!hybrid_runtime_namer(interp.runtimes, CHILD - 1, 0, own.pm.space, 0));
	interpreter_end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "interpreters: Perl", perl },
		{ "interpreters: PHP", php },
		{ "interpreters: Python", python },
		{ "interpreters: Ruby", ruby },
		{ "interpreters: files that can't be read", unreadable },
		{ "interpreters: many processes", many_processes },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
