/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_PHP_OBJECT_H
#define __HYBRID_PHP_OBJECT_H

/*
 * Functions, classes and strings of PHP: what BPF and perf read of them, in bytes. They are the
 * same in all versions that are known; struct hybrid_walk_php has what is not.
 */

/* Zend/zend_compile.h: of a function's first byte; in a function: its name and its class. */
#define PHP_INTERNAL		1
#define PHP_FUNCTION_NAME	8
#define PHP_FUNCTION_SCOPE	16

/* Zend/zend.h: in a class: its name. */
#define PHP_CLASS_NAME		8

/* Zend/zend_types.h: in a string: a hash of it, its length, and its first byte. */
#define PHP_STRING_HASH		8
#define PHP_STRING_LENGTH	16
#define PHP_STRING_BYTES	24

/* Bytes of an instruction, and where it has the line. */
#define PHP_OP			32
#define PHP_OP_LINE		24

#endif /* __HYBRID_PHP_OBJECT_H */
