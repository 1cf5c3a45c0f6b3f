/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The languages whose functions are shown: each has a folder, and a line below. Who includes this
 * defines some of these macros before; language.h of each folder uses those that it is meant by.
 *
 * HYBRID_LANGUAGE(), each language:
 *	its name,
 *	its folder, which has struct hybrid_runtime_ops hybrid_FOLDER_ops,
 *	what the file of its functions is called,
 *	its DW_LANG_*; 0: it has none,
 *	which native function's frame only runs the function whose entry comes next in a chain: "":
 *	any one; NULL: none. V8's builtins are followed by the function that has called them, but
 *	only one of them interprets.
 *
 * HYBRID_INTERPRETER(), each language whose functions the BPF program reads: name and folder. The
 * folder has
 *	struct hybrid_walk_FOLDER: filled in by perf, it says where the program finds them,
 *	struct FOLDER_state: what the program keeps of the language in struct state,
 *	add_FOLDER(st): adds the functions that the thread is in,
 *	tell_FOLDER(loop, i): tells perf name and file of the function @st->untold[i].
 *
 * HYBRID_NATIVE(), the one whose functions have native frames: the same, but in place of
 * add_FOLDER() native_row(), add_native() and follow_natives(), as the walk adds them: v8/v8.bpf.h.
 *
 * HYBRID_COMPILER(), the one whose compiled methods the BPF program finds in the process:
 * struct FOLDER_state, enter_compiled(), compiled_row() and may_have_left(): java/java.bpf.h.
 *
 * HYBRID_LANGUAGES_WALK includes FOLDER-walk.h of each, which perf and the BPF program share, and
 * HYBRID_LANGUAGES_BPF FOLDER.bpf.h, which is the program's.
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
