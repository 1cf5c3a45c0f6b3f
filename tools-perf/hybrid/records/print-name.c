// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include "print-name.h"

/* C0, DEL and, in UTF-8, C1. */
static bool is_control(const unsigned char *s)
{
	return s[0] < ' ' || s[0] == 0x7f || (s[0] == 0xc2 && s[1] >= 0x80 && s[1] <= 0x9f);
}

void hybrid_print_name(FILE *out, const char *name)
{
	const unsigned char *s = (const unsigned char *)name;

	for (; *s; s++) {
		if (!is_control(s)) {
			fputc(*s, out);
			continue;
		}
		fprintf(out, "\\x%02x", *s);
		if (*s == 0xc2)
			fprintf(out, "\\x%02x", *++s);
	}
}
