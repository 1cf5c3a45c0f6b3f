// SPDX-License-Identifier: GPL-2.0
/*
 * Where versions of Perl with threads have what is read of them: x86-64's of intrpvar.h, cop.h,
 * cv.h and opnames.h.
 */
#include <linux/kernel.h>
#include "perl-layout.h"

/**
 * struct version - a version of Perl
 * @number: the second one: 36 is Perl 5.36
 * @layout: of it
 */
struct version {
	unsigned int		 number;
	struct perl_layout	 layout;
};

/* Icurcop; a PERL_CONTEXT; in it, its old_namesv; CvROOT and CvFLAGS. */
#define WALK	{ .statement = 208, .frame_size = 104, .position = 16, .goes_on = 48, \
		  .jump = 96, .function = 72, .file = 64, .root = 48, .flags = 92 }

static const struct version versions[] = {
	{ 36, { WALK, .interpreter = 3768, .packages = 2608, .nextstate = 195, .entertry = 347 } },
	{ 40, { WALK, .interpreter = 3768, .packages = 2352, .nextstate = 198, .entertry = 350 } },
	{ 42, { WALK, .interpreter = 3768, .packages = 2352, .nextstate = 202, .entertry = 354 } },
};

const struct perl_layout *perl_layout__find(unsigned int version, unsigned int interpreter)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(versions); i++) {
		if (version == versions[i].number)
			return interpreter == versions[i].layout.interpreter ?
				&versions[i].layout : NULL;
	}
	return NULL;
}
