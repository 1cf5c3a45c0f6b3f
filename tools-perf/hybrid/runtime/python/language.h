/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* CPython: see ../languages.h. */
#if defined(HYBRID_LANGUAGES_WALK)
#include "python-walk.h"
#elif defined(HYBRID_LANGUAGES_BPF)
#include "python.bpf.h"
#else
HYBRID_LANGUAGE(PYTHON, python, "python-functions", DW_LANG_Python, "")
HYBRID_INTERPRETER(PYTHON, python)
#endif
