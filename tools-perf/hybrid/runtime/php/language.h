/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* PHP: see ../languages.h. */
#if defined(HYBRID_LANGUAGES_WALK)
#include "php-walk.h"
#elif defined(HYBRID_LANGUAGES_BPF)
#include "php.bpf.h"
#else
HYBRID_LANGUAGE(PHP, php, "php-functions", 0, "")
HYBRID_INTERPRETER(PHP, php)
#endif
