/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_V8_POINTS_H
#define __PERF_HYBRID_V8_POINTS_H

#include <stdbool.h>
#include <linux/types.h>

/* Points of one piece of code. */
#define V8_POINTS	8192

/**
 * struct v8_point - a place that a call returns to, and of which the functions are known
 * @at: its offset
 * @exit: which of the code's exits to the interpreter has them
 */
struct v8_point {
	u32	at;
	u32	exit;
};

/**
 * struct v8_points - all of them
 * @list: sorted by @at; owned
 * @nr: number of @list
 * @room: for @list
 */
struct v8_points {
	struct v8_point	*list;
	unsigned int	 nr;
	unsigned int	 room;
};

/**
 * struct v8_safepoints - V8's table of the calls in optimised code, src/codegen/safepoint-table.h
 * @bytes: the table
 * @size: number of @bytes
 * @is_maglev: it is of Maglev, which has another header
 * @is_new: it is of V8 13 or later, probably
 */
struct v8_safepoints {
	const u8	*bytes;
	u32		 size;
	bool		 is_maglev;
	bool		 is_new;
};

/**
 * struct v8_exits - exits of optimised code to the interpreter
 * @start: offset of the first one in the code
 * @nr_eager: exits that the code jumps to
 * @nr: those, and the ones that calls return to if the code is no longer valid
 */
struct v8_exits {
	u32	start;
	u32	nr_eager;
	u32	nr;
};

/**
 * v8_points__read - find the places where calls return to optimised code
 * @points: out; zeroed
 * @safepoints: of the code
 * @exits: the same
 * @size: bytes of instructions
 *
 * Return: false if the table is none, or memory is short.
 */
bool v8_points__read(struct v8_points *points, const struct v8_safepoints *safepoints,
		     const struct v8_exits *exits, u32 size);

/* The exit for a return address; negative: it has none. */
s64 v8_points__return(const struct v8_points *points, u32 at);

/* The exit of the nearest point; negative: there is no point. */
s64 v8_points__nearest(const struct v8_points *points, u32 at);

/* The exit that begins at @at; negative: none does. */
s64 v8_exits__at(const struct v8_exits *exits, u32 at);

void v8_points__free(struct v8_points *points);

#endif /* __PERF_HYBRID_V8_POINTS_H */
