// SPDX-License-Identifier: GPL-2.0
/*
 * The store of taught rules, as it is, in a program that counts what it allocates: is all
 * of that charged, does it stay within the limits, and who makes room for whom?
 *
 * usage: test-store [STEPS]
 *
 * Prints TAP.
 */
#include <stdarg.h>
#include <stdio.h>

#include "../../kmod/store/store.h"

#define NR_FILES	24
#define NR_STORES	4
#define MAX_ROWS	4000
#define MAX_RULES	3000

extern unsigned int *const param_store_kbytes, *const param_user_kbytes;

/* Allocations begin with how much the kernel's allocator would have given. */
#define HEADER		16

static size_t allocated;
static unsigned long grace_now = 1, grace_over;
unsigned long jiffies = 1;

size_t kmalloc_size_roundup(size_t bytes)
{
	size_t size = 8;

	if (bytes > 64 && bytes <= 96)
		return 96;
	if (bytes > 128 && bytes <= 192)
		return 192;
	while (size < bytes)
		size *= 2;
	return bytes > KMALLOC_MAX_CACHE_SIZE && size < PAGE_SIZE ? PAGE_SIZE : size;
}

static void *allocate(size_t bytes, size_t given, gfp_t gfp)
{
	char *memory = malloc(HEADER + bytes);

	if (!memory)
		abort();
	memset(memory, gfp & __GFP_ZERO ? 0 : 0x5a, HEADER + bytes);
	*(size_t *)memory = given;
	allocated += given;
	return memory + HEADER;
}

void *kmalloc(size_t bytes, gfp_t gfp)
{
	return allocate(bytes, kmalloc_size_roundup(bytes), gfp);
}

void *__vmalloc(size_t bytes, gfp_t gfp)
{
	return allocate(bytes, PAGE_ALIGN(bytes), gfp);
}

void kvfree(const void *memory)
{
	if (!memory)
		return;
	allocated -= *(size_t *)((char *)memory - HEADER);
	free((char *)memory - HEADER);
}

unsigned long get_state_synchronize_rcu(void)
{
	return ++grace_now;
}

bool poll_state_synchronize_rcu(unsigned long grace)
{
	return grace <= grace_over;
}

void cond_synchronize_rcu(unsigned long grace)
{
	if (grace > grace_over)
		grace_over = grace;
}

void synchronize_rcu(void)
{
	grace_over = grace_now;
}

static int nr_tests, nr_failed;

static void report(bool ok, const char *format, ...)
{
	va_list args;

	nr_tests++;
	nr_failed += !ok;
	printf("%sok %d - ", ok ? "" : "not ", nr_tests);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
}

static struct super_block disk = { .s_dev = 1 };
static struct inode inodes[NR_FILES];
static struct file file;

static struct store_subject subject_of(unsigned int nr)
{
	inodes[nr] = (struct inode) { .i_ino = 100 + nr, .i_sb = &disk };
	return (struct store_subject) {
		.key = perf_hybrid_inode_key(&inodes[nr]), .inode = &inodes[nr], .file = &file,
	};
}

/* Rows from @start on, with rules from @rule on, of which there are @nr_rules. */
static int teach(struct store *store, unsigned int nr, u32 start, u32 nr_rows, u32 rule,
		 u32 nr_rules)
{
	static struct perf_hybrid_rule rules[MAX_RULES];
	static struct perf_hybrid_row rows[3 * MAX_ROWS];
	static u16 index[MAX_RULES];
	struct store_lesson lesson = {
		.start = start, .end = start + nr_rows, .nr_rows = nr_rows, .rows = rows,
	};
	struct store_subject subject = subject_of(nr);
	size_t bytes = store_memory(nr_rows * sizeof(*rows)) +
		       store_memory(nr_rules * sizeof(*rules)) +
		       store_memory(nr_rules * sizeof(*index));
	int err = store_begin_lesson(store, &subject, bytes);
	u32 i;

	jiffies++;
	if (err)
		return err;
	for (i = 0; i < nr_rules; i++)
		rules[i] = (struct perf_hybrid_rule) {
			.kind = PERF_HYBRID_CFA, .cfa_off = 8 * (1 + rule + i),
		};
	err = store_rules_add(store, rules, nr_rules, index);
	for (i = 0; i < nr_rows; i++)
		rows[i] = (struct perf_hybrid_row) {
			.offset = start + i, .rule = index[i % nr_rules],
		};
	if (!err)
		err = store_teach(store, &subject, &lesson);
	store_end_lesson(store, bytes);
	return err;
}

static u32 rows_of(struct store *store, unsigned int nr)
{
	struct store_subject subject = subject_of(nr);
	u64 before = store->stats.rows;

	if (store_forget(store, &subject.key))
		return 0;
	return before - store->stats.rows;
}

static void set_limits(unsigned int store_kbytes, unsigned int user_kbytes)
{
	*param_store_kbytes = store_kbytes;
	*param_user_kbytes = user_kbytes;
}

/* One that is full of objects, the first of which was used least. */
static struct store *full_store(void)
{
	struct store *store = store_new();
	unsigned int nr;

	if (IS_ERR(store))
		abort();
	for (nr = 0; nr < NR_FILES && !store->stats.evicted; nr++) {
		if (teach(store, nr, 0, MAX_ROWS, 0, 2))
			break;
	}
	return store;
}

static void check_room(const char *whose)
{
	struct store *store = full_store();
	u64 evicted = store->stats.evicted, max = 8 * MAX_ROWS;
	unsigned int coldest = 1;	/* the first has made room for the last */
	int err;

	report(evicted == 1 && store->stats.objects > 3, "%s limit: the store is full", whose);
	err = teach(store, coldest, MAX_ROWS, MAX_RULES, 0, MAX_RULES);
	report(!err && store->stats.evicted > evicted && store->stats.rules > MAX_RULES,
	       "%s limit: objects make room for rules", whose);
	report(rows_of(store, coldest) >= MAX_ROWS + MAX_RULES,
	       "%s limit: ... but not the one that is taught", whose);
	evicted = store->stats.evicted;
	err = teach(store, 0, 0, 3 * MAX_ROWS, 0, 2);
	while (!err && max < 1 << 20) {
		err = teach(store, 0, max, 3 * MAX_ROWS, 0, 2);
		max += 3 * MAX_ROWS;
	}
	report(err == -EFBIG || err == -EDQUOT, "%s limit: what will not fit is refused", whose);
	store_delete(store);
}

/* What the user has beside his stores. */
static size_t beside(void)
{
	return kmalloc_size_roundup(sizeof(struct store_user));
}

static void check_empty(void)
{
	struct store *store = store_new();

	if (IS_ERR(store))
		abort();
	printf("# an empty store: %zu bytes, charged %llu\n", allocated - beside(),
	       (unsigned long long)store->stats.bytes);
	report(allocated - beside() == store->stats.bytes, "an empty store is charged");
	store_delete(store);
	report(!allocated, "nothing is left of it");
}

static unsigned int seed = 1;

static unsigned int below(unsigned int n)
{
	return rand_r(&seed) % n;
}

static void one_step(struct store **store)
{
	struct store_subject subject = subject_of(below(NR_FILES));

	if (!*store) {
		*store = store_new();
		if (IS_ERR(*store))
			*store = NULL;
		return;
	}
	switch (below(32)) {
	case 0:
		store_delete(*store);
		*store = NULL;
		return;
	case 1:
		store_forget_all(*store);
		return;
	case 2:
		store_forget(*store, &subject.key);
		return;
	case 3:
		store_reap(*store, true);
		return;
	default:
		teach(*store, below(NR_FILES), below(4) * MAX_ROWS, 1 + below(MAX_ROWS),
		      below(8) ? below(64) : below(60000), 1 + below(below(8) ? 64 : MAX_RULES));
	}
}

/* At each step all that is allocated is charged, and within both limits. */
static void check_steps(unsigned int steps)
{
	struct store *stores[NR_STORES] = {};
	bool charged = true, bounded = true;
	unsigned long evicted = 0;
	unsigned int i, nr;

	for (i = 0; i < steps; i++) {
		u64 bytes = 0;

		one_step(&stores[below(NR_STORES)]);
		for (nr = 0; nr < NR_STORES; nr++) {
			if (!stores[nr])
				continue;
			bytes += stores[nr]->stats.bytes;
			evicted += stores[nr]->stats.evicted;
			bounded &= stores[nr]->stats.bytes <= (u64)*param_store_kbytes << 10;
		}
		bounded &= bytes <= (u64)*param_user_kbytes << 10;
		charged &= allocated == bytes + (bytes ? beside() : 0);
	}
	for (nr = 0; nr < NR_STORES; nr++) {
		if (stores[nr])
			store_delete(stores[nr]);
	}
	report(charged, "%u steps: what is allocated is what is charged", steps);
	report(bounded && evicted, "%u steps: within the limits", steps);
	report(!allocated, "%u steps: nothing is left", steps);
}

int main(int argc, char **argv)
{
	unsigned int steps = argc > 1 ? atoi(argv[1]) : 5000;

	set_limits(64 << 10, 256 << 10);
	check_empty();
	set_limits(400, 256 << 10);
	check_room("the store's");
	set_limits(64 << 10, 480);
	check_room("the user's");
	set_limits(400, 1000);
	check_steps(steps);
	printf("1..%d\n", nr_tests);
	return !!nr_failed;
}
