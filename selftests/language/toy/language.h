/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* A language of the tests: see ../languages.h. */
#if defined(HYBRID_LANGUAGES_WALK)
#include "toy-walk.h"
#elif defined(HYBRID_LANGUAGES_BPF)
#include "toy.bpf.h"
#else
HYBRID_LANGUAGE(TOY, toy, "toy-functions", 0, "")
HYBRID_INTERPRETER(TOY, toy)
#endif
