// SPDX-License-Identifier: GPL-2.0
/*
 * Judges chains by the calls in the code: what a caller's call leads to must be what
 * runs in the frame inside of it. Reads on stdin what
 *
 *	perf script -F tid,time,ip,sym,dso,dsoff --ns --no-inline
 *
 * prints, and says in a line what became of the samples:
 *
 *	refuted		one caller in the chain, at least, has not called what the chain
 *			says: its call leads elsewhere, or there is none, or no code
 *	refuted_complete of these, those that look complete: they end where a process
 *			or a thread begins, without a mark; where the file has marks at
 *			all, every chain without one
 *	exceptions	refuted, but for frame_is_unwinding()
 *	ends		no mark, and the last frame is not where a process or a thread begins
 *	callers, shown	of all chains, and those whose call leads to the inner frame;
 *			of the others the code does not tell
 *
 * -v prints the callers that are refuted, and the last frames of what "ends" counts; --unknown
 * the callers of which the code does not tell. --max-ends allows one sample in any case.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verdict.h"

#define MAX_FRAMES	8192
#define KERNEL		0xffff800000000000ull

/**
 * struct pair - a caller of a chain, judged once
 * @next: in the list of those with the same hash
 * @callee: the inner frame; its symbol is kept
 * @caller: the outer one
 * @exact: see verdict_of()
 * @verdict: what came out
 * @why: what refutes it
 * @count: chains that have it
 * @head: of the first of them, its thread and time
 */
struct pair {
	struct pair	*next;
	struct frame	 callee;
	struct frame	 caller;
	bool		 exact;
	enum verdict	 verdict;
	const char	*why;
	unsigned long	 count;
	char		*head;
};

#define PAIR_LISTS	65536

static struct pair *pairs[PAIR_LISTS];

/*
 * The last frames of chains without a mark, each as its own caller. The verdict is SHOWN if a stack
 * may begin in the frame; "ends" counts those that are UNKNOWN.
 */
static struct pair *ends[PAIR_LISTS];

/* Chains, by what they are. */
static struct {
	unsigned long	samples;
	unsigned long	empty;
	unsigned long	verdicts[REFUTED + 1];
	unsigned long	marked;
	unsigned long	rooted;
	/* Neither marked nor, as far as can be known, rooted. */
	unsigned long	ends;
	/* Refuted but for frame_is_unwinding(). */
	unsigned long	unwinding;
	/* Refuted ones that end in a root and have no mark, and those with neither. */
	unsigned long	refuted_rooted;
	unsigned long	refuted_plain;
	unsigned long	pairs[REFUTED + 1];
} totals;

static struct frame frames[MAX_FRAMES];
static unsigned int nr_frames;
static char head[256];

static bool same(const struct frame *a, const struct frame *b)
{
	return a->object == b->object && a->addr == b->addr && a->mapped == b->mapped;
}

static struct pair *pair_in(struct pair **lists, const struct frame *callee,
			    const struct frame *caller, bool exact)
{
	u64 hash = (callee->addr * 0x9e3779b97f4a7c15ull ^ caller->addr) * 0x9e3779b97f4a7c15ull;
	struct pair **list = &lists[hash >> 48], *pair;

	for (pair = *list; pair; pair = pair->next) {
		if (same(&pair->callee, callee) && same(&pair->caller, caller) &&
		    pair->exact == exact)
			return pair;
	}
	pair = calloc(1, sizeof(*pair));
	if (!pair)
		abort();
	pair->next = *list;
	*list = pair;
	pair->callee = *callee;
	pair->caller = *caller;
	pair->callee.symbol = strdup(callee->symbol);
	pair->caller.symbol = strdup(caller->symbol);
	pair->head = strdup(head);
	pair->exact = exact;
	pair->verdict = UNKNOWN;
	return pair;
}

static struct pair *pair_of(const struct frame *callee, const struct frame *caller, bool exact)
{
	struct pair *pair = pair_in(pairs, callee, caller, exact);

	if (!pair->count)
		pair->verdict = verdict_of(callee, caller, exact, &pair->why);
	return pair;
}

static enum verdict judge_frames(unsigned int nr)
{
	enum verdict worst = SHOWN;
	bool exact = true;
	unsigned int i;

	for (i = 0; i + 1 < nr; i++) {
		struct pair *pair;

		if (frame_is_trampoline(&frames[i + 1])) {
			exact = false;
			continue;
		}
		if (frame_is_trampoline(&frames[i])) {
			exact = true;
			continue;
		}
		pair = pair_of(&frames[i], &frames[i + 1], exact);
		pair->count++;
		totals.pairs[pair->verdict]++;
		if (pair->verdict > worst)
			worst = pair->verdict;
		exact = false;
	}
	return worst;
}

/* Is the innermost function, or what it was called by, about to leave by an exception? */
static bool is_unwinding(void)
{
	return frame_is_unwinding(&frames[0]) ||
	       (nr_frames > 1 && frame_is_unwinding(&frames[1]));
}

/* Takes out what the chain says of itself; true where it says anything. */
static bool take_marks(void)
{
	unsigned int i, kept = 0;
	bool marked;

	for (i = 0; i < nr_frames; i++) {
		if (!frame_is_mark(&frames[i]))
			frames[kept++] = frames[i];
	}
	marked = kept < nr_frames;
	nr_frames = kept;
	return marked;
}

/* Counts the last frame of a chain without a mark. */
static void judge_end(const struct frame *last)
{
	struct pair *pair = pair_in(ends, last, last, false);

	if (!pair->count++)
		pair->verdict = frame_may_be_root(last) ? SHOWN : UNKNOWN;
	totals.ends += pair->verdict == UNKNOWN;
}

static void judge_chain(void)
{
	const struct frame *last;
	enum verdict verdict;
	bool rooted, marked;

	totals.samples++;
	marked = take_marks();
	totals.marked += marked;
	if (!nr_frames) {
		totals.empty++;
		return;
	}
	verdict = judge_frames(nr_frames);
	if (verdict == REFUTED && is_unwinding()) {
		totals.unwinding++;
		verdict = UNKNOWN;
	}
	last = &frames[nr_frames - 1];
	rooted = !marked && frame_is_root(last);
	totals.verdicts[verdict]++;
	totals.rooted += rooted;
	if (!marked)
		judge_end(last);
	if (verdict == REFUTED && !marked)
		(*(rooted ? &totals.refuted_rooted : &totals.refuted_plain))++;
}

/* "  ADDRESS SYMBOL (FILE+0xOFFSET)", the symbol and the file being any text. */
static bool read_frame(char *line, struct frame *frame)
{
	char *symbol, *file, *off, *end = line + strlen(line);

	frame->ip = strtoull(line, &symbol, 16);
	if (symbol == line || *symbol != ' ' || end[-1] != ')')
		return false;
	*--end = 0;
	symbol++;
	/* " (deleted)" is the file's. */
	for (file = end; file > symbol && (strncmp(file, " (", 2) ||
					   !strncmp(file, " (deleted)", 10)); file--)
		;
	if (file == symbol && strncmp(file, " (", 2))
		return false;
	*file = 0;
	file += 2;
	frame->symbol = symbol;
	off = strstr(file, "+0x");
	while (off && strstr(off + 1, "+0x"))
		off = strstr(off + 1, "+0x");
	frame->mapped = strncmp(file, "[unknown]", 9);
	frame->addr = off ? strtoull(off + 1, NULL, 16) : frame->ip;
	if (off)
		*off = 0;
	frame->object = object_find(file);
	if (frame->object->readable)
		frame->addr = elf_image_address(&frame->object->image, frame->addr);
	else
		frame->addr = frame->ip;
	return true;
}

static void read_chains(FILE *in)
{
	/* The frames point into them. C++ has names of thousands of characters. */
	static char *lines[MAX_FRAMES];
	static size_t sizes[MAX_FRAMES];
	bool inside = false;

	while (getline(&lines[nr_frames], &sizes[nr_frames], in) > 0) {
		char *line = lines[nr_frames];

		line[strcspn(line, "\n")] = 0;
		if (!*line) {
			if (inside)
				judge_chain();
			inside = false;
			nr_frames = 0;
		} else if (!inside) {
			inside = true;
			snprintf(head, sizeof(head), "%s", line + strspn(line, " \t"));
		} else if (read_frame(line, &frames[nr_frames]) &&
			   frames[nr_frames].ip < KERNEL && nr_frames + 1 < MAX_FRAMES) {
			nr_frames++;
		}
	}
	if (inside)
		judge_chain();
}

static int by_count(const void *a, const void *b)
{
	const struct pair *p = a, *q = b;

	return (p->count < q->count) - (p->count > q->count);
}

static void print_frame(const char *what, const struct frame *frame)
{
	printf("      %s %s at 0x%llx of %s\n", what, frame->symbol,
	       (unsigned long long)frame->addr, frame->object->path);
}

/* The commonest pairs with a verdict. */
static void print_pairs(struct pair *const *lists, enum verdict verdict, const char *word,
			unsigned int most)
{
	struct pair *found = NULL, *pair;
	size_t nr = 0, i;

	for (i = 0; i < PAIR_LISTS; i++) {
		for (pair = lists[i]; pair; pair = pair->next) {
			if (pair->verdict != verdict)
				continue;
			found = realloc(found, (nr + 1) * sizeof(*found));
			if (!found)
				abort();
			found[nr++] = *pair;
		}
	}
	if (nr)
		qsort(found, nr, sizeof(*found), by_count);
	for (i = 0; i < nr && i < most; i++) {
		printf("  %s: %lu times%s%s; one of them, %s\n", word, found[i].count,
		       found[i].why ? ", " : "", found[i].why ? found[i].why : "",
		       found[i].head);
		print_frame(lists == ends ? "last" : "callee", &found[i].callee);
		if (lists != ends)
			print_frame("caller", &found[i].caller);
	}
	free(found);
}

static double share(unsigned long part)
{
	return totals.samples ? 100.0 * part / totals.samples : 0;
}

/* Where a file has marks, every chain without one counts as complete. */
static unsigned long refuted_complete(void)
{
	return totals.refuted_rooted + (totals.marked ? totals.refuted_plain : 0);
}

static void print_totals(void)
{
	unsigned long callers = 0;
	unsigned int i;

	for (i = 0; i <= REFUTED; i++)
		callers += totals.pairs[i];
	printf("samples=%lu refuted=%lu (%.3f %%) refuted_complete=%lu ",
	       totals.samples, totals.verdicts[REFUTED], share(totals.verdicts[REFUTED]),
	       refuted_complete());
	printf("to_root=%lu marked=%lu ends=%lu exceptions=%lu no_chain=%lu ",
	       totals.rooted, totals.marked, totals.ends, totals.unwinding, totals.empty);
	printf("callers=%lu shown=%lu (%.1f %%)\n", callers, totals.pairs[SHOWN],
	       callers ? 100.0 * totals.pairs[SHOWN] / callers : 0);
}

static int usage(void)
{
	fputs("check-calls: options are -v, --unknown, --max-refuted PERCENT, ", stderr);
	fputs("--max-complete N, --max-ends PERCENT\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "verbose", no_argument, NULL, 'v' },
		{ "unknown", no_argument, NULL, 'u' },
		{ "max-refuted", required_argument, NULL, 'r' },
		{ "max-complete", required_argument, NULL, 'c' },
		{ "max-ends", required_argument, NULL, 'e' },
		{}
	};
	long max_complete = -1;
	double max_refuted = -1, max_ends = -1;
	bool verbose = false, unknown = false;
	int option;

	while ((option = getopt_long(argc, argv, "v", options, NULL)) != -1) {
		if (option == 'v')
			verbose = true;
		else if (option == 'u')
			unknown = true;
		else if (option == 'r')
			max_refuted = atof(optarg);
		else if (option == 'c')
			max_complete = atol(optarg);
		else if (option == 'e')
			max_ends = atof(optarg);
		else
			return usage();
	}
	read_chains(stdin);
	print_totals();
	if (verbose) {
		print_pairs(pairs, REFUTED, "refuted", 10);
		print_pairs(ends, UNKNOWN, "ends", 10);
	}
	if (unknown)
		print_pairs(pairs, UNKNOWN, "unknown", 10);
	if (!totals.samples)
		return 1;
	return (max_refuted >= 0 && share(totals.verdicts[REFUTED]) > max_refuted) ||
	       (max_complete >= 0 && refuted_complete() > (unsigned long)max_complete) ||
	       (max_ends >= 0 && totals.ends > 1 && share(totals.ends) > max_ends);
}
