// SPDX-License-Identifier: GPL-2.0
/*
 * An object for dlopen.c, compiled once for each COLOR with both halves. The
 * frames differ in size, so that a stale rule of the other color, at the same
 * address, gives a wrong frame.
 */
#include "truth.h"

#ifdef RED
#define COLOR(name)	red_ ## name
#define CALLER(name)	"red_" name
#define TOP_CALLER	"call_red indirect"
#define ROOM		72
#else
#define COLOR(name)	blue_ ## name
#define CALLER(name)	"blue_" name
#define TOP_CALLER	"call_blue indirect"
#define ROOM		200
#endif

#define FN(ret, name, params, line)	FN_A(ret, name, params, line)

FN(void, COLOR(leaf), (unsigned long n), CALLER("mid"))
{
	char buf[ROOM];

	buf[0] = 1;
	keep(buf);
	spin(n);
	keep(buf);
}

FN(void, COLOR(mid), (unsigned long n), CALLER("top"))
{
	char buf[ROOM + 64];

	keep(buf);
	COLOR(leaf)(n);
	spin(n / 2);
	keep(buf);
}

FN(void, COLOR(top), (unsigned long n), TOP_CALLER)
{
	unsigned long i;

	for (i = 0; i < 40; i++) {
		spin(n / 4);
		COLOR(mid)(n / 4);
	}
}
