// SPDX-License-Identifier: GPL-2.0
/*
 * Files that have one build-id, and what tells them apart.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "elf-file.h"
#include "file-compare.h"
#include "rows.h"
#include "tap.h"

#define BUILD_ID	"01234567890123456789"

/* Between two changes of a file, so that they have two times: a tick of the kernel is less. */
#define TICK		20000

static struct hybrid_processes ps;
static char dir[64] = "/tmp/hybrid-test-XXXXXX";
static u64 at;
static bool is_hidden, is_elsewhere, changes;
static int last_open;

static const char *in_dir(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void copy_file(const char *name, const char *to)
{
	static char data[1 << 17];
	int from = open(elf_file_path(name), O_RDONLY), fd;
	ssize_t size = read(from, data, sizeof(data));

	close(from);
	usleep(TICK);
	fd = open(in_dir(to), O_WRONLY | O_CREAT | O_TRUNC, 0600);
	check(size > 0 && fd >= 0 && write(fd, data, size) == size);
	close(fd);
	usleep(TICK);
}

/* What any other process may do to a file of its own. */
static void touch(const char *name)
{
	usleep(TICK);
	check(!chmod(in_dir(name), 0600));
}

static int identify(const struct hybrid_mapping *mapping, struct hybrid_file_id *id)
{
	const char *path = is_elsewhere && !mapping->is_moved ? in_dir("b") :
			   hybrid_mapping_ident(mapping)->path;
	int fd = is_hidden ? -1 : open(path, O_PATH | O_CLOEXEC);
	int err = fd < 0 ? -1 : hybrid_file_id_read(fd, id);

	close(fd);
	return err;
}

static int open_file(const struct hybrid_mapping *mapping)
{
	if (changes)
		touch("a");
	changes = false;
	last_open = elf_file_open(mapping);
	if (!mapping->object->file.ino ||
	    hybrid_file_id_is_of(&mapping->object->file, last_open))
		return last_open;
	close(last_open);
	errno = ESTALE;
	return -1;
}

static void start(void)
{
	hybrid_processes_init(&ps, open_file);
	ps.objects.identify = identify;
	ps.objects.compare = &hybrid_file_compare;
	is_hidden = false;
	is_elsewhere = false;
	changes = false;
	copy_file("small.so", "a");
	at = elf_file_symbol("small.so", "pushed_at");
}

static void map_build_id(pid_t pid, const char *name, const char *build_id)
{
	struct hybrid_mapping mapping = { .end = 1 << 20, .pid = pid };
	struct hybrid_ident ident = { .path = in_dir(name) };

	ident.build_id_size = strlen(build_id);
	memcpy(ident.build_id, build_id, ident.build_id_size);
	same(hybrid_process_map(&ps, &mapping, &ident, true), 0);
}

static void map(pid_t pid, const char *name)
{
	map_build_id(pid, name, BUILD_ID);
}

static const struct hybrid_mapping *mapping_of(pid_t pid)
{
	return hybrid_space_find(hybrid_thread_get(&ps, pid, pid)->process->space, 0);
}

static const struct hybrid_row *row_of(pid_t pid)
{
	const struct hybrid_row *row = hybrid_object_row(mapping_of(pid), at);

	return row && row->rule.kind == HYBRID_RULE_CFA && row->rule.cfa_off == 32 ? row : NULL;
}

/* The object, once it is known whether another one's rows serve the mapping. */
static struct hybrid_object *settled(pid_t pid)
{
	while (!mapping_of(pid)->object->is_settled) {
		row_of(pid);
		usleep(1000);
	}
	return mapping_of(pid)->object;
}

static void others(void)
{
	start();
	copy_file("debug.so", "b");
	map(1, "b");
	map(2, "a");
	check(!row_of(1));
	check(row_of(2));
	check(settled(1) != settled(2));
	check(!row_of(1));
	check(row_of(2));
	hybrid_processes_exit(&ps);
	same(ps.objects.nr, 0);
}

static void write_at(const char *name, const void *bytes, size_t size, u64 offset)
{
	int fd = open(in_dir(name), O_WRONLY);

	check(fd >= 0 && pwrite(fd, bytes, size, offset) == (ssize_t)size);
	close(fd);
}

/*
 * pushed() calls leaf(). In mallory's file, of the same build-id, there are nops in place of
 * the call, or it calls itself. What is known of his, and his code, are not alice's.
 */
static void calls(void)
{
	static const u8 no_call[] = { 0x90, 0x90, 0x90, 0x90, 0x90 };
	u64 ret = elf_file_symbol("small.so", "pushed_ret");
	u64 leaf = elf_file_symbol("small.so", "leaf_at");
	u8 call[] = { 0xe8, 0, 0, 0, 0 };
	s32 to_itself = elf_file_symbol("small.so", "pushed_at") - ret;
	u64 offset = ret - sizeof(call);
	const struct hybrid_mapping *alice, *mallory;
	unsigned int i;

	memcpy(call + 1, &to_itself, sizeof(to_itself));
	for (i = 0; i < 2; i++) {
		start();
		copy_file("small.so", "b");
		write_at("b", i ? call : no_call, sizeof(call), offset);
		map(1, "b");
		map(2, "a");
		check(row_of(1) && row_of(2));
		mallory = mapping_of(1);
		alice = mapping_of(2);
		same(hybrid_object_is_return(mallory, ret), i);
		check(hybrid_object_leads(mallory, ret, mallory, leaf) != HYBRID_REACH_THERE);
		check(hybrid_object_is_return(alice, ret));
		same(hybrid_object_leads(alice, ret, alice, leaf), HYBRID_REACH_THERE);
		hybrid_processes_exit(&ps);
	}
}

/* mallory has a copy of alice's program, and a debug file beside it. She has none. */
static void debug_files(void)
{
	start();
	check(!mkdir(in_dir("mallory"), 0700));
	copy_file("debug-split.so", "mallory/b");
	copy_file("debug-split.debug", "mallory/debug-split.debug");
	copy_file("debug-split.so", "a");
	at = elf_file_symbol("debug.so", "plain_at");
	map(1, "mallory/b");
	map(2, "a");
	check(row_of(1));
	check(hybrid_object_row(mapping_of(2), at) && !row_of(2));
	check(settled(1) != settled(2));
	check(row_of(1) && !row_of(2));
	hybrid_processes_exit(&ps);
	unlink(in_dir("mallory/b"));
	unlink(in_dir("mallory/debug-split.debug"));
	rmdir(in_dir("mallory"));
}

/* One process after the other has a file that it shares with none, as containers do. */
static void copies(void)
{
	const struct hybrid_row *row = NULL;
	struct hybrid_object *shared = NULL;
	unsigned int nr;
	pid_t pid;

	start();
	map(1, "a");
	check(row_of(1) && !settled(1)->is_copy);
	for (pid = 2; pid < 6; pid++) {
		copy_file("small.so", "b");
		map(pid, "b");
		check(row_of(pid));
		if (!shared) {
			shared = settled(pid);
			row = row_of(pid);
		}
		check(settled(pid) == shared);
		check(row_of(pid) == row);
	}
	check(shared->is_shared && settled(1) == shared);
	/* A file that was compared leads there at once. */
	map(6, "b");
	check(mapping_of(6)->object == shared);
	/* All rows are compiled once from now on. */
	nr = ps.objects.nr_rows;
	for (pid = 1; pid < 7; pid++)
		check(hybrid_object_row(mapping_of(pid), elf_file_symbol("small.so", "leaf_at")));
	same(ps.objects.nr_rows, nr + 1);
	for (pid = 1; pid < 7; pid++)
		hybrid_thread_exit(&ps, pid);
	/* It is there for the next ones, and goes with its files. */
	same(ps.objects.nr, 1 + ps.objects.nr_idle);
	hybrid_objects_age(&ps.objects, HYBRID_OBJECT_AGE);
	hybrid_objects_age(&ps.objects, 2 * HYBRID_OBJECT_AGE + HYBRID_OBJECT_IDLE);
	same(ps.objects.nr, ps.objects.nr_idle);
	map(7, "b");
	check(row_of(7) && !settled(7)->is_shared);
	hybrid_processes_exit(&ps);
	same(ps.objects.nr, 0);
	same(ps.objects.nr_rows, 0);
}

/* The writes that a shared mapping makes don't change the ctime, but for the first. */
static void write_through_mapping(const char *name)
{
	static char *mapped;
	int fd;

	if (!mapped) {
		fd = open(in_dir(name), O_RDWR);
		mapped = mmap(NULL, 1 << 12, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		close(fd);
		if (!check(mapped != MAP_FAILED))
			exit(2);
		mapped[9] = 1;
	} else {
		memset(mapped, 0, 1 << 12);
		munmap(mapped, 1 << 12);
		mapped = NULL;
	}
}

/* The same padding byte of the ELF header as in the file that is mapped. */
static void write_byte(const char *name)
{
	int fd = open(in_dir(name), O_WRONLY);

	check(fd >= 0 && pwrite(fd, "\1", 1, 9) == 1);
	close(fd);
}

/* One of them is written to, in whatever way: what others have it does not change. */
static void written_after(bool by_mapping)
{
	u64 leaf_at = elf_file_symbol("small.so", "leaf_at");
	const struct hybrid_row *row;

	start();
	if (by_mapping)
		write_through_mapping("a");
	copy_file("small.so", "b");
	if (by_mapping)
		write_byte("b");
	map(1, "a");
	check(row_of(1));
	map(2, "b");
	check(row_of(2) && settled(2) == settled(1));
	if (by_mapping)
		write_through_mapping("a");
	else
		copy_file("debug.so", "a");
	row = hybrid_object_row(mapping_of(2), leaf_at);
	check(row && row->rule.cfa_off == 8 && row_of(2));
	hybrid_processes_exit(&ps);
	same(ps.objects.nr, 0);
}

static void written_to(void)
{
	written_after(false);
}

static void mapped_and_written_to(void)
{
	written_after(true);
}

/* Written to in place, all that is mapped of it shows what is new. */
static void written(void)
{
	struct hybrid_object *before;

	start();
	map(1, "a");
	check(row_of(1));
	before = settled(1);
	copy_file("debug.so", "a");
	hybrid_object_row(mapping_of(1), elf_file_symbol("small.so", "leaf_at"));
	check(settled(1) != before);
	check(!row_of(1));
	map(2, "a");
	check(settled(2) == settled(1));
	hybrid_processes_exit(&ps);
}

/* A process that is gone: what it had mapped is nobody else's. */
static void hidden(void)
{
	start();
	is_hidden = true;
	map(1, "a");
	map(2, "a");
	check(row_of(1) && row_of(2));
	check(mapping_of(1)->object != mapping_of(2)->object);
	is_hidden = false;
	map(3, "a");
	check(mapping_of(3)->object != mapping_of(1)->object);
	hybrid_thread_exit(&ps, 1);
	hybrid_thread_exit(&ps, 2);
	hybrid_objects_age(&ps.objects, HYBRID_OBJECT_AGE);
	hybrid_objects_age(&ps.objects, 2 * HYBRID_OBJECT_AGE + HYBRID_OBJECT_IDLE);
	same(ps.objects.nr_idle, 0);
	hybrid_processes_exit(&ps);
	same(ps.objects.nr, 0);
}

/* It changes between the look at it and the opening: the next sample looks anew. */
static void changed_before_opening(void)
{
	start();
	map(1, "a");
	changes = true;
	check(!row_of(1));
	check(row_of(1));
	check(settled(1)->state == HYBRID_OBJECT_READY);
	hybrid_processes_exit(&ps);
}

/* What is mapped at the place by now is another library, known or not. */
static void mapped_anew(void)
{
	pid_t pid;

	start();
	copy_file("debug.so", "b");
	is_elsewhere = true;
	for (pid = 1; pid < 4; pid++) {
		map(pid, "a");
		row_of(pid);
		check(row_of(pid) && !strcmp(mapping_of(pid)->object->ident.path, in_dir("a")));
		check(settled(pid) == settled(1));
		if (pid != 1)
			continue;
		map_build_id(9, "b", "98765432109876543210");
		hybrid_object_row(mapping_of(9), at);
	}
	same(ps.objects.nr_idle, 1);
	hybrid_processes_exit(&ps);
}

/* With another build-id, or none, it is another: which one the record says was verified. */
static void other_build_ids(void)
{
	start();
	map(1, "a");
	map_build_id(2, "a", "98765432109876543210");
	map_build_id(3, "a", "");
	check(row_of(1) && row_of(2) && row_of(3));
	check(settled(1) != settled(2));
	check(settled(1) != settled(3));
	check(settled(2) != settled(3));
	hybrid_processes_exit(&ps);
}

/* Mappings that nobody was seen in are not identified, and cost no more than one object. */
static void unused(void)
{
	pid_t pid;

	start();
	for (pid = 1; pid < 100; pid++)
		map(pid, "a");
	same(ps.objects.nr, 1);
	check(row_of(1));
	same(ps.objects.nr, 2);
	check(mapping_of(2)->record && mapping_of(2)->object == mapping_of(1)->object);
	for (pid = 1; pid < 100; pid++)
		hybrid_thread_exit(&ps, pid);
	hybrid_processes_exit(&ps);
	same(ps.objects.nr, 0);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "identify: two files of one build-id", others },
		{ "identify: calls in two files of one build-id", calls },
		{ "identify: a debug file beside one of them", debug_files },
		{ "identify: files that hold the same", copies },
		{ "identify: one of them is written to", written_to },
		{ "identify: one of them is written to through a mapping", mapped_and_written_to },
		{ "identify: a file that is written to while it is mapped", written },
		{ "identify: a file that can't be identified", hidden },
		{ "identify: changed before it is opened", changed_before_opening },
		{ "identify: another file is mapped there", mapped_anew },
		{ "identify: other build-ids", other_build_ids },
		{ "identify: mappings that are not used", unused },
	};
	int status;

	if (!mkdtemp(dir))
		return 2;
	status = tap_run(tests, ARRAY_SIZE(tests));
	unlink(in_dir("a"));
	unlink(in_dir("b"));
	rmdir(dir);
	return status;
}
