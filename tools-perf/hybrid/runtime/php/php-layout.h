/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_PHP_LAYOUT_H
#define __PERF_HYBRID_PHP_LAYOUT_H

#include "../walk-interpreter.h"
#include "php-walk.h"
#include "../process-memory.h"

/**
 * struct php_layout - where PHP has what is read of it
 * @walk: what BPF reads
 * @globals_frame: in the executor's globals: the innermost frame
 * @last: in a function that is not internal: number of its instructions; their address is at
 *	@walk.code, and the name of its file at @walk.file
 * @nr_closures: in the same: number of functions that it makes when it runs
 * @closures: address of an array of these
 */
struct php_layout {
	struct hybrid_walk_php walk;
	u16	globals_frame;
	u16	last;
	u16	nr_closures;
	u16	closures;
};

/**
 * struct php_file - what the file of PHP defines, as addresses in the process
 * @globals: executor_globals
 * @registry: module_registry
 * @accessor: zend_get_executed_scope()
 */
struct php_file {
	u64	globals;
	u64	registry;
	u64	accessor;
};

/**
 * php_layout__find - find out where a process's PHP has what
 * @pm: the process
 * @file: of its PHP
 *
 * There is a table of versions. The process must fit it: the first module says which version it
 * was built for, and that it has no threads; and the code of the accessor reads the innermost frame
 * where the table has it.
 *
 * Return: NULL if the version is not known, or the process is not as it should be.
 */
const struct php_layout *php_layout__find(struct hybrid_process_memory *pm,
					  const struct php_file *file);

/**
 * php_layout__of_file - the same by the file alone
 * @object: that has PHP
 *
 * It has a string that modules are compared with: the version, and that it has no threads.
 *
 * Return: NULL if the version is not known.
 */
const struct php_layout *php_layout__of_file(const struct hybrid_object *object);

#endif /* __PERF_HYBRID_PHP_LAYOUT_H */
