// SPDX-License-Identifier: GPL-2.0
/*
 * Build-ids in notes, and debug files that are found by them.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include "abi.h"
#include "build-id-note.h"
#include "debug-file.h"
#include "debug-frame.h"
#include "elf-file.h"
#include "elf-made.h"
#include "rows.h"
#include "tap.h"

/* Bytes of a segment of notes that are read, and such segments that are looked at. */
#define MAX_NOTES	0x10000
#define MAX_SEGMENTS	16

/* Notes, one after the other. */
static u8 notes[MAX_NOTES + 256];
static size_t size;

static void add_note(const char *name, u32 type, u32 desc, u32 align)
{
	const Elf64_Nhdr note = { strlen(name) + 1, desc, type };
	u32 i;

	memcpy(notes + size, &note, sizeof(note));
	memcpy(notes + size + sizeof(note), name, note.n_namesz);
	size += (sizeof(note) + note.n_namesz + align - 1) & ~(align - 1);
	for (i = 0; i < desc; i++)
		notes[size + i] = i + 1;
	size += (desc + align - 1) & ~(align - 1);
}

static void begin(void)
{
	memset(notes, 0, sizeof(notes));
	size = 0;
}

static void same_id(const struct hybrid_build_id *id, bool found, u32 expected)
{
	u32 i;

	same(found, !!expected);
	same(id->size, expected);
	for (i = 0; i < id->size; i++)
		same(id->bytes[i], i + 1);
}

/* The size of the build-id in the last of @nr segments, and in a section. */
static void check_segments(u32 align, unsigned int nr, u32 in_segment, u32 in_section)
{
	static const u8 empty[16];
	struct hybrid_build_id id;
	struct elf_made made;
	unsigned int i, index;
	Elf *elf;
	int fd;

	elf_made_begin(&made);
	elf_made_section(&made, ".empty", (Elf64_Shdr) { .sh_type = SHT_NOTE }, empty,
			 sizeof(empty));
	index = elf_made_section(&made, ".note.gnu.build-id",
				 (Elf64_Shdr) { .sh_type = SHT_NOTE, .sh_addralign = align },
				 notes, size);
	for (i = 1; i <= nr; i++) {
		made.segments[made.nr_segments++] = (Elf64_Phdr) {
			.p_type = PT_NOTE, .p_align = align,
			.p_offset = made.sections[i == nr ? index : 1].sh_offset,
			.p_filesz = i == nr ? size : sizeof(empty),
		};
	}
	fd = elf_made_file(&made);
	elf = hybrid_elf_begin(fd, NULL);
	same_id(&id, hybrid_build_id_read(fd, NULL, elf, &id), in_segment);
	same_id(&id, hybrid_build_id_of_debug(fd, NULL, elf, &id), in_section);
	hybrid_elf_end(elf);
	close(fd);
}

static void check_notes(u32 align, u32 expected)
{
	check_segments(align, 1, expected, expected);
}

static void sizes(void)
{
	u32 desc, align, cut;

	for (align = 4; align <= 8; align += 4)
		for (desc = 0; desc <= HYBRID_BUILD_ID_SIZE + 4; desc++) {
			begin();
			add_note("GNU", NT_GNU_BUILD_ID, desc, align);
			check_notes(align, desc <= HYBRID_BUILD_ID_SIZE ? desc : 0);
		}
	/* What is cut off. */
	for (cut = 1; cut <= 36; cut++) {
		begin();
		add_note("GNU", NT_GNU_BUILD_ID, 20, 4);
		size -= cut;
		if (size)
			check_notes(4, 0);
	}
}

static void others(void)
{
	static const struct {
		const char	*name;
		u32		type, desc;
		bool		is_id;
	} cases[] = {
		{ "GNU", NT_GNU_BUILD_ID, 8, true }, { "GNU", NT_GNU_ABI_TAG, 16, false },
		{ "GNV", NT_GNU_BUILD_ID, 20, false }, { "stapsdt", NT_GNU_BUILD_ID, 7, false },
		{ "", NT_GNU_BUILD_ID, 1, false }, { "GN", NT_GNU_BUILD_ID, 5, false },
		{ "GNUX", NT_GNU_BUILD_ID, 3, false },
	};
	u32 align, size;
	unsigned int i;

	for (align = 4; align <= 8; align += 4)
		for (i = 0; i < ARRAY_SIZE(cases); i++) {
			begin();
			add_note(cases[i].name, cases[i].type, cases[i].desc, align);
			size = cases[i].is_id * cases[i].desc;
			check_notes(align, size);
			/* One that is none goes before. */
			add_note("GNU", NT_GNU_BUILD_ID, 20, align);
			check_notes(align, size ?: 20);
		}
}

static void bounds(void)
{
	u32 more;

	/* The last note that is read, and the first that is not. */
	for (more = 0; more <= 4; more += 4) {
		begin();
		add_note("other", 1, MAX_NOTES - 20 - 36 + more, 4);
		add_note("GNU", NT_GNU_BUILD_ID, 20, 4);
		same(size, MAX_NOTES + more);
		check_notes(4, more ? 0 : 20);
	}
	begin();
	add_note("GNU", NT_GNU_BUILD_ID, 20, 4);
	check_segments(4, MAX_SEGMENTS, 20, 20);
	check_segments(4, MAX_SEGMENTS + 1, 0, 20);
}

static struct hybrid_objects objects;

/* What debug files are found: by their build-id, in their directory. */
static const char *by_id, *fetched;
static int answer;
static unsigned int nr_fetched, nr_paths;

#define DEBUG_PATH "/usr/lib/debug/.build-id/01/02030405060708090a0b0c0d0e0f1011121314.debug"

static int open_path(struct hybrid_objects *of, const char *path)
{
	check(of == &objects);
	nr_paths++;
	if (!by_id || strcmp(path, DEBUG_PATH))
		return -1;
	return open(elf_file_path(by_id), O_RDONLY | O_CLOEXEC);
}

static int fetch(struct hybrid_object *object, const u8 *build_id, size_t length)
{
	check(object->objects == &objects);
	same(length, 20);
	same(build_id[19], 0x14);
	nr_fetched++;
	return fetched ? open(elf_file_path(fetched), O_RDONLY | O_CLOEXEC) : answer;
}

/* What is found for a file: a descriptor, closed, or none. */
static int find(const char *name)
{
	struct hybrid_ident ident = { .path = elf_file_path(name) };
	struct hybrid_object *object = hybrid_object_get(&objects, &ident);
	int fd = -1;

	nr_fetched = 0;
	if (check(!hybrid_object_open(object, open(ident.path, O_RDONLY | O_CLOEXEC))))
		fd = hybrid_debug_file_open(object);
	object->is_old = true;
	hybrid_object_put(object);
	if (fd >= 0)
		close(fd);
	return fd >= 0 ? 0 : fd;
}

/* Code without CFI has a row if no debug file is awaited. */
static void awaited(bool is_awaited)
{
	struct hybrid_ident ident = { .path = elf_file_path("debug-id-bare.so") };
	struct hybrid_mapping mapping = { .object = hybrid_object_get(&objects, &ident) };
	struct hybrid_object *object = mapping.object;
	int fd = open(ident.path, O_RDONLY | O_CLOEXEC);

	answer = is_awaited ? HYBRID_OPEN_LATER : -1;
	objects.waiting = NULL;
	if (check(!hybrid_object_open(object, fd) && object->nr_segments)) {
		mapping.start = object->segments[0].vaddr;
		mapping.end = mapping.start + object->segments[0].size;
		mapping.pgoff = object->segments[0].offset;
		same(!hybrid_object_row(&mapping, mapping.start), is_awaited);
		check(objects.waiting == (is_awaited ? object : NULL));
	}
	objects.waiting = NULL;
	object->is_old = true;
	hybrid_object_put(object);
}

/* No debug file is looked for if a process has the file in its memory alone. */
static void image(void)
{
	int fd = open(elf_file_path("debug-id-bare.so"), O_RDONLY | O_CLOEXEC);
	struct hybrid_object *object;
	off_t size = lseek(fd, 0, SEEK_END);
	void *bytes = malloc(size);

	same(pread(fd, bytes, size, 0), size);
	close(fd);
	nr_paths = 0;
	nr_fetched = 0;
	object = hybrid_object_of_image(&objects, bytes, size);
	if (check(object)) {
		check(hybrid_debug_frame_open(object));
		check(!object->cfi.debug);
		hybrid_object_free(object);
	}
	same(nr_paths, 0);
	same(nr_fetched, 0);
}

static void debug_files(void)
{
	hybrid_objects_init(&objects, NULL, hybrid_x86_abi);
	objects.open_path = open_path;
	objects.fetch = fetch;
	unsetenv("DEBUGINFOD_URLS");
	by_id = "debug-id.debug";
	same(find("debug-id.so"), 0);
	/* Another one's file in its place; none; and one without a build-id. */
	by_id = "debug-id-other.debug";
	same(find("debug-id.so"), -1);
	by_id = "debug-split.debug";
	same(find("debug-id.so"), -1);
	by_id = NULL;
	same(find("debug-id.so"), -1);
	same(nr_fetched, 0);
	/* A server is asked last, if there is one. */
	setenv("DEBUGINFOD_URLS", "", true);
	same(find("debug-id.so"), -1);
	same(nr_fetched, 0);
	setenv("DEBUGINFOD_URLS", "http://localhost", true);
	fetched = "debug-id.debug";
	same(find("debug-id.so"), 0);
	same(nr_fetched, 1);
	fetched = "debug-id-other.debug";
	same(find("debug-id.so"), -1);
	fetched = NULL;
	answer = -1;
	same(find("debug-id.so"), -1);
	answer = HYBRID_OPEN_LATER;
	same(find("debug-id.so"), HYBRID_OPEN_LATER);
	awaited(true);
	awaited(false);
	image();
	/* By no build-id. */
	same(find("debug.so"), -1);
	same(nr_fetched, 0);
	by_id = "debug-id.debug";
	same(find("debug-id.so"), 0);
	same(nr_fetched, 0);
	unsetenv("DEBUGINFOD_URLS");
	hybrid_objects_exit(&objects);
}

/* The library is not linked: one that is loaded serves. */
static void from_debuginfod(void)
{
	u8 id[20] = { 1 };
	struct stat found = {}, program = {};
	int fd;

	check(dlopen(elf_file_path("debuginfod.so"), RTLD_NOW | RTLD_GLOBAL));
	fd = hybrid_debuginfod_find(id, sizeof(id));
	check(fd >= 0 && !fstat(fd, &found) && !stat("/proc/self/exe", &program));
	same(found.st_ino, program.st_ino);
	close(fd);
	same(hybrid_debuginfod_find(id, sizeof(id) - 1), -1);
	id[0] = 2;
	same(hybrid_debuginfod_find(id, sizeof(id)), -1);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "build-id: sizes of notes", sizes },
		{ "build-id: other notes", others },
		{ "build-id: bounds", bounds },
		{ "build-id: debug files", debug_files },
		{ "build-id: debuginfod", from_debuginfod },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
