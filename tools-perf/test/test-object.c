// SPDX-License-Identifier: GPL-2.0
/*
 * Which mappings share an object, and how long it lives.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include "abi.h"
#include "elf-file.h"
#include "rows.h"
#include "tap.h"

static struct hybrid_objects objects;
static struct hybrid_processes ps;
static char dir[64] = "/tmp/hybrid-test-XXXXXX";

static struct hybrid_object *get(const char *path, const char *build_id, u64 ino, u64 gen)
{
	struct hybrid_ident ident = {
		.path = path, .maj = 8, .min = 1, .ino = ino, .ino_generation = gen,
	};

	if (build_id) {
		ident.build_id_size = strlen(build_id);
		memcpy(ident.build_id, build_id, ident.build_id_size);
	}
	return hybrid_object_get(&objects, &ident);
}

static void sharing(void)
{
	struct hybrid_object *a;

	hybrid_objects_init(&objects, elf_file_open, hybrid_x86_abi);
	a = get("/a", "01234567890123456789", 0, 0);
	check(get("/a", "01234567890123456789", 0, 0) == a);
	check(get("/b", "01234567890123456789", 0, 0) != a);
	check(get("/a", "0123456789012345678x", 0, 0) != a);
	check(get("/a", "01234567", 0, 0) != a);
	check(get("/a", NULL, 1, 0) != a);
	same(a->refs, 2);

	a = get("/a", NULL, 5, 7);
	check(get("/a", NULL, 5, 7) == a);
	check(get("/a", NULL, 6, 7) != a);
	check(get("/a", NULL, 5, 8) != a);
	check(get("/a", NULL, 0, 0) != a);
	a = get("/a", NULL, 0, 0);
	check(get("/a", NULL, 0, 0) == a);
	check(get("/b", NULL, 0, 0) != a);
	hybrid_objects_exit(&objects);
	same(objects.nr, 0);
}

static void idle(void)
{
	struct hybrid_object *object, *first = NULL;
	char path[32];
	unsigned int i;

	hybrid_objects_init(&objects, elf_file_open, hybrid_x86_abi);
	for (i = 0; i < 200; i++) {
		snprintf(path, sizeof(path), "/lib%u", i);
		object = get(path, NULL, 0, 0);
		if (!i)
			first = object;
		hybrid_object_put(object);
		/* One that is used again and again is kept. */
		check(get("/lib0", NULL, 0, 0) == first);
		hybrid_object_put(first);
		check(objects.nr <= 65 && objects.nr == objects.nr_idle);
	}
	/* The newest are there, the oldest are not. */
	same(objects.nr, 64);
	object = get("/lib199", NULL, 0, 0);
	same(objects.nr, 64);
	same(objects.nr_idle, 63);
	hybrid_object_put(object);
	check(get("/lib2", NULL, 0, 0));
	same(objects.nr, 65);
	hybrid_objects_exit(&objects);
}

/* What is mapped is never evicted. */
static void mapped_stay(void)
{
	struct hybrid_object *held[100];
	char path[32];
	unsigned int i;

	hybrid_objects_init(&objects, elf_file_open, hybrid_x86_abi);
	for (i = 0; i < 100; i++) {
		snprintf(path, sizeof(path), "/lib%u", i);
		held[i] = get(path, NULL, 0, 0);
	}
	same(objects.nr_idle, 0);
	for (i = 0; i < 100; i++)
		hybrid_object_put(held[i]);
	same(objects.nr, 64);
	hybrid_objects_exit(&objects);
}

static const char *in_dir(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void write_file(const char *path, const void *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	close(fd);
}

static void copy_file(const char *name, const char *path)
{
	static char data[1 << 17];
	int fd = open(elf_file_path(name), O_RDONLY);
	ssize_t size = read(fd, data, sizeof(data));

	close(fd);
	if (check(size > 0))
		write_file(path, data, size);
}

static void map_path(pid_t pid, const char *path, u64 ino)
{
	struct hybrid_mapping mapping = { .end = 1 << 20, .pid = pid };
	struct hybrid_ident ident = { .path = path, .ino = ino };

	same(hybrid_process_map(&ps, &mapping, &ident, true), 0);
}

static const struct hybrid_mapping *mapping_of(pid_t pid)
{
	return hybrid_space_find(hybrid_thread_get(&ps, pid, pid)->process->space, 0);
}

static const struct hybrid_row *row_of(pid_t pid, u64 offset)
{
	return hybrid_object_row(mapping_of(pid), offset);
}

/* Written to in place: new mappings see the new file, old ones what they had. */
static void stale(void)
{
	static const struct timespec times[2] = { { 1000, 0 }, { 1000, 5 } };
	u64 old_at = elf_file_symbol("small.so", "pushed_at");
	u64 new_at = elf_file_symbol("debug.so", "plain_at");
	const struct hybrid_row *row;

	hybrid_processes_init(&ps, elf_file_open);
	copy_file("small.so", in_dir("lib"));
	map_path(1, in_dir("lib"), 3);
	row = row_of(1, old_at);
	check(row && row->rule.cfa_off == 32);
	map_path(2, in_dir("lib"), 3);
	check(mapping_of(1)->object == mapping_of(2)->object);

	copy_file("debug.so", in_dir("lib"));
	check(!utimensat(AT_FDCWD, in_dir("lib"), times, 0));
	map_path(3, in_dir("lib"), 3);
	check(mapping_of(3)->object != mapping_of(1)->object);
	row = row_of(3, new_at);
	check(row && row->rule.cfa_off == 32 && row->start == new_at);
	row = row_of(1, old_at);
	check(row && row->rule.cfa_off == 32);

	/* The old one goes with its last mapping, at once. */
	same(ps.objects.nr, 2);
	hybrid_thread_exit(&ps, 1);
	hybrid_thread_exit(&ps, 2);
	same(ps.objects.nr, 1);
	hybrid_processes_exit(&ps);
	same(ps.objects.nr_rows, 0);
}

static void expect_failure(const char *path, const char *why)
{
	hybrid_processes_init(&ps, elf_file_open);
	map_path(1, path, 1);
	check(!row_of(1, 0x1000));
	same(mapping_of(1)->object->state, HYBRID_OBJECT_FAILED);
	same_text(mapping_of(1)->object->why, why);
	/* A second try at once is none. */
	check(!row_of(1, 0x1000));
	hybrid_processes_exit(&ps);
}

static void failures(void)
{
	static const char text[] = "#!/bin/sh\n";
	static char elf[1 << 17];
	ssize_t size;
	int fd;

	expect_failure(in_dir("nothing"), "the file can't be opened");
	write_file(in_dir("text"), text, sizeof(text));
	expect_failure(in_dir("text"), "not an ELF file");
	write_file(in_dir("empty"), text, 0);
	expect_failure(in_dir("empty"), "not an ELF file");

	fd = open(elf_file_path("small.so"), O_RDONLY);
	size = read(fd, elf, sizeof(elf));
	close(fd);
	if (!check(size > 64))
		return;
	write_file(in_dir("cut"), elf, 60);
	expect_failure(in_dir("cut"), "not an ELF file");
	elf[18] = (char)183;
	write_file(in_dir("arm"), elf, size);
	expect_failure(in_dir("arm"), "an ELF file of another architecture");
	elf[18] = 62;
	elf[56] = 0;
	elf[57] = 0;
	write_file(in_dir("nophdr"), elf, size);
	expect_failure(in_dir("nophdr"), "no executable segment in the program headers");
}

/* What could not be opened for one process may be for the next. */
static void another_try(void)
{
	hybrid_processes_init(&ps, elf_file_open);
	map_path(1, in_dir("late"), 1);
	check(!row_of(1, 0x1000));
	copy_file("small.so", in_dir("late"));
	map_path(2, in_dir("late"), 1);
	check(row_of(2, elf_file_symbol("small.so", "leaf_at")));
	hybrid_processes_exit(&ps);
}

#define NR_LIBS	40

/* One row each of so many files. */
static unsigned int rows_of_libs(u64 at)
{
	const struct hybrid_row *row;
	unsigned int found = 0;
	pid_t pid;

	for (pid = 1; pid <= NR_LIBS; pid++) {
		row = row_of(pid, at);
		found += row && row->rule.kind == HYBRID_RULE_CFA;
	}
	return found;
}

static void map_libs(void)
{
	pid_t pid;

	hybrid_processes_init(&ps, elf_file_open);
	for (pid = 1; pid <= NR_LIBS; pid++)
		map_path(pid, elf_file_path("small.so"), pid);
}

/* What was compiled stays known, and what was not is compiled when it is met. */
static void few_descriptors(void)
{
	u64 leaf = elf_file_symbol("small.so", "leaf_at");
	u64 pushed = elf_file_symbol("small.so", "pushed_at");
	struct rlimit few, limit;
	int next = dup(0);

	close(next);
	map_libs();
	getrlimit(RLIMIT_NOFILE, &limit);
	few = limit;
	few.rlim_cur = next + 12;
	setrlimit(RLIMIT_NOFILE, &few);
	same(rows_of_libs(leaf), NR_LIBS);
	same(rows_of_libs(pushed), NR_LIBS);
	same(rows_of_libs(leaf), NR_LIBS);
	hybrid_processes_exit(&ps);
	setrlimit(RLIMIT_NOFILE, &limit);

	map_libs();
	ps.objects.max_opened = 5;
	same(rows_of_libs(leaf), NR_LIBS);
	same(rows_of_libs(pushed), NR_LIBS);
	same(ps.objects.nr_opened, 5);
	same(mapping_of(1)->object->state, HYBRID_OBJECT_CLOSED);
	hybrid_processes_exit(&ps);
	/* All are given back. */
	same(dup(0), next);
	close(next);
}

/* A file that was written to while it was closed is another. */
static void changed_while_closed(void)
{
	static const struct timespec times[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	u64 at = elf_file_symbol("small.so", "leaf_at");
	const struct hybrid_row *row;

	copy_file("small.so", in_dir("lib"));
	hybrid_processes_init(&ps, elf_file_open);
	map_path(1, in_dir("lib"), 3);
	row = row_of(1, at);
	check(row);
	check(hybrid_objects_close_one(&ps.objects));
	check(!hybrid_objects_close_one(&ps.objects));
	check(!utimensat(AT_FDCWD, in_dir("lib"), times, 0));
	check(row_of(1, at) == row);
	check(!row_of(1, elf_file_symbol("small.so", "pushed_at")));
	map_path(2, in_dir("lib"), 3);
	check(row_of(2, elf_file_symbol("small.so", "pushed_at")));
	check(mapping_of(2)->object != mapping_of(1)->object);
	hybrid_processes_exit(&ps);
}

/* The first row of a file that process @pid maps, which then ends. */
static struct hybrid_object *used_once(pid_t pid, const char *build_id, u64 ino)
{
	struct hybrid_mapping mapping = { .end = 1 << 20, .pid = pid };
	struct hybrid_ident ident = { .path = elf_file_path("small.so"), .ino = ino };
	struct hybrid_object *object;

	if (build_id) {
		ident.build_id_size = strlen(build_id);
		memcpy(ident.build_id, build_id, ident.build_id_size);
	}
	same(hybrid_process_map(&ps, &mapping, &ident, true), 0);
	check(row_of(pid, elf_file_symbol("small.so", "leaf_at")));
	object = mapping_of(pid)->object;
	hybrid_thread_exit(&ps, pid);
	return object;
}

#define BUILD_ID	"01234567890123456789"

/* Nobody knows whether it was: it is read anew, but for one that a build-id names. */
static void mapped_while_closed(void)
{
	u64 pushed_at = elf_file_symbol("small.so", "pushed_at");
	u64 unnamed, named;

	hybrid_processes_init(&ps, elf_file_open);
	unnamed = used_once(1, NULL, 7)->id;
	named = used_once(2, BUILD_ID, 0)->id;
	check(hybrid_objects_close_one(&ps.objects));
	check(hybrid_objects_close_one(&ps.objects));
	check(used_once(3, NULL, 7)->id != unnamed);
	same(used_once(4, BUILD_ID, 0)->id, named);
	/* Who has it mapped keeps it, and what is behind the inode with it. */
	map_path(5, elf_file_path("small.so"), 9);
	check(row_of(5, pushed_at));
	while (hybrid_objects_close_one(&ps.objects))
		;
	map_path(6, elf_file_path("small.so"), 9);
	check(mapping_of(6)->object == mapping_of(5)->object);
	hybrid_processes_exit(&ps);
}

/* What nobody maps is open for a while, and known for longer. */
static void idle_closed(void)
{
	static const u64 long_after = HYBRID_OBJECT_AGE + HYBRID_OBJECT_IDLE;
	struct hybrid_object *object, *loaded;
	int next = dup(0);
	u64 id;

	close(next);
	hybrid_processes_init(&ps, elf_file_open);
	hybrid_objects_age(&ps.objects, HYBRID_OBJECT_AGE);
	object = used_once(1, BUILD_ID, 0);
	used_once(2, NULL, 7);
	loaded = used_once(3, NULL, 8);
	loaded->stored = (void *)loaded;
	same(ps.objects.nr_opened, 3);
	hybrid_objects_age(&ps.objects, long_after - 1);
	same(ps.objects.nr_opened, 3);

	hybrid_objects_age(&ps.objects, long_after - 1 + HYBRID_OBJECT_AGE);
	same(object->state, HYBRID_OBJECT_CLOSED);
	same(object->nr_rows, 1);
	/* Without a build-id it may be another file by now. */
	same(ps.objects.nr, 2);
	same(loaded->state, HYBRID_OBJECT_READY);
	same(ps.objects.nr_opened, 1);
	same(ps.objects.nr_idle, 2);

	/* The next process has it as it was, and it is idle anew. */
	id = object->id;
	check(used_once(4, BUILD_ID, 0) == object && object->id == id);
	same(object->state, HYBRID_OBJECT_CLOSED);
	map_path(5, elf_file_path("small.so"), 9);
	check(row_of(5, elf_file_symbol("small.so", "leaf_at")));
	hybrid_objects_age(&ps.objects, 3 * long_after);
	same(mapping_of(5)->object->state, HYBRID_OBJECT_READY);

	loaded->stored = NULL;
	hybrid_processes_exit(&ps);
	same(dup(0), next);
	close(next);
}

/* What was read of a file for its rows; the next row has it read again. */
static void cfi_forgotten(void)
{
	u64 start = HYBRID_OBJECT_AGE;
	struct hybrid_object *object;

	hybrid_processes_init(&ps, elf_file_open);
	hybrid_objects_age(&ps.objects, start);
	map_path(1, elf_file_path("small.so"), 9);
	check(row_of(1, elf_file_symbol("small.so", "leaf_at")));
	object = mapping_of(1)->object;
	check(object->cfi.eh_frame.tried);
	hybrid_objects_age(&ps.objects, start + HYBRID_OBJECT_CFI - 1);
	check(object->cfi.eh_frame.tried);
	hybrid_objects_age(&ps.objects, start + HYBRID_OBJECT_CFI + HYBRID_OBJECT_AGE);
	check(!object->cfi.eh_frame.tried && !object->cfi.eh_tried);
	same(object->state, HYBRID_OBJECT_READY);
	same(object->nr_rows, 1);
	check(row_of(1, elf_file_symbol("small.so", "pushed_at")));
	same(object->nr_rows, 2);
	check(object->cfi.eh_frame.tried);
	hybrid_processes_exit(&ps);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "object: what is one file", sharing },
		{ "object: unused ones go, oldest first", idle },
		{ "object: used ones stay", mapped_stay },
		{ "object: a file written to in place", stale },
		{ "object: files that can't be read", failures },
		{ "object: more files than descriptors", few_descriptors },
		{ "object: a file written to while it was closed", changed_while_closed },
		{ "object: a file that nobody maps while it is closed", mapped_while_closed },
		{ "object: another try", another_try },
		{ "object: one that nobody maps is closed", idle_closed },
		{ "object: CFI is not kept for long", cfi_forgotten },
	};
	static const char * const files[] = {
		"lib", "text", "empty", "cut", "arm", "nophdr", "late",
	};
	unsigned int i;
	int status;

	if (!mkdtemp(dir))
		return 2;
	status = tap_run(tests, ARRAY_SIZE(tests));
	for (i = 0; i < ARRAY_SIZE(files); i++)
		unlink(in_dir(files[i]));
	rmdir(dir);
	return status;
}
