// SPDX-License-Identifier: GPL-2.0
#include "../runtime/name-text.h"
#include "print-name.h"

void hybrid_print_name(FILE *out, const char *name)
{
	unsigned int size;

	for (; *name; name += size ?: 1) {
		size = hybrid_name_shown(name);
		if (size)
			fwrite(name, size, 1, out);
		else
			fprintf(out, "\\x%02x", (unsigned char)*name);
	}
}
