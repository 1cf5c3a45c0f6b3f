/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* V8: see ../languages.h. */
#if defined(HYBRID_LANGUAGES_WALK)
#include "v8-walk.h"
#elif defined(HYBRID_LANGUAGES_BPF)
#include "v8.bpf.h"
#else
HYBRID_LANGUAGE(V8, v8, "js-functions", 0, "Builtins_InterpreterEntryTrampoline")
HYBRID_NATIVE(V8, v8)
#endif
