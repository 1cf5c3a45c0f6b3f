// SPDX-License-Identifier: GPL-2.0
/*
 * The rows of code that no FDE covers. The processor is made up: what its code says at each address
 * is a table of the test's, so that blocks, gaps and the budget can be met exactly.
 */
#include "../hybrid/compiler/code-rows.c"
#include <string.h>
#include "../hybrid/rules/arch.h"
#include "short-memory.h"
#include "tap.h"

#define VADDR	((u64)0x400000)

static struct hybrid_arch arch;
static struct hybrid_abi abi;
static struct hybrid_object object;
static struct hybrid_segment segment;
static struct hybrid_fde fdes[2];
static struct hybrid_stored stored;
static struct hybrid_batch batch;

/* What the made-up code says: for each address its rule's number, and what a look at it takes. */
static struct {
	u8		*numbers;
	u64		first, start;
	unsigned int	size, runs, takes, took_before;
	u64		run;
	bool		tells;
} code;

static unsigned int made_rules(struct hybrid_code *of __maybe_unused, u64 first,
			       struct hybrid_code_rules *rules)
{
	code.first = first;
	code.start = rules->start;
	code.size = rules->size;
	if (!code.numbers)
		return 0;
	/* The code may go on with the same rule. */
	rules->at = malloc(rules->size + 1);
	memcpy(rules->at, code.numbers, rules->size);
	rules->at[rules->size] = code.numbers[rules->size - 1];
	rules->rules[0] = (struct hybrid_rule) {
		.kind = HYBRID_RULE_CFA, .cfa_off = 8, .ra_off = -8,
	};
	rules->rules[1] = rules->rules[0];
	rules->rules[1].cfa_off = 16;
	return code.took_before;
}

static bool made_run(struct hybrid_code *of __maybe_unused, u64 vaddr,
		     struct hybrid_rule *rule, u64 *end, unsigned int *took)
{
	code.runs++;
	*rule = (struct hybrid_rule) { .kind = HYBRID_RULE_CFA, .cfa_off = 32, .ra_off = -8 };
	*end = vaddr + code.run;
	*took = code.takes;
	return code.tells;
}

static void begin(u64 size)
{
	static u8 numbers[GAP_BLOCK];

	arch = (struct hybrid_arch) { .rules = made_rules, .rule_run = made_run };
	abi = (struct hybrid_abi) { .word = 8, .arch = &arch };
	segment = (struct hybrid_segment) { .vaddr = VADDR, .size = size };
	object = (struct hybrid_object) { .segments = &segment, .nr_segments = 1 };
	object.cfi.abi = &abi;
	memset(&stored, 0, sizeof(stored));
	stored.object = &object;
	fdes[0] = (struct hybrid_fde) { .start = VADDR, .end = VADDR + 0x100 };
	fdes[1] = (struct hybrid_fde) { .start = VADDR + size - 0x100, .end = VADDR + size };
	stored.fdes = (struct hybrid_fdes) { .fdes = fdes, .nr = 2 };
	memset(&code, 0, sizeof(code));
	memset(numbers, 1, sizeof(numbers));
	code.numbers = numbers;
	code.run = 16;
	code.tells = true;
}

static void end(void)
{
	free(stored.blocks);
	hybrid_batch_exit(&batch);
}

/* Each block of 64 KiB of the file once, as far as the gap goes. */
static void blocks(void)
{
	const u64 last = VADDR + 65 * GAP_BLOCK;

	begin(70 * GAP_BLOCK);
	check(hybrid_code_rows_are_due(&stored, VADDR + 0x100));
	same(hybrid_code_rows_around(&stored, VADDR + 0x200, &batch), 0);
	same(code.first, VADDR + 0x100);
	same(code.start, VADDR + 0x100);
	same(code.size, GAP_BLOCK - 0x100);
	same(batch.start, 0x100);
	same(batch.end, GAP_BLOCK);
	same(batch.nr_rows, 1);
	check(!hybrid_code_rows_are_due(&stored, VADDR + GAP_BLOCK - 1));
	check(hybrid_code_rows_are_due(&stored, VADDR + GAP_BLOCK));
	same(hybrid_code_rows_around(&stored, VADDR + 0x200, &batch), 0);
	same(batch.nr_rows, 0);
	/* In the second word of the bits. */
	check(hybrid_code_rows_are_due(&stored, last));
	same(hybrid_code_rows_around(&stored, last + GAP_BLOCK - 1, &batch), 0);
	same(code.start, last);
	same(code.size, GAP_BLOCK);
	same(stored.nr_blocks, 2);
	check(!hybrid_code_rows_are_due(&stored, last));
	check(hybrid_code_rows_are_due(&stored, last - 1));
	check(hybrid_code_rows_are_due(&stored, last + GAP_BLOCK));
	check(!hybrid_code_rows_are_due(&stored, VADDR + GAP_BLOCK - 1));
	/* The last one ends where the gap does. */
	same(hybrid_code_rows_around(&stored, VADDR + 70 * GAP_BLOCK - 0x101, &batch), 0);
	same(code.size, GAP_BLOCK - 0x100);
	end();
}

/* A block is of the file: it need not begin where one of the addresses would. */
static void shifted(void)
{
	const u64 shift = 0x1000;
	u64 at;

	begin(3 * GAP_BLOCK);
	segment.offset = shift;
	fdes[0].start = 0;
	fdes[0].end = VADDR;
	for (at = VADDR; at < VADDR + 3 * GAP_BLOCK - 0x100; at += shift) {
		u64 first = at - (at - VADDR + shift) % GAP_BLOCK;

		if (!hybrid_code_rows_are_due(&stored, at))
			continue;
		same(hybrid_code_rows_around(&stored, at, &batch), 0);
		same(code.start, max(first, VADDR));
		same(code.start + code.size,
		     min(first + GAP_BLOCK, VADDR + 3 * GAP_BLOCK - 0x100));
		check(!hybrid_code_rows_are_due(&stored, code.start + code.size - 1));
		check(code.start + code.size == VADDR + 3 * GAP_BLOCK - 0x100 ||
		      hybrid_code_rows_are_due(&stored, code.start + code.size));
	}
	same(stored.blocks[0], 0xf);
	end();
	/* Of the lowest addresses there are fewer. */
	begin(3 * GAP_BLOCK);
	segment.vaddr = 0;
	segment.offset = shift;
	fdes[0] = (struct hybrid_fde) { .start = 0, .end = 0x10 };
	fdes[1] = (struct hybrid_fde) { .start = 3 * GAP_BLOCK, .end = 4 * GAP_BLOCK };
	same(hybrid_code_rows_around(&stored, 0x20, &batch), 0);
	same(code.start, 0x10);
	same(code.start + code.size, GAP_BLOCK - shift);
	end();
}

/* An FDE holds the address, or no segment; or it is beyond 4 GiB of the file. */
static void nowhere(void)
{
	begin(GAP_BLOCK);
	same(hybrid_code_rows_around(&stored, VADDR + 0xff, &batch), 0);
	same(hybrid_code_rows_around(&stored, VADDR + GAP_BLOCK - 0x100, &batch), 0);
	same(hybrid_code_rows_around(&stored, VADDR - 1, &batch), 0);
	same(hybrid_code_rows_around(&stored, VADDR + GAP_BLOCK, &batch), 0);
	check(!hybrid_code_rows_are_due(&stored, VADDR - 1));
	check(!hybrid_code_rows_are_due(&stored, VADDR + GAP_BLOCK));
	segment.offset = UINT32_MAX - 0x100;
	check(hybrid_code_rows_are_due(&stored, VADDR + 0x100));
	check(!hybrid_code_rows_are_due(&stored, VADDR + 0x101));
	same(hybrid_code_rows_around(&stored, VADDR + 0x101, &batch), 0);
	same(code.size, 0);
	same(batch.nr_rows, 0);
	end();
}

/* Rows by the numbers of rules; what is unused has none, and what has none is looked at alone. */
static void rows(void)
{
	static const struct {
		u8	at, number;
	} parts[] = { { 0, 1 }, { 8, 2 }, { 24, HYBRID_CODE_UNUSED }, { 40, 0 }, { 80, 2 } };
	unsigned int i;

	begin(GAP_BLOCK);
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		memset(code.numbers + parts[i].at, parts[i].number, GAP_BLOCK - parts[i].at);
	same(hybrid_code_rows_around(&stored, VADDR + 0x100, &batch), 0);
	/* From 40 to 80: three runs of 16 bytes, the last of which is cut. */
	same(code.runs, 3);
	same(batch.nr_rows, 5);
	same(batch.rows[0].offset, 0x100);
	same(batch.rows[1].offset, 0x108);
	same(batch.rows[2].offset, 0x118);
	same(batch.rules[batch.rows[2].rule].kind, PERF_UNWIND_UNKNOWN);
	same(batch.rows[3].offset, 0x128);
	same(batch.rules[batch.rows[3].rule].cfa_off, 32);
	same(batch.rows[4].offset, 0x150);
	same(batch.rows[4].rule, batch.rows[1].rule);
	same(batch.end, GAP_BLOCK - 0x100);
	end();
	/* Nothing is known of the code. */
	begin(GAP_BLOCK);
	code.numbers = NULL;
	same(hybrid_code_rows_around(&stored, VADDR + 0x100, &batch), 0);
	same(batch.nr_rows, 0);
	end();
}

/* The budget is for the block: earlier looks count, and a look is brought to its end. */
static void budget(void)
{
	static const struct {
		unsigned int	before, takes, runs;
	} cases[] = {
		{ 0, 1, (GAP_BLOCK - 0x200) / 16 }, { MAX_LOOKED - 1, 1, 1 }, { MAX_LOOKED, 1, 0 },
		{ MAX_LOOKED - 2, 1, 2 }, { 0, MAX_LOOKED, 1 }, { 0, MAX_LOOKED - 1, 2 },
	};
	unsigned int i, tells;

	for (i = 0; i < 2 * ARRAY_SIZE(cases); i++) {
		tells = i % 2;
		begin(GAP_BLOCK);
		memset(code.numbers, 0, GAP_BLOCK);
		code.took_before = cases[i / 2].before;
		code.takes = cases[i / 2].takes;
		code.tells = tells;
		same(hybrid_code_rows_around(&stored, VADDR + 0x100, &batch), 0);
		same(code.runs, cases[i / 2].runs);
		same(batch.nr_rows, tells && cases[i / 2].runs);
		end();
	}
}

/* Addresses of no segment take none of the budget. */
static void between_segments(void)
{
	const u64 first = 0x1000, nr = (GAP_BLOCK - 0x100 - first) / 16;

	begin(GAP_BLOCK);
	memset(code.numbers, 0, GAP_BLOCK);
	segment.vaddr += first;
	segment.offset += first;
	segment.size -= first;
	code.takes = MAX_LOOKED / nr;
	same(hybrid_code_rows_around(&stored, VADDR + first + 0x100, &batch), 0);
	same(code.start, VADDR + 0x100);
	same(code.runs, nr);
	same(batch.start, first);
	same(batch.end, GAP_BLOCK - 0x100);
	end();
}

/* The rule of one address, as far as its straight code goes. */
static void one_row(void)
{
	begin(GAP_BLOCK);
	same(hybrid_code_row_at(&stored, VADDR + 0x110, VADDR + 0x111, &batch), 0);
	same(batch.start, 0x110);
	same(batch.end, 0x111 + 16);
	code.run = GAP_BLOCK;
	same(hybrid_code_row_at(&stored, VADDR + 0x110, VADDR + 0x111, &batch), 0);
	same(batch.end, GAP_BLOCK - 0x100);
	/* It does not tell; or an FDE does. */
	code.tells = false;
	same(hybrid_code_row_at(&stored, VADDR + 0x110, VADDR + 0x111, &batch), 0);
	same(batch.nr_rows, 0);
	code.tells = true;
	code.runs = 0;
	same(hybrid_code_row_at(&stored, VADDR + 0xff, VADDR + 0x100, &batch), 0);
	same(batch.nr_rows + code.runs, 0);
	end();
}

/* Memory is short: of one address nothing is taken, and of a block neither. */
static void short_memory(void)
{
	/* The block's rules, and the batch; number 2 is made_rules()'s. */
	static const unsigned int of_block[] = { 1, 3, 4 };
	unsigned int nr;

	for (nr = 0; nr < 2; nr++) {
		begin(GAP_BLOCK);
		memset(&batch, 0, sizeof(batch));
		short_memory_begin(nr);
		same(hybrid_code_row_at(&stored, VADDR + 0x110, VADDR + 0x111, &batch),
		     (u64)-ENOMEM);
		check(short_memory_end());
		end();
	}
	for (nr = 0; nr < ARRAY_SIZE(of_block); nr++) {
		begin(GAP_BLOCK);
		memset(&batch, 0, sizeof(batch));
		short_memory_begin(of_block[nr]);
		same(hybrid_code_rows_around(&stored, VADDR + 0x100, &batch), (u64)-ENOMEM);
		check(short_memory_end());
		same(batch.nr_rows, 0);
		end();
	}
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "code rows: each block once", blocks },
		{ "code rows: blocks of the file", shifted },
		{ "code rows: addresses that no block is of", nowhere },
		{ "code rows: rows by rules", rows },
		{ "code rows: the budget of a block", budget },
		{ "code rows: addresses between segments", between_segments },
		{ "code rows: one address", one_row },
		{ "code rows: memory is short", short_memory },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
