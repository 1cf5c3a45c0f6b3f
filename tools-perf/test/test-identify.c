// SPDX-License-Identifier: GPL-2.0
/*
 * Files that have one build-id, and what tells them apart.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>
#include "files-world.h"
#include "identify.h"
#include "short-memory.h"
#include "tap.h"

static void others(void)
{
	files_start(true);
	files_copy("debug.so", "b");
	files_map(1, "b");
	files_map(2, "a");
	check(!files_row(1));
	check(files_row(2));
	check(files_settled(1) != files_settled(2));
	check(!files_row(1));
	check(files_row(2));
	hybrid_processes_exit(&files.ps);
	same(files.ps.objects.nr, 0);
}

static void write_at(const char *name, const void *bytes, size_t size, u64 offset)
{
	int fd = open(files_path(name), O_WRONLY);

	check(fd >= 0 && pwrite(fd, bytes, size, offset) == (ssize_t)size);
	close(fd);
}

/*
 * once() calls leaf(). In mallory's file, of the same build-id, there are nops in place of
 * the call, or it calls itself. What is known of his, and his code, are not alice's.
 */
static void calls(void)
{
	static const u8 no_call[] = { 0x90, 0x90, 0x90, 0x90, 0x90 };
	u64 ret = elf_file_symbol("small.so", "once_ret");
	u64 leaf = elf_file_symbol("small.so", "leaf_at");
	u8 call[] = { 0xe8, 0, 0, 0, 0 };
	s32 to_itself = elf_file_symbol("small.so", "once_at") - ret;
	u64 offset = ret - sizeof(call);
	const struct hybrid_mapping *alice, *mallory;
	unsigned int i;

	memcpy(call + 1, &to_itself, sizeof(to_itself));
	for (i = 0; i < 2; i++) {
		files_start(true);
		files_copy("small.so", "b");
		write_at("b", i ? call : no_call, sizeof(call), offset);
		files_map(1, "b");
		files_map(2, "a");
		check(files_row(1) && files_row(2));
		mallory = files_mapping(1);
		alice = files_mapping(2);
		same(hybrid_object_is_return(mallory, ret), i);
		check(hybrid_object_leads(mallory, ret, mallory, leaf) != HYBRID_REACH_THERE);
		check(hybrid_object_is_return(alice, ret));
		same(hybrid_object_leads(alice, ret, alice, leaf), HYBRID_REACH_THERE);
		hybrid_processes_exit(&files.ps);
	}
}

/* What is no ELF file is no other file's, either. */
static void no_elf(void)
{
	files_start(true);
	files_copy("small.so", "b");
	write_at("b", "none", 4, 0);
	files_map(1, "b");
	check(!files_row(1));
	same(files_mapping(1)->object->state, HYBRID_OBJECT_FAILED);
	check(files_mapping(1)->object->is_settled && !files_mapping(1)->object->same);
	hybrid_processes_exit(&files.ps);
}

/* Written to in place, all that is mapped of it shows what is new. */
static void written(void)
{
	struct hybrid_object *before;

	files_start(true);
	files_map(1, "a");
	check(files_row(1));
	before = files_settled(1);
	files_copy("debug.so", "a");
	files_row_at(1, elf_file_symbol("small.so", "leaf_at"));
	check(files_settled(1) != before);
	check(!files_row(1));
	files_map(2, "a");
	check(files_settled(2) == files_settled(1));
	hybrid_processes_exit(&files.ps);
}

/* A process that is gone: what it had mapped is nobody else's. */
static void hidden(void)
{
	files_start(true);
	files.is_hidden = true;
	files_map(1, "a");
	files_map(2, "a");
	check(files_row(1) && files_row(2));
	check(files_mapping(1)->object != files_mapping(2)->object);
	files.is_hidden = false;
	files_map(3, "a");
	check(files_mapping(3)->object != files_mapping(1)->object);
	hybrid_thread_exit(&files.ps, 1);
	hybrid_thread_exit(&files.ps, 2);
	hybrid_objects_age(&files.ps.objects, HYBRID_OBJECT_AGE);
	hybrid_objects_age(&files.ps.objects, 2 * HYBRID_OBJECT_AGE + HYBRID_OBJECT_IDLE);
	same(files.ps.objects.nr_idle, 0);
	hybrid_processes_exit(&files.ps);
	same(files.ps.objects.nr, 0);
}

/* It files.changes between the look at it and the opening: the next sample looks anew. */
static void changed_before_opening(void)
{
	files_start(true);
	files_map(1, "a");
	files.changes = true;
	check(!files_row(1));
	check(files_row(1));
	check(files_settled(1)->state == HYBRID_OBJECT_READY);
	hybrid_processes_exit(&files.ps);
}

/* What is mapped at the place by now is another library, known or not. */
static void mapped_anew(void)
{
	pid_t pid;

	files_start(true);
	files_copy("debug.so", "b");
	files.is_elsewhere = true;
	for (pid = 1; pid < 4; pid++) {
		files_map(pid, "a");
		files_row(pid);
		check(files_row(pid));
		same_text(files_mapping(pid)->object->ident.path, files_path("a"));
		check(files_settled(pid) == files_settled(1));
		if (pid != 1)
			continue;
		files_map_build_id(9, "b", "98765432109876543210");
		files_row_at(9, files.at);
	}
	same(files.ps.objects.nr_idle, 1);
	hybrid_processes_exit(&files.ps);
}

/* With another build-id, or none, it is another: which one the record says was verified. */
static void other_build_ids(void)
{
	files_start(true);
	files_map(1, "a");
	files_map_build_id(2, "a", "98765432109876543210");
	files_map_build_id(3, "a", "");
	check(files_row(1) && files_row(2) && files_row(3));
	check(files_settled(1) != files_settled(2));
	check(files_settled(1) != files_settled(3));
	check(files_settled(2) != files_settled(3));
	hybrid_processes_exit(&files.ps);
}

/* Mappings that nobody was seen in are not identified, and cost no more than one object. */
static void unused(void)
{
	pid_t pid;

	files_start(true);
	for (pid = 1; pid < 100; pid++)
		files_map(pid, "a");
	same(files.ps.objects.nr, 1);
	check(files_row(1));
	same(files.ps.objects.nr, 2);
	check(files_mapping(2)->record && files_mapping(2)->object == files_mapping(1)->object);
	for (pid = 1; pid < 100; pid++)
		hybrid_thread_exit(&files.ps, pid);
	hybrid_processes_exit(&files.ps);
	same(files.ps.objects.nr, 0);
}

/* If memory is short, the mapping keeps its object, and is identified by a later sample. */
static void short_memory(void)
{
	struct hybrid_mapping *mapping;
	struct hybrid_object *before;
	unsigned int hidden;

	for (hidden = 0; hidden <= 1; hidden++) {
		files_start(true);
		files_map(1, "a");
		files.is_hidden = hidden;
		/* hybrid_space_find() would identify it. */
		mapping = hybrid_thread_get(&files.ps, 1, 1)->process->space->mappings;
		before = mapping->object;
		short_memory_begin(0);
		check(!hybrid_identify(mapping));
		check(short_memory_end());
		check(mapping->object == before && !mapping->record);
		check(files_row(1) && mapping->record);
		hybrid_processes_exit(&files.ps);
	}
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "identify: two files of one build-id", others },
		{ "identify: calls in two files of one build-id", calls },
		{ "identify: what is no ELF file", no_elf },
		{ "identify: a file that is written to while it is mapped", written },
		{ "identify: a file that can't be identified", hidden },
		{ "identify: changed before it is opened", changed_before_opening },
		{ "identify: another file is mapped there", mapped_anew },
		{ "identify: other build-ids", other_build_ids },
		{ "identify: mappings that are not used", unused },
		{ "identify: memory is short", short_memory },
	};

	return files_run(tests, ARRAY_SIZE(tests));
}
