/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What tests of exact states share: pages of code, any of which may be missing, patterns of bytes,
 * and the signal trampolines. It includes the source of the look.
 */
#ifndef _LOOK_STATE_H
#define _LOOK_STATE_H

#include "../../kmod/frame/x86_frame.c"

#include <stdio.h>
#include <stdlib.h>

#include "report.h"

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define PAGE			0x1000UL
#define BASE			0x400000UL
#define PAGES			3

/* Three pages of code; a bit for each page that is missing. */
static u8 code[PAGES * PAGE];
static unsigned int missing, reads;

static inline bool readable(unsigned long addr)
{
	return addr >= BASE && addr < BASE + sizeof(code) &&
	       !(missing >> ((addr - BASE) / PAGE) & 1);
}

static inline int read_code(void *ctx, unsigned long addr, void *dst, unsigned int len)
{
	reads++;
	/* Never bytes of two pages. */
	if (!len || len > PAGE || addr / PAGE != (addr + len - 1) / PAGE)
		abort();
	if (!readable(addr))
		return -1;
	memcpy(dst, code + (addr - BASE), len);
	return 0;
}

static struct x86_frame_mem mem = { read_code, NULL, true, false };

static inline u8 *at(unsigned long addr)
{
	return &code[addr - BASE];
}

/* How many bytes from @addr on, up to @max, can be read; @step: 1, or -1 for those before it. */
static inline unsigned int run_of(unsigned long addr, int step, unsigned int max)
{
	unsigned int n = 0;

	while (n < max && readable(step > 0 ? addr + n : addr - 1 - n))
		n++;
	return n;
}

/* A pattern: hexadecimal bytes, '.' for any half of one, '|' before ip. */
struct place {
	unsigned long	ip;
	unsigned int	before, after;	/* bytes that are known */
};

static inline bool matches(const struct place *place, const char *pattern)
{
	const char *bar = strchr(pattern, '|'), *p;
	int off = 0, half;
	u8 byte;

	for (p = pattern; p < bar; p += *p == ' ' ? 1 : 2)
		off -= *p != ' ';
	if (off < -(int)place->before)
		return false;
	for (p = pattern; *p; p++) {
		if (*p == ' ' || *p == '|')
			continue;
		if (off >= (int)place->after)
			return false;
		byte = *at(place->ip + off);
		for (half = 0; half < 2; half++, p++) {
			char digit = "0123456789abcdef"[half ? byte & 15 : byte >> 4];

			if (*p != '.' && *p != digit)
				return false;
		}
		p--;
		off++;
	}
	return true;
}

static inline bool any_of(const struct place *place, const char *const *patterns)
{
	for (; *patterns; patterns++)
		if (matches(place, *patterns))
			return true;
	return false;
}

#define ANY(place, ...)	any_of(place, (const char *const[]) { __VA_ARGS__, NULL })

static const struct {
	enum x86_frame_sigreturn	kind;
	bool				is_64bit;
	unsigned int			len;
	const char			*bytes;
} trampolines[] = {
	{ X86_SIGRETURN_64, true, 9, "\x48\xc7\xc0\x0f\0\0\0\x0f\x05" },
	{ X86_SIGRETURN_64, true, 7, "\xb8\x0f\0\0\0\x0f\x05" },
	{ X86_SIGRETURN_32, false, 8, "\x58\xb8\x77\0\0\0\xcd\x80" },
	{ X86_SIGRETURN_RT_32, false, 7, "\xb8\xad\0\0\0\xcd\x80" },
};

/* Which trampoline is at @addr, of what can be read? */
static inline enum x86_frame_sigreturn model_sigreturn(unsigned long addr)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(trampolines); i++)
		if (trampolines[i].is_64bit == mem.is_64bit &&
		    run_of(addr, 1, trampolines[i].len) == trampolines[i].len &&
		    !memcmp(at(addr), trampolines[i].bytes, trampolines[i].len))
			return trampolines[i].kind;
	return X86_SIGRETURN_NONE;
}

/* ... or ends there, with its system call executed. 32-bit: only at its first instruction. */
static inline enum x86_frame_sigreturn model_in_sigreturn(unsigned long ip)
{
	enum x86_frame_sigreturn kind = model_sigreturn(ip);

	if (kind || !mem.is_64bit)
		return kind;
	return (run_of(ip, -1, 9) == 9 && !memcmp(at(ip - 9), trampolines[0].bytes, 9)) ||
	       (run_of(ip, -1, 7) == 7 && !memcmp(at(ip - 7), trampolines[1].bytes, 7)) ?
	       X86_SIGRETURN_64 : X86_SIGRETURN_NONE;
}

#endif /* _LOOK_STATE_H */
