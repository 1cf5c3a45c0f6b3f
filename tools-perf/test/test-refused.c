// SPDX-License-Identifier: GPL-2.0
/*
 * Files whose user is over a share: what is read of them is not taken for all that they have.
 */
#include <string.h>
#include "elf-file.h"
#include "process.h"
#include "rows.h"
#include "tap.h"

/* Where the files are mapped: one with little CFI, and one with more. */
#define SMALL	0x10000000ULL
#define LARGE	0x20000000ULL

#define PID	7

static struct hybrid_processes ps;
static struct hybrid_file_budget budget;
static u64 now;

static u64 clock_ns(void)
{
	return now;
}

static void start(void)
{
	now = 1000000000;
	hybrid_file_budget_init(&budget);
	budget.clock = clock_ns;
	hybrid_processes_init(&ps, elf_file_open);
	ps.objects.budget = &budget;
	elf_file_map(&ps, PID, "small.so", SMALL);
	elf_file_map(&ps, PID, "many.so", LARGE);
}

static const struct hybrid_mapping *mapping_at(u64 ip)
{
	return hybrid_space_find(hybrid_thread_get(&ps, PID, PID)->process->space, ip);
}

static struct hybrid_row *small_row(void)
{
	u64 ip = SMALL + elf_file_symbol("small.so", "pushed_at");

	return hybrid_object_row(mapping_at(ip), ip);
}

static const struct hybrid_mapping *large(void)
{
	return mapping_at(LARGE + elf_file_symbol("many.so", "many"));
}

static struct hybrid_row *large_row(void)
{
	return hybrid_object_row(large(), LARGE + elf_file_symbol("many.so", "many"));
}

/* All files are of root's share here. */
static u64 *used(enum hybrid_file_cost cost)
{
	return &hybrid_file_user_get(&budget, 0)->used[cost];
}

/* Leaves this of root's share. */
static void leave(enum hybrid_file_cost cost, u64 amount)
{
	*used(cost) = hybrid_file_limits[cost].root - amount;
}

/* What the CFI of the two files takes of memory, and in all with their other sections. */
static u64 small_cfi, large_cfi, large_all;

static void measure(void)
{
	u64 before;

	start();
	check(small_row());
	before = *used(HYBRID_FILE_MEMORY);
	check(large_row());
	large_all = *used(HYBRID_FILE_MEMORY) - before;
	before = *used(HYBRID_FILE_MEMORY);
	check(hybrid_object_forget_cfi(mapping_at(SMALL)->object));
	small_cfi = before - *used(HYBRID_FILE_MEMORY);
	before = *used(HYBRID_FILE_MEMORY);
	check(hybrid_object_forget_cfi(large()->object));
	large_cfi = before - *used(HYBRID_FILE_MEMORY);
	check(small_cfi && small_cfi < large_cfi && large_cfi <= large_all);
	hybrid_processes_exit(&ps);
}

/* One file's CFI, with @room for it, and the other's in memory or not. Is there a row? */
static bool has_row(u64 room, bool with_other)
{
	struct hybrid_file_user *user;
	struct hybrid_object *object;
	bool has;

	start();
	user = hybrid_file_user_get(&budget, 0);
	if (with_other)
		check(small_row());
	leave(HYBRID_FILE_MEMORY, room);
	has = large_row();
	object = large()->object;
	same(object->is_left_out, !has);
	same(user->left_out, !has);
	if (!has)
		same(user->reason, HYBRID_FILE_MEMORY);
	/* A second later it is tried again. */
	*used(HYBRID_FILE_MEMORY) = 0;
	now += 999999999;
	same(!!large_row(), has);
	now++;
	check(large_row());
	same(user->left_out, !has);
	hybrid_processes_exit(&ps);
	return has;
}

/* What others have in memory gives way, if that is enough. */
static void memory(void)
{
	measure();
	check(has_row(large_all, false));
	check(!has_row(large_all - 1, false));
	check(has_row(large_all - 1, true));
	check(has_row(large_all - small_cfi, true));
	check(!has_row(large_all - small_cfi - 1, true));
}

/* What code says is not taken for nothing if it could not be read. */
static void code(void)
{
	const struct hybrid_rule *rule;
	struct hybrid_file_user *user;
	struct hybrid_row *row;
	u64 ret;

	start();
	user = hybrid_file_user_get(&budget, 0);
	row = large_row();
	check(row);
	/* On the next page, which was not read for the row. */
	ret = LARGE + elf_file_symbol("many.so", "many") + 4096 + 8;
	leave(HYBRID_FILE_READ, 0);
	rule = hybrid_object_code_rule(row, large(), ret);
	same(rule->kind, HYBRID_RULE_NONE);
	same(row->code_at, 0);
	check(large()->object->is_left_out);
	same(user->left_out, 1);
	same(user->reason, HYBRID_FILE_READ);
	hybrid_processes_exit(&ps);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "refused: no memory for CFI", memory },
		{ "refused: code that is not read", code },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
