/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_IDENTIFY_H
#define __PERF_HYBRID_IDENTIFY_H

#include "space.h"

/**
 * hybrid_identify - give a mapping the object of the file that it shows
 * @mapping: with the object of its record's ident, or one that was found before
 *
 * A file is told by its struct hybrid_file_id. The rows of another one serve it only once the
 * two were found to hold the same (struct hybrid_compare_ops): programs in containers of one
 * image each have files of their own. A file that can't be identified has an object of its own
 * for this mapping.
 *
 * Return: true: @mapping->object was of use before, and is another one now.
 */
bool hybrid_identify(struct hybrid_mapping *mapping);

#endif /* __PERF_HYBRID_IDENTIFY_H */
