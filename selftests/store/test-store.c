// SPDX-License-Identifier: GPL-2.0
/*
 * The store of taught rules, as it is, in a program that counts what it allocates: is all
 * of that charged, does it stay within the limits, and who makes room for whom? And does a
 * sample find the rule that was taught last?
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
static unsigned long grace_now = 1, grace_over, waits;
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
	if (grace > grace_over) {
		grace_over = grace;
		waits++;
	}
}

void synchronize_rcu(void)
{
	grace_over = grace_now;
	waits++;
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
/* Changes of all files; and whether they are told apart by their generation alone. */
static unsigned int changes;
static bool same_hash;

static struct store_subject subject_of(unsigned int nr)
{
	inodes[nr] = (struct inode) {
		.i_ino = same_hash ? 100 : 100 + nr, .i_generation = nr, .i_sb = &disk,
		.ctime = changes,
	};
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
	struct store_update update = {
		.start = start, .end = start + nr_rows, .nr_rows = nr_rows, .rows = rows,
	};
	struct store_subject subject = subject_of(nr);
	size_t bytes = store_memory(nr_rows * sizeof(*rows)) +
		       store_memory(nr_rules * sizeof(*rules)) +
		       store_memory(nr_rules * sizeof(*index));
	int err = store_begin_update(store, &subject, bytes);
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
		err = store_teach(store, &subject, &update);
	store_end_update(store, bytes);
	return err;
}

static unsigned int seed = 1;

static unsigned int below(unsigned int n)
{
	return rand_r(&seed) % n;
}

static struct perf_hybrid_object *object_of(struct store *store, unsigned int nr)
{
	struct store_subject subject = subject_of(nr);
	struct perf_hybrid_object *object;

	hash_for_each_possible(store->base.objects, object, node,
			       perf_hybrid_hash_key(&subject.key)) {
		if (perf_hybrid_same_key(&object->key, &subject.key))
			return object;
	}
	return NULL;
}

/* What a sample takes for the offset of the CFA there; 0 for none. */
static s32 rule_at(struct store *store, unsigned int nr, u32 offset)
{
	struct perf_hybrid_object *object = object_of(store, nr);
	struct perf_hybrid_walk walk = { .end = ULONG_MAX, .rules = store->base.rules };
	const struct perf_hybrid_rule *rule;

	walk.rows = object ? object->rows : NULL;
	rule = perf_hybrid_find(&walk, offset);
	return rule ? rule->cfa_off : 0;
}

bool perf_hybrid_find_mapping(struct perf_hybrid_walk *walk, unsigned long ip)
{
	return false;
}

/* Updates over each other, against an array with the rule of each offset. */
static void check_lookup(unsigned int updates)
{
	static s32 model[8 * MAX_ROWS];
	struct store *store = store_new();
	unsigned int wrong = 0, asked = 0, i, k;

	if (IS_ERR(store))
		abort();
	for (i = 0; i < updates; i++) {
		u32 start = below(4 * MAX_ROWS), nr_rows = 1 + below(below(2) ? 20 : MAX_ROWS);
		u32 nr_rules = 1 + below(40), rule = below(200);

		if (teach(store, 0, start, nr_rows, rule, nr_rules))
			abort();
		for (k = 0; k < nr_rows; k++)
			model[start + k] = 8 * (1 + rule + k % nr_rules);
		for (k = 0; k < 8 * MAX_ROWS; k += 1 + below(64), asked++)
			wrong += rule_at(store, 0, k) != model[k];
	}
	printf("# %u lookups\n", asked);
	report(asked > updates && !wrong, "%u updates: a sample finds the rule taught last",
	       updates);
	store_delete(store);
}

/* Of a file that was changed nothing stays, and its object is not the one that others have. */
static void check_changed(void)
{
	struct store *store = store_new();
	struct perf_hybrid_object *object;

	if (IS_ERR(store))
		abort();
	teach(store, 0, 0, MAX_ROWS, 0, 2);
	changes++;
	object = object_of(store, 0);
	report(object && !perf_hybrid_is_current(object, &inodes[0]),
	       "a file that was changed has no rules");
	teach(store, 0, 2 * MAX_ROWS, MAX_ROWS, 0, 2);
	object = object_of(store, 0);
	report(object && perf_hybrid_is_current(object, &inodes[0]) && !rule_at(store, 0, 0) &&
	       rule_at(store, 0, 2 * MAX_ROWS) && store->stats.objects == 1,
	       "... and taught anew it has those of the update alone");
	store_delete(store);
}

/* A sample looks at so many with one hash: the coldest makes room for one more. */
static void check_probes(void)
{
	struct store *store = store_new();
	unsigned int nr;

	if (IS_ERR(store))
		abort();
	same_hash = true;
	for (nr = 0; nr < NR_FILES; nr++)
		teach(store, nr, 0, 2, 0, 2);
	report(store->stats.objects == PERF_HYBRID_MAX_PROBES &&
	       store->stats.evicted == NR_FILES - PERF_HYBRID_MAX_PROBES &&
	       !object_of(store, 0) && object_of(store, NR_FILES - 1),
	       "objects of one hash are no more than a sample looks at");
	same_hash = false;
	store_delete(store);
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

/* No event has it by then, and no sample. */
static void check_closed(void)
{
	struct store *store = store_new();
	unsigned long before;

	if (IS_ERR(store))
		abort();
	teach(store, 0, 0, MAX_ROWS, 100, 2);
	teach(store, 0, 0, MAX_ROWS, 200, 2);
	before = waits;
	store_delete(store);
	report(waits == before && !allocated, "a store that is closed waits for no sample");
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
	check_closed();
	check_lookup(steps / 50);
	check_changed();
	check_probes();
	set_limits(400, 256 << 10);
	check_room("the store's");
	set_limits(64 << 10, 480);
	check_room("the user's");
	set_limits(400, 1000);
	check_steps(steps);
	printf("1..%d\n", nr_tests);
	return !!nr_failed;
}
