// SPDX-License-Identifier: GPL-2.0
/*
 * Code of this process that is replaced between a sample and the moment at which it is read.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "abi.h"
#include "memory.h"
#include "seen-code.h"
#include "tap.h"

#define PAGE	4096

/* sub $8,%rsp; call *%rcx; then nops up to add $8,%rsp; ret. The operands of both can be others. */
#define BEHIND_CALL	6
#define FRAME_AT	3
#define EPILOGUE_AT	40
#define CODE_SIZE	(EPILOGUE_AT + 5)

static struct hybrid_memory *memory;
static struct hybrid_space *space;
static u8 seen[HYBRID_SEEN_CODE];
static u8 *code;

/* A function at @at that takes @frame bytes more. */
static void put_function(unsigned int at, u8 frame)
{
	static const u8 prologue[] = { 0x48, 0x83, 0xec, 0, 0xff, 0xd1 };
	static const u8 epilogue[] = { 0x48, 0x83, 0xc4, 0, 0xc3 };

	memset(code + at, 0x90, CODE_SIZE);
	memcpy(code + at, prologue, sizeof(prologue));
	memcpy(code + at + EPILOGUE_AT, epilogue, sizeof(epilogue));
	code[at + FRAME_AT] = frame;
	code[at + EPILOGUE_AT + 3] = frame;
}

static void begin(void)
{
	struct hybrid_mapping mapping = { .pid = getpid() };

	memory = hybrid_memory_new();
	space = hybrid_space_new();
	code = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(memory && space && code != MAP_FAILED);
	mapping.start = (u64)code;
	mapping.end = (u64)code + 2 * PAGE;
	check(!hybrid_space_map(space, &mapping, true));
}

static void end(void)
{
	hybrid_memory_delete(memory);
	hybrid_space_put(space);
	munmap(code, 2 * PAGE);
}

/* The walk of a sample ended at @ip, and has read the code from @start on as it is. */
static struct hybrid_made_code view(unsigned int ip, unsigned int start, u32 size)
{
	memcpy(seen, code + start, size);
	return (struct hybrid_made_code) {
		.ip = (u64)code + ip, .start = (u64)code + start, .size = size, .bytes = seen,
	};
}

static void see(const struct hybrid_made_code *what)
{
	hybrid_memory_see(memory, space, getpid(), &hybrid_abi_64, what);
}

static void next_pass(void)
{
	static const struct hybrid_made_code nothing;

	hybrid_memory_forget(memory);
	see(&nothing);
}

/* The CFA's offset behind the call of the function at @at; 0: not known. */
static s64 cfa_of(unsigned int at)
{
	struct hybrid_rule rule = {};

	return hybrid_memory_rule(memory, space, getpid(), &hybrid_abi_64,
				  (u64)code + at + BEHIND_CALL, &rule, NULL) ? rule.cfa_off : 0;
}

/* Nothing else of the page at @at is read. */
static bool is_rewritten(unsigned int at)
{
	unsigned int other = (at & -PAGE) + 2048;

	put_function(other, 8);
	hybrid_memory_forget(memory);
	return !cfa_of(other);
}

/* What the sample had counts, and nothing else of the page. */
static void test_replaced(void)
{
	struct hybrid_made_code what;

	begin();
	put_function(64, 8);
	put_function(1024, 8);
	put_function(PAGE + 64, 8);
	what = view(64 + BEHIND_CALL, 0, HYBRID_SEEN_CODE);
	see(&what);
	same(cfa_of(64), 16);
	same(cfa_of(1024), 16);
	check(!is_rewritten(64));
	put_function(64, 0x18);
	hybrid_memory_forget(memory);
	see(&what);
	check(is_rewritten(64) && is_rewritten(1024) && !is_rewritten(PAGE + 64));
	same(cfa_of(64), 16);
	same(cfa_of(1024), 0);
	same(cfa_of(PAGE + 64), 16);
	/* The walk of the next sample has read what is there now. */
	what = view(64 + BEHIND_CALL, 0, HYBRID_SEEN_CODE);
	hybrid_memory_forget(memory);
	see(&what);
	same(cfa_of(64), 32);
	next_pass();
	same(cfa_of(64), 0);
	end();
}

/* For so many passes over the rings. */
static void test_for_a_while(void)
{
	struct hybrid_made_code what;
	unsigned int i;

	begin();
	put_function(64, 8);
	what = view(64 + BEHIND_CALL, 0, HYBRID_SEEN_CODE);
	put_function(64, 0x18);
	see(&what);
	for (i = 0; i < HYBRID_REWRITTEN_PASSES - 1; i++)
		next_pass();
	same(cfa_of(64), 0);
	next_pass();
	same(cfa_of(64), 32);
	end();
}

/* A rule is asked for again if any of the code that it was made from is another one. */
static void test_far_epilogue(void)
{
	begin();
	put_function(64, 8);
	same(cfa_of(64), 16);
	code[64 + EPILOGUE_AT + 3] = 0x18;
	next_pass();
	same(cfa_of(64), 32);
	end();
}

/*
 * From the address to the end of the function each byte's change is noticed, and none of other
 * code, but for what is read with an instruction.
 */
static void test_each_byte(void)
{
	unsigned int at;

	begin();
	put_function(64, 8);
	for (at = 0; at < HYBRID_SEEN_CODE; at++) {
		struct hybrid_made_code what = view(64 + BEHIND_CALL, 0, HYBRID_SEEN_CODE);
		bool is_code = at >= 64 + BEHIND_CALL && at < 64 + CODE_SIZE;
		bool is_near = at >= 64 - 16 && at < 64 + CODE_SIZE + 16;

		code[at] ^= 0x11;
		hybrid_memory_delete(memory);
		memory = hybrid_memory_new();
		see(&what);
		if ((is_code || !is_near) && !same(is_rewritten(64), is_code))
			printf("# byte %u\n", at);
		code[at] ^= 0x11;
	}
	end();
}

/* What a record says may be anything. */
static void test_lies(void)
{
	static const struct {
		s64	ip;
		s64	start;
		u32	size;
	} lies[] = {
		{ 64, 0, 64 },			/* the address is behind the bytes */
		{ 63, 64, 64 },			/* before them */
		{ 64, 0, HYBRID_SEEN_CODE + 8 }, /* more than there may be */
		{ PAGE - 8, PAGE - 64, 72 },	/* of two pages */
		{ 64, 0, 0 },
		{ -PAGE, -PAGE - 64, 128 },	/* not mapped */
		{ -1, -1, HYBRID_SEEN_CODE },
	};
	static u8 bytes[HYBRID_SEEN_CODE + 8];
	unsigned int i;

	begin();
	put_function(64, 8);
	for (i = 0; i < ARRAY_SIZE(lies); i++) {
		struct hybrid_made_code what = {
			.ip = (u64)code + lies[i].ip, .start = (u64)code + lies[i].start,
			.size = lies[i].size, .bytes = bytes,
		};

		see(&what);
		check(!is_rewritten(64));
		same(cfa_of(64), 16);
	}
	/* One more than the first of the lies. */
	see(&(struct hybrid_made_code) {
		.ip = (u64)code + 63, .start = (u64)code, .size = 64, .bytes = bytes,
	});
	check(!is_rewritten(64));
	bytes[0] = 0x90;
	see(&(struct hybrid_made_code) {
		.ip = (u64)code, .start = (u64)code, .size = 64, .bytes = bytes,
	});
	check(is_rewritten(64));
	end();
	hybrid_memory_see(NULL, NULL, 0, &hybrid_abi_64, &(struct hybrid_made_code) {});
}

/* The proof has all that was read near the address, in whole words, and its code. */
static void test_proof(void)
{
	struct hybrid_code_proof proof, now;
	struct hybrid_rule rule;
	u64 ip;

	begin();
	put_function(64, 8);
	ip = (u64)code + 64 + BEHIND_CALL;
	check(hybrid_memory_rule(memory, space, getpid(), &hybrid_abi_64, ip, &rule, &proof));
	same(proof.start % 8, 0);
	check(proof.start <= ip && proof.start + 8 * proof.words >= (u64)code + 64 + CODE_SIZE);
	check(proof.words <= HYBRID_CODE_WORDS);
	now = proof;
	now.hash = 0;
	check(hybrid_memory_prove(memory, space, getpid(), &hybrid_abi_64, &now));
	same(now.hash, proof.hash);
	code[64 + EPILOGUE_AT + 3] = 0x18;
	next_pass();
	check(hybrid_memory_prove(memory, space, getpid(), &hybrid_abi_64, &now));
	check(now.hash != proof.hash);
	now.start = (u64)code + 2 * PAGE - 8;
	now.words = 2;
	check(!hybrid_memory_prove(memory, space, getpid(), &hybrid_abi_64, &now));
	now.words = 0;
	check(!hybrid_memory_prove(memory, space, getpid(), &hybrid_abi_64, &now));
	check(!hybrid_memory_prove(NULL, space, getpid(), &hybrid_abi_64, &proof));
	end();
}

static const struct tap_test tests[] = {
	{ "seen code: replaced since the sample", test_replaced },
	{ "seen code: for a while", test_for_a_while },
	{ "seen code: an epilogue far away", test_far_epilogue },
	{ "seen code: each byte", test_each_byte },
	{ "seen code: records that lie", test_lies },
	{ "seen code: a proof", test_proof },
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
