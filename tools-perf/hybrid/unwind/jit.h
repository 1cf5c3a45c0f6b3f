/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_JIT_H
#define __PERF_HYBRID_JIT_H

#include "memory.h"

struct hybrid_jit;

/* Images of a process, and bytes of all of them. */
#define HYBRID_JIT_IMAGES	256
#define HYBRID_JIT_BYTES	(2U << 20)

/**
 * hybrid_jit_new - what processes say of the code that they compile
 * @objects: of the session
 * @memory: reads from processes
 *
 * By the interface that GDB has for it: a list of ELF images in the memory of the
 * process, at the symbol __jit_debug_descriptor. QEMU has one for all that it
 * translates, LLVM's MCJIT one for each module. Of these only the CFI is taken, for
 * code that no file backs.
 *
 * Both are the caller's, and must stay longer.
 *
 * Return: to be given to hybrid_jit_delete(), or NULL where memory is short.
 */
struct hybrid_jit *hybrid_jit_new(struct hybrid_objects *objects, struct hybrid_memory *memory);
void hybrid_jit_delete(struct hybrid_jit *jit);

/**
 * hybrid_jit_forget - look again at the lists of images that are asked for from now on
 * @jit: may be NULL
 */
void hybrid_jit_forget(struct hybrid_jit *jit);

/**
 * hybrid_jit_row - the row that a process has for code that it has compiled
 * @jit: may be NULL
 * @space: of the process
 * @pid: the process; 0: it can't be asked
 * @abi: of the task
 * @ip: in memory that no file backs, as struct hybrid_frame has it
 * @cfi: out: of the row
 *
 * What the process says need not be true, nor be true still.
 *
 * Return: the row, valid until hybrid_jit_forget(); NULL where there is none.
 */
struct hybrid_row *hybrid_jit_row(struct hybrid_jit *jit, struct hybrid_space *space,
				  pid_t pid, const struct hybrid_abi *abi, u64 ip,
				  struct hybrid_cfi **cfi);

#endif /* __PERF_HYBRID_JIT_H */
