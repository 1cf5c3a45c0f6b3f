// SPDX-License-Identifier: GPL-2.0
/*
 * The costliest search: how many instructions does one take in code that is written to make it
 * long? Random code is changed as long as that makes it costlier. What is counted then is a build
 * of the analysis that calls a function at each basic block (count-blocks.o, see the Makefile). The
 * costliest code is written to a file. For this code callgrind counts the instructions of the
 * analysis as it is (run-cost).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/compiler.h>
#include <linux/kernel.h>

#include "../../kmod/frame/x86_frame_scan.h"
#include "count-blocks.h"

/*
 * What a read takes in the kernel, besides the copying. One that fails takes a page fault, some
 * 1,000 ns.
 */
#define READ_INSNS	100
#define FAILED_INSNS	4000
/* Instructions of a basic block, roughly. */
#define BLOCK_INSNS	5

#define PAGE		4096UL
#define PAGES		256
#define CODE		0x400000UL
/* The first pages have code, the last ones have tables of jumps. */
#define CODE_PAGES	240
#define TABLE_ENTRIES	4

#define TILE_MAX	12
#define PIECES_MAX	1600
#define CHANGES		400
/* How many tiles have their instructions counted. */
#define WORST_MAX	16

/**
 * enum piece_kind - what a piece of code is
 * @BYTES:	an instruction that does not jump
 * @JUMP:	one that ends with an offset of 32 bits to another piece
 * @SHORT:	one that ends with an offset of 8 bits
 * @TABLE:	a jump by a table, which leads to the next piece
 * @PAGE_END:	a jump to the next piece, which is near the end of a page
 * @NR_KINDS:	number of kinds
 */
enum piece_kind {
	BYTES,
	JUMP,
	SHORT,
	TABLE,
	PAGE_END,
	NR_KINDS,
};

/**
 * struct piece - a piece of code
 * @kind:	enum piece_kind
 * @len:	length in bytes
 * @bytes:	what it is, without the offset
 * @to:		where it jumps to, in pieces; PAGE_END: so many bytes before the end of the page
 */
struct piece {
	u8	kind;
	u8	len;
	u8	bytes[18];
	s8	to;
};

/**
 * struct tile - code that is repeated
 * @piece:	pieces
 * @nr:		how many
 * @missing:	0, or one of so many pages can't be read
 * @is_64bit:	64-bit code
 */
struct tile {
	struct piece	piece[TILE_MAX];
	u8		nr;
	u8		missing;
	bool		is_64bit;
};

static u8 code[PAGES * PAGE];
static unsigned int missing, nr_tables;
static unsigned long reads, failed, blocks;
/* Where each piece is, and how much of @code was written. */
static unsigned long at[PIECES_MAX + 1], end_of_code;
static struct x86_frame_cache cache;
static unsigned int seed;

void __sanitizer_cov_trace_pc(void)
{
	blocks++;
}

static unsigned int below(unsigned int n)
{
	return rand_r(&seed) % n;
}

static int read_code(void *ctx, unsigned long addr, void *dst, unsigned int len)
{
	unsigned long off = addr - CODE;

	if (off >= sizeof(code) || len > sizeof(code) - off ||
	    (missing && off < CODE_PAGES * PAGE && off / PAGE % missing == missing - 1)) {
		failed++;
		return -1;
	}
	reads++;
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
static void put_tile(struct tile *tile)
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
		nr = below(2) ? 0 : below(14);
		for (i = 0; i < nr; i++)
			bytes[i] = prefixes[below(sizeof(prefixes))];
		if (is_64bit && !below(3))
			bytes[nr++] = 0x40 | below(16);
		for (e = escapes[below(sizeof(escapes) / sizeof(*escapes))]; *e; e++)
			bytes[nr++] = *e;
		while (nr < sizeof(bytes))
			bytes[nr++] = rand_r(&seed) >> 8;
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
	const char *s = insns[below(ARRAY_SIZE(insns))];

	p->kind = BYTES;
	p->len = strlen(s);
	memcpy(p->bytes, s, p->len);
}

static void any_jump(struct piece *p)
{
	static const u8 prefixes[] = { 0x2e, 0x3e, 0xf2, 0x66, 0x67, 0x64 };
	unsigned int i;

	p->kind = below(3) ? JUMP : SHORT;
	p->len = 0;
	for (i = below(3) ? 0 : below(8); i; i--)
		p->bytes[p->len++] = prefixes[below(sizeof(prefixes))];
	if (p->kind == SHORT) {
		p->bytes[p->len++] = below(8) ? 0x70 | below(16) : 0xe0 + below(4);
		p->len++;
		p->to = below(8);
		return;
	}
	switch (below(4)) {
	case 0:
		p->bytes[p->len++] = 0xe8;
		break;
	case 1:
		p->bytes[p->len++] = 0xe9;
		break;
	default:
		p->bytes[p->len++] = 0x0f;
		p->bytes[p->len++] = 0x80 | below(16);
	}
	p->len += 4;
	p->to = below(100) - 20;
}

static void make_piece(struct piece *p, bool is_64bit)
{
	memset(p, 0, sizeof(*p));
	switch (below(16)) {
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
		p->to = below(TABLE_ENTRIES);
		break;
	default:
		p->kind = PAGE_END;
		p->len = 5;
		p->bytes[0] = 0xe9;
		p->to = below(128);
	}
}

static void make_tile(struct tile *tile)
{
	unsigned int i;

	memset(tile, 0, sizeof(*tile));
	tile->is_64bit = below(4);
	tile->nr = 1 + below(TILE_MAX);
	tile->missing = below(4) ? 0 : 2 + below(8);
	for (i = 0; i < tile->nr; i++)
		make_piece(&tile->piece[i], tile->is_64bit);
}

static void change(struct tile *tile)
{
	unsigned int i = below(tile->nr), to = below(tile->nr);
	struct piece piece;

	switch (below(10)) {
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
		tile->piece[i].to += below(2) ? 1 : -1;
		break;
	default:
		tile->missing = below(2) ? 0 : 2 + below(8);
	}
}

static unsigned long reads_cost(void)
{
	return reads * READ_INSNS + failed * FAILED_INSNS;
}

static void search(search_fn *fn, const struct tile *tile)
{
	struct x86_frame_mem mem = { .read = read_code, .is_64bit = tile->is_64bit };
	struct x86_frame_rule rule;
	static u64 space;

	reads = 0;
	failed = 0;
	cache.work.took = 0;
	fn(&cache, ++space, &mem, CODE, &rule);
}

/* Roughly what a search in the tile costs. */
static unsigned long guess(struct tile *tile)
{
	put_tile(tile);
	blocks = 0;
	search(counted_search, tile);
	return blocks * BLOCK_INSNS + reads_cost();
}

/* Callgrind counts the instructions here: one file for each call. */
noinline void measured(const struct tile *tile)
{
	search(x86_frame_search, tile);
}

static void print_tile(const struct tile *tile)
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

/* The costliest tiles of all starts, and what they were guessed to cost. */
static struct {
	unsigned long	guessed;
	struct tile	tile;
} worst[WORST_MAX];

static void keep_worst(unsigned long guessed, const struct tile *tile)
{
	unsigned int i, least = 0;

	for (i = 1; i < WORST_MAX; i++)
		if (worst[i].guessed < worst[least].guessed)
			least = i;
	if (guessed <= worst[least].guessed)
		return;
	worst[least].guessed = guessed;
	worst[least].tile = *tile;
}

/* Changes random code as long as it becomes costlier. */
static void climb(void)
{
	unsigned int changes = CHANGES;
	struct tile best, tile;
	unsigned long most, now;

	make_tile(&best);
	most = guess(&best);
	while (changes--) {
		tile = best;
		do
			change(&tile);
		while (below(2));
		now = guess(&tile);
		if (now >= most) {
			most = now;
			best = tile;
		}
	}
	keep_worst(most, &best);
}

/* The shortest of some searches, in ns. */
static unsigned long shortest_time(const struct tile *tile)
{
	unsigned long ns, least = -1UL;
	struct timespec from, to;
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		clock_gettime(CLOCK_MONOTONIC, &from);
		measured(tile);
		clock_gettime(CLOCK_MONOTONIC, &to);
		ns = (to.tv_sec - from.tv_sec) * 1000000000UL + to.tv_nsec - from.tv_nsec;
		if (ns < least)
			least = ns;
	}
	return least;
}

/* Prints what one search in each tile of a file takes, as callgrind is not to count it. */
static int search_tiles(const char *path, bool timed)
{
	FILE *file = fopen(path, "rb");
	struct tile tile;

	if (!file)
		return 2;
	while (fread(&tile, sizeof(tile), 1, file) == 1) {
		put_tile(&tile);
		measured(&tile);
		printf("%lu instructions of reads, %u of the budget", reads_cost(),
		       cache.work.took);
		if (timed)
			printf(", %lu ns", shortest_time(&tile));
		printf(": ");
		print_tile(&tile);
	}
	fclose(file);
	return 0;
}

static int write_tiles(const char *path)
{
	FILE *file = fopen(path, "wb");
	unsigned int i;

	if (!file)
		return 2;
	for (i = 0; i < WORST_MAX; i++)
		if (worst[i].guessed)
			fwrite(&worst[i].tile, sizeof(worst[i].tile), 1, file);
	return fclose(file) ? 2 : 0;
}

static const char usage[] =
	"usage: test-cost [-n STARTS | -t SECONDS] [-s SEED] FILE\n"
	"       test-cost -r [-c] FILE\n"
	"  -c  with the time of each\n"
	"  -n  so many times from random code on\n"
	"  -r  search in the code that FILE has, and nothing else\n"
	"  -t  as often as that many seconds allow\n";

int main(int argc, char **argv)
{
	unsigned int starts = 60, seconds = 0, i;
	bool replay = false, timed = false;
	int c;

	seed = 1;
	while ((c = getopt(argc, argv, "cn:rs:t:")) >= 0) {
		if (c == 'c') {
			timed = true;
		} else if (c == 'n') {
			starts = atoi(optarg);
		} else if (c == 'r') {
			replay = true;
		} else if (c == 's') {
			seed = strtoul(optarg, NULL, 0);
		} else if (c == 't') {
			seconds = atoi(optarg);
		} else {
			fputs(usage, stderr);
			return 2;
		}
	}
	if (optind != argc - 1) {
		fputs(usage, stderr);
		return 2;
	}
	if (replay)
		return search_tiles(argv[optind], timed);
	for (i = 0; seconds ? clock() / CLOCKS_PER_SEC < seconds : i < starts; i++)
		climb();
	printf("%u starts\n", i);
	return write_tiles(argv[optind]);
}
