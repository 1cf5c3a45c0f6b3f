/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_FILE_COMPARE_H
#define __PERF_HYBRID_FILE_COMPARE_H

#include "../rules/object.h"

/*
 * By a thread of its own for each comparison, of which few run at a time. What an unwinder
 * reads of the files is compared, byte by byte: hybrid_copy_is_same().
 */
extern const struct hybrid_compare_ops hybrid_file_compare;

#endif /* __PERF_HYBRID_FILE_COMPARE_H */
