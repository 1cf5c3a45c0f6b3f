/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_WALK_INTERPRETER_H
#define __HYBRID_WALK_INTERPRETER_H

/*
 * The languages, and where the BPF program finds the functions that their interpreters run: perf
 * fills that in when it has found an interpreter in a process.
 */
#include "../bpf_skel/hybrid_interpreter.h"

/* The languages whose functions are shown. */
enum hybrid_language {
	HYBRID_NO_LANGUAGE,
#define HYBRID_LANGUAGE(name, ...)	HYBRID_LANGUAGE_##name,
#include "languages.h"
	HYBRID_NR_LANGUAGES,
};

/* Each has struct hybrid_walk_FOLDER: where what is, in bytes; mostly offsets in structures. */
#define HYBRID_LANGUAGES_WALK
#include "languages.h"

/**
 * struct hybrid_walk_interpreter - an interpreter of a language
 * @runtime: what its data begins at, in the file, if all of that was mapped as its code is
 * @language: enum hybrid_language
 * @unused: 0
 *
 * And where that has what, by the name of its folder.
 */
struct hybrid_walk_interpreter {
	__u64	runtime;
	__u32	language;
	__u32	unused;
	union {
#define HYBRID_INTERPRETER(name, folder)	struct hybrid_walk_##folder folder;
#define HYBRID_NATIVE				HYBRID_INTERPRETER
#include "languages.h"
	};
};

#endif /* __HYBRID_WALK_INTERPRETER_H */
