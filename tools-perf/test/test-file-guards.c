// SPDX-License-Identifier: GPL-2.0
/*
 * Headers of files that contradict each other, and shares that end while a file is read.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <linux/kernel.h>
#include "abi.h"
#include "changed-elf.h"
#include "elf-bounds.h"
#include "rows.h"
#include "section.h"
#include "tap.h"

#define UID	7

static struct hybrid_file_budget budget;
static int file;

static struct hybrid_file_user *user(void)
{
	return hybrid_file_user_get(&budget, UID);
}

static void start(const char *name)
{
	read_image(name);
	hybrid_file_budget_init(&budget);
	budget.clock = tap_stopped_clock;
}

static void write_file(void)
{
	file = memfd_create("test", MFD_CLOEXEC);
	check(write(file, image, size) == size);
}

static struct hybrid_elf_places places_of_file(void)
{
	struct hybrid_elf_places places;

	write_file();
	same(hybrid_elf_places(file, &places), 0);
	close(file);
	return places;
}

/* Program headers of another size are none. */
static void size_of_phdr(void)
{
	int by;

	for (by = -1; by <= 1; by++) {
		start("frames.so");
		check(ehdr()->e_phnum > 0);
		ehdr()->e_phentsize += by;
		same(places_of_file().size[0], by ? 0 : ehdr()->e_phnum * sizeof(Elf64_Phdr));
	}
}

/* The names of sections are in a section that there is, and that has strings. */
static void names(void)
{
	u64 names_size;
	unsigned int i, of;

	start("frames.so");
	of = ehdr()->e_shstrndx;
	names_size = shdr(of)->sh_size;
	check(names_size > 0);
	same(places_of_file().size[2], names_size);
	/* The last section is one, and so many sections are one too few. */
	check(of == ehdr()->e_shnum - 1U);
	ehdr()->e_shnum--;
	same(places_of_file().size[2], 0);
	for (i = 1; i < of; i++) {
		start("frames.so");
		ehdr()->e_shstrndx = i;
		same(places_of_file().size[2],
		     shdr(i)->sh_type == SHT_STRTAB ? shdr(i)->sh_size : 0);
	}
}

/* Section 0 is none, whatever it says: a section that is not there has no data. */
static void no_section(void)
{
	struct hybrid_section sec;
	unsigned int index;
	Elf *elf;

	start("frames.so");
	index = section(".eh_frame");
	check(index);
	elf = elf_memory((char *)image, size);
	check(hybrid_section_open(&sec, elf, ".eh_frame"));
	elf_end(elf);
	*shdr(0) = *shdr(index);
	shdr(0)->sh_name = 0;
	shdr(index)->sh_name = 0;
	elf = elf_memory((char *)image, size);
	check(!hybrid_section_open(&sec, elf, ".eh_frame"));
	elf_end(elf);
	check(!hybrid_section_open(&sec, NULL, ".eh_frame"));
}

/* A share that is enough for the ELF header alone, where section 0 has the number of the others. */
static void first_section(void)
{
	const u64 most = hybrid_file_limits[HYBRID_FILE_READ].user;
	u64 room = sizeof(Elf64_Ehdr) + sizeof(Elf64_Shdr);
	unsigned int missing;
	Elf *elf;

	for (missing = 0; missing <= 1; missing++) {
		start("frames.so");
		ehdr()->e_shnum = 0;
		ehdr()->e_phnum = 0;
		shdr(0)->sh_size = 0;
		write_file();
		check(hybrid_file_take(user(), HYBRID_FILE_READ, most - room + missing));
		errno = 0;
		elf = hybrid_elf_begin(file, user());
		same(!elf, missing);
		check(!missing || errno == EDQUOT);
		hybrid_elf_end(elf);
		close(file);
	}
}

/* A section that is unpacked takes memory of the share before it does. */
static void unpacked(void)
{
	const u64 most = hybrid_file_limits[HYBRID_FILE_MEMORY].user;
	u64 left = 64 << 10;
	unsigned int beyond;
	Elf64_Chdr *chdr;
	size_t index;
	Elf *elf, *part;

	for (beyond = 0; beyond <= 1; beyond++) {
		start("debug.so");
		index = section(".debug_frame");
		check(index);
		shdr(index)->sh_flags |= SHF_COMPRESSED;
		chdr = (Elf64_Chdr *)(image + shdr(index)->sh_offset);
		*chdr = (Elf64_Chdr) {
			.ch_type = ELFCOMPRESS_ZLIB, .ch_size = beyond ? left : 64,
		};
		write_file();
		elf = hybrid_elf_begin(file, user());
		check(elf);
		check(hybrid_file_take(user(), HYBRID_FILE_MEMORY,
				       most - left - user()->used[HYBRID_FILE_MEMORY]));
		errno = 0;
		part = hybrid_elf_part(file, user(), elf, &index, 1);
		/* What is not beyond the share is no packed data. */
		check(!part);
		same(errno, beyond ? EDQUOT : ENOEXEC);
		hybrid_elf_end(part);
		hybrid_elf_end(elf);
		close(file);
	}
}

static struct hybrid_file_user *user_of(const struct hybrid_mapping *mapping __maybe_unused)
{
	return user();
}

static int open_file(const struct hybrid_mapping *mapping __maybe_unused)
{
	return fcntl(file, F_DUPFD_CLOEXEC, 0);
}

static struct hybrid_objects objects;

static void start_objects(void)
{
	start("frames.so");
	hybrid_objects_init(&objects, open_file, hybrid_x86_abi);
	objects.budget = &budget;
	objects.user_of = user_of;
	write_file();
}

static struct hybrid_mapping map(const char *path)
{
	const struct hybrid_ident ident = { .path = path };

	return (struct hybrid_mapping) {
		.start = 1 << 20, .end = 2 << 20, .object = hybrid_object_get(&objects, &ident),
	};
}

/* What is read of an open file when the share is used up: it counts as refused from then on. */
static void refused(void)
{
	const u64 most = hybrid_file_limits[HYBRID_FILE_READ].user;
	struct hybrid_mapping mapping;
	u8 byte;

	start_objects();
	mapping = map("/file");
	check(hybrid_object_use(&mapping));
	check(hybrid_object_section(mapping.object, section(".eh_frame")));
	check(hybrid_file_take(user(), HYBRID_FILE_READ,
			       most - 1 - user()->used[HYBRID_FILE_READ]));
	same(hybrid_object_read(mapping.object, &byte, 1, 0), 1);
	check(!hybrid_object_is_refused(mapping.object));
	same(hybrid_object_read(mapping.object, &byte, 1, 0), -1);
	check(hybrid_object_is_refused(mapping.object));
	hybrid_object_put(mapping.object);
	hybrid_objects_exit(&objects);
	close(file);
}

/* The memory of other objects of the same user makes room, once, and nobody else's does. */
static void makes_room(void)
{
	const u64 ip = (1 << 20) + elf_file_symbol("frames.so", "leaf_at");
	struct hybrid_mapping a, b;

	start_objects();
	a = map("/a");
	b = map("/b");
	check(hybrid_object_row(&a, ip) && hybrid_object_use(&b));
	check(hybrid_cfi_is_read(&a.object->cfi) && !hybrid_cfi_is_read(&b.object->cfi));
	check(!hybrid_objects_make_room(a.object));
	b.object->user = hybrid_file_user_get(&budget, UID + 1);
	check(!hybrid_objects_make_room(b.object));
	check(hybrid_cfi_is_read(&a.object->cfi));
	b.object->user = user();
	check(hybrid_objects_make_room(b.object));
	check(!hybrid_cfi_is_read(&a.object->cfi));
	check(!hybrid_objects_make_room(b.object));
	hybrid_object_put(a.object);
	hybrid_object_put(b.object);
	hybrid_objects_exit(&objects);
	close(file);
}

/* Samples wait for a file that perf is opening, until perf has looked for .debug_frame, too. */
static void waits(void)
{
	static const struct {
		enum hybrid_object_state	state;
		bool				debug_tried, is_asked, waits;
	} cases[] = {
		{ HYBRID_OBJECT_NEW, false, true, true }, { HYBRID_OBJECT_NEW, true, true, true },
		{ HYBRID_OBJECT_NEW, false, false, false },
		{ HYBRID_OBJECT_READY, false, true, true },
		{ HYBRID_OBJECT_READY, true, true, false },
		{ HYBRID_OBJECT_READY, false, false, false },
		{ HYBRID_OBJECT_CLOSED, false, true, false },
		{ HYBRID_OBJECT_CLOSED, true, true, false },
		{ HYBRID_OBJECT_FAILED, false, true, false },
		{ HYBRID_OBJECT_FAILED, true, true, false },
	};
	struct hybrid_object object;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		memset(&object, 0, sizeof(object));
		object.is_settled = true;
		object.state = cases[i].state;
		object.debug_tried = cases[i].debug_tried;
		if (cases[i].is_asked)
			object.load = (void *)&object;
		if (!same(hybrid_object_waits(&object), cases[i].waits))
			printf("# case %u\n", i);
		object.is_left_out = true;
		check(hybrid_object_waits(&object));
	}
	check(!hybrid_object_waits(NULL));
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "file guards: program headers of another size", size_of_phdr },
		{ "file guards: where the names of sections are", names },
		{ "file guards: a section that is not there", no_section },
		{ "file guards: section 0 can't be read", first_section },
		{ "file guards: a section that is unpacked", unpacked },
		{ "file guards: a file that is refused later", refused },
		{ "file guards: memory of other files", makes_room },
		{ "file guards: what samples wait for", waits },
	};

	elf_version(EV_CURRENT);
	return tap_run(tests, ARRAY_SIZE(tests));
}
