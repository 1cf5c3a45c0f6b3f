// SPDX-License-Identifier: GPL-2.0
/*
 * Tables of Go programs that are made: random ones against a model, and each field at its bound.
 */
#include <string.h>
#include "elf-made.h"
#include "fde.h"
#include "pclntab.h"
#include "tap.h"

#define TEXT		0x10000
#define TEXT_SIZE	0x8000
#define TABLE		0x40000

#define MAGIC_1_18	0xfffffff0U
#define MAGIC_1_20	0xfffffff1U

#define MAX_FUNCTIONS	0x1000000
#define MAX_STEPS	16384

/* Where the function of a closure is looked for. */
#define NEAR		4096

/* Of functions that a program has here. */
#define MOST		4200

/* Of struct _func, with what is read of it; the others are 0. */
#define FUNC_SIZE	48
#define FLAG_AT		41

enum { TOP_FRAME = 1, SP_WRITE = 2, IS_ASM = 4 };

struct header {
	u32	magic;
	u8	pad[2];
	u8	quantum;
	u8	word;
	u64	nr_functions;
	u64	nr_files;
	u64	text;
	u64	names;
	u64	units;
	u64	files;
	u64	pctab;
	u64	functab;
};

/**
 * struct go - a program
 * @header: of its table
 * @nr: functions
 * @start: of each, from TEXT on, and the end of the last
 * @name: of each
 * @flags: of each
 * @pcsp: of each: its offset in @pctab; 0: none
 * @pctab: the distances of all
 * @table_size: what the file says; 0: as it is
 */
static struct {
	struct header		header;
	unsigned int		nr;
	u32			start[MOST + 1];
	const char		*name[MOST];
	u8			flags[MOST];
	u32			pcsp[MOST];
	u8			pctab[65536];
	unsigned int		pctab_nr;
	u64			table_size;
} go;

static u8 text[TEXT_SIZE];

static void begin(void)
{
	memset(&go, 0, sizeof(go));
	memset(text, 0x90, sizeof(text));
	go.header.magic = MAGIC_1_20;
	go.header.quantum = 1;
	go.header.word = 8;
	go.header.text = TEXT;
	/* Offset 0 stands for none. */
	go.pctab_nr = 1;
}

static void varint(u32 value)
{
	for (; value >= 0x80; value >>= 7)
		go.pctab[go.pctab_nr++] = value | 0x80;
	go.pctab[go.pctab_nr++] = value;
}

/* sp is further from the return address by @by, for so many bytes. */
static void pair(s32 by, u32 bytes)
{
	varint(by < 0 ? ~((u32)by << 1) : (u32)by << 1);
	varint(bytes);
}

static void add(u32 size, const char *name, u8 flags)
{
	go.start[go.nr + 1] = go.start[go.nr] + size;
	go.name[go.nr] = name;
	go.flags[go.nr] = flags;
	go.pcsp[go.nr++] = go.pctab_nr;
}

static struct hybrid_object *open_go(void)
{
	static u8 table[1 << 19];
	unsigned int at = sizeof(struct header), functab, func, names, i;
	struct elf_made elf;

	memset(table, 0, sizeof(table));
	names = at;
	for (i = 0; i < go.nr; i++)
		at += strlen(go.name[i]) + 1;
	go.header.names = go.header.names ?: names;
	go.header.pctab = go.header.pctab ?: at;
	memcpy(table + at, go.pctab, go.pctab_nr);
	functab = (at + go.pctab_nr + 7) & ~7U;
	go.header.functab = go.header.functab ?: functab;
	go.header.nr_functions = go.header.nr_functions ?: go.nr;
	func = functab + go.nr * 8 + 4;
	at = names;
	for (i = 0; i <= go.nr; i++) {
		u32 offset = func + i * FUNC_SIZE - functab, name = at - names;

		memcpy(table + functab + i * 8, &go.start[i], 4);
		if (i == go.nr)
			break;
		memcpy(table + functab + i * 8 + 4, &offset, 4);
		memcpy(table + functab + offset, &go.start[i], 4);
		memcpy(table + functab + offset + 4, &name, 4);
		memcpy(table + functab + offset + 16, &go.pcsp[i], 4);
		table[functab + offset + FLAG_AT] = go.flags[i];
		memcpy(table + at, go.name[i], strlen(go.name[i]) + 1);
		at += strlen(go.name[i]) + 1;
	}
	memcpy(table, &go.header, sizeof(go.header));
	elf_made_begin(&elf);
	elf_made_loaded(&elf, ".text", SHF_EXECINSTR, TEXT, text, sizeof(text));
	i = elf_made_loaded(&elf, ".gopclntab", 0, TABLE, table, func + go.nr * FUNC_SIZE);
	elf.sections[i].sh_size = go.table_size ?: elf.sections[i].sh_size;
	return elf_made_object(&elf);
}

static bool has_table(void)
{
	struct hybrid_object *object = open_go();
	bool has = hybrid_pclntab_find(object);

	same(hybrid_pclntab_find(object), has);
	elf_made_close(object);
	return has;
}

/* Each field of the header, in a table that is right but for it. */
static void header(void)
{
	unsigned int i;

	for (i = 0; i < 16; i++) {
		begin();
		add(16, "f", 0);
		pair(1, 16);
		switch (i) {
		case 0:
			break;
		case 1:
			go.header.magic = MAGIC_1_18;
			break;
		case 2:
			go.header.magic = MAGIC_1_18 - 1;
			break;
		case 3:
			go.header.magic = MAGIC_1_20 + 1;
			break;
		case 4: case 5:
			go.header.pad[i - 4] = 1;
			break;
		case 6:
			go.header.quantum = 4;
			break;
		case 7:
			go.header.word = 4;
			break;
		case 8:
			go.header.text = TEXT + TEXT_SIZE;
			break;
		case 9:
			go.header.text = TEXT - 1;
			break;
		case 10:
			go.header.names = 1 << 20;
			break;
		case 11:
			go.header.pctab = 1 << 20;
			break;
		case 12:
			go.header.functab = 1 << 20;
			break;
		case 13:
			go.header.nr_functions = 1 << 20;
			break;
		case 14:
			go.header.functab = ~0ULL;
			break;
		default:
			go.nr = 0;
			break;
		}
		if (!same(has_table(), i < 2))
			printf("# field %u\n", i);
	}
	/* More functions than any program has, of a table that says that it is large enough. */
	for (i = MAX_FUNCTIONS - 1; i < MAX_FUNCTIONS + 2; i++) {
		begin();
		add(16, "f", 0);
		go.header.nr_functions = i;
		go.table_size = 1ULL << 30;
		same(has_table(), i <= MAX_FUNCTIONS);
	}
}

/* Parts that begin at the table's end, and a byte before it; functions up to its end. */
static void ends(void)
{
	struct hybrid_object *object;
	unsigned int i;
	u8 bytes[2];
	u64 size;

	for (i = 0; i < 6; i++) {
		begin();
		add(16, "f", 0);
		object = open_go();
		check(hybrid_pclntab_find(object));
		size = object->pclntab.size;
		same(object->pclntab.nr, 1);
		check(hybrid_pclntab_read(object, size - 2, bytes, 2));
		check(hybrid_pclntab_read(object, size, bytes, 0));
		check(!hybrid_pclntab_read(object, size - 1, bytes, 2));
		check(!hybrid_pclntab_read(object, size + 1, bytes, 0));
		elf_made_close(object);
		*(i / 2 == 0 ? &go.header.names : i / 2 == 1 ? &go.header.pctab :
		  &go.table_size) = i / 2 < 2 ? size - 1 + i % 2 : go.header.functab + 12 - i % 2;
		same(has_table(), !(i % 2));
	}
}

static void same_row(struct hybrid_object *object, unsigned int at, bool known, s32 distance,
		     u64 start, u64 end)
{
	struct hybrid_row row;
	bool found = hybrid_pclntab_row(object, TEXT + at, &row);

	if (!check(found))
		return;
	if (!known) {
		same(row.rule.kind, HYBRID_RULE_NONE);
		same(row.start, TEXT + at);
		same(row.end, TEXT + at + 1);
		return;
	}
	same(row.rule.kind, HYBRID_RULE_CFA);
	same(row.rule.base, HYBRID_BASE_SP);
	same(row.rule.cfa_off, distance + 8);
	same(row.rule.ra_off, -8);
	same(row.rule.bp, distance ? HYBRID_BP_AT_CFA : HYBRID_BP_SAME);
	same(row.start, TEXT + start);
	same(row.end, TEXT + end);
}

/* Functions with random distances. */
static void random_tables(void)
{
	struct { bool known; s32 distance; u32 start; u32 end; } model[2048];
	struct hybrid_object *object;
	unsigned int round, i, nr, at, size, first;
	struct hybrid_fde fde;
	s32 now;

	for (round = 0; round < 150; round++) {
		begin();
		memset(model, 0, sizeof(model));
		nr = 1 + tap_random() % 12;
		for (i = 0, at = 0; i < nr; i++) {
			size = 1 + tap_random() % 100;
			add(size, "f", 0);
			first = at;
			now = -1;
			while (at < first + size) {
				u32 bytes = 1 + tap_random() % 40, end = at + bytes, b;
				s32 by = (s32)(tap_random() % 41) * 8 - 160;

				if (now == -1)
					by += 1;
				if (!by && at > first)
					by = 8;
				pair(by, bytes);
				now += by;
				/* What goes on behind the function is not read. */
				for (b = at; b < end && b < first + size; b++) {
					model[b].known = now >= 0 && end <= first + size;
					model[b].distance = now;
					model[b].start = at;
					model[b].end = end;
				}
				at = end < first + size ? end : first + size;
			}
			varint(0);
		}
		object = open_go();
		check(hybrid_pclntab_find(object));
		for (i = 0; i < at; i++)
			same_row(object, i, model[i].known, model[i].distance, model[i].start,
				 model[i].end);
		for (i = 0; i < nr; i++) {
			check(hybrid_pclntab_function(object, i, &fde));
			same(fde.start, TEXT + go.start[i]);
			same(fde.end, TEXT + go.start[i + 1]);
			check(hybrid_pclntab_around(object, fde.start, &fde));
			same(fde.start, TEXT + go.start[i]);
		}
		check(!hybrid_pclntab_around(object, TEXT - 1, &fde));
		check(!hybrid_pclntab_around(object, TEXT + at, &fde));
		elf_made_close(object);
	}
}

/* Distances that no frame has; numbers of too many bytes; none. */
static void odd_distances(void)
{
	static const struct {
		s32	distance;
		bool	known;
	} of[] = {
		{ 0, true }, { 8, true }, { 4, false }, { 1, false }, { -8, false },
		{ 0x40000000, true }, { 0x40000008, false },
	};
	struct hybrid_object *object;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(of); i++) {
		begin();
		add(16, "f", 0);
		pair(of[i].distance + 1, 16);
		object = open_go();
		check(hybrid_pclntab_find(object));
		same_row(object, 3, of[i].known, of[i].distance, 0, 16);
		elf_made_close(object);
	}
	for (i = 4; i < 8; i++) {
		begin();
		add(16, "f", 0);
		memset(go.pctab + go.pctab_nr, 0x80, i);
		go.pctab[go.pctab_nr] = 0x82;
		go.pctab_nr += i;
		varint(0);
		varint(16);
		object = open_go();
		check(hybrid_pclntab_find(object));
		same_row(object, 3, i < 5, 0, 0, 16);
		elf_made_close(object);
	}
	begin();
	add(16, "f", 0);
	pair(1, 16);
	go.pcsp[0] = 0;
	object = open_go();
	check(hybrid_pclntab_find(object));
	same_row(object, 3, false, 0, 0, 16);
	elf_made_close(object);
}

/* So many changes of sp are followed. */
static void many_steps(void)
{
	struct hybrid_object *object;
	unsigned int i;

	begin();
	add(MAX_STEPS + 8, "f", 0);
	pair(9, 1);
	for (i = 1; i < MAX_STEPS + 8; i++)
		pair(i & 1 ? 8 : -8, 1);
	object = open_go();
	check(hybrid_pclntab_find(object));
	for (i = MAX_STEPS - 3; i < MAX_STEPS + 3; i++)
		same_row(object, i, i < MAX_STEPS, i & 1 ? 16 : 8, i, i + 1);
	elf_made_close(object);
}

/* Functions that nobody calls, that set sp, and in assembler. */
static void flags(void)
{
	/* Where bp is saved: mov %rbp,8(%rsp). And sp set: mov %rdi,%rsp */
	static const u8 saves[] = { 0x48, 0x89, 0x6c, 0x24, 0x08 }, sets[] = { 0x48, 0x89, 0xfc };
	struct hybrid_object *object;
	struct hybrid_row row;
	unsigned int i;

	for (i = 0; i < 16; i++) {
		begin();
		add(64, i & 8 ? "runtime.cgocallback" : "f", i & 7);
		pair(17, 64);
		memcpy(text, saves, sizeof(saves));
		memcpy(text + 32, sets, sizeof(sets));
		object = open_go();
		check(hybrid_pclntab_find(object));
		check(hybrid_pclntab_row(object, TEXT + 40, &row));
		if (i & TOP_FRAME) {
			same(row.rule.kind, HYBRID_RULE_OUTERMOST);
			same(row.start, TEXT);
			same(row.end, TEXT + 64);
		} else {
			same(row.rule.kind, i & SP_WRITE && !(i & 8) ? HYBRID_RULE_NONE :
								      HYBRID_RULE_CFA);
			check(hybrid_pclntab_row(object, TEXT + 31, &row));
			same(row.rule.kind, HYBRID_RULE_CFA);
			same(row.end, TEXT + (i & SP_WRITE && !(i & 8) ? 32 : 64));
			same(row.rule.bp, HYBRID_BP_AT_CFA);
		}
		elf_made_close(object);
		/* It does not save bp. */
		memset(text, 0x90, sizeof(saves));
		object = open_go();
		check(hybrid_pclntab_find(object));
		check(hybrid_pclntab_row(object, TEXT + 20, &row));
		if (!(i & TOP_FRAME))
			same(row.rule.bp, i & IS_ASM ? HYBRID_BP_UNDEFINED : HYBRID_BP_AT_CFA);
		elf_made_close(object);
	}
}

/* It has a caller: what the kernel has pushed for a signal. */
static void signal_handler(void)
{
	struct hybrid_object *object;
	struct hybrid_row row;

	begin();
	add(64, "runtime.sigtramp", TOP_FRAME | IS_ASM);
	pair(17, 64);
	object = open_go();
	check(hybrid_pclntab_find(object));
	check(hybrid_pclntab_row(object, TEXT + 40, &row));
	same(row.rule.kind, HYBRID_RULE_CFA);
	same(row.rule.base, HYBRID_BASE_SP);
	same(row.rule.cfa_off, 24);
	elf_made_close(object);
}

/* The function that a closure was written in, by its name. */
static void closures(void)
{
	static const struct {
		const char	*closure;
		const char	*other;
		bool		found;
	} of[] = {
		{ "p.f.func1", "p.f", true }, { "p.f.func12", "p.f", true },
		{ "p.f.func1", "p.g", false }, { "p.f.func1", "p.fo", false },
		{ "p.f.func", "p.f", false }, { "p.f.funk1", "p.f", false },
		{ "p.f.1", "p.f", false }, { ".func1", "", false }, { "func1", "", false },
		{ "p.f.func1.2", "p.f", false }, { "p.f.func1.func2", "p.f.func1", true },
	};
	struct hybrid_object *object;
	struct hybrid_fde fde;
	unsigned int i;

	for (i = 0; i < 2 * ARRAY_SIZE(of); i++) {
		bool is_behind = i & 1;

		begin();
		add(16, "a", 0);
		add(16, is_behind ? of[i / 2].closure : of[i / 2].other, 0);
		add(16, "b", 0);
		add(16, is_behind ? of[i / 2].other : of[i / 2].closure, 0);
		object = open_go();
		if (!same(hybrid_pclntab_parent(object, TEXT + (is_behind ? 16 : 48), &fde),
			  of[i / 2].found))
			printf("# %s\n", of[i / 2].closure);
		if (of[i / 2].found)
			same(fde.start, TEXT + (is_behind ? 48 : 16));
		elf_made_close(object);
	}
}

/* The nearest one of those that are not too far; and names that are not too long. */
static void far_closures(void)
{
	static const int distances[] = { -NEAR, 1 - NEAR, NEAR - 1, NEAR };
	struct hybrid_object *object;
	struct hybrid_fde fde;
	char name[2][260];
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(distances); i++) {
		begin();
		for (k = 0; k < MOST; k++)
			add(2, "a", 0);
		k = distances[i] < 0 ? MOST - 1 : 0;
		go.name[k] = "p.f.func1";
		go.name[k + distances[i]] = "p.f";
		object = open_go();
		same(hybrid_pclntab_parent(object, TEXT + 2 * k, &fde), i == 1 || i == 2);
		if (i == 1 || i == 2)
			same(fde.start, TEXT + 2 * (k + distances[i]));
		elf_made_close(object);
	}
	for (i = 254; i < 257; i++) {
		memset(name, 'n', sizeof(name));
		strcpy(&name[0][i - strlen(".func1")], ".func1");
		name[1][i - strlen(".func1")] = 0;
		begin();
		add(16, name[0], 0);
		add(16, name[1], 0);
		object = open_go();
		same(hybrid_pclntab_parent(object, TEXT, &fde), i <= 255);
		check(!hybrid_pclntab_parent(object, TEXT + 16, &fde));
		check(!hybrid_pclntab_parent(object, TEXT + 32, &fde));
		elf_made_close(object);
	}
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "made pclntab: the header",		header },
		{ "made pclntab: ends of parts",	ends },
		{ "made pclntab: random tables",	random_tables },
		{ "made pclntab: odd distances",	odd_distances },
		{ "made pclntab: many steps",		many_steps },
		{ "made pclntab: flags",		flags },
		{ "made pclntab: a signal's handler",	signal_handler },
		{ "made pclntab: closures",		closures },
		{ "made pclntab: far from closures",	far_closures },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
