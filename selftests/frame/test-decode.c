// SPDX-License-Identifier: GPL-2.0
/*
 * The decoder's tables against the kernel's decoder: at every byte of the code
 * of ELF files, so at all their instructions and at much that is none, and on
 * random bytes.
 */
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf-image.h"
#include "../../kmod/frame/x86-frame-insn.h"

#define RANDOM_BYTES	(1 << 20)

static unsigned long nr_all, nr_quick, nr_differ;

static bool same(const struct x86_code *a, const struct x86_code *b)
{
	return a->len == b->len && a->map == b->map && a->op == b->op &&
	       a->modrm == b->modrm && a->sib == b->sib && a->rex == b->rex &&
	       a->flags == b->flags && a->disp == b->disp && a->imm == b->imm;
}

static void print_code(const char *name, const struct x86_code *c)
{
	printf("#   %s: length %u map %u op %02x modrm %02x sib %02x",
	       name, c->len, c->map, c->op, c->modrm, c->sib);
	printf(" rex %x flags %x disp %d imm %d\n", c->rex, c->flags, c->disp,
	       c->imm);
}

static void differ(const u8 *p, bool is_64bit, const struct x86_code *quick,
		   const struct x86_code *slow)
{
	int i;

	if (nr_differ++ > 20)
		return;
	printf("# %d bits:", is_64bit ? 64 : 32);
	for (i = 0; i < MAX_INSN_SIZE; i++)
		printf(" %02x", p[i]);
	printf("\n");
	print_code("tables", quick);
	print_code("kernel", slow);
}

/* At least X86_QUICK_BYTES at @p. */
static void check(const u8 *p, bool is_64bit)
{
	struct x86_code quick = { 0 }, slow = { 0 };
	unsigned int skipped;
	struct insn insn;
	const u8 *next;
	bool known;

	nr_all++;
	next = x86_decode_next(p, p, 2, is_64bit, &quick, &skipped);
	if (!skipped && !quick.len)
		return;
	nr_quick++;
	known = x86_decode(&insn, p, MAX_INSN_SIZE, is_64bit, &slow);
	/*
	 * Of what is skipped, only the length is found out.  Of an instruction
	 * that does not exist, like one with a prefix that makes it another,
	 * the kernel's decoder knows nothing, not even that.
	 */
	if (!known || !(insn.attr & ~INAT_VARIANT))
		return;
	if (skipped ? next - p != slow.len : !same(&quick, &slow)) {
		if (skipped)
			quick.len = next - p;
		differ(p, is_64bit, &quick, &slow);
	}
}

static int check_file(const char *path)
{
	struct elf_image image;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	u64 off;

	if (elf_image_open(&image, path))
		return -1;
	while ((scn = elf_image_next_code(&image, scn, &shdr))) {
		for (off = 0; off + X86_QUICK_BYTES <= shdr.sh_size; off++)
			check(image.bytes + (shdr.sh_addr - image.base) + off,
			      image.is_64bit);
	}
	elf_image_close(&image);
	return 0;
}

static void check_random(void)
{
	static u8 bytes[RANDOM_BYTES];
	unsigned int i;

	srandom(1);
	for (i = 0; i < RANDOM_BYTES; i++)
		bytes[i] = random() >> 8;
	for (i = 0; i + X86_QUICK_BYTES <= RANDOM_BYTES; i++) {
		check(bytes + i, true);
		check(bytes + i, false);
	}
}

int main(int argc, char **argv)
{
	int i;

	if (argc < 2)
		check_random();
	for (i = 1; i < argc; i++)
		if (check_file(argv[i]))
			return 2;
	printf("# %lu places, %.1f %% by the tables, %lu differ\n", nr_all,
	       nr_all ? 100.0 * nr_quick / nr_all : 0, nr_differ);
	return nr_differ || !nr_quick;
}
