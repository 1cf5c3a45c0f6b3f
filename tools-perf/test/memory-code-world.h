/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code that no file has, of this process, and a store that is given its rules. Included by one
 * file of a test.
 */
#ifndef __HYBRID_TEST_MEMORY_CODE_WORLD_H
#define __HYBRID_TEST_MEMORY_CODE_WORLD_H

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "abi.h"
#include "memory-code.h"
#include "tap.h"

#define PAGE	4096
#define SPACE	4711

/* call *%rcx; leave; ret, which has a frame pointer. */
static const u8 framed[] = { 0xff, 0xd1, 0xc9, 0xc3 };
/* sub $8,%rsp; call *%rcx; add $8,%rsp; ret */
static const u8 frameless[] = { 0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3 };
/* call *%rcx; jmp *%rax: it does not say */
static const u8 silent[] = { 0xff, 0xd1, 0xff, 0xe0 };

#define FRAMED		64
#define FRAMELESS	128
#define SILENT		192

static struct {
	struct hybrid_walk_code_key	key;
	struct hybrid_walk_code		code;
} put[16];
static unsigned int nr_put;

static struct hybrid_memory_code known;
static struct hybrid_unwinder unwinder;
static struct hybrid_frame frames[4];
static struct hybrid_unwind u;
static u8 *code;

static int put_code(void *store __maybe_unused, const struct hybrid_walk_code_key *key,
		    const struct hybrid_walk_code *what)
{
	same(key->space, u.walker_space);
	if (!check(nr_put < ARRAY_SIZE(put)))
		return 0;
	put[nr_put].key = *key;
	put[nr_put++].code = *what;
	return 0;
}

static struct {
	struct hybrid_walk_code_key	key;
	struct hybrid_walk_block	block;
} blocks[16];
static unsigned int nr_blocks;

static int put_block(void *store __maybe_unused, const struct hybrid_walk_code_key *key,
		     const struct hybrid_walk_block *block)
{
	if (!check(nr_blocks < ARRAY_SIZE(blocks)))
		return 0;
	blocks[nr_blocks].key = *key;
	blocks[nr_blocks++].block = *block;
	return 0;
}

static const struct hybrid_store_ops block_ops = {
	.put_code = put_code, .put_block = put_block, .takes_registers = true,
};

static inline void put_at(unsigned int at, const void *bytes, size_t size)
{
	memcpy(code + at, bytes, size);
}

/* A page with the code, and a walk without frames, which ended for @stop. */
static inline void begin(enum hybrid_stop stop)
{
	struct hybrid_mapping mapping = { .pid = getpid() };

	memset(&known, 0, sizeof(known));
	memset(&unwinder, 0, sizeof(unwinder));
	nr_put = 0;
	nr_blocks = 0;
	code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(code != MAP_FAILED);
	put_at(FRAMED, framed, sizeof(framed));
	put_at(FRAMELESS, frameless, sizeof(frameless));
	put_at(SILENT, silent, sizeof(silent));
	unwinder.memory = hybrid_memory_new();
	u = (struct hybrid_unwind) {
		.abi = &hybrid_abi_64, .space = hybrid_space_new(), .pid = getpid(),
		.walker_space = SPACE, .frames = frames, .stop = stop,
	};
	check(unwinder.memory && u.space);
	mapping.start = (u64)code;
	mapping.end = (u64)code + PAGE;
	check(!hybrid_space_map(u.space, &mapping, true));
	u.regs.value[hybrid_abi_64.sp] = 0x7000;
}

static inline void end(void)
{
	hybrid_memory_delete(unwinder.memory);
	hybrid_space_put(u.space);
	munmap(code, PAGE);
}

#endif /* __HYBRID_TEST_MEMORY_CODE_WORLD_H */
