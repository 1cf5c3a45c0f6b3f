/* SPDX-License-Identifier: GPL-2.0 */
#ifndef JAVA_METHODS_H
#define JAVA_METHODS_H

#include "java-world.h"

/* Where the code of a JVM has what, from java_code_at(0). */
#define JAVA_INNER		0x1000
#define JAVA_OUTER		0x2000
#define JAVA_INTERPRETER	0x3000
#define JAVA_STUB		0x4000

/* Where a call ends in the outer method. */
#define JAVA_CALLED		48

/* Numbers of registers. */
#define RBX	3
#define R13	13

#define JAVA_PUSHED_SIZE	35
#define JAVA_MOVED_SIZE		11
#define JAVA_ADAPTER_SIZE	19

/*
 * A method: mov %eax,-0x1000(%rsp); push %rbp; sub $32,%rsp; nop; add; pop; cmp 8(%r15),%rsp; ja;
 * ret. Its frame is whole behind 12 bytes.
 */
extern const u8 java_pushed[JAVA_PUSHED_SIZE];

/* Another one: sub $40,%rsp; mov %rbp,32(%rsp); nop. Its frame is whole behind 9 bytes. */
extern const u8 java_moved[JAVA_MOVED_SIZE];

/* Between interpreted and compiled code: pop %rax; mov %rsp,%r13; sub $32,%rsp; mov %rax,(%rsp) */
extern const u8 java_adapter[JAVA_ADAPTER_SIZE];

/* Adds the outer method, with a call to @to. */
void java_add_outer(u64 to);

/* The return address of that call. */
u64 java_called(void);

/**
 * java_begin_method - a JVM with two methods, of which the outer one calls the inner one
 * @code: of the inner one
 * @size: of @code, in bytes
 * @complete: bytes of @code behind which the frame is whole
 *
 * java_end() ends it.
 */
void java_begin_method(const u8 *code, unsigned int size, s16 complete);

/* The same with java_pushed[], and the interpreter. */
void java_begin_interpreted(void);

/* hybrid_runtime_range() of a walk whose innermost frame is at @ip. */
bool java_range_at(u64 ip, struct hybrid_runtime_range *range);

#endif /* JAVA_METHODS_H */
