// SPDX-License-Identifier: GPL-2.0
/*
 * What is kept of files: rows in their tree, answers by hash, pages. Each answer from what is kept
 * is compared with a new one.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include "file-id.h"
#include "function.h"
#include "image.h"
#include "made-cfi.h"
#include "memory.h"
#include "pages.h"
#include "pinned-file.h"
#include "rows.h"
#include "tap.h"
#include "../hybrid/x86/code.h"

#define BIAS	0x7f0000000000ULL
#define TEXT	0x10000
#define SIZE	0x4000

static u8 text[SIZE];

/* A mapping of all of the object's code. */
static struct hybrid_mapping map(struct hybrid_object *object)
{
	const struct hybrid_segment *seg = &object->segments[0];

	return (struct hybrid_mapping) {
		.start = BIAS + seg->vaddr, .end = BIAS + seg->vaddr + seg->size,
		.pgoff = seg->offset, .object = object,
	};
}

/* Calls everywhere, some of them direct, to functions that jump. */
static struct hybrid_object *open_calls(void)
{
	struct elf_made elf;
	unsigned int i;
	s32 to;

	memset(text, 0x90, sizeof(text));
	for (i = 0; i + 16 < sizeof(text); i += 16) {
		switch (tap_random() % 4) {
		case 0:
			text[i] = 0xe8;
			to = (int)(tap_random() % (SIZE / 16)) * 16 - (int)(i + 5);
			memcpy(text + i + 1, &to, sizeof(to));
			break;
		case 1:
			memcpy(text + i + 3, "\xff\xd0", 2);
			break;
		case 2:
			text[i + 9] = 0xc3;
			break;
		default:
			break;
		}
	}
	elf_made_begin(&elf);
	elf_made_loaded(&elf, ".text", SHF_EXECINSTR, TEXT, text, sizeof(text));
	return elf_made_object(&elf);
}

static void answers(void)
{
	struct hybrid_object *object = open_calls();
	struct hybrid_mapping mapping = map(object);
	u64 ret, callee;
	unsigned int i;

	/* More addresses than there is room for, and each of them again. */
	for (i = 0; i < 8000; i++) {
		ret = TEXT + 1 + tap_random() % (SIZE - 1);
		same(hybrid_object_is_return(&mapping, BIAS + ret),
		     hybrid_code_is_return(code_of(object), ret));
		if (i % 4)
			continue;
		ret = TEXT + (ret - TEXT) / 16 * 16 + 5;
		callee = TEXT + tap_random() % 64 * 16;
		same(hybrid_object_leads(&mapping, BIAS + ret, &mapping, BIAS + callee),
		     hybrid_code_reaches(code_of(object), ret, callee));
	}
	/* Outside of the file's code there is no call. */
	check(!hybrid_object_is_return(&mapping, BIAS + TEXT - 1));
	check(!hybrid_object_is_return(&mapping, BIAS + TEXT + SIZE));
	same(hybrid_object_leads(&mapping, BIAS + TEXT, &mapping, BIAS + TEXT), HYBRID_REACH_NOT);
	/* The callee is in another file. */
	same(hybrid_object_leads(&mapping, BIAS + TEXT + 5, NULL, BIAS + TEXT),
	     hybrid_code_reaches(code_of(object), TEXT + 5, 0));
	elf_made_close(object);
}

/* Rows of FDEs that overlap, asked for in any order: none overlaps another one in the tree. */
static void overlapping_rows(void)
{
	static const struct made_bytes none;
	struct hybrid_mapping mapping;
	struct hybrid_object *object;
	unsigned int round, i, at;
	struct hybrid_row *row;
	struct made_cfi cfi;
	struct rb_node *node;
	u64 end, nr;

	for (round = 0; round < 40; round++) {
		made_cfi_begin(&cfi);
		made_usual_cie(&cfi);
		for (i = 0, at = 0; i < 12; i++) {
			at += 1 + tap_random() % 12;
			made_fde(&cfi, MADE_TEXT + at, 1 + tap_random() % 40, &none);
		}
		object = made_cfi_object(&cfi);
		mapping = map(object);
		for (i = 0; i < 200; i++) {
			at = tap_random() % 160;
			row = hybrid_object_row(&mapping, BIAS + MADE_TEXT + at);
			if (!check(row))
				continue;
			check(row->start <= MADE_TEXT + at && row->end > MADE_TEXT + at);
			check(row == hybrid_object_row(&mapping, BIAS + MADE_TEXT + at));
		}
		end = 0;
		nr = 0;
		for (node = rb_first(&object->rows); node; node = rb_next(node)) {
			row = rb_entry(node, struct hybrid_row, node);
			check(row->start >= end && row->end > row->start);
			end = row->end;
			nr++;
		}
		same(object->nr_rows, nr);
		same(object->objects->nr_rows, nr);
		elf_made_close(object);
	}
}

/* Of many rows each is the one that a new look gives. */
static void many_rows(void)
{
	static const struct made_bytes none;
	struct hybrid_row *row, fresh = {};
	struct hybrid_mapping mapping;
	struct hybrid_object *object;
	struct hybrid_rule rule;
	struct made_cfi cfi;
	unsigned int i;
	u64 vaddr;

	made_cfi_begin(&cfi);
	made_usual_cie(&cfi);
	for (i = 0; i < 60; i++)
		made_fde(&cfi, MADE_TEXT + i * 64, 32, &none);
	object = made_cfi_object(&cfi);
	mapping = map(object);
	for (i = 0; i < 20000; i++) {
		vaddr = MADE_TEXT + tap_random() % 4000;
		row = hybrid_object_row(&mapping, BIAS + vaddr);
		if (!check(row))
			break;
		same(row->rule.kind, (vaddr - MADE_TEXT) % 64 < 32 && vaddr < MADE_TEXT + 3840 ?
		     HYBRID_RULE_CFA : HYBRID_RULE_NONE);
		if (i % 16)
			continue;
		/* The code tells the same each time, and for each address of its own. */
		if (!hybrid_code_rule(code_of(object), vaddr, &rule))
			rule.kind = HYBRID_RULE_NONE;
		same(hybrid_object_code_rule(row, &mapping, BIAS + vaddr)->kind, rule.kind);
		same(hybrid_object_code_rule(row, &mapping, BIAS + vaddr)->kind, rule.kind);
	}
	check(!hybrid_object_row(&mapping, BIAS + MADE_TEXT - 1));
	check(!hybrid_object_row(&mapping, BIAS + MADE_TEXT + 4096));
	hybrid_row_exit(&fresh);
	elf_made_close(object);
}

/* The function of an address, and what its instruction leaves. */
static void functions(void)
{
	static const struct made_bytes none;
	struct hybrid_space *space = hybrid_space_new();
	struct hybrid_mapping mapping, nothing = {};
	struct hybrid_object *object;
	const struct hybrid_fde *fde;
	struct made_cfi cfi;
	unsigned int at;
	u64 next;

	made_cfi_begin(&cfi);
	made_usual_cie(&cfi);
	made_fde(&cfi, MADE_TEXT + 16, 16, &none);
	made_fde(&cfi, MADE_TEXT + 48, 16, &none);
	object = made_cfi_object(&cfi);
	mapping = map(object);
	same(hybrid_space_map(space, &mapping, true), 0);
	for (at = 0; at < 80; at++) {
		bool is_in = (at >= 16 && at < 32) || (at >= 48 && at < 64);

		same(hybrid_function_start(&mapping, BIAS + MADE_TEXT + at),
		     is_in ? BIAS + MADE_TEXT + at / 16 * 16 : 0);
		fde = hybrid_function_fde(&mapping, MADE_TEXT + at);
		same(!!fde, is_in);
		/* nop; no process has to be read for it */
		same(hybrid_memory_after(NULL, space, 1, &hybrid_abi_64, BIAS + MADE_TEXT + at,
					 &next), HYBRID_EFFECT_NEXT);
		same(next, BIAS + MADE_TEXT + at + 1);
	}
	same(hybrid_function_start(&mapping, BIAS + MADE_TEXT + 4096), 0);
	same(hybrid_function_start(&nothing, BIAS), 0);
	check(!hybrid_function_fde(&nothing, MADE_TEXT + 16));
	same(hybrid_memory_after(NULL, space, 1, &hybrid_abi_64, 5, &next), HYBRID_EFFECT_SAME);
	same(next, 5);
	hybrid_space_put(space);
	elf_made_close(object);
}

/* More pages than are kept, and one that the file ends in. */
static void pages(void)
{
	const struct hybrid_page *page;
	struct hybrid_object *object = open_calls();
	unsigned int i, nr = 400;
	u8 bytes[HYBRID_PAGE];
	u64 at;

	for (i = 0; i < nr; i++) {
		memset(bytes, i * 7, sizeof(bytes));
		at = 0x100000 + (u64)i * HYBRID_PAGE;
		same(pwrite(object->fd, bytes, i + 1 < nr ? sizeof(bytes) : 100, at),
		     i + 1 < nr ? sizeof(bytes) : 100);
	}
	for (i = 0; i < 3000; i++) {
		unsigned int which = tap_random() % nr;

		page = hybrid_page_read(object, 0x100000 + (u64)which * HYBRID_PAGE);
		if (!check(page))
			break;
		same(page->nr, which + 1 < nr ? HYBRID_PAGE : 100);
		same(page->bytes[0], (u8)(which * 7));
		same(page->bytes[99], (u8)(which * 7));
		/* What the file does not have is a breakpoint. */
		same(page->bytes[100], which + 1 < nr ? (u8)(which * 7) : 0xcc);
		same(page->bytes[HYBRID_PAGE - 1], which + 1 < nr ? (u8)(which * 7) : 0xcc);
	}
	check(!hybrid_page_read(object, 0x100000 + (u64)nr * HYBRID_PAGE));
	/* After a page that can't be read the others still can be. */
	page = hybrid_page_read(object, 0x100000);
	check(page && page->bytes[0] == 0);
	elf_made_close(object);
}

/* An image in memory, whole, and cut off at each byte. */
static void images(void)
{
	const u8 frames[24] = {};
	u64 offset, addr, len;
	struct elf_made elf;
	size_t size, cut;
	u8 *image, *part;
	bool found;
	int fd;

	elf_made_begin(&elf);
	elf.header.e_type = ET_REL;
	elf_made_loaded(&elf, ".text", SHF_EXECINSTR, TEXT, text, 16);
	elf_made_section(&elf, ".eh_frame",
			 (Elf64_Shdr) { .sh_type = SHT_X86_64_UNWIND, .sh_addr = 0x30000 },
			 frames, sizeof(frames));
	fd = elf_made_file(&elf);
	size = lseek(fd, 0, SEEK_END);
	image = malloc(size);
	same(pread(fd, image, size, 0), size);
	for (cut = 0; cut <= size; cut += cut < 80 || cut + 400 > size ? 1 : 13) {
		part = malloc(cut ?: 1);
		memcpy(part, image, cut);
		same(hybrid_image_is_relocatable(part, cut), cut >= sizeof(Elf64_Ehdr));
		found = hybrid_image_eh_frame(part, cut, &offset, &addr, &len);
		/* The names' header is the last one. */
		same(found, cut == size);
		if (found) {
			same(addr, 0x30000);
			same(len, sizeof(frames));
			check(!memcmp(part + offset, frames, len));
		}
		free(part);
	}
	/* Of another class, of another type, of no magic. */
	for (cut = 0; cut < 20; cut++) {
		image[cut] ^= 3;
		same(hybrid_image_is_relocatable(image, size),
		     cut > EI_CLASS && cut != offsetof(Elf64_Ehdr, e_type) && cut != 17);
		image[cut] ^= 3;
	}
	free(image);
	close(fd);
}

static void files(void)
{
	struct hybrid_pinned_file hold = {};
	struct hybrid_file_id id, other;
	char path[] = "/tmp/hybrid-rows-XXXXXX";
	int fd = mkstemp(path), pipes[2];

	same(write(fd, text, 100), 100);
	same(hybrid_file_id_read(fd, &id), 0);
	check(hybrid_file_id_is_of(&id, fd));
	other = id;
	other.ino++;
	check(!hybrid_file_id_is_of(&other, fd));
	other = id;
	other.ctime_nsec++;
	check(!hybrid_file_id_is_of(&other, fd));
	same(pipe(pipes), 0);
	same((u64)hybrid_file_id_read(pipes[0], &other), -1ULL);
	same((u64)hybrid_file_id_read(-1, &other), -1ULL);
	check(!hybrid_file_id_is_of(&id, -1));
	/* It is held, and held again. */
	same(hybrid_pin_file(&hold, fd), 0);
	check(hold.page && !hybrid_pinned_file_changed(&hold, fd));
	same(hybrid_pin_file(&hold, fd), 0);
	hold.ctime.tv_nsec++;
	check(hybrid_pinned_file_changed(&hold, fd));
	hold.ctime.tv_nsec--;
	hold.ctime.tv_sec++;
	check(hybrid_pinned_file_changed(&hold, fd));
	check(hybrid_pinned_file_changed(&hold, -1));
	hybrid_unpin_file(&hold);
	check(!hold.page);
	hybrid_unpin_file(&hold);
	check(hybrid_pin_file(&hold, -1) < 0 && !hold.page);
	check(hybrid_pin_file(&hold, pipes[0]) < 0 && !hold.page);
	/* Others may write to it. */
	same(fchmod(fd, 0620), 0);
	check(!hybrid_file_is_guarded(fd));
	same(fchmod(fd, 0602), 0);
	check(!hybrid_file_is_guarded(fd));
	check(!hybrid_file_is_guarded(-1));
	close(pipes[0]);
	close(pipes[1]);
	close(fd);
	unlink(path);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "rows: answers that are kept",	answers },
		{ "rows: FDEs that overlap",		overlapping_rows },
		{ "rows: many",				many_rows },
		{ "rows: functions",			functions },
		{ "rows: pages",			pages },
		{ "rows: images",			images },
		{ "rows: files",			files },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
