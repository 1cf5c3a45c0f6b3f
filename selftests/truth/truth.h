/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs in which every function has one caller, so that the true chain of
 * a sample follows from its innermost function.
 *
 * FN_A() and FN_B() define a function and put its only caller into the
 * section .truth of the object, from which check-chains reads it: one line
 * "function caller word...". verify-calls compares the lines with the machine
 * code. Callers that are no function: @start, @thread, @signal; those of
 * selftests/callers, whose programs use this, too, are in its callers.h. Words:
 *
 *	libc	the function calls libc (or the vdso), so libc frames may stand
 *		above it; its own caller never does, or a lost frame would go
 *		unseen
 *	via	libc calls the function on behalf of its caller (a callback)
 *	tail	libc may leave it its own frame (a sibling call), so no frame of
 *		libc need stand below it
 *	indirect the caller calls it through a pointer
 *	depth=N	it recurses, and calls on only from its Nth frame
 *	loader	it calls into the dynamic loader long after the start
 *	asm	written in assembler, without a frame in every build
 *
 * Each source is compiled twice, with HALF_A and with HALF_B: every function
 * belongs to one half. In the build "mixed" only half A has frame pointers.
 */
#ifndef SELFTESTS_TRUTH_H
#define SELFTESTS_TRUTH_H

#define TRUTH(line)						\
	asm(".pushsection .truth,\"\",@progbits\n\t"		\
	    ".ascii \"" line "\\n\"\n\t"			\
	    ".popsection")

#define DEFINED_HERE(ret, name, params, line)			\
	ret name params;					\
	TRUTH(#name " " line);					\
	__attribute__((noipa, noinline, noclone))		\
	ret name params

/* Never referenced, so the compiler drops it: the other half has the real one. */
#define DEFINED_ELSEWHERE(ret, name, params)			\
	ret name params;					\
	__attribute__((unused))					\
	static ret name ## _elsewhere params

#ifdef HALF_A
#define FN_A(ret, name, params, line)	DEFINED_HERE(ret, name, params, line)
#else
#define FN_A(ret, name, params, line)	DEFINED_ELSEWHERE(ret, name, params)
#endif

#ifdef HALF_B
#define FN_B(ret, name, params, line)	DEFINED_HERE(ret, name, params, line)
#else
#define FN_B(ret, name, params, line)	DEFINED_ELSEWHERE(ret, name, params)
#endif

#define __spin __attribute__((always_inline)) static inline

/* Burns n rounds without a call, a stack slot or a chance to fold it. */
__spin void spin(unsigned long n)
{
	asm volatile("1:\tsub $1, %0\n\tjnz 1b" : "+r" (n) : : "cc");
}

/* Keeps a pointer's memory alive in the eyes of the compiler. */
__spin void keep(void *p)
{
	asm volatile("" : : "r" (p) : "memory");
}

/* A number that the compiler can't know. */
__spin unsigned long opaque(unsigned long n)
{
	asm volatile("" : "+r" (n));
	return n;
}

#endif
