/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* CRuby: see ../languages.h. */
#if defined(HYBRID_LANGUAGES_WALK)
#include "ruby-walk.h"
#elif defined(HYBRID_LANGUAGES_BPF)
#include "ruby.bpf.h"
#else
/* dwarfstd.org/languages.html: DW_LANG_Ruby, after DWARF 5. */
HYBRID_LANGUAGE(RUBY, ruby, "ruby-functions", 0x0040, "")
HYBRID_INTERPRETER(RUBY, ruby)
#endif
