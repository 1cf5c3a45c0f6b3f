// SPDX-License-Identifier: GPL-2.0
/*
 * Where versions of CRuby have what is read of them: x86-64's of vm_core.h, method.h, iseq.h,
 * internal/class.h and include/ruby/internal/core/rstring.h.
 */
#include <string.h>
#include <linux/kernel.h>
#include "ruby-layout.h"

/**
 * struct version - a version of CRuby
 * @number: that ruby_version begins with
 * @layout: of it
 */
struct version {
	const char		*number;
	struct ruby_layout	 layout;
};

/* In a frame: pc, iseq, ep. */
#define WALK(size)	.frame_size = (size), .position = 0, .function = 16, .environment = 32

static const struct version versions[] = {
	{ "3.1.", { .walk = { WALK(64), .string_inside = RUBY_INSIDE },
		    .insns = 120, .line_shift = 1 } },
	{ "3.3.", { .walk = { WALK(56), .string_inside = RUBY_INSIDE + sizeof(u64),
			      .attached = 128, .classpath = 152 },
		    .insns = 112 } },
};

const struct ruby_layout *ruby_layout__find(const char *version)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(versions); i++) {
		if (!strncmp(version, versions[i].number, strlen(versions[i].number)))
			return &versions[i].layout;
	}
	return NULL;
}
