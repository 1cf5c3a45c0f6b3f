/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __HYBRID_TEST_SHORT_MEMORY_H
#define __HYBRID_TEST_SHORT_MEMORY_H

#include <stdbool.h>

/*
 * The linker replaces calls of malloc(), calloc(), realloc() and strdup() in all files of a test,
 * and not those in libraries.
 */

/* Allocation number @nr from now on fails; 0: the next one. */
void short_memory_begin(unsigned int nr);

/* No allocation fails any more. Returns whether one has. */
bool short_memory_end(void);

#endif /* __HYBRID_TEST_SHORT_MEMORY_H */
