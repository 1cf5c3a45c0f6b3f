/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Perl: see ../languages.h. */
#if defined(HYBRID_LANGUAGES_WALK)
#include "perl-walk.h"
#elif defined(HYBRID_LANGUAGES_BPF)
#include "perl.bpf.h"
#else
HYBRID_LANGUAGE(PERL, perl, "perl-functions", 0, "")
HYBRID_INTERPRETER(PERL, perl)
#endif
