// SPDX-License-Identifier: GPL-2.0
/*
 * Makes hostile code: prefixes, all maps of opcodes, jumps, tables of jumps, ends of pages, and
 * pages that can't be read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/kernel.h>

#include "../../kmod/frame/x86_frame_scan.h"
#include "hostile-code.h"

#define PAGE		4096UL
#define PAGES		256
/* The first pages have code, the last ones have tables of jumps. */
#define CODE_PAGES	240
#define TABLE_ENTRIES	4

#define PIECES_MAX	1600

struct hostile_code hostile;

static u8 code[PAGES * PAGE];
static unsigned int missing, nr_tables;
/* Where each piece is, and how much of @code was written. */
static unsigned long at[PIECES_MAX + 1], end_of_code;

unsigned int hostile_below(unsigned int n)
{
	return rand_r(&hostile.seed) % n;
}

int hostile_read(void *ctx, unsigned long addr, void *dst, unsigned int len)
{
	unsigned long off = addr - CODE;

	if (off >= sizeof(code) || len > sizeof(code) - off ||
	    (missing && off < CODE_PAGES * PAGE && off / PAGE % missing == missing - 1)) {
		hostile.failed++;
		return -1;
	}
	hostile.reads++;
	memcpy(dst, code + off, len);
	return 0;
}

static void put_le32(u8 *p, u32 value)
{
	memcpy(p, &value, sizeof(value));
}

/* Writes a jump by a table at @off to @next. The first entries lead to code that is known. */
static void put_table(struct piece *p, unsigned long off, unsigned long next)
{
	/* lea table(%rip),%rdx; movslq (%rdx,%rax,4),%rax; add %rdx,%rax; jmp *%rax */
	static const u8 jump[] = {
		0x48, 0x8d, 0x15, 0, 0, 0, 0, 0x48, 0x63, 0x04, 0x82, 0x48, 0x01, 0xd0, 0xff, 0xe0,
	};
	unsigned long table = CODE_PAGES * PAGE + 4 * TABLE_ENTRIES * nr_tables++;
	unsigned int i;

	memcpy(code + off, jump, sizeof(jump));
	put_le32(code + off + 3, table - (off + 7));
	for (i = 0; i < TABLE_ENTRIES; i++)
		put_le32(code + table + 4 * i, (i < p->to % TABLE_ENTRIES ? off : next) - table);
}

static void put_piece(struct piece *p, unsigned int i, unsigned int nr)
{
	unsigned int to = p->kind == PAGE_END ? i + 1 : i + p->to;
	unsigned long end = at[i] + p->len;

	if (to > nr)
		to = nr;
	memcpy(code + at[i], p->bytes, p->len);
	if (p->kind == TABLE)
		put_table(p, at[i], at[i + 1]);
	else if (p->kind == JUMP || p->kind == PAGE_END)
		put_le32(code + end - 4, at[to] - end);
	else if (p->kind == SHORT)
		code[end - 1] = at[to] - end;
}

/* Writes the tile again and again. */
void hostile_put_tile(struct tile *tile)
{
	unsigned long off = 0, next;
	unsigned int i, nr;

	memset(code, 0xcc, end_of_code);
	nr_tables = 0;
	missing = tile->missing;
	for (i = 0; i < PIECES_MAX; i++) {
		struct piece *p = &tile->piece[i % tile->nr];

		at[i] = off;
		next = off + p->len;
		if (p->kind == PAGE_END)
			next += PAGE - next % PAGE + PAGE - (u8)p->to % PAGE;
		if (next + sizeof(p->bytes) > CODE_PAGES * PAGE)
			break;
		off = next;
	}
	nr = i;
	at[nr] = off;
	end_of_code = off + sizeof(tile->piece[0].bytes);
	for (i = 0; i < nr; i++)
		put_piece(&tile->piece[i % tile->nr], i, nr);
}

/* Any instruction: prefixes, an opcode of any map, and random operands. */
static void any_insn(struct piece *p, bool is_64bit)
{
	static const u8 prefixes[] = {
		0x66, 0x67, 0xf2, 0xf3, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65, 0xf0,
	};
	static const char escapes[][4] = {
		"", "\x0f", "\x0f\x38", "\x0f\x3a", "\xc5", "\xc4", "\x62", "\xd5", "\xff", "\xf7",
	};
	u8 bytes[32];
	struct x86_code insn;
	struct insn memory;
	unsigned int nr, i;
	const char *e;

	do {
		nr = hostile_below(2) ? 0 : hostile_below(14);
		for (i = 0; i < nr; i++)
			bytes[i] = prefixes[hostile_below(sizeof(prefixes))];
		if (is_64bit && !hostile_below(3))
			bytes[nr++] = 0x40 | hostile_below(16);
		for (e = escapes[hostile_below(sizeof(escapes) / sizeof(*escapes))]; *e; e++)
			bytes[nr++] = *e;
		while (nr < sizeof(bytes))
			bytes[nr++] = rand_r(&hostile.seed) >> 8;
	} while (!x86_frame_decode(&memory, bytes, MAX_INSN_SIZE, is_64bit, &insn));
	p->kind = BYTES;
	p->len = insn.len;
	memcpy(p->bytes, bytes, insn.len);
}

/* What a search looks at: sp, bp, copies of them, calls. */
static void special_insn(struct piece *p)
{
	static const char * const insns[] = {
		"\x55", "\x5d", "\xc9", "\xc3", "\x90", "\x48\x89\xe5", "\x48\x89\xe0",
		"\x48\x89\xc4", "\x48\x89\xcc", "\x48\x89\xec", "\x48\x83\xec\x18",
		"\x48\x83\xc4\x18", "\x48\x8d\x65\xf0", "\x48\x8d\x61\x08", "\x48\x89\x2c\x24",
		"\x48\x8b\x2c\x24", "\x48\x8b\x6c\x24\x08", "\x48\x8b\x65\x10", "\xff\xd0",
		"\x48\x39\xe0", "\x8b\x04\x24", "\x89\xe0", "\x89\xc4", "\x48\x83\xe4\xf0",
		"\x8d\x61\xfc", "\x48\x3b\x66\x10", "\xf3\x0f\x1e\xfa", "\x48\x63\xc8",
	};
	const char *s = insns[hostile_below(ARRAY_SIZE(insns))];

	p->kind = BYTES;
	p->len = strlen(s);
	memcpy(p->bytes, s, p->len);
}

static void any_jump(struct piece *p)
{
	static const u8 prefixes[] = { 0x2e, 0x3e, 0xf2, 0x66, 0x67, 0x64 };
	unsigned int i;

	p->kind = hostile_below(3) ? JUMP : SHORT;
	p->len = 0;
	for (i = hostile_below(3) ? 0 : hostile_below(8); i; i--)
		p->bytes[p->len++] = prefixes[hostile_below(sizeof(prefixes))];
	if (p->kind == SHORT) {
		p->bytes[p->len++] = hostile_below(8) ? 0x70 | hostile_below(16) :
							0xe0 + hostile_below(4);
		p->len++;
		p->to = hostile_below(8);
		return;
	}
	switch (hostile_below(4)) {
	case 0:
		p->bytes[p->len++] = 0xe8;
		break;
	case 1:
		p->bytes[p->len++] = 0xe9;
		break;
	default:
		p->bytes[p->len++] = 0x0f;
		p->bytes[p->len++] = 0x80 | hostile_below(16);
	}
	p->len += 4;
	p->to = hostile_below(100) - 20;
}

static void make_piece(struct piece *p, bool is_64bit)
{
	memset(p, 0, sizeof(*p));
	switch (hostile_below(16)) {
	case 0 ... 5:
		any_insn(p, is_64bit);
		break;
	case 6 ... 9:
		special_insn(p);
		break;
	case 10 ... 13:
		any_jump(p);
		break;
	case 14:
		p->kind = TABLE;
		p->len = 16;
		p->to = hostile_below(TABLE_ENTRIES);
		break;
	default:
		p->kind = PAGE_END;
		p->len = 5;
		p->bytes[0] = 0xe9;
		p->to = hostile_below(128);
	}
}

void hostile_make_tile(struct tile *tile)
{
	unsigned int i;

	memset(tile, 0, sizeof(*tile));
	tile->is_64bit = hostile_below(4);
	tile->nr = 1 + hostile_below(TILE_MAX);
	tile->missing = hostile_below(4) ? 0 : 2 + hostile_below(8);
	for (i = 0; i < tile->nr; i++)
		make_piece(&tile->piece[i], tile->is_64bit);
}

void hostile_change(struct tile *tile)
{
	unsigned int i = hostile_below(tile->nr), to = hostile_below(tile->nr);
	struct piece piece;

	switch (hostile_below(10)) {
	case 0 ... 3:
		make_piece(&tile->piece[i], tile->is_64bit);
		break;
	case 4:
		piece = tile->piece[i];
		tile->piece[i] = tile->piece[to];
		tile->piece[to] = piece;
		break;
	case 5:
		tile->piece[to] = tile->piece[i];
		break;
	case 6:
		if (tile->nr < TILE_MAX)
			make_piece(&tile->piece[tile->nr++], tile->is_64bit);
		break;
	case 7:
		if (tile->nr > 1)
			tile->piece[i] = tile->piece[--tile->nr];
		break;
	case 8:
		tile->piece[i].to += hostile_below(2) ? 1 : -1;
		break;
	default:
		tile->missing = hostile_below(2) ? 0 : 2 + hostile_below(8);
	}
}

void hostile_print_tile(const struct tile *tile)
{
	unsigned int i, k;

	printf("%u bits, missing %u:", tile->is_64bit ? 64 : 32, tile->missing);
	for (i = 0; i < tile->nr; i++) {
		const struct piece *p = &tile->piece[i];

		printf(" %c", "bjste"[p->kind]);
		for (k = 0; k < p->len; k++)
			printf("%02x", p->bytes[k]);
		if (p->kind != BYTES)
			printf("%+d", p->to);
	}
	printf("\n");
}
