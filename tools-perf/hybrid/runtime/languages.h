/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The languages whose functions are shown: a folder and a line here. language.h of the folder has,
 * for who includes this with one of these macros,
 *
 * HYBRID_LANGUAGE(), of each language:
 *	its name,
 *	its folder, which has struct hybrid_runtime_ops hybrid_FOLDER_ops,
 *	what the file of its functions is called,
 *	its DW_LANG_*; 0: it has none,
 *	which native function's frame only runs the function whose entry comes next in a chain: "":
 *	any one; NULL: none. V8's builtins are followed by the function that has called them, but
 *	only one of them interprets.
 *
 * HYBRID_INTERPRETER(), of those whose functions the BPF program reads: name and folder. That has
 * struct hybrid_walk_FOLDER, in which perf tells where to find them, and
 *	struct FOLDER_state, of a walk,
 *	add_FOLDER(st): adds the functions that the thread is in,
 *	tell_FOLDER(loop, i): tells perf the texts of function @i of those that it does not know.
 *
 * HYBRID_NATIVE(), of one whose functions have native frames: the same, and native_row(),
 * add_native() and follow_natives(), see v8/v8.bpf.h. There is one such language.
 *
 * HYBRID_COMPILER(), of one whose methods the BPF program finds in the process: FOLDER_state and
 * enter_compiled(), compiled_row() and may_have_left(), see java/java.bpf.h. There is one.
 *
 * HYBRID_LANGUAGES_WALK: includes struct hybrid_walk_FOLDER. HYBRID_LANGUAGES_BPF: what the BPF
 * program has of the language.
 */
#ifndef HYBRID_LANGUAGE
#define HYBRID_LANGUAGE(...)
#endif
#ifndef HYBRID_INTERPRETER
#define HYBRID_INTERPRETER(...)
#endif
#ifndef HYBRID_NATIVE
#define HYBRID_NATIVE(...)
#endif
#ifndef HYBRID_COMPILER
#define HYBRID_COMPILER(...)
#endif

#include "java/language.h"
#include "perl/language.h"
#include "php/language.h"
#include "python/language.h"
#include "ruby/language.h"
#include "v8/language.h"

#undef HYBRID_LANGUAGE
#undef HYBRID_INTERPRETER
#undef HYBRID_NATIVE
#undef HYBRID_COMPILER
#undef HYBRID_LANGUAGES_WALK
#undef HYBRID_LANGUAGES_BPF
