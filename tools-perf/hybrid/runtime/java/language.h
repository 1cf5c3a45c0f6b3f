/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Java: see ../languages.h. */
#if defined(HYBRID_LANGUAGES_WALK)
#include "java-walk.h"
#elif defined(HYBRID_LANGUAGES_BPF)
#include "java.bpf.h"
#else
HYBRID_LANGUAGE(JAVA, java, "java-methods", DW_LANG_Java, NULL)
HYBRID_COMPILER(JAVA, java)
#endif
