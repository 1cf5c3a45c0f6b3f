// SPDX-License-Identifier: GPL-2.0
/*
 * The rules of code that no file has, as a store is given them: of code of this process.
 */
#include "memory-code-world.h"

static const struct hybrid_store_ops ops = { .put_code = put_code, .takes_registers = true };

/* The first frame was called by the second, and so on. @exact: it is the sampled one. */
static void add_frame(unsigned int at, u64 cfa, bool exact)
{
	frames[u.nr++] = (struct hybrid_frame) {
		.ip = (u64)code + at - !exact, .ret = (u64)code + at, .cfa = cfa,
	};
	u.sure = u.nr;
}

/* Is the hash that of the code from @key on which is there, with all of @size bytes at @at? */
static bool is_proof_of(const struct hybrid_walk_proof *proof, u64 key, unsigned int at,
			unsigned int size)
{
	u64 hash = 0, start = key - proof->before, word;
	u32 i;

	if (!check(proof->words <= HYBRID_CODE_WORDS && start >= (u64)code &&
		   start + proof->words * sizeof(word) <= (u64)code + PAGE))
		return false;
	for (i = 0; i < proof->words; i++) {
		memcpy(&word, (u8 *)start + i * sizeof(word), sizeof(word));
		hash = hybrid_code_hash(hash, word);
	}
	return hash == proof->hash && start <= (u64)code + at &&
	       start + proof->words * sizeof(word) >= (u64)code + at + size;
}

static void sample(unsigned int stopped)
{
	hybrid_memory_code_sample(&known, &ops, NULL, &unwinder, &u, stopped);
}

/* The ends of fibers: by return address, by place, and that there are any. */
static void test_fibers(void)
{
	begin(HYBRID_STOP_OUTERMOST);
	add_frame(FRAMELESS, 0x7008, true);
	u.rule.kind = HYBRID_RULE_OUTERMOST;
	u.fiber_end = 0x7008;
	u.fiber_ret = 0x4711;
	sample(0);
	check(nr_put >= 3);
	same(put[0].key.ip, 0x4711);
	same(put[0].code.proof.hash, HYBRID_WALK_FIBER);
	same(HYBRID_WALK_KIND(put[0].code.row), PERF_UNWIND_OUTERMOST);
	same(put[1].key.ip, 0x7008);
	same(put[1].code.proof.hash, 0x4711);
	same(HYBRID_WALK_KIND(put[1].code.row), PERF_UNWIND_OUTERMOST);
	same(put[2].key.ip, 0);
	same(put[2].code.proof.hash, HYBRID_WALK_FIBER);
	end();

	/* 0 is the return address of all that have none. */
	begin(HYBRID_STOP_OUTERMOST);
	add_frame(FRAMELESS, 0x7008, true);
	u.rule.kind = HYBRID_RULE_OUTERMOST;
	u.fiber_end = 0x7008;
	sample(0);
	same(put[0].key.ip, 0x7008);
	same(put[0].code.proof.hash, 0);
	same(put[1].key.ip, 0);
	same(put[1].code.proof.hash, HYBRID_WALK_FIBER);
	end();
}

static void test_rules(void)
{
	begin(HYBRID_STOP_OUTERMOST);
	add_frame(FRAMELESS, 0x7008, true);
	add_frame(FRAMED + 2, 0x7100, false);
	add_frame(FRAMED + 2, 0x7200, false);
	sample(UINT_MAX);
	same(nr_put, 2);
	same(put[0].key.space, SPACE);
	same(put[0].key.ip, (u64)code + FRAMELESS);
	check(is_proof_of(&put[0].code.proof, put[0].key.ip, FRAMELESS, sizeof(frameless)));
	same(HYBRID_WALK_KIND(put[0].code.row), PERF_UNWIND_CFA);
	same(HYBRID_WALK_BASE(put[0].code.row), PERF_UNWIND_BASE_SP);
	same(HYBRID_WALK_CFA_OFF(put[0].code.row), 8);
	same(put[1].key.ip, (u64)code + FRAMED + 2);
	same(HYBRID_WALK_BASE(put[1].code.row), PERF_UNWIND_BASE_FP);
	same(HYBRID_WALK_CFA_OFF(put[1].code.row), 16);
	same(HYBRID_WALK_BP(put[1].code.row), PERF_UNWIND_FP_AT_CFA);
	same(HYBRID_WALK_BP_OFF(put[1].code.row), -16);
	end();
}

static void sample_blocks(unsigned int stopped)
{
	hybrid_memory_code_sample(&known, &block_ops, NULL, &unwinder, &u, stopped);
}

/* JIT code with a frame pointer: all of the straight code around. */
static void test_blocks(void)
{
	begin(HYBRID_STOP_OUTERMOST);
	memset(code + FRAMED - 4, 0x90, 4);
	memset(code + FRAMED - 8, 0xcc, 4);
	add_frame(FRAMED - 1, 0x7100, true);
	add_frame(FRAMELESS + 6, 0x7200, false);
	sample_blocks(0);
	same(nr_blocks, 2);
	same(blocks[0].key.space, SPACE);
	same(blocks[0].key.ip, (u64)code);
	same(blocks[0].block.begins, 0xfULL << (FRAMED - 4));
	same(blocks[1].key.ip, (u64)code + FRAMED);
	/* The call, and leave. */
	same(blocks[1].block.begins, 5);
	check(is_proof_of(&blocks[1].block.proof, blocks[1].key.ip, FRAMED,
			  HYBRID_WALK_CODE_BLOCK));
	/* The first block's code has a frame as that of the second one shows it. */
	check(is_proof_of(&blocks[0].block.proof, blocks[0].key.ip, 0, FRAMED + sizeof(framed)));
	same(HYBRID_WALK_BASE(blocks[1].block.row), PERF_UNWIND_BASE_FP);
	/* Again only if the walk ended there. */
	sample_blocks(UINT_MAX);
	same(nr_blocks, 2);
	sample_blocks(0);
	same(nr_blocks, 3);
	same(blocks[2].key.ip, (u64)code);
	/* What was known of it stays. */
	same(blocks[2].block.begins, blocks[0].block.begins);
	/* Its code has changed: what was known of the old one is gone. */
	code[FRAMED + 1] = 0xd2;
	code[FRAMED - 4] = 0xcc;
	hybrid_memory_forget(unwinder.memory);
	sample_blocks(0);
	same(nr_blocks, 5);
	same(blocks[3].block.begins, 7ULL << (FRAMED - 3));
	same(blocks[4].block.begins, 5);
	end();
}

static struct hybrid_objects objects;

/* A walk in code that @object is mapped to; its file can't be read. */
static struct hybrid_mapping *begin_file(struct hybrid_object *object)
{
	struct hybrid_mapping *mapping;

	begin(HYBRID_STOP_OUTERMOST);
	add_frame(FRAMELESS, 0x7008, true);
	add_frame(FRAMED + 2, 0x7100, false);
	*object = (struct hybrid_object) {
		.objects = &objects, .state = HYBRID_OBJECT_FAILED, .is_settled = true,
	};
	mapping = &u.space->mappings[0];
	mapping->object = object;
	mapping->record = object;
	return mapping;
}

static void remove_file(struct hybrid_mapping *mapping)
{
	mapping->object = NULL;
	mapping->record = NULL;
}

/* A file's code is noted by the first walk that ends there, and not by others. */
static void test_file_noted(void)
{
	struct hybrid_object object;
	struct hybrid_mapping *mapping = begin_file(&object);
	unsigned int ended, i, nr;

	for (ended = 0; ended <= 1; ended++) {
		sample(ended ? 0 : UINT_MAX);
		for (i = 0, nr = 0; i < ARRAY_SIZE(known.entries); i++)
			nr += known.entries[i].key.ip == (u64)code + FRAMELESS;
		same(nr, ended);
	}
	same(nr_put, 0);
	remove_file(mapping);
	end();
}

/* A caller that is in no mapping has no rule. */
static void test_unmapped(void)
{
	begin(HYBRID_STOP_OUTERMOST);
	add_frame(FRAMELESS, 0x7008, true);
	add_frame(PAGE + FRAMED + 2, 0x7100, false);
	add_frame(FRAMED + 2, 0x7200, false);
	sample(1);
	same(nr_put, 1);
	same(put[0].key.ip, (u64)code + FRAMELESS);
	end();
}

/* Once, until the store's walk ends there. */
static void test_again(void)
{
	begin(HYBRID_STOP_OUTERMOST);
	add_frame(FRAMELESS, 0x7008, true);
	add_frame(FRAMED + 2, 0x7100, false);
	sample(UINT_MAX);
	sample(UINT_MAX);
	sample(1);
	same(nr_put, 1);
	put_at(FRAMELESS - 1, "\x90", 1);
	hybrid_memory_forget(unwinder.memory);
	sample(0);
	same(nr_put, 2);
	check(put[1].code.proof.hash != put[0].code.proof.hash);
	check(is_proof_of(&put[1].code.proof, put[1].key.ip, FRAMELESS, sizeof(frameless)));
	end();
}

/* By its frame pointer alone only a caller is left, and not what was sampled. */
static void test_silent(void)
{
	static const u8 prologue[] = { 0x55, 0x48, 0x89, 0xe5 };

	begin(HYBRID_STOP_OUTERMOST);
	add_frame(SILENT + 2, 0x7008, true);
	add_frame(SILENT + 2, 0x7100, false);
	add_frame(FRAMED + 2, 0x7200, false);
	sample(0);
	same(nr_put, 1);
	same(HYBRID_WALK_BASE(put[0].code.row), PERF_UNWIND_BASE_FP);
	end();

	/* But in what V8 has compiled. */
	begin(HYBRID_STOP_OUTERMOST);
	add_frame(SILENT + 2, 0x7008, true);
	add_frame(FRAMED + 2, 0x7200, false);
	u.space->entries_id = 1;
	sample(0);
	same(nr_put, 1);
	same(put[0].key.ip, (u64)code + SILENT + 2);
	same(HYBRID_WALK_BASE(put[0].code.row), PERF_UNWIND_BASE_FP);
	check(is_proof_of(&put[0].code.proof, put[0].key.ip, SILENT, sizeof(silent)));
	end();

	/* Unless that goes on to make its frame. */
	begin(HYBRID_STOP_OUTERMOST);
	put_at(SILENT + 20, prologue, sizeof(prologue));
	add_frame(SILENT + 2, 0x7008, true);
	add_frame(FRAMED + 2, 0x7200, false);
	u.space->entries_id = 1;
	sample(0);
	same(nr_put, 0);
	end();
}

static struct hybrid_walk_compiled jvms[8];
static unsigned int nr_jvms;

static int put_compiled(void *store, const struct hybrid_walk_compiled *jvm)
{
	(void)store;
	check(nr_jvms < ARRAY_SIZE(jvms));
	jvms[nr_jvms++] = *jvm;
	return 0;
}

#define MOST_STRETCHES	8192

static struct hybrid_walk_range ranges[MOST_STRETCHES + 2];
static struct hybrid_walk_code_key stretches[MOST_STRETCHES + 2];
static unsigned int nr_ranges, ranges_fail_at;

static int put_range(void *store, const struct hybrid_walk_code_key *key,
		     const struct hybrid_walk_range *range)
{
	(void)store;
	if (!check(nr_ranges < ARRAY_SIZE(ranges)))
		return -1;
	ranges[nr_ranges] = *range;
	stretches[nr_ranges++] = *key;
	return nr_ranges == ranges_fail_at ? -1 : 0;
}

static struct hybrid_runtime_range made;

static bool made_range(void *runtimes, const struct hybrid_unwind *walk, unsigned int at,
		       struct hybrid_runtime_range *range)
{
	(void)runtimes;
	(void)walk;
	*range = made;
	return !at;
}

static const struct hybrid_store_ops range_ops = {
	.put_code = put_code, .put_range = put_range, .takes_registers = true,
};

/* How many stretches a sample has put, and how many rules of single addresses. */
static void expect_ranges(unsigned int stopped, unsigned int nr, unsigned int nr_codes)
{
	nr_ranges = 0;
	nr_put = 0;
	hybrid_memory_code_sample(&known, &range_ops, NULL, &unwinder, &u, stopped);
	same(nr_ranges, nr);
	same(nr_put, nr_codes);
}

/* Code that a runtime has made, from somewhere in the first of @nr stretches on. */
static void begin_range(u64 start, unsigned int nr)
{
	begin(HYBRID_STOP_OUTERMOST);
	ranges_fail_at = 0;
	unwinder.runtime_range = made_range;
	made = (struct hybrid_runtime_range) {
		.start = start, .end = ((start >> HYBRID_WALK_RANGE_BITS) + nr) <<
				       HYBRID_WALK_RANGE_BITS,
		.rule = { .kind = HYBRID_RULE_CFA, .base = HYBRID_BASE_BP, .bp = HYBRID_BP_AT_CFA,
			  .cfa_off = 16, .ra_off = -8, .bp_off = -16 },
	};
	add_frame(FRAMELESS, 0x7008, true);
	add_frame(FRAMED + 2, 0x7018, false);
}

static void test_ranges(void)
{
	const u64 start = 0x10000000 + 10;
	unsigned int i;

	begin_range(start, 3);
	expect_ranges(UINT_MAX, 3, 0);
	for (i = 0; i < 3; i++) {
		same(stretches[i].space, SPACE);
		same(stretches[i].ip, (start >> HYBRID_WALK_RANGE_BITS) + i);
		same(ranges[i].start, start);
		same(ranges[i].end, made.end);
		same(HYBRID_WALK_KIND(ranges[i].row), PERF_UNWIND_CFA);
		same(HYBRID_WALK_CFA_OFF(ranges[i].row), 16);
	}
	/* It is known. A walk that ended there may have lost the stretch of its address. */
	expect_ranges(UINT_MAX, 0, 0);
	expect_ranges(0, 1, 1);
	same(stretches[0].ip, ((u64)code + FRAMELESS) >> HYBRID_WALK_RANGE_BITS);
	same(put[0].key.ip, (u64)code + FRAMELESS);
	/* Another process, or other code. */
	u.walker_space++;
	expect_ranges(UINT_MAX, 3, 0);
	made.start -= 4;
	expect_ranges(0, 3, 1);
	/* A byte more is in one more stretch. */
	made.start -= 4;
	made.end++;
	expect_ranges(UINT_MAX, 4, 0);
	end();
	/* A rule that a row has no room for. */
	begin_range(start, 3);
	made.rule.kind = HYBRID_RULE_OUTERMOST;
	expect_ranges(UINT_MAX, 0, 1);
	end();
	/* The store has no room. */
	begin_range(start, 3);
	ranges_fail_at = 2;
	expect_ranges(UINT_MAX, 2, 0);
	end();
}

static void test_most_stretches(void)
{
	begin_range(0x10000000, MOST_STRETCHES);
	expect_ranges(UINT_MAX, MOST_STRETCHES, 0);
	same(stretches[MOST_STRETCHES - 1].ip,
	     (0x10000000 >> HYBRID_WALK_RANGE_BITS) + MOST_STRETCHES - 1);
	end();
	begin_range(0x10000000, MOST_STRETCHES + 1);
	expect_ranges(UINT_MAX, MOST_STRETCHES, 0);
	end();
}

static struct hybrid_walk_compiled said;

static bool jvm_range(void *runtimes, const struct hybrid_unwind *walk, unsigned int at,
		      struct hybrid_runtime_range *range)
{
	(void)runtimes;
	(void)walk;
	range->compiled = &said;
	return at < 2;
}

/* Methods of a JVM: the store is told of the JVM, not of each method. */
static void test_jvm(void)
{
	static const struct hybrid_store_ops jvm_ops = {
		.put_code = put_code, .put_range = put_range, .put_compiled = put_compiled,
	};

	begin(HYBRID_STOP_OUTERMOST);
	nr_jvms = 0;
	said = (struct hybrid_walk_compiled) { .heaps[0] = { .low = (u64)code, .size = PAGE } };
	unwinder.runtime_range = jvm_range;
	add_frame(FRAMELESS, 0x7008, true);
	add_frame(FRAMELESS + 6, 0x7018, false);
	add_frame(FRAMED + 2, 0x7200, false);
	hybrid_memory_code_sample(&known, &jvm_ops, NULL, &unwinder, &u, UINT_MAX);
	hybrid_memory_code_sample(&known, &jvm_ops, NULL, &unwinder, &u, UINT_MAX);
	same(nr_put, 0);
	same(nr_jvms, 1);
	same(jvms[0].space, SPACE);
	same(jvms[0].again, SPACE);
	same(jvms[0].heaps[0].low, (u64)code);
	/* It has more code; and a walk that ended there may have lost it, or can't tell. */
	said.heaps[0].size += PAGE;
	hybrid_memory_code_sample(&known, &jvm_ops, NULL, &unwinder, &u, UINT_MAX);
	same(nr_jvms, 2);
	same(jvms[1].heaps[0].size, 2 * PAGE);
	hybrid_memory_code_sample(&known, &jvm_ops, NULL, &unwinder, &u, 0);
	same(nr_jvms, 3);
	same(nr_put, 1);
	same(put[0].key.ip, (u64)code + FRAMELESS);
	/* A store that can't find them has a rule for each address. */
	nr_put = 0;
	sample(1);
	same(nr_put, 1);
	same(nr_jvms, 3);
	end();
}

static void test_nothing(void)
{
	static const struct hybrid_store_ops files_alone = {};

	begin(HYBRID_STOP_OUTERMOST);
	/* It was left otherwise: the code is another by now. */
	add_frame(FRAMELESS, 0x7048, true);
	add_frame(FRAMED + 2, 0x7100, false);
	/* Not sure of from there on. */
	add_frame(FRAMED + 2, 0x7200, false);
	u.sure = 2;
	sample(UINT_MAX);
	same(nr_put, 0);
	frames[0].cfa = 0x7008;
	hybrid_memory_code_sample(&known, &files_alone, NULL, &unwinder, &u, UINT_MAX);
	u.walker_space = 0;
	sample(UINT_MAX);
	u.walker_space = SPACE;
	u.abi = &hybrid_abi_32;
	sample(UINT_MAX);
	same(nr_put, 0);
	end();
}

/* Of a copy of a file that is gone nothing is known. */
static void test_file(void)
{
	struct hybrid_object object;
	struct hybrid_mapping *mapping = begin_file(&object);

	mapping->is_copy = true;
	sample(0);
	/* What can't be read has no rule. */
	same(nr_put, 0);
	remove_file(mapping);
	mapping->is_copy = false;
	sample(0);
	same(nr_put, 1);
	end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "memory code: the rules that led to the callers", test_rules },
		{ "memory code: the ends of fibers", test_fibers },
		{ "memory code: straight code with a frame pointer", test_blocks },
		{ "memory code: a JVM", test_jvm },
		{ "memory code: code that a runtime has made", test_ranges },
		{ "memory code: as much code as a store is given", test_most_stretches },
		{ "memory code: once, and again where a walk ended", test_again },
		{ "memory code: what does not say how it is left", test_silent },
		{ "memory code: what no rule is known of", test_nothing },
		{ "memory code: a file's code is noted", test_file_noted },
		{ "memory code: a file that can't be read", test_file },
		{ "memory code: a caller that is not mapped", test_unmapped },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
