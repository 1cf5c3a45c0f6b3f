/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_HELPER_H
#define __PERF_HYBRID_HELPER_H

#include <linux/compiler.h>

#ifdef HAVE_HYBRID_SUPPORT

/* Starts perf as a helper of itself: see hybrid_helper_start_fn. */
int hybrid_helper__start(int socket);

/**
 * hybrid_helper__run - be the helper, if perf was started as one
 * @argc: number of perf's arguments
 * @argv: perf's arguments
 *
 * Returns if it was not.
 */
void hybrid_helper__run(int argc, const char **argv);

#else

static inline void hybrid_helper__run(int argc __maybe_unused, const char **argv __maybe_unused)
{
}

#endif

#endif /* __PERF_HYBRID_HELPER_H */
