/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_FILE_USER_H
#define __PERF_HYBRID_FILE_USER_H

#include "../rules/space.h"

/**
 * hybrid_file_user_of - whose share the files are of that a process maps
 * @mapping: of the process
 *
 * The real uid of the process, or of its nearest ancestor if it is gone. If it is in a user
 * namespace of its own, of the user who made that: one user may have 65,536 uids there.
 *
 * Return: the share, in the budget of the mapping's objects.
 */
struct hybrid_file_user *hybrid_file_user_of(const struct hybrid_mapping *mapping);

#endif /* __PERF_HYBRID_FILE_USER_H */
