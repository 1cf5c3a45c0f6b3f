/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_FILE_COMPARE_H
#define __PERF_HYBRID_FILE_COMPARE_H

#include "file-loader.h"

/*
 * By a thread of its own for each comparison, of which few run at a time. What an unwinder
 * reads of the files is compared, byte by byte: hybrid_copy_is_same().
 */
extern const struct hybrid_compare_ops hybrid_file_compare;

/**
 * hybrid_compare_state - what became of a comparison
 * @object: with one; notes that samples wait for it no more
 * @wait: there is nothing else to do: wait for it here
 *
 * Samples wait for 2 s at most, and for all comparisons together for 2 s and a twentieth of
 * the time since the first one.
 */
enum hybrid_load_state hybrid_compare_state(struct hybrid_object *object, bool wait);

#endif /* __PERF_HYBRID_FILE_COMPARE_H */
