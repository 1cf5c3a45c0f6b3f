/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_MEMORY_H
#define __PERF_HYBRID_MEMORY_H

#include "../bpf_skel/made-code.h"
#include "../rules/arch.h"
#include "../rules/space.h"

struct hybrid_memory;

/**
 * hybrid_memory_new - reads what only processes have: code that they made, words
 *
 * Only while they run: of a recording that is over nothing can be read.
 *
 * Return: to be given to hybrid_memory_delete(), or NULL where memory is short.
 */
struct hybrid_memory *hybrid_memory_new(void);
void hybrid_memory_delete(struct hybrid_memory *memory);

/**
 * hybrid_memory_forget - read again what is asked for from now on
 * @memory: may be NULL
 *
 * Programs that compile as they run write new code where old code was.
 */
void hybrid_memory_forget(struct hybrid_memory *memory);

/**
 * hybrid_memory_is_asked - was a process asked for anything lately, and there?
 * @memory: may be NULL
 *
 * Within the last 4 times that hybrid_memory_forget() was called, but for what
 * hybrid_memory_look_again() says.
 */
bool hybrid_memory_is_asked(const struct hybrid_memory *memory);

/**
 * hybrid_memory_look_again - is what is read from now on known from before?
 * @memory: the caller's
 * @again: it is, and can wait: hybrid_memory_is_asked() does not count it
 */
void hybrid_memory_look_again(struct hybrid_memory *memory, bool again);

/**
 * hybrid_memory_see - code as the walker in the kernel has read it for the next sample
 * @memory: may be NULL
 * @space: of the sample
 * @pid: of its process
 * @abi: of its task
 * @code: is copied
 *
 * Until the next call perf reads these bytes in place of the process's. If the process has replaced
 * the frame's code since, perf does not read the rest of the page for a while, because that may be
 * newer than the sample, too.
 */
void hybrid_memory_see(struct hybrid_memory *memory, struct hybrid_space *space, pid_t pid,
		       const struct hybrid_abi *abi, const struct hybrid_made_code *code);

/**
 * struct hybrid_code_proof - the code that a rule was made from
 * @start: address, a multiple of 8
 * @words: of 8 bytes, at most HYBRID_CODE_WORDS
 * @hash: hybrid_code_hash() of them
 */
struct hybrid_code_proof {
	u64	start;
	u32	words;
	u64	hash;
};

/* Sets @proof, but for the hash, to the words that have all from @start to before @end. */
static inline void hybrid_code_proof_of(struct hybrid_code_proof *proof, u64 start, u64 end)
{
	proof->start = start & -sizeof(u64);
	proof->words = (end + sizeof(u64) - 1 - proof->start) / sizeof(u64);
}

/**
 * hybrid_memory_rule - work out from the code itself where the caller is
 * @memory: may be NULL
 * @space: with the mapping that holds @ip
 * @pid: the process that was sampled; another may have its mappings, too
 * @abi: of the task
 * @ip: the next instruction, in memory that no file backs
 * @rule: out
 * @proof: out, even if the code does not tell: what was read for it near @ip; no words: it could
 *	not be read; may be NULL
 *
 * Return: false where it can't be read, or does not tell.
 */
bool hybrid_memory_rule(struct hybrid_memory *memory, struct hybrid_space *space,
			pid_t pid, const struct hybrid_abi *abi, u64 ip, struct hybrid_rule *rule,
			struct hybrid_code_proof *proof);

/**
 * hybrid_memory_prove - the code of a proof, as it is
 * @memory: may be NULL
 * @space: with the mapping that holds all of it
 * @pid: the process that was sampled
 * @abi: of the task
 * @proof: @start and @words are set; @hash: out
 *
 * Return: false where not all of it can be read.
 */
bool hybrid_memory_prove(struct hybrid_memory *memory, struct hybrid_space *space, pid_t pid,
			 const struct hybrid_abi *abi, struct hybrid_code_proof *proof);

/**
 * hybrid_memory_code - the code that hybrid_memory_rule() was asked about
 * @memory: may be NULL
 * @space: with the mapping that holds all of it
 * @pid: the process that was sampled
 * @abi: of the task
 * @addr: of the first byte
 * @dst: out
 * @size: bytes, less than a page
 *
 * Return: 0, or -1 where not all of it can be read.
 */
int hybrid_memory_code(struct hybrid_memory *memory, struct hybrid_space *space, pid_t pid,
		       const struct hybrid_abi *abi, u64 addr, void *dst, unsigned int size);

/**
 * hybrid_memory_has_frame - does bp point to the frame of code that V8 has compiled?
 * @memory: may be NULL
 * @space: of the process
 * @pid: the process that was sampled
 * @abi: of the task
 * @ip: of the next instruction; hybrid_memory_rule() has found no rule for it
 *
 * All that V8 has compiled has a frame with bp (hybrid_space_is_framed()), except in a prologue or
 * an epilogue. hybrid_memory_rule() finds a rule in an epilogue.
 *
 * Return: false if a file is mapped at @ip, if the process has no V8, if a prologue follows @ip, or
 * if the code can't be read.
 */
bool hybrid_memory_has_frame(struct hybrid_memory *memory, struct hybrid_space *space, pid_t pid,
			     const struct hybrid_abi *abi, u64 ip);

/**
 * hybrid_memory_around - instructions with the same frame pointer, in code that no file backs
 * @memory: may be NULL
 * @space: with the mapping that holds @ip
 * @pid: the process that was sampled
 * @abi: of the task
 * @ip: of the next instruction; hybrid_memory_rule() has found that bp points to its frame
 * @begins: out, as struct hybrid_arch's @around has it
 *
 * Return: false where it can't be read.
 */
bool hybrid_memory_around(struct hybrid_memory *memory, struct hybrid_space *space, pid_t pid,
			  const struct hybrid_abi *abi, u64 ip, u64 *begins);

/**
 * hybrid_memory_read - what is at an address now
 * @memory: may be NULL
 * @space: of the process
 * @pid: the process; 0: it can't be read
 * @addr: in it; all is within a page
 * @size: bytes, 1 to 8
 * @value: zero-extended
 *
 * Return: 0, or -1 where it can't be read.
 */
int hybrid_memory_read(struct hybrid_memory *memory, struct hybrid_space *space,
		       pid_t pid, u64 addr, unsigned int size, u64 *value);

/**
 * hybrid_memory_is_absent - does a process have no memory of its own at an address?
 * @memory: may be NULL
 * @space: of the process
 * @pid: the process; 0: it can't be asked
 * @addr: in it
 *
 * Return: true if nothing is mapped there, if the page was never touched, or if it is a file's;
 * false if it is the process's own, also on swap, or if the process can't be asked.
 */
bool hybrid_memory_is_absent(struct hybrid_memory *memory, struct hybrid_space *space, pid_t pid,
			     u64 addr);

/**
 * hybrid_memory_copy - what is at many addresses now
 * @memory: may be NULL
 * @space: of the process
 * @pid: the process
 * @addr: in it
 * @dst: out
 * @size: bytes
 *
 * Return: 0, or -1 where not all of it can be read.
 */
int hybrid_memory_copy(struct hybrid_memory *memory, struct hybrid_space *space,
		       pid_t pid, u64 addr, void *dst, size_t size);

/**
 * hybrid_memory_is_return - may an address be a return address?
 * @memory: may be NULL
 * @space: with the mapping that holds @ret
 * @pid: the process that was sampled
 * @abi: of the task
 * @ret: in memory that no file backs
 *
 * Return: false where it can be read and no call stands before it.
 */
bool hybrid_memory_is_return(struct hybrid_memory *memory, struct hybrid_space *space,
			     pid_t pid, const struct hybrid_abi *abi, u64 ret);

/**
 * hybrid_memory_after - what an instruction leaves, of code of a file or of a process
 * @memory: NULL: only code of files can be read
 * @space: with the mapping that holds @ip
 * @pid: the process that was sampled
 * @abi: of the task
 * @ip: of the instruction
 * @next: out: the address behind it
 */
enum hybrid_effect hybrid_memory_after(struct hybrid_memory *memory,
				       struct hybrid_space *space, pid_t pid,
				       const struct hybrid_abi *abi, u64 ip, u64 *next);

#endif /* __PERF_HYBRID_MEMORY_H */
