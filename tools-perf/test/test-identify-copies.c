// SPDX-License-Identifier: GPL-2.0
/*
 * Files that hold the same: when the rows of one serve the others.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "await.h"
#include "file-copy.h"
#include "files-world.h"
#include "tap.h"

/* mallory has a copy of alice's program, and a debug file beside it. She has none. */
static void map_debug_files(bool open)
{
	files_start(open);
	check(!mkdir(files_path("mallory"), 0700));
	files_copy("debug-split.so", "mallory/b");
	files_copy("debug-split.debug", "mallory/debug-split.debug");
	files_copy("debug-split.so", "a");
	files.at = elf_file_symbol("debug.so", "plain_at");
	files_map(1, "mallory/b");
	files_map(2, "a");
}

static void remove_debug_files(void)
{
	hybrid_processes_exit(&files.ps);
	unlink(files_path("mallory/b"));
	unlink(files_path("mallory/debug-split.debug"));
	rmdir(files_path("mallory"));
}

static void debug_files(void)
{
	map_debug_files(true);
	check(files_row(1));
	check(files_row_at(2, files.at) && !files_row(2));
	check(files_settled(1) != files_settled(2));
	check(files_row(1) && !files_row(2));
	remove_debug_files();
}

/* What stands beside one of them was not compared: it is not looked for afterwards. */
static void late_debug_files(void)
{
	map_debug_files(false);
	check(hybrid_object_use(files_mapping(1)));
	check(files_settled(1) == files_settled(2));
	check(!files_row(1) && !files_row(2));
	remove_debug_files();
}

/* One process after the other has a file that it shares with none, as containers do. */
static void copies(void)
{
	const struct hybrid_row *row = NULL;
	struct hybrid_object *shared = NULL;
	unsigned int nr;
	pid_t pid;

	files_start(true);
	files_map(1, "a");
	check(files_row(1) && !files_settled(1)->is_copy);
	for (pid = 2; pid < 6; pid++) {
		files_copy("small.so", "b");
		files_map(pid, "b");
		check(files_row(pid));
		if (!shared) {
			shared = files_settled(pid);
			row = files_row(pid);
		}
		check(files_settled(pid) == shared);
		check(files_row(pid) == row);
	}
	check(shared->is_shared && files_settled(1) == shared);
	/* A file that was compared leads there at once. */
	files_map(6, "b");
	check(files_mapping(6)->object == shared);
	/* All rows are compiled once from now on. */
	nr = files.ps.objects.nr_rows;
	for (pid = 1; pid < 7; pid++)
		check(files_row_at(pid, elf_file_symbol("small.so", "leaf_at")));
	same(files.ps.objects.nr_rows, nr + 1);
	for (pid = 1; pid < 7; pid++)
		hybrid_thread_exit(&files.ps, pid);
	/* It is there for the next ones, and goes with its files. */
	same(files.ps.objects.nr, 1 + files.ps.objects.nr_idle);
	hybrid_objects_age(&files.ps.objects, HYBRID_OBJECT_AGE);
	hybrid_objects_age(&files.ps.objects, 2 * HYBRID_OBJECT_AGE + HYBRID_OBJECT_IDLE);
	same(files.ps.objects.nr, files.ps.objects.nr_idle);
	files_map(7, "b");
	check(files_row(7) && !files_settled(7)->is_shared);
	hybrid_processes_exit(&files.ps);
	same(files.ps.objects.nr, 0);
	same(files.ps.objects.nr_rows, 0);
}

/*
 * No row is compiled for the second file, and none once more if the rows of the first one may
 * serve both.
 */
static void rows_of_copies(bool open, unsigned int nr_rows)
{
	static const char * const names[] = { "pushed_at", "leaf_at" };
	unsigned int i;

	files_start(open);
	files_copy("small.so", "b");
	files_map(1, "a");
	files_map(2, "b");
	check(files_row(1));
	for (i = 0; i < ARRAY_SIZE(names); i++)
		check(files_row_at(2, elf_file_symbol("small.so", names[i])));
	check(files_settled(1) == files_settled(2));
	same(files_settled(1)->is_copy, open);
	check(files_row(1) == files_row(2));
	same(files.ps.objects.nr_rows, nr_rows);
	same(hybrid_objects_out_of_use(&files.ps.objects), nr_rows - 2);
	/* The mappings of the one could not open the other. */
	while (hybrid_objects_close_one(&files.ps.objects))
		;
	same(files_settled(1)->state, HYBRID_OBJECT_READY);
	hybrid_processes_exit(&files.ps);
	same(files.ps.objects.nr, 0);
	same(files.ps.objects.nr_rows, 0);
	same(files.ps.objects.nr_opened, 0);
}

static void guarded_copies(void)
{
	rows_of_copies(false, 2);
}

static void open_copies(void)
{
	rows_of_copies(true, 3);
}

/* Files that perf has only copies of, within their user's share. */
static struct hybrid_file_budget budget;
static hybrid_open_fn open_file;
static unsigned int nr_opened;

static int open_copy(const struct hybrid_mapping *mapping)
{
	struct hybrid_object *object = mapping->object;
	int file = open_file(mapping), fd;

	nr_opened++;
	check(file >= 0 && !hybrid_pin_file(&object->hold, file));
	object->hold.copied = true;
	object->is_copy = true;
	object->user = hybrid_file_user_get(&budget, 0);
	object->copied = hybrid_copy_size(file);
	check(hybrid_file_take(object->user, HYBRID_FILE_COPIES, object->copied));
	fd = hybrid_copy(file, object->copied);
	close(file);
	return fd;
}

static struct hybrid_object *object_of(pid_t pid)
{
	const struct hybrid_mapping *mapping = files_mapping(pid);

	return hybrid_object_known(&files.ps.objects, hybrid_mapping_ident(mapping),
				   &mapping->file);
}

/* As soon as it is known to hold the same as another one a file's copy is given back. */
static void one_copy(void)
{
	const u64 *copies = &hybrid_file_user_get(&budget, 0)->used[HYBRID_FILE_COPIES];
	struct hybrid_object *object;
	u64 size;

	files_map(1, "a");
	check(files_row(1));
	size = *copies;
	files_map(2, "b");
	check(files_row(2) && files_settled(2) == files_settled(1));
	object = object_of(2);
	check(object && object != files_mapping(2)->object);
	same(object->state, HYBRID_OBJECT_NEW);
	same(object->fd, -1);
	/* BPF may have to be told of the file itself. */
	check(object->hold.page);
	same(*copies, size);
	files_map(3, "b");
	check(files_row(3) && files_settled(3) == files_settled(1));
	same(nr_opened, 2);
	/* What is known of it goes with its last user. */
	hybrid_thread_exit(&files.ps, 2);
	hybrid_thread_exit(&files.ps, 3);
	hybrid_objects_age(&files.ps.objects, HYBRID_OBJECT_AGE);
	hybrid_objects_age(&files.ps.objects, 2 * HYBRID_OBJECT_AGE + HYBRID_OBJECT_IDLE);
	same(files.ps.objects.nr_idle, 0);
}

static void given_back(void)
{
	hybrid_file_budget_init(&budget);
	files_start(true);
	open_file = files.ps.objects.open;
	files.ps.objects.open = open_copy;
	nr_opened = 0;
	files_copy("small.so", "b");
	one_copy();
	hybrid_processes_exit(&files.ps);
	same(files.ps.objects.nr, 0);
	same(hybrid_file_user_get(&budget, 0)->used[HYBRID_FILE_COPIES], 0);
}

static struct hybrid_comparison *never_start(const struct hybrid_object *a,
					     const struct hybrid_object *b)
{
	return a != b ? (struct hybrid_comparison *)&files.ps : NULL;
}

static int never_result(const struct hybrid_comparison *comparison)
{
	return comparison ? -EINPROGRESS : 0;
}

static void never_end(struct hybrid_comparison *comparison)
{
	check(comparison == (struct hybrid_comparison *)&files.ps);
}

/* A comparison does not end: a file has rows of its own once samples wait no more. */
static void late(void)
{
	static const struct hybrid_compare_ops never = {
		.start = never_start, .result = never_result, .end = never_end,
	};
	struct hybrid_object *object;
	unsigned int i;

	files_start(true);
	files.ps.objects.compare = &never;
	files_copy("small.so", "b");
	files_map(1, "a");
	files_map(2, "b");
	check(files_row(1));
	for (i = 0; i < 3; i++)
		check(!hybrid_object_row(files_mapping(2), files.at));
	object = files_mapping(2)->object;
	check(files.ps.objects.waiting == object && hybrid_object_waits(object));
	hybrid_await_give_up(object);
	check(!hybrid_object_waits(object));
	check(files_row(2) && files_row(2) != files_row(1));
	hybrid_processes_exit(&files.ps);
	same(files.ps.objects.nr, 0);
}

/* The writes that a shared mapping makes don't change the ctime, but for the first. */
static void write_through_mapping(const char *name)
{
	static char *mapped;
	int fd;

	if (!mapped) {
		fd = open(files_path(name), O_RDWR);
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
	int fd = open(files_path(name), O_WRONLY);

	check(fd >= 0 && pwrite(fd, "\1", 1, 9) == 1);
	close(fd);
}

/* One of them is written to, in whatever way: what others have it does not change. */
static void written_after(bool by_mapping)
{
	u64 leaf_at = elf_file_symbol("small.so", "leaf_at");
	const struct hybrid_row *row;

	files_start(true);
	if (by_mapping)
		write_through_mapping("a");
	files_copy("small.so", "b");
	if (by_mapping)
		write_byte("b");
	files_map(1, "a");
	check(files_row(1));
	files_map(2, "b");
	check(files_row(2) && files_settled(2) == files_settled(1));
	if (by_mapping)
		write_through_mapping("a");
	else
		files_copy("debug.so", "a");
	row = files_row_at(2, leaf_at);
	check(row && row->rule.cfa_off == 8 && files_row(2));
	hybrid_processes_exit(&files.ps);
	same(files.ps.objects.nr, 0);
}

static void written_to(void)
{
	written_after(false);
}

static void mapped_and_written_to(void)
{
	written_after(true);
}

/* What was read of it serves the others no more. */
static void guarded_and_written_to(void)
{
	files_start(false);
	files_copy("small.so", "b");
	files_map(1, "a");
	files_map(2, "b");
	check(files_row(1) && files_row(2) && files_settled(2) == files_settled(1));
	files_copy("debug.so", "a");
	files_row_at(2, elf_file_symbol("small.so", "leaf_at"));
	check(files_settled(2) != files_settled(1));
	check(files_row(2) && !files_row(1));
	hybrid_processes_exit(&files.ps);
	same(files.ps.objects.nr, 0);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "copies: a debug file beside one of them", debug_files },
		{ "copies: a debug file beside one, afterwards", late_debug_files },
		{ "copies: files that hold the same", copies },
		{ "copies: rows of copies that nobody else can write to", guarded_copies },
		{ "copies: rows of copies that others can write to", open_copies },
		{ "copies: one copy of files that hold the same", given_back },
		{ "copies: a comparison that does not end", late },
		{ "copies: one of them is written to", written_to },
		{ "copies: one of them is written to through a mapping", mapped_and_written_to },
		{ "copies: one that served both is written to", guarded_and_written_to },
	};

	return files_run(tests, ARRAY_SIZE(tests));
}
