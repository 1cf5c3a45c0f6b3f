// SPDX-License-Identifier: GPL-2.0
/*
 * Perl's frames of a sample, and the lines of its functions. Nothing of a Perl is there: what is
 * tested is in the record, or BPF has read it.
 */
#include <string.h>
#include "../hybrid/runtime/walk-interpreter.h"
#include "own-memory.h"
#include "perl-functions.h"
#include "tap.h"

/* Lines of one function. */
#define LINES	256

static struct perl_functions functions;
static struct hybrid_names *names;

static void begin(void)
{
	own_begin();
	memset(&functions, 0, sizeof(functions));
	functions.pm = &own.pm;
	functions.nextstate = 0x1000;
	names = hybrid_names__new(HYBRID_LANGUAGE_PERL);
}

static void end(void)
{
	perl_functions__exit(&functions);
	hybrid_names__delete(names);
	own_end();
}

/* The address of the first byte of the function that was added last. */
static u64 last_start(void)
{
	u64 start, size;

	hybrid_names__get(names, hybrid_names__nr(names) - 1, &start, &size);
	same(size, 2 * LINES);
	return start + hybrid_names__start(names);
}

/* Each line of a string that is evaluated is a place; 256 lines are a function. */
static void lines(void)
{
	struct perl_frame frame = {
		.function = HYBRID_WALK_PERL_CODE | HYBRID_WALK_PERL_EVAL, .file = "",
	};
	unsigned int line, nr = 0;
	u64 ip, before = 0;

	begin();
	for (line = 1; line <= 3 * LINES + 5; line++) {
		frame.position = HYBRID_WALK_PERL_AT(0, line);
		ip = perl_functions__ip(&functions, names, &frame);
		same(ip, hybrid_names_ip(last_start(), LINES, (line - 1) % LINES));
		check(ip != before);
		before = ip;
		nr = (line - 1) / LINES + 1;
		same(hybrid_names__nr(names), nr);
	}
	/* The last one that a record has room for. */
	frame.position = HYBRID_WALK_PERL_AT(0, 0xffff);
	ip = perl_functions__ip(&functions, names, &frame);
	same(ip, hybrid_names_ip(last_start(), LINES, 0xfffe % LINES));
	end();
}

/* A closure that is gone has the place where BPF has found it to begin. */
static void told_closure(void)
{
	static const u32 lines_of[] = { 0, 1, 2, 100, LINES, 1000, 0x1000000, 0x1000001, ~0U };
	struct hybrid_told_text told = {};
	struct perl_frame frame = { .file = "" };
	unsigned int i;

	begin();
	for (i = 0; i < ARRAY_SIZE(lines_of); i++) {
		told.function = (0x8000 + 64 * i) | HYBRID_WALK_PERL_ANONYMOUS;
		told.line = lines_of[i];
		told.named = 1;
		strcpy(told.pieces[0], "Eggs");
		strcpy(told.pieces[1], "__ANON__");
		strcpy(told.pieces[2], "/a.pl");
		perl_functions__text(&functions, names, &told);
		frame.function = told.function;
		same(perl_functions__ip(&functions, names, &frame),
		     hybrid_names_ip(last_start(), LINES, 0));
	}
	end();
}

/* Frames are those of the record alone, whatever was read before. */
static void read_again(void)
{
	static struct perl_frames out, first;
	u64 words[2 * 8];
	struct hybrid_named_chain c = { .functions = words };
	unsigned int n, i, nr, runs;

	for (n = 0; n < 1 << 8; n++) {
		for (i = 0; i < 8; i++) {
			words[2 * i] = 0x1000 * (i + 1) | (n >> i & 1 ? HYBRID_WALK_RUN_ENDS : 0);
			words[2 * i + 1] = 0x8000 + 8 * i;
		}
		c.nr_functions = n % 9;
		perl_frames__read(&out, &c);
		same(out.nr, c.nr_functions);
		for (i = 0; i < out.nr; i++) {
			same(out.frames[i].function, words[2 * i]);
			same(out.runs[2 * i] & HYBRID_WALK_RUN_ENDS,
			     words[2 * i] & HYBRID_WALK_RUN_ENDS);
			check(perl_frames__of(&out, out.runs[2 * i]) == &out.frames[i]);
			check(!perl_frames__of(&out, out.runs[2 * i + 1]));
		}
		/* The first run ends with the first frame that says so; without one, it is all. */
		for (runs = 1; runs <= out.nr && !(n >> (runs - 1) & 1); runs++)
			;
		runs = min(runs, out.nr);
		nr = perl_frames__read_first(&first, &c);
		same(nr, runs);
		same(first.nr, runs);
		for (i = 0; i < runs; i++)
			same(first.frames[i].function, out.frames[i].function);
	}
}

/* The name of a file that is loaded follows its frame, if the record has all of it. */
static void files(void)
{
	static const u64 functions_of[] = {
		HYBRID_WALK_PERL_CODE | HYBRID_WALK_PERL_FILE, HYBRID_WALK_PERL_FILE,
		HYBRID_WALK_PERL_CODE | HYBRID_WALK_PERL_EVAL,
	};
	static u64 words[2 * (HYBRID_WALK_PERL_TEXT + 2)];
	static struct perl_frames out;
	struct hybrid_named_chain c = { .functions = words };
	unsigned int i, nr;
	bool has_text;

	for (i = 0; i < ARRAY_SIZE(functions_of); i++) {
		for (nr = 0; nr <= 1 + HYBRID_WALK_PERL_TEXT; nr++) {
			memset(words, 'x', sizeof(words));
			words[0] = functions_of[i];
			words[1] = 0x8000;
			c.nr_functions = 1 + nr;
			has_text = !i && nr >= HYBRID_WALK_PERL_TEXT;
			perl_frames__read(&out, &c);
			same(out.nr, 1 + nr - (has_text ? HYBRID_WALK_PERL_TEXT : 0));
			same(!!out.frames[0].text, has_text);
			if (has_text)
				same(strlen(out.frames[0].text), PERL_FILE_TEXT - 1);
		}
	}
}

/* A record has no more frames than there is room for. */
static void many(void)
{
	static u64 words[2 * (HYBRID_WALK_FUNCTIONS + 2)];
	static struct perl_frames out;
	struct hybrid_named_chain c = { .functions = words };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(words) / 2; i++)
		words[2 * i] = 0x1000 + 16 * i;
	for (i = HYBRID_WALK_FUNCTIONS - 1; i < ARRAY_SIZE(words) / 2; i++) {
		c.nr_functions = i;
		perl_frames__read(&out, &c);
		same(out.nr, min_t(unsigned int, i, HYBRID_WALK_FUNCTIONS));
		same(perl_frames__read_first(&out, &c), i);
		same(out.nr, min_t(unsigned int, i, HYBRID_WALK_FUNCTIONS));
	}
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "Perl: lines of what is evaluated",	lines },
		{ "Perl: closures that are gone",	told_closure },
		{ "Perl: one record after another",	read_again },
		{ "Perl: files that are loaded",	files },
		{ "Perl: a record with many frames",	many },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
