// SPDX-License-Identifier: GPL-2.0
/*
 * The analysis' own decoder against the kernel's: every opcode with every ModRM byte, every byte
 * of the code of ELF files (so all their instructions, and many bytes that are none), and random
 * bytes. An instruction that the analysis skips as quiet may also not change a path.
 */
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf-image.h"
#include "../../kmod/frame/x86_frame_scan.h"

#define RANDOM_BYTES	(1 << 20)

static unsigned long nr_all, nr_quick, nr_differ, nr_loud;

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
	print_code("own", quick);
	print_code("kernel", slow);
}

static bool same_path(const struct x86_path *a, const struct x86_path *b)
{
	return a->sp == b->sp && a->sp_base == b->sp_base && a->bp == b->bp &&
	       a->bp_kind == b->bp_kind && a->bp_used == b->bp_used && a->saved == b->saved &&
	       a->called == b->called && a->kept == b->kept && a->from == b->from;
}

/* A quiet instruction changes neither the path nor where it goes. */
static void check_quiet(const u8 *p, const struct x86_code *code)
{
	struct x86_path before = { .sp = 5, .sp_base = X86_BASE_SP }, path = before;
	s32 target = 0;

	if (x86_frame_step(code, &path, &target) == X86_STEP_NEXT &&
	    same_path(&path, &before))
		return;
	if (nr_loud++ > 20)
		return;
	printf("# quiet, but changes the path: %02x %02x %02x\n", p[0], p[1], p[2]);
	print_code("kernel", code);
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
	next = x86_frame_decode_next(p, p, 2, is_64bit, &quick, &skipped);
	if (!skipped && !quick.len)
		return;
	nr_quick++;
	known = x86_frame_decode(&insn, p, MAX_INSN_SIZE, is_64bit, &slow);
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
	} else if (skipped) {
		check_quiet(p, &slow);
	}
}

/* Writes prefixes, escape, @op and @modrm at @p, and bytes for what may follow. */
static void make_insn(u8 *p, const char *prefixes, const char *escape, u8 op, u8 modrm, u8 sib)
{
	u8 i, value = 0x91;

	while (*prefixes)
		*p++ = *prefixes++;
	while (*escape)
		*p++ = *escape++;
	*p++ = op;
	*p++ = modrm;
	*p++ = sib;
	for (i = 0; i < X86_QUICK_BYTES; i++)
		*p++ = value++;
}

static void check_opcode(const char *prefixes, const char *escape, u8 op)
{
	static const u8 sibs[] = { 0x24, 0x25, 0x9d, 0xe4 };
	u8 bytes[2 * MAX_INSN_SIZE + X86_QUICK_BYTES];
	unsigned int modrm, i;

	for (modrm = 0; modrm < 256; modrm++) {
		for (i = 0; i < sizeof(sibs); i++) {
			make_insn(bytes, prefixes, escape, op, modrm, sibs[i]);
			check(bytes, true);
			check(bytes, false);
		}
	}
}

static void check_opcodes(void)
{
	static const char * const prefixes[] = {
		"", "\x66", "\xf2", "\xf3", "\x2e", "\x64", "\xf0", "\x67", "\x66\xf2", "\x66\x2e",
		"\x48", "\x41", "\x44", "\x4f", "\x66\x48", "\xf3\x45", "\x66\x66\x2e\x66",
	};
	static const char * const escapes[] = { "", "\x0f", "\x0f\x38", "\x0f\x3a" };
	unsigned int p, e, op;

	for (p = 0; p < sizeof(prefixes) / sizeof(*prefixes); p++)
		for (e = 0; e < sizeof(escapes) / sizeof(*escapes); e++)
			for (op = 0; op < 256; op++)
				check_opcode(prefixes[p], escapes[e], op);
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

/* REX2 has a bit for the map: imul and add. Only the kernel's decoder knows it. */
static void check_rex2(void)
{
	static const u8 bytes[2][MAX_INSN_SIZE] = {
		{ 0xd5, 0x80, 0xaf, 0xc3 }, { 0xd5, 0x00, 0x01, 0xc3 },
	};
	struct x86_code code;
	struct insn insn;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		nr_all++;
		if (x86_frame_decode(&insn, bytes[i], MAX_INSN_SIZE, true, &code) &&
		    code.len == 4 && code.op == bytes[i][2] && code.rex == 0 &&
		    code.map == (i ? X86_MAP_ONE : X86_MAP_0F))
			continue;
		nr_differ++;
		print_code("with REX2", &code);
	}
}

int main(int argc, char **argv)
{
	int i;

	if (argc < 2) {
		check_opcodes();
		check_rex2();
		check_random();
	}
	for (i = 1; i < argc; i++)
		if (check_file(argv[i]))
			return 2;
	printf("# %lu places, %.1f %% without insn.c, %lu differ, %lu not quiet\n", nr_all,
	       nr_all ? 100.0 * nr_quick / nr_all : 0, nr_differ, nr_loud);
	return nr_differ || nr_loud || !nr_quick;
}
