// SPDX-License-Identifier: GPL-2.0
/*
 * The frames of Perl in a sample. BPF writes what it finds in passing; what a frame is says often
 * only the one that has called it.
 */
#include <string.h>
#include <linux/kernel.h>
#include "perl-frames.h"

/* A frame's number in a word of @runs begins at this bit. */
#define NUMBER_BIT	3

static bool is_code(const struct perl_frame *frame)
{
	return frame->function & HYBRID_WALK_PERL_CODE;
}

static bool is_block(const struct perl_frame *frame)
{
	return !(frame->function & HYBRID_WALK_FUNCTION_ADDR);
}

/* Is that an eval for which docatch() has begun the evaluator anew? */
static bool is_tried(u64 function)
{
	u64 what = function & HYBRID_WALK_FUNCTION_ADDR;

	return what < 2 * HYBRID_WALK_PERL_TRIED && what & HYBRID_WALK_PERL_TRIED;
}

/* A file that is loaded has its name behind it: returns how many pairs of words that are. */
static unsigned int take_text(struct perl_frames *frames, struct perl_frame *frame,
			      const struct hybrid_named_chain *c, unsigned int at)
{
	char *text = frames->texts[at / (HYBRID_WALK_PERL_TEXT + 1)];

	if (!is_code(frame) ||
	    (frame->function & HYBRID_WALK_FUNCTION_ADDR) != HYBRID_WALK_PERL_FILE ||
	    c->nr_functions - at < HYBRID_WALK_PERL_TEXT)
		return 0;
	memcpy(text, (const u8 *)c->functions + 2 * at * sizeof(u64), PERL_FILE_TEXT);
	text[PERL_FILE_TEXT - 1] = 0;
	frame->text = text;
	return HYBRID_WALK_PERL_TEXT;
}

/* Adds the frame at pair @at of the words, unless that is empty. Returns the next pair. */
static unsigned int take_frame(struct perl_frames *frames, const struct hybrid_named_chain *c,
			       unsigned int at)
{
	struct perl_frame *frame = &frames->frames[frames->nr];
	u64 function = hybrid_named_function(c, at, 0), crosses = 0;

	if (!function)
		return at + 1;
	if (is_tried(function)) {
		function &= ~HYBRID_WALK_PERL_TRIED;
		crosses = HYBRID_RUN_CROSSES;
	}
	*frame = (struct perl_frame) {
		.function = function, .position = hybrid_named_function(c, at, 1),
	};
	at++;
	at += take_text(frames, frame, c, at);
	frames->runs[2 * frames->nr + 1] = 0;
	frames->runs[2 * frames->nr] = (function & HYBRID_WALK_RUN_ENDS) | crosses |
		(u64)(frames->nr + 1) << NUMBER_BIT;
	frames->nr++;
	return at;
}

static void take_frames(struct perl_frames *frames, const struct hybrid_named_chain *c)
{
	unsigned int at = 0;

	frames->nr = 0;
	while (at < c->nr_functions && frames->nr < HYBRID_WALK_FUNCTIONS)
		at = take_frame(frames, c, at);
}

/*
 * The first run, and what its frames are known by: those outside of it up to one that is no block.
 * Returns how many frames the run has. @nr: out: pairs of words of these.
 */
static unsigned int take_first(struct perl_frames *frames, const struct hybrid_named_chain *c,
			       unsigned int *nr)
{
	unsigned int at = 0, nr_first = 0;
	const struct perl_frame *last;

	frames->nr = 0;
	*nr = c->nr_functions;
	while (at < c->nr_functions && frames->nr < HYBRID_WALK_FUNCTIONS) {
		at = take_frame(frames, c, at);
		if (!frames->nr)
			continue;
		last = &frames->frames[frames->nr - 1];
		if (nr_first && !is_block(last))
			break;
		if (!nr_first && last->function & HYBRID_WALK_RUN_ENDS) {
			nr_first = frames->nr;
			*nr = at;
		}
	}
	return nr_first ?: frames->nr;
}

/* @outer: the caller; NULL: it is not known. */
static void complete(struct perl_frame *frame, const struct perl_frame *outer)
{
	if (is_block(frame) && outer) {
		frame->function = outer->function;
		frame->text = outer->text;
	}
	frame->file = outer && outer->text ? outer->text : "";
}

/* A sub that was called just now is at its caller's statement still. */
static void correct_innermost(struct perl_frames *frames)
{
	struct perl_frame *first = &frames->frames[0];
	u64 same = HYBRID_WALK_FUNCTION_ADDR;

	if (frames->nr > 1 && !is_code(first) && !((first->position ^ first[1].position) & same) &&
	    (first->function ^ first[1].function) & same)
		first->position = 0;
}

static void complete_all(struct perl_frames *frames)
{
	unsigned int i;

	for (i = frames->nr; i-- > 0;)
		complete(&frames->frames[i], i + 1 < frames->nr ? &frames->frames[i + 1] : NULL);
	correct_innermost(frames);
}

void perl_frames__read(struct perl_frames *frames, const struct hybrid_named_chain *c)
{
	take_frames(frames, c);
	complete_all(frames);
}

unsigned int perl_frames__read_first(struct perl_frames *frames,
				     const struct hybrid_named_chain *c)
{
	unsigned int nr, nr_first = take_first(frames, c, &nr);

	complete_all(frames);
	frames->nr = nr_first;
	return nr;
}

const struct perl_frame *perl_frames__of(const struct perl_frames *frames, u64 word)
{
	u64 number = (word & HYBRID_WALK_FUNCTION_ADDR) >> NUMBER_BIT;

	return number && number <= frames->nr ? &frames->frames[number - 1] : NULL;
}
