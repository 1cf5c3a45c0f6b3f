/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SELFTESTS_JUDGE_VERDICT_H
#define SELFTESTS_JUDGE_VERDICT_H

#include "object.h"

/**
 * enum verdict - what the code says about a caller in a chain
 * @SHOWN: it calls what runs in the frame inside of it
 * @UNKNOWN: the code does not tell
 * @REFUTED: it does not
 */
enum verdict {
	SHOWN,
	UNKNOWN,
	REFUTED,
};

/**
 * struct frame - an entry of a chain
 * @ip: its address in the process
 * @symbol: as perf script has it
 * @object: the file
 * @addr: its address in @object, as the file counts them
 * @mapped: perf knows a mapping that holds it
 */
struct frame {
	u64		ip;
	const char	*symbol;
	struct object	*object;
	u64		addr;
	bool		mapped;
};

/**
 * verdict_of - has @caller called what runs at @callee?
 * @callee: the inner frame
 * @caller: the frame behind it
 * @exact: @callee is an instruction that was interrupted, and not a caller's
 * @why: set to what refutes it, or NULL
 */
enum verdict verdict_of(const struct frame *callee, const struct frame *caller, bool exact,
			const char **why);

/* Is it where a signal's handler returns to? What is behind that was interrupted. */
bool frame_is_trampoline(const struct frame *frame);

/*
 * Is it a function that goes on where an exception is caught, or setjmp() was called?
 * It writes the registers and the return address for that over those that lead to its
 * own caller.
 */
bool frame_is_unwinding(const struct frame *frame);

/* Is it where a process or a thread begins? */
bool frame_is_root(const struct frame *frame);

/*
 * May a stack begin in the frame? True if frame_is_root() returns true, and also
 *
 *	- if nothing shows it: the file is gone, or is a Go program without symbols;
 *	- if a fiber may begin with the function: its return address is 0.
 */
bool frame_may_be_root(const struct frame *frame);

/* Is it no frame, but says that the chain is cut off or guessed from there on? */
bool frame_is_mark(const struct frame *frame);

#endif
