/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_PERL_FRAMES_H
#define __PERF_HYBRID_PERL_FRAMES_H

#include "../walk-interpreter.h"
#include "../runs.h"

/* Bytes of the name of a file that is loaded, its end included. */
#define PERL_FILE_TEXT	(HYBRID_WALK_PERL_TEXT * 16)

/**
 * struct perl_frame - what a frame runs
 * @function: as struct hybrid_walk_function has it; of a block, that of what it is in
 * @position: where; 0: before the first statement
 * @text: of a file that is loaded: its name
 * @file: the name of the file that has called it, or an empty one
 */
struct perl_frame {
	u64		 function;
	u64		 position;
	const char	*text;
	const char	*file;
};

/**
 * struct perl_frames - the frames of a sample
 * @frames: from the innermost on
 * @nr: number of @frames
 * @runs: for struct hybrid_runs, a pair of words for each frame: its number and whether its run
 *	ends with it, see perl_frames__of(); 0
 * @texts: that frames refer to
 */
struct perl_frames {
	struct perl_frame	frames[HYBRID_WALK_FUNCTIONS];
	unsigned int		nr;
	u64			runs[2 * HYBRID_WALK_FUNCTIONS];
	char			texts[HYBRID_WALK_FUNCTIONS / HYBRID_WALK_PERL_TEXT]
				     [PERL_FILE_TEXT];
};

/**
 * perl_frames__read - what the record of a sample has
 * @frames: out
 * @c: the chain; its functions need not be true
 */
void perl_frames__read(struct perl_frames *frames, const struct hybrid_named_chain *c);

/**
 * perl_frames__read_first - the same of the frames that the innermost native frame of the loop runs
 * @frames: out: @nr is the number of these
 * @c: the chain
 *
 * Return: how many pairs of words of @c's functions they are.
 */
unsigned int perl_frames__read_first(struct perl_frames *frames,
				     const struct hybrid_named_chain *c);

/* The frame that a word of @runs is of; NULL: none. */
const struct perl_frame *perl_frames__of(const struct perl_frames *frames, u64 word);

#endif /* __PERF_HYBRID_PERL_FRAMES_H */
