/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __HYBRID_TEST_SCENE_H
#define __HYBRID_TEST_SCENE_H

#include "elf-file.h"
#include "unwind.h"

#define SCENE_PID	100
#define SCENE_BIAS	0x7f0000000000ULL
#define SCENE_NOCFI	0x7f1000000000ULL
#define SCENE_JIT	0x7f2000000000ULL
#define SCENE_I386	0x56000000ULL
#define SCENE_STACK	0x7ffc00010000ULL
#define SCENE_STACK_32	0xffb00000ULL
#define SCENE_WORDS	4096

/**
 * struct scene - one sample, made up
 * @u: what is unwound
 * @frames: room for its frames
 * @stack: its dump
 * @nr: words pushed on @stack, the innermost first
 */
struct scene {
	struct hybrid_unwind	u;
	struct hybrid_frame	frames[HYBRID_MAX_FRAMES];
	u64			stack[SCENE_WORDS];
	unsigned int		nr;
};

extern struct hybrid_processes scene_ps;
extern struct hybrid_unwinder scene_unwinder;

/**
 * scene_start - a sample of a process that maps frames.so, nocfi.so, a page of
 *	code made at run time and, for i386, i386.so
 * @s: out: empty but for ip and sp
 * @ip: where it is
 */
void scene_start(struct scene *s, u64 ip);
void scene_start_32(struct scene *s, u64 ip);

/* Address of a label of frames.so, or of i386.so, in the process. */
u64 scene_at(const char *label);
u64 scene_at_32(const char *label);

void scene_reg(struct scene *s, unsigned int reg, u64 value);

/* Has the register point to the word that is pushed next; returns the word's address. */
u64 scene_reg_top(struct scene *s, unsigned int reg);

/* Adds a word at the outer end of the stack; returns its address. */
u64 scene_push(struct scene *s, u64 word);
void scene_fill(struct scene *s, unsigned int nr, u64 word);

/* Address of the word that is pushed next. */
u64 scene_top(const struct scene *s);

/* A bpframe() with its saved rbp and its return address. */
void scene_push_bpframe(struct scene *s, u64 saved_bp, u64 ret);

/* A pushed() with its saved rbx and its return address. */
void scene_push_pushed(struct scene *s, u64 saved_rbx, u64 ret);

void scene_unwind(struct scene *s);
void scene_exit(void);

/* Compares what is unwound with what was to be found. */
#define scene_expect(s, stop, ...) do {						\
	const u64 want_[] = { __VA_ARGS__ };					\
	scene_compare(s, stop, want_, ARRAY_SIZE(want_), __FILE__, __LINE__);	\
} while (0)

void scene_compare(const struct scene *s, enum hybrid_stop stop, const u64 *ips,
		   unsigned int nr, const char *file, int line);

#endif /* __HYBRID_TEST_SCENE_H */
