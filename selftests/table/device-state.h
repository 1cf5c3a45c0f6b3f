/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What tests of /dev/perf_unwind_rules share: files, user memory, and calls of the device as the
 * kernel makes them. It includes the device itself.
 */
#ifndef _DEVICE_STATE_H
#define _DEVICE_STATE_H

#include "../../kmod/table/device.c"
#include "table-state.h"

#define NR_FDS		8
#define FILE_FD		3
#define OTHER_FD	4
#define WRITE_FD	5	/* not open for reading */
#define DIRECTORY_FD	6
#define OVERLAY_FD	7	/* shows the file of FILE_FD */

static struct super_block disk = { .s_dev = 1 };
static struct inode inodes[NR_FDS];
static struct file files[NR_FDS], table_file;
static inline const struct inode *real_of(int fd)
{
	return fd == OVERLAY_FD ? &inodes[FILE_FD] : &inodes[fd];
}

struct file *fget(int fd)
{
	if (fd < FILE_FD || fd >= NR_FDS)
		return NULL;
	files[fd].refs++;
	return &files[fd];
}

static const char vdso_64, vdso_32;
const void *arch_perf_unwind_vdso(u32 flag)
{
	return flag == PERF_UNWIND_VDSO_64 ? &vdso_64 :
	       flag == PERF_UNWIND_VDSO_32 ? &vdso_32 : NULL;
}

/* Tests set this to be an architecture that has return addresses in a register. */
static bool ra_in_register;
bool arch_perf_unwind_can_step(const struct perf_unwind_rule *rule)
{
	return rule->ra == PERF_UNWIND_RA_AT_CFA || ra_in_register;
}

static struct {
	int			result;
	const struct file	*table;
	int			fd;
} attached;

int perf_unwind_attach(struct file *table, int fd)
{
	attached.table = table;
	attached.fd = fd;
	return attached.result;
}

bool perf_unwind_find_mapping(struct perf_unwind_walk *walk, unsigned long ip)
{
	return false;
}

/* This access to user memory fails, counted from 1. */
static unsigned int fail_copy, nr_copies;

bool table_copy(void *dst, const void *src, size_t size)
{
	if (++nr_copies == fail_copy || !dst || !src)
		return false;
	memcpy(dst, src, size);
	return true;
}

static inline void begin(void)
{
	unsigned int i;

	fail_copy = 0;
	nr_copies = 0;
	fail_alloc = 0;
	nr_allocs = 0;
	for (i = FILE_FD; i < NR_FDS; i++) {
		inodes[i] = (struct inode) {
			.i_ino = 100 + i, .i_generation = 1, .i_sb = &disk,
			.i_mode = S_IFREG | 0644,
		};
		files[i] = (struct file) {
			.f_inode = &inodes[i], .f_mode = FMODE_READ, .refs = 1,
		};
	}
	files[WRITE_FD].f_mode = 0;
	inodes[DIRECTORY_FD].i_mode = S_IFDIR | 0755;
	files[OVERLAY_FD].real_inode = &inodes[FILE_FD];
	if (table_device->fops->open(NULL, &table_file))
		abort();
}

static inline struct unwind_table *table(void)
{
	return table_of(&table_file);
}

/* Every file has the references that it had, and nothing is left. */
static inline bool end(void)
{
	unsigned int i;
	bool ok = true;

	for (i = FILE_FD; i < NR_FDS; i++)
		ok &= files[i].refs == 1;
	return !table_device->fops->release(NULL, &table_file) && !allocated && ok;
}

/* An ioctl whose argument is at the end of an allocation: ASan sees a byte too many. */
static inline int call(unsigned int cmd, const void *argument, size_t size)
{
	void *copy = malloc(size);
	int ret;

	memcpy(copy, argument, size);
	ret = table_device->fops->unlocked_ioctl(&table_file, cmd, (unsigned long)copy);
	free(copy);
	return ret;
}

#define MAX_ROWS	(PERF_UNWIND_MAX_ROWS + 1)
#define MAX_RULES	(UNWIND_TABLE_MAX_RULES + 1)
static struct perf_unwind_rule rules[MAX_RULES];
static struct perf_unwind_row rows[MAX_ROWS];

static inline struct perf_unwind_load load_of(int fd, u32 start, u32 end, u32 nr_rows, u32 nr_rules)
{
	return (struct perf_unwind_load) {
		.size = sizeof(struct perf_unwind_load), .fd = fd, .start = start, .end = end,
		.nr_rows = nr_rows, .nr_rules = nr_rules,
		.row_size = sizeof(*rows), .rule_size = sizeof(*rules),
		.rows = (unsigned long)rows, .rules = (unsigned long)rules,
	};
}

static inline int load(const struct perf_unwind_load *load)
{
	return call(PERF_UNWIND_LOAD, load, sizeof(*load));
}

/* Rules whose CFA offsets count up from @cfa, and rows that take them in turn. */
static inline void make_rows(u32 start, u32 nr_rows, u32 nr_rules, s32 cfa)
{
	u32 i;

	for (i = 0; i < nr_rules; i++)
		rules[i] = (struct perf_unwind_rule) {
			.kind = PERF_UNWIND_CFA, .cfa_off = cfa + i,
		};
	for (i = 0; i < nr_rows; i++)
		rows[i] = (struct perf_unwind_row) { .offset = start + i, .rule = i % nr_rules };
}

static inline struct perf_unwind_load simple(int fd)
{
	make_rows(0, 2, 2, 8);
	return load_of(fd, 0, 4, 2, 2);
}

static inline const struct perf_unwind_object *object_of(const struct perf_unwind_key *key)
{
	const struct perf_unwind_object *object;

	hash_for_each_possible(table()->base.objects, object, node, perf_unwind_hash_key(key))
		if (perf_unwind_same_key(&object->key, key))
			return object;
	return NULL;
}

static inline struct perf_unwind_key key_of(int fd)
{
	return perf_unwind_inode_key(real_of(fd));
}

/* The rule of an offset, as a sample finds it. */
static inline const struct perf_unwind_rule *rule_at(const struct perf_unwind_key *key, u32 offset)
{
	const struct perf_unwind_object *object = object_of(key);
	struct perf_unwind_walk walk = {
		.end = ULONG_MAX, .rules = table()->base.rules,
		.rows = object ? object->rows : NULL,
	};

	return perf_unwind_find(&walk, offset);
}

static inline s32 cfa_at(const struct perf_unwind_key *key, u32 offset)
{
	const struct perf_unwind_rule *rule = rule_at(key, offset);

	return rule ? rule->cfa_off : 0;
}

#endif /* _DEVICE_STATE_H */
