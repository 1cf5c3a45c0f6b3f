/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_PHP_CODE_H
#define __PERF_HYBRID_PHP_CODE_H

#include "../names.h"
#include "php-layout.h"

/* Zend/zend_compile.c: names that begin so have the class already. */
#define PHP_CLOSURE	"{closure:"

/* Bytes of a string that are read, its end included. */
#define PHP_TEXT	256

/* Of a function's name: class, name and file. */
#define PHP_NAME	(3 * PHP_TEXT + 16)

/**
 * php_lines - which lines the instructions of a function are of
 * @pm: the process
 * @opcodes: address of the instructions
 * @nr: number of them
 * @lines: out
 * @max: room in @lines
 *
 * Return: number of @lines.
 */
unsigned int php_lines(struct hybrid_process_memory *pm, u64 opcodes, u32 nr,
		       struct hybrid_name_line *lines, unsigned int max);

/**
 * php_text - read a string
 * @pm: the process
 * @string: address
 * @out: out; room for PHP_TEXT. A longer one is cut off
 *
 * Return: false if there is none, or it is empty.
 */
bool php_text(struct hybrid_process_memory *pm, u64 string, char *out);

/**
 * struct php_name - what names a function: addresses of strings
 * @name: its name
 * @class: its class; 0: none
 * @file: its file; 0: it is C code
 */
struct php_name {
	u64	name;
	u64	class;
	u64	file;
};

/**
 * php_name - the name of a function
 * @pm: the process
 * @of: what names it
 * @out: out; room for PHP_NAME: "php::Class::method:/file.php", "php::strlen"
 *
 * Return: its file, which is part of @out; "": it has none. NULL if it can't be read.
 */
const char *php_name(struct hybrid_process_memory *pm, const struct php_name *of, char *out);

#endif /* __PERF_HYBRID_PHP_CODE_H */
