// SPDX-License-Identifier: GPL-2.0
/*
 * Parts of ELF files that are not what they ought to be, and what perf keeps of such files.
 */
#include <dwarf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include "debug-frame.h"
#include "elf-bounds.h"
#include "elf-image.h"
#include "fde.h"
#include "made-cfi.h"
#include "section.h"
#include "tap.h"

#define TEXT	0x10000

static u8 code[64];

/* A file with a section, of which @nr is the index. */
static int make(const char *name, const void *data, size_t size, size_t *nr)
{
	struct elf_made elf;

	elf_made_begin(&elf);
	elf_made_loaded(&elf, ".text", SHF_EXECINSTR, TEXT, code, sizeof(code));
	*nr = elf_made_section(&elf, name, (Elf64_Shdr) { .sh_type = SHT_PROGBITS }, data, size);
	return elf_made_file(&elf);
}

/* Sections of GNU's form begin with "ZLIB" and the size that they have unpacked. */
static void gnu_form(void)
{
	static const struct {
		u8	bytes[16];
		size_t	size;
		int	error;
	} cases[] = {
		{ "ZLIB\0\0\0\0\0\0\0\0", 12, 0 }, { "ZLIB\0\0\0\0\0\0\0", 11, E2BIG },
		{ "ZLIB", 4, E2BIG }, { "ZLIX\0\0\0\0\0\0\0\0", 12, E2BIG },
		{ "\0\0\0\0\0\0\0\0\0\0\0\0", 12, E2BIG }, { "ZLIB\0\0\0\0\4\0\0\0", 12, ENOEXEC },
		{ "ZLIB\0\0\0\0\4\0\0\1", 12, E2BIG },
	};
	Elf *elf, *part;
	unsigned int i;
	size_t nr;
	int fd;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		fd = make(".zdebug_frame", cases[i].bytes, cases[i].size, &nr);
		elf = hybrid_elf_begin(fd, NULL);
		errno = 0;
		part = hybrid_elf_part(fd, NULL, elf, &nr, 1);
		same(!part, !!cases[i].error);
		if (!part)
			same(errno, cases[i].error);
		hybrid_elf_end(part);
		hybrid_elf_end(elf);
		close(fd);
	}
}

/* A large image is mapped, and no longer when it is freed. */
static void images(void)
{
	struct hybrid_elf_image *image = hybrid_elf_image_new(NULL, 1 << 20, 0);
	u8 state[1];

	check(image && !mincore(image, 1, state));
	hybrid_elf_image_free(image);
	check(mincore(image, 1, state) && errno == ENOMEM);
}

/* Section 0 has the number of sections, and the index of their names, if the header has not. */
static void numbers(void)
{
	Elf64_Ehdr ehdr;
	Elf64_Shdr first, shdr;
	unsigned int i, k;
	size_t nr;
	Elf *elf;
	int fd;

	for (i = 0; i < 4; i++) {
		for (k = 0; k < 2; k++) {
			fd = make(".names", code, sizeof(code), &nr);
			check(pread(fd, &ehdr, sizeof(ehdr), 0) == sizeof(ehdr));
			first = (Elf64_Shdr) {
				.sh_size = i & 1 ? ehdr.e_shnum : 0,
				.sh_link = i & 2 ? ehdr.e_shstrndx : k,
			};
			if (i & 1)
				ehdr.e_shnum = 0;
			if (i & 2)
				ehdr.e_shstrndx = SHN_XINDEX;
			check(pwrite(fd, &ehdr, sizeof(ehdr), 0) == sizeof(ehdr));
			check(pwrite(fd, &first, sizeof(first), ehdr.e_shoff) == sizeof(first));
			elf = hybrid_elf_begin(fd, NULL);
			same(hybrid_elf_find(elf, ".names", &shdr), nr);
			hybrid_elf_end(elf);
			close(fd);
		}
	}
}

/* Of .debug_frame the augmentation of .eh_frame means nothing: its addresses are absolute. */
static void absolute(void)
{
	/* Version, augmentation, factors, return address, and the augmentation's data. */
	static const u8 cie[12] = { 1, 'z', 'R', 0, 1, 0x78, 16, 1,
				    DW_EH_PE_pcrel | DW_EH_PE_sdata4 };
	struct made_bytes bytes = {};
	struct hybrid_section section;
	struct hybrid_fde range = {};
	Dwarf_CFI_Entry entry;
	unsigned int i;
	Dwarf_Off next;
	size_t nr;
	Elf *elf, *part;
	int fd;

	made_word(&bytes, 16, 4);
	made_word(&bytes, ~0U, 4);
	for (i = 0; i < sizeof(cie); i++)
		made_byte(&bytes, cie[i]);
	made_word(&bytes, 20, 4);
	made_word(&bytes, 0, 4);
	made_word(&bytes, TEXT, 8);
	made_word(&bytes, sizeof(code), 8);
	fd = make(".debug_frame", bytes.bytes, bytes.nr, &nr);
	elf = hybrid_elf_begin(fd, NULL);
	part = hybrid_elf_part(fd, NULL, elf, &nr, 1);
	check(part && hybrid_section_open(&section, part, ".debug_frame"));
	same(dwarf_next_cfi(section.ident, section.data, false, 20, &next, &entry), 0);
	check(!dwarf_cfi_cie_p(&entry) && hybrid_section_range(&section, &entry.fde, &range));
	same(range.start, TEXT);
	same(range.end, TEXT + sizeof(code));
	hybrid_elf_end(part);
	hybrid_elf_end(elf);
	close(fd);
}

/* The length of an FDE's augmentation is within the FDE. */
static void augmentation(void)
{
	/* Behind the length and the CIE's place are two addresses of 4 bytes. */
	static const unsigned int at = 16, size = 8;
	static const struct made_bytes program = { {}, 7 };
	struct hybrid_row row = {};
	struct hybrid_object *object;
	struct made_cfi cfi;
	unsigned int len, fde;

	for (len = 0; len <= size + 1; len++) {
		made_cfi_begin(&cfi);
		made_usual_cie(&cfi);
		fde = cfi.size;
		made_fde(&cfi, MADE_TEXT, 64, &program);
		same(cfi.size, fde + at + size);
		cfi.frames[fde + at] = len;
		/* A number that does not end. */
		if (len > size)
			memset(cfi.frames + fde + at, 0x80, size);
		object = made_cfi_object(&cfi);
		same(hybrid_eh_frame_row(&object->cfi, MADE_TEXT, &row), len < size);
		elf_made_close(object);
	}
}

/* Where a file ends, nothing is refused, whatever there was before. */
static void at_the_end(void)
{
	struct hybrid_object *object;
	size_t nr;
	u8 byte;

	object = elf_made_open(make(".data", code, sizeof(code), &nr));
	errno = EDQUOT;
	same(hybrid_object_read(object, &byte, 1, 1 << 30), 0);
	check(!hybrid_object_is_refused(object));
	elf_made_close(object);
}

/* There is no memory left for .debug_frame: the file is read again later. */
static void refused(void)
{
	const u64 most = hybrid_file_limits[HYBRID_FILE_MEMORY].user;
	struct hybrid_file_budget budget;
	struct hybrid_object *object;
	unsigned int left;
	size_t nr;

	for (left = 0; left < 2; left++) {
		hybrid_file_budget_init(&budget);
		budget.clock = tap_stopped_clock;
		object = elf_made_open(make(".debug_frame", code, sizeof(code), &nr));
		object->user = hybrid_file_user_get(&budget, 7);
		check(hybrid_file_take(object->user, HYBRID_FILE_MEMORY, most - left * 0x10000));
		hybrid_debug_frame_open(object);
		same(hybrid_object_is_refused(object), !left);
		elf_made_close(object);
	}
}

/* A copy serves several files: nothing is found out about it any more. */
static void copies(void)
{
	static const struct hybrid_pinned_file none;
	struct hybrid_file_budget budget;
	struct hybrid_object *object, *copy;
	size_t nr;
	int fd;

	hybrid_file_budget_init(&budget);
	budget.clock = tap_stopped_clock;
	object = elf_made_open(make(".data", code, sizeof(code), &nr));
	object->user = hybrid_file_user_get(&budget, 7);
	check(hybrid_file_take(object->user, HYBRID_FILE_COPIES, 200));
	copy = hybrid_object_of_copy(object, make(".data", code, sizeof(code), &nr), &none, 100);
	check(copy && copy->is_copy && copy->is_shared && copy->is_settled);
	same(copy->refs, 1);
	same(copy->state, HYBRID_OBJECT_READY);
	hybrid_object_put(copy);
	fd = memfd_create("empty", MFD_CLOEXEC);
	check(!hybrid_object_of_copy(object, fd, &none, 100));
	same(object->user->used[HYBRID_FILE_COPIES], 0);
	elf_made_close(object);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "file parts: GNU's compressed sections",	gnu_form },
		{ "file parts: large images",			images },
		{ "file parts: numbers in section 0",		numbers },
		{ "file parts: addresses of .debug_frame",	absolute },
		{ "file parts: augmentation of an FDE",		augmentation },
		{ "file parts: at the end of a file",		at_the_end },
		{ "file parts: no memory for .debug_frame",	refused },
		{ "file parts: copies",				copies },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
