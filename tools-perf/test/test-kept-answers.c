// SPDX-License-Identifier: GPL-2.0
/*
 * Answers about code that are kept, of addresses that share a place: each is the one that the code
 * gives. And files that can't be opened again, images without code, and our hashes.
 */
#include <string.h>
#include <unistd.h>
#include "debug-frame.h"
#include "elf-made.h"
#include "image.h"
#include "keyed-hash.h"
#include "rows.h"
#include "synthetic-frame.h"
#include "tap.h"
#include "../hybrid/x86/code.h"

#define BIAS	0x7f0000000000ULL
#define TEXT	0x10000
#define SIZE	0x4000

/* Two calls of functions, TEXT + 0x2000 and TEXT + 0x3000. */
#define CALLS	2
#define RET(i)	(TEXT + 0x100 * (i) + 5)

static u8 text[SIZE];

static struct hybrid_object *open_calls(void)
{
	struct elf_made elf;
	unsigned int i;
	s32 to;

	memset(text, 0x90, sizeof(text));
	for (i = 0; i < CALLS; i++) {
		text[0x100 * i] = 0xe8;
		to = 0x2000 + 0x1000 * i - (0x100 * i + 5);
		memcpy(text + 0x100 * i + 1, &to, sizeof(to));
	}
	elf_made_begin(&elf);
	elf_made_loaded(&elf, ".text", SHF_EXECINSTR, TEXT, text, sizeof(text));
	return elf_made_object(&elf);
}

static struct hybrid_mapping map(struct hybrid_object *object)
{
	const struct hybrid_segment *seg = &object->segments[0];

	return (struct hybrid_mapping) {
		.start = BIAS + seg->vaddr, .end = BIAS + seg->vaddr + seg->size,
		.pgoff = seg->offset, .object = object,
	};
}

/* Between two questions that have the same answer another one is asked, of each other callee. */
static void callees(void)
{
	struct hybrid_object *object = open_calls();
	struct hybrid_mapping mapping = map(object);
	enum hybrid_reach want;
	unsigned int i, at;

	for (i = 0; i < CALLS; i++) {
		for (at = 0; at < SIZE; at++) {
			want = hybrid_code_reaches(code_of(object), RET(i),
						   TEXT + 0x2000 + 0x1000 * i);
			same(hybrid_object_leads(&mapping, BIAS + RET(i), &mapping,
						 BIAS + TEXT + 0x2000 + 0x1000 * i), want);
			want = hybrid_code_reaches(code_of(object), RET(i), TEXT + at);
			same(hybrid_object_leads(&mapping, BIAS + RET(i), &mapping,
						 BIAS + TEXT + at), want);
		}
	}
	elf_made_close(object);
}

static void same_rule(struct hybrid_row *row, const struct hybrid_mapping *mapping, u64 ret)
{
	struct hybrid_row fresh = {};
	struct hybrid_rule got = *hybrid_object_code_rule(row, mapping, ret);

	check(!memcmp(&got, hybrid_object_code_rule(&fresh, mapping, ret), sizeof(got)));
}

/* What the code says of an address is not what it says of the one beside it. */
static void neighbours(void)
{
	static const u8 code[] = { 0x55, 0x53, 0x50, 0x48, 0x83, 0xec, 0x10, 0x90, 0x90 };
	struct hybrid_object *object;
	struct hybrid_mapping mapping;
	struct hybrid_row row = {};
	struct elf_made elf;
	u64 ret;
	int by;

	memset(text, 0x90, sizeof(text));
	memset(text, 0xcc, 64);
	memcpy(text + 64, code, sizeof(code));
	text[64 + sizeof(code)] = 0xc3;
	elf_made_begin(&elf);
	elf_made_loaded(&elf, ".text", SHF_EXECINSTR, TEXT, text, sizeof(text));
	object = elf_made_object(&elf);
	mapping = map(object);
	for (ret = BIAS + TEXT + 66; ret < BIAS + TEXT + 64 + sizeof(code); ret++) {
		for (by = -2; by <= 2; by++) {
			same_rule(&row, &mapping, ret);
			/* What was found out of another address is forgotten. */
			row.code_led = true;
			row.code_failed = true;
			same_rule(&row, &mapping, ret + by);
			same(row.code_led, !by);
			same(row.code_failed, !by);
		}
	}
	elf_made_close(object);
}

/* CFI of a debug file is looked for once: there is none. */
static void no_debug_file(void)
{
	struct hybrid_object *object = open_calls();

	check(!object->debug_tried);
	check(hybrid_debug_frame_open(object));
	check(object->debug_tried && !object->cfi.debug);
	elf_made_close(object);
}

static int open_none(const struct hybrid_mapping *mapping)
{
	(void)mapping;
	return -1;
}

/* The file was closed, as others needed its descriptor, and is gone: nothing refutes a frame. */
static void gone(void)
{
	struct hybrid_object *object = open_calls();
	struct hybrid_mapping mapping = map(object);
	struct hybrid_row row = {};

	check(!hybrid_object_is_return(&mapping, BIAS + TEXT + 0x800));
	object->objects->open = open_none;
	check(hybrid_objects_close_one(object->objects) || object->fd >= 0);
	object->state = HYBRID_OBJECT_CLOSED;
	/* What is known is known still. */
	check(!hybrid_object_is_return(&mapping, BIAS + TEXT + 0x800));
	check(hybrid_object_is_return(&mapping, BIAS + TEXT + 0x900));
	object->state = HYBRID_OBJECT_CLOSED;
	same(hybrid_object_leads(&mapping, BIAS + RET(0), &mapping, BIAS + TEXT),
	     HYBRID_REACH_MAYBE);
	object->state = HYBRID_OBJECT_CLOSED;
	same(hybrid_object_code_rule(&row, &mapping, BIAS + TEXT + 5)->kind, 0);
	same(row.code_at, 0);
	elf_made_close(object);
}

/* The file is another one than it was when it was opened: what is read now counts for nothing. */
static void changed(void)
{
	struct hybrid_object *object = open_calls();
	struct hybrid_mapping mapping = map(object);
	struct hybrid_row row = {};
	u64 left;

	check(!hybrid_object_is_return(&mapping, BIAS + TEXT + 0x800));
	object->file.ctime_nsec++;
	check(hybrid_object_is_return(&mapping, BIAS + TEXT + 0x900));
	object->state = HYBRID_OBJECT_READY;
	same(hybrid_object_leads(&mapping, BIAS + RET(0), &mapping, BIAS + TEXT),
	     HYBRID_REACH_MAYBE);
	object->state = HYBRID_OBJECT_READY;
	same(hybrid_object_code_rule(&row, &mapping, BIAS + TEXT + 5)->kind, HYBRID_RULE_NONE);
	object->state = HYBRID_OBJECT_READY;
	check(!hybrid_object_calls_with_result(&mapping, BIAS + RET(0)));
	object->state = HYBRID_OBJECT_READY;
	check(!hybrid_object_is_uprobe(&mapping, BIAS + RET(0), &left));
	elf_made_close(object);
}

/* Headers that say that there are more sections than the image has bytes for. */
static void image_sections(void)
{
	struct {
		Elf64_Ehdr	ehdr;
		Elf64_Shdr	shdr[2];
		char		names[16];
	} image = {};
	u64 offset, addr, len;
	unsigned int nr;

	image.ehdr.e_shoff = offsetof(typeof(image), shdr);
	image.shdr[0].sh_offset = offsetof(typeof(image), names);
	memcpy(image.names, "none", 5);
	for (nr = 0; nr < 8; nr++) {
		image.ehdr.e_shnum = nr;
		check(!hybrid_image_eh_frame(&image, sizeof(image), &offset, &addr, &len));
	}
	memcpy(image.names, ".eh_frame", 10);
	for (nr = 0; nr < 8; nr++) {
		image.ehdr.e_shnum = nr;
		image.shdr[1].sh_addr = 0x1000;
		image.shdr[0].sh_addr = 0x1000;
		same(hybrid_image_eh_frame(&image, sizeof(image), &offset, &addr, &len), nr > 0);
	}
	/* Data that are not in it. */
	for (len = 0; len < 3; len++) {
		image.shdr[0].sh_size = sizeof(image) - image.shdr[0].sh_offset + len - 1;
		same(hybrid_image_eh_frame(&image, sizeof(image), &offset, &addr, &addr),
		     len < 2);
	}
}

static void no_code(void)
{
	struct hybrid_object object = {};
	struct elf_made elf;
	u64 start = 1, end = 1;
	int fd;

	elf_made_begin(&elf);
	elf_made_loaded(&elf, ".data", SHF_WRITE, TEXT, text, 64);
	fd = elf_made_file(&elf);
	elf_version(EV_CURRENT);
	object.elf = elf_begin(fd, ELF_C_READ, NULL);
	hybrid_image_code(&object, &start, &end);
	same(start, ~0ULL);
	same(end, 0);
	elf_end(object.elf);
	close(fd);
}

/* Only an odd factor has another product for each key. */
static void hash_keys(void)
{
	check(hybrid_hash_keys.factor & 1);
	check(hybrid_hash_string("a") != hybrid_hash_string("b"));
	check(hybrid_hash_bytes(0, "a\0", 1) != hybrid_hash_bytes(0, "a\0", 2));
}

/* A frame of each mark, and the address before it, are in its page alone. */
static void synthetic_frames(void)
{
	unsigned int i, k, nr;
	u64 ip;

	for (i = 0; i < HYBRID_NR_SYNTHETIC; i++) {
		ip = hybrid_synthetic_ip(i);
		for (k = 0, nr = 0; k < HYBRID_NR_SYNTHETIC; k++)
			nr += ip - 1 - hybrid_synthetic_start(k) < HYBRID_SYNTHETIC_SIZE &&
			      ip + 1 - hybrid_synthetic_start(k) < HYBRID_SYNTHETIC_SIZE;
		same(nr, 1);
		check(ip - 1 - hybrid_synthetic_start(i) < HYBRID_SYNTHETIC_SIZE);
	}
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "kept answers: callees that share a place",	callees },
		{ "kept answers: addresses side by side",	neighbours },
		{ "kept answers: a file that is gone",		gone },
		{ "kept answers: a file that is another one",	changed },
		{ "kept answers: no debug file",		no_debug_file },
		{ "images: more sections than there are",	image_sections },
		{ "images: no code",				no_code },
		{ "hashes: keys",				hash_keys },
		{ "synthetic frames: their addresses",		synthetic_frames },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
