// SPDX-License-Identifier: GPL-2.0
/*
 * Perl's subs, statements and frames; the process is the test's own.
 */
#include <string.h>
#include "own-memory.h"
#include "../hybrid/runtime/walk-interpreter.h"
#include "perl-functions.h"
#include "perl-layout.h"
#include "tap.h"

#define NEXTSTATE	0x1000

/* Of Perl: a value's head, a name, the body of a sub, of a symbol, of a package; a statement. */
struct value {
	void	*body;
	u32	 references;
	u32	 flags;
	u64	 any;
};

struct name {
	u32	hash;
	s32	length;
	char	text[40];
};

struct sub_body {
	u64	any[4];
	void	*stash;
	void	*start;
	void	*root;
	void	*named;
	const char *file;
	u64	more[2];
	u32	size;
	u32	flags;
};

struct symbol_body {
	u64	any[4];
	void	*name;
	void	*stash;
};

struct package_body {
	u64	any[4];
	void	*name;
	u64	more[2];
	u32	refcount;
	s32	nr_names;
};

struct statement {
	void	*next;
	void	*sibling;
	u64	 code;
	u32	 target;
	u32	 type;
	u32	 flags;
	u32	 line;
	u64	 package;
	const char *file;
};

static struct name name_of_sub, name_of_package, other_name;
static struct package_body package_body;
static struct value package, symbol, sub;
static struct symbol_body symbol_body;
static struct sub_body body;
static struct statement begin_of_sub, statements[2];
static struct perl_functions functions;
static struct hybrid_names *names;

static void set_name(struct name *name, const char *text)
{
	memset(name, 0, sizeof(*name));
	name->length = strlen(text);
	memcpy(name->text, text, name->length);
}

static void set_statement(struct statement *statement, u32 line)
{
	memset(statement, 0, sizeof(*statement));
	statement->code = NEXTSTATE;
	statement->line = line;
	statement->package = 1;
	statement->file = "/a.pl";
}

static void set_up(void)
{
	own_begin();
	set_name(&name_of_sub, "spam");
	set_name(&name_of_package, "Eggs::Ham");
	set_name(&other_name, "Other");
	package_body = (struct package_body) { .name = &name_of_package };
	package = (struct value) { .body = &package_body, .flags = 12 | 0x02000000 };
	symbol_body = (struct symbol_body) { .name = &name_of_sub, .stash = &package };
	symbol = (struct value) { .body = &symbol_body, .flags = 9 };
	set_statement(&statements[0], 10);
	set_statement(&statements[1], 12);
	begin_of_sub = (struct statement) { .next = &statements[0], .code = 8 };
	body = (struct sub_body) {
		.stash = &package, .start = &begin_of_sub, .root = &begin_of_sub,
		.named = &symbol, .file = "/a.pl",
	};
	sub = (struct value) { .body = &body, .flags = 13 };
	memset(&functions, 0, sizeof(functions));
	functions.pm = &own.pm;
	functions.nextstate = NEXTSTATE;
	names = hybrid_names__new(HYBRID_LANGUAGE_PERL);
}

static void tear_down(void)
{
	perl_functions__exit(&functions);
	hybrid_names__delete(names);
	own_end();
}

static void versions(void)
{
	check(perl_layout__find(36, 3768) && perl_layout__find(40, 3768));
	same(perl_layout__find(36, 3768)->nextstate, 195);
	same(perl_layout__find(42, 3768)->nextstate, 202);
	same(perl_layout__find(36, 3768)->walk.frame_size, 104);
	same(perl_layout__find(36, 3768)->walk.statement, 208);
	/* Without threads, or built otherwise; not known. */
	check(!perl_layout__find(36, 3760) && !perl_layout__find(34, 3768));
}

static bool name_is(const char *expected)
{
	char out[PERL_NAME];
	struct perl_sub found;

	hybrid_memory_forget(own.memory);
	return perl_sub__read(&own.pm, (u64)&sub, &found) &&
	       perl_sub__name(&own.pm, &found, out) && !strcmp(out, expected);
}

static void sub_names(void)
{
	static struct name *several[2] = { &other_name, &name_of_package };

	set_up();
	check(name_is("Eggs::Ham::spam"));
	package_body.name = several;
	package_body.nr_names = 2;
	check(name_is("Other::spam"));
	package_body.nr_names = -2;
	check(name_is("Eggs::Ham::spam"));
	/* A sub of a lexical variable has its name itself; one that is deleted has none. */
	body.named = &other_name;
	body.flags = 0x8000;
	check(name_is("Eggs::Ham::Other"));
	body.named = NULL;
	body.flags = 0;
	check(name_is("Eggs::Ham::__ANON__"));
	package.flags = 12;
	check(name_is("__ANON__"));
	tear_down();
}

static void no_subs(void)
{
	struct perl_sub found;
	char out[PERL_NAME];

	set_up();
	check(!perl_sub__read(&own.pm, 0, &found));
	check(!perl_sub__read(&own.pm, 8, &found));
	check(!perl_sub__read(&own.pm, (u64)&package, &found));
	body.flags = 8;
	check(!perl_sub__read(&own.pm, (u64)&sub, &found));
	body.flags = 0;
	body.named = (void *)8;
	hybrid_memory_forget(own.memory);
	check(perl_sub__read(&own.pm, (u64)&sub, &found));
	check(!perl_sub__name(&own.pm, &found, out));
	/* Names of no length, and longer than all memory. */
	body.named = &symbol;
	name_of_sub.length = 0;
	hybrid_memory_forget(own.memory);
	perl_sub__read(&own.pm, (u64)&sub, &found);
	check(!perl_sub__name(&own.pm, &found, out));
	name_of_sub.length = -1;
	hybrid_memory_forget(own.memory);
	check(!perl_sub__name(&own.pm, &found, out));
	tear_down();
}

static void statement_lines(void)
{
	static struct statement circle;
	char out[PERL_TEXT];
	struct perl_sub found;

	set_up();
	perl_sub__read(&own.pm, (u64)&sub, &found);
	same(perl_sub__line(&own.pm, &found, NEXTSTATE), 10);
	same(perl_statement__line(&own.pm, (u64)&statements[1], NEXTSTATE), 12);
	same(perl_statement__line(&own.pm, (u64)&begin_of_sub, NEXTSTATE), 0);
	same(perl_statement__line(&own.pm, 0, NEXTSTATE), 0);
	check(perl_statement__file(&own.pm, (u64)statements, NEXTSTATE, out));
	check(!strcmp(out, "/a.pl"));
	check(!perl_statement__file(&own.pm, (u64)&begin_of_sub, NEXTSTATE, out));
	circle.next = &circle;
	circle.file = (void *)&circle;
	found.start = (u64)&circle;
	same(perl_sub__line(&own.pm, &found, NEXTSTATE), 0);
	same(perl_root__statement(&own.pm, (u64)&circle, NEXTSTATE), 0);
	tear_down();
}

static const char *last_name(void)
{
	u64 start, size;

	return hybrid_names__get(names, hybrid_names__nr(names) - 1, &start, &size);
}

static struct perl_frame frame_at(const struct statement *statement)
{
	return (struct perl_frame) {
		.function = (u64)&sub | HYBRID_WALK_FUNCTION_MARK((u64)body.root),
		.position = (u64)statement, .file = "",
	};
}

static u64 ip_of(const struct perl_frame *frame)
{
	return perl_functions__ip(&functions, names, frame);
}

static void subs(void)
{
	struct perl_frame frame;
	u64 start, size, ip;

	set_up();
	frame = frame_at(&statements[1]);
	ip = ip_of(&frame);
	check(ip && !strcmp(last_name(), "pl::Eggs::Ham::spam:/a.pl"));
	hybrid_names__get(names, 0, &start, &size);
	same(ip, hybrid_names_ip(start + hybrid_names__start(names), 256, 2));
	frame.position = 0;
	same(ip_of(&frame), hybrid_names_ip(start + hybrid_names__start(names), 256, 0));
	/* It is gone: what was met is known. */
	sub.flags = 0;
	hybrid_memory_forget(own.memory);
	frame.position = (u64)&statements[1];
	same(ip_of(&frame), ip);
	/* Of a new statement of it, the line alone is read. */
	frame.position = (u64)&statements[0];
	same(ip_of(&frame), hybrid_names_ip(start + hybrid_names__start(names), 256, 0));
	perl_functions__exit(&functions);
	check(!ip_of(&frame));
	/* Another one with other code. */
	sub.flags = 13;
	hybrid_memory_forget(own.memory);
	frame = frame_at(&statements[0]);
	frame.function ^= 1ULL << 50;
	check(!ip_of(&frame));
	/* Lines before the first one, and far behind it. */
	statements[0].line = 10;
	statements[1].line = 3;
	hybrid_memory_forget(own.memory);
	perl_functions__exit(&functions);
	frame = frame_at(&statements[1]);
	same(ip_of(&frame), hybrid_names_ip(start + hybrid_names__start(names), 256, 0));
	/* No file has more lines. */
	statements[1].line = 0x1000001;
	hybrid_memory_forget(own.memory);
	perl_functions__exit(&functions);
	same(ip_of(&frame), hybrid_names_ip(start + hybrid_names__start(names), 256, 0));
	statements[1].line = 0x1000000;
	hybrid_memory_forget(own.memory);
	perl_functions__exit(&functions);
	check(ip_of(&frame) != hybrid_names_ip(start + hybrid_names__start(names), 256, 0));
	statements[1].line = 10 + 256 + 5;
	hybrid_memory_forget(own.memory);
	perl_functions__exit(&functions);
	check(ip_of(&frame) != ip && !strcmp(last_name(), "pl::Eggs::Ham::spam:/a.pl"));
	/* Of another statement there, too, the line alone is read. */
	ip = ip_of(&frame);
	sub.flags = 0;
	statements[0].line = 10 + 256 + 6;
	hybrid_memory_forget(own.memory);
	frame.position = (u64)&statements[0];
	same(ip_of(&frame), ip + 2);
	tear_down();
}

/* After a second, or what the test takes for one. */
static void check_again(void)
{
	struct perl_place *known = (struct perl_place *)functions.known.entries;
	unsigned int nr = known ? 1 << functions.known.bits : 0, i;

	for (i = 0; i < nr; i++)
		known[i].checked = 0;
	hybrid_memory_forget(own.memory);
}

/* What is at the address of a sub may be another one, of the same code. */
static void other_subs(void)
{
	struct perl_frame frame;
	u64 ip;

	set_up();
	frame = frame_at(&statements[1]);
	ip = ip_of(&frame);
	same(functions.known.nr, 2);
	frame.position = (u64)&statements[0];
	check(ip_of(&frame) && ip_of(&frame) != ip);
	same(functions.known.nr, 3);
	/* It has another name now: that of all its statements is read. */
	body.named = &other_name;
	body.flags = 0x8000;
	same(ip_of(&frame), ip - 4);
	check_again();
	check(ip_of(&frame) != ip - 4 && !strcmp(last_name(), "pl::Eggs::Ham::Other:/a.pl"));
	same(hybrid_names__nr(names), 2);
	frame.position = (u64)&statements[1];
	check(ip_of(&frame) != ip);
	same(hybrid_names__nr(names), 2);
	same(functions.known.nr, 3);
	/* No sub is there, or one with other code: what was met is known. */
	ip = ip_of(&frame);
	sub.flags = 0;
	check_again();
	same(ip_of(&frame), ip);
	sub.flags = 13;
	body.root = (void *)((u64)body.root ^ 1 << 12);
	body.named = &symbol;
	body.flags = 0;
	check_again();
	same(ip_of(&frame), ip);
	tear_down();
}

/* An interpreter has an array of packages, which statements refer to by their number. */
static void closures(void)
{
	static struct value *packages[2];
	static struct {
		void	*packages;
		u64	 max;
	} interpreter;
	static void *first;
	struct statement root[2] = {};
	struct perl_frame frame;

	set_up();
	packages[1] = &package;
	interpreter.packages = packages;
	interpreter.max = 1;
	first = &interpreter;
	functions.interpreter = (u64)&first;
	root[0].package = (u64)&statements[0];
	frame = (struct perl_frame) {
		.function = (u64)&root | HYBRID_WALK_PERL_ANONYMOUS, .file = "",
		.position = (u64)&statements[1],
	};
	check(ip_of(&frame) && !strcmp(last_name(), "pl::Eggs::Ham::__ANON__:/a.pl"));
	/* A statement that is of no package. */
	statements[0].package = 2;
	hybrid_memory_forget(own.memory);
	perl_functions__exit(&functions);
	check(!ip_of(&frame));
	statements[0].package = ~0ULL;
	hybrid_memory_forget(own.memory);
	check(!ip_of(&frame));
	tear_down();
}

/* BPF has read them; nothing is there any more. */
static void told(void)
{
	struct hybrid_told_text told = { .line = 10, .pieces = { "Eggs::Ham", "spam", "/a.pl" } };
	struct perl_frame frame;
	u64 ip;

	set_up();
	frame = frame_at(&statements[1]);
	sub.flags = 0;
	told.function = frame.function;
	told.named = 1;
	check(!ip_of(&frame));
	perl_functions__text(&functions, names, &told);
	/* The statement is there still. */
	ip = ip_of(&frame);
	check(ip && !strcmp(last_name(), "pl::Eggs::Ham::spam:/a.pl"));
	frame.position = 8;
	same(ip_of(&frame), ip - 2 * 2);
	perl_functions__text(&functions, names, &told);
	same(hybrid_names__nr(names), 1);
	/* Another one, of the same code. */
	told.named = 2;
	memcpy(told.pieces[1], "other", sizeof("other"));
	perl_functions__text(&functions, names, &told);
	check(ip_of(&frame) != ip - 2 * 2 && !strcmp(last_name(), "pl::Eggs::Ham::other:/a.pl"));
	/* A closure; what has no name. */
	frame.function = 0x8000 | HYBRID_WALK_PERL_ANONYMOUS;
	told.function = frame.function;
	memcpy(told.pieces[1], "__ANON__", sizeof("__ANON__"));
	perl_functions__text(&functions, names, &told);
	check(ip_of(&frame) && !strcmp(last_name(), "pl::Eggs::Ham::__ANON__:/a.pl"));
	*told.pieces[1] = 0;
	told.function = 0x9000;
	perl_functions__text(&functions, names, &told);
	same(hybrid_names__nr(names), 3);
	/* The program, of which no statement is there. */
	frame.function = HYBRID_WALK_PERL_PROGRAM | HYBRID_WALK_PERL_CODE;
	frame.position = 8;
	check(!ip_of(&frame));
	told.function = frame.function;
	perl_functions__text(&functions, names, &told);
	check(ip_of(&frame) && !strcmp(last_name(), "pl::(program):/a.pl"));
	tear_down();
}

/* Records that are shorter than they say. */
static void told_texts(void)
{
	struct hybrid_walk_text text = { .function = 0x8000, .sizes = { 4, 3, 5 } };
	size_t head = offsetof(struct hybrid_walk_text, bytes), i;
	struct hybrid_told_text told;

	memcpy(text.bytes, "Eggsham/a.pl", 12);
	check(hybrid_told_text_read(&told, &text, head + 12));
	check(!strcmp(told.pieces[0], "Eggs") && !strcmp(told.pieces[1], "ham"));
	check(!strcmp(told.pieces[2], "/a.pl") && told.function == 0x8000);
	for (i = 0; i < head + 12; i++)
		check(!hybrid_told_text_read(&told, &text, i));
	memset(text.bytes, 'a', 512);
	text.sizes[0] = 512;
	check(hybrid_told_text_read(&told, &text, head + 520));
	same(strlen(told.pieces[0]), HYBRID_TOLD_TEXT - 1);
}

static void code(void)
{
	struct perl_frame frame = {
		.function = HYBRID_WALK_PERL_CODE | HYBRID_WALK_PERL_FILE,
		.position = HYBRID_WALK_PERL_AT(0, 7), .text = "Some/File.pm", .file = "",
	};
	unsigned int nr;
	u64 ip;

	set_up();
	ip = ip_of(&frame);
	check(ip && !strcmp(last_name(), "pl::(require):Some/File.pm"));
	same(ip_of(&frame), ip);
	frame.text = "Other.pm";
	check(ip_of(&frame) != ip);
	frame.text = NULL;
	frame.function = HYBRID_WALK_PERL_CODE | HYBRID_WALK_PERL_EVAL;
	ip = ip_of(&frame);
	check(ip && !strcmp(last_name(), "pl::(eval)"));
	/* The next one is elsewhere, and is no other place. */
	frame.position = HYBRID_WALK_PERL_AT((u64)&statements[0], 7);
	nr = functions.known.nr;
	same(ip_of(&frame), ip);
	same(functions.known.nr, nr);
	frame.function = HYBRID_WALK_PERL_CODE | HYBRID_WALK_PERL_PROGRAM;
	frame.position = HYBRID_WALK_PERL_AT(0, 7);
	check(!ip_of(&frame));
	frame.position = HYBRID_WALK_PERL_AT((u64)&statements[0], 10);
	check(ip_of(&frame) && !strcmp(last_name(), "pl::(program):/a.pl"));
	/* Run once: its sub is gone. */
	frame = frame_at(&statements[0]);
	frame.function |= HYBRID_WALK_PERL_CODE;
	check(ip_of(&frame) && !strcmp(last_name(), "pl::Eggs::Ham::spam:/a.pl"));
	sub.flags = 0;
	perl_functions__exit(&functions);
	hybrid_memory_forget(own.memory);
	frame.file = "File.pm";
	check(ip_of(&frame) && !strcmp(last_name(), "pl::BEGIN:File.pm"));
	tear_down();
}

/* As BPF writes it: a sub of which nothing ran yet, a block, a file with its name, a sub. */
static void frames(void)
{
	static struct perl_frames out;
	char text[PERL_FILE_TEXT] = "Some/File.pm";
	u64 words[2 * (4 + HYBRID_WALK_PERL_TEXT)] = {
		0x1000, 0x8000,
		HYBRID_WALK_RUN_ENDS, 0x8000,
		HYBRID_WALK_PERL_CODE | HYBRID_WALK_PERL_FILE, 0x9000,
	};
	struct hybrid_named_chain c = { .functions = words, .nr_functions = ARRAY_SIZE(words) / 2 };

	memcpy(words + 6, text, sizeof(text));
	words[ARRAY_SIZE(words) - 2] = 0x2000 | HYBRID_WALK_RUN_ENDS;
	words[ARRAY_SIZE(words) - 1] = 0xa000;
	perl_frames__read(&out, &c);
	same(out.nr, 4);
	same(out.frames[0].position, 0);
	same(out.frames[1].function, words[4]);
	check(!strcmp(out.frames[1].text, text) && !strcmp(out.frames[2].text, text));
	check(!strcmp(out.frames[1].file, text) && !*out.frames[2].file && !out.frames[3].text);
	same(out.runs[0] & HYBRID_WALK_RUN_ENDS, 0);
	same(out.runs[2] & HYBRID_WALK_RUN_ENDS, HYBRID_WALK_RUN_ENDS);
	check(perl_frames__of(&out, out.runs[6]) == &out.frames[3]);
	check(!perl_frames__of(&out, 0) && !perl_frames__of(&out, ~0ULL));
	/* The name is cut off. */
	c.nr_functions = 3 + HYBRID_WALK_PERL_TEXT - 1;
	perl_frames__read(&out, &c);
	check(!out.frames[2].text);
	c.nr_functions = 0;
	perl_frames__read(&out, &c);
	same(out.nr, 0);
}

/* docatch() has called the evals of a block and of a string; between them is nothing. */
static void tried_frames(void)
{
	static struct perl_frames out;
	const u64 words[] = {
		HYBRID_WALK_PERL_TRIED | HYBRID_WALK_RUN_ENDS, 0x8000,
		0, 0x8010,
		HYBRID_WALK_PERL_CODE | HYBRID_WALK_PERL_EVAL | HYBRID_WALK_PERL_TRIED |
			HYBRID_WALK_RUN_ENDS, 0x8020,
		HYBRID_WALK_PERL_TRIED | 0x1000 | HYBRID_WALK_RUN_ENDS, 0x8030,
	};
	const u64 ends = HYBRID_WALK_RUN_ENDS | HYBRID_RUN_CROSSES;
	struct hybrid_named_chain c = { .functions = words, .nr_functions = ARRAY_SIZE(words) / 2 };
	unsigned int nr;

	perl_frames__read(&out, &c);
	same(out.nr, 3);
	/* The block is in the string. */
	same(out.frames[1].function, words[4] & ~HYBRID_WALK_PERL_TRIED);
	same(out.frames[0].function, out.frames[1].function);
	same(out.frames[0].position, 0x8000);
	same(out.runs[0] & 7, ends);
	same(out.runs[2] & 7, ends);
	/* The bit is one of the address of a sub. */
	same(out.frames[2].function, words[6]);
	same(out.runs[4] & 7, HYBRID_WALK_RUN_ENDS);
	same(perl_frames__read_first(&out, &c), 1);
	same(out.nr, 1);
	/* Nothing, and no more. */
	c.functions = words + 2;
	c.nr_functions = 1;
	same(perl_frames__read_first(&out, &c), 1);
	same(out.nr, 0);
	nr = perl_frames__read_first(&out, &(struct hybrid_named_chain){});
	same(nr + out.nr, 0);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "versions",				versions },
		{ "names of subs",			sub_names },
		{ "what is no sub",			no_subs },
		{ "statements",				statement_lines },
		{ "subs, and one that is gone",		subs },
		{ "another sub, where one was",		other_subs },
		{ "closures",				closures },
		{ "subs that BPF has read",		told },
		{ "records of these",			told_texts },
		{ "files, evaluated code, BEGIN",	code },
		{ "frames of a record",			frames },
		{ "evals of a record",			tried_frames },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
