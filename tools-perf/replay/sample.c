// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "abi.h"
#include "sample.h"

#define MAX_STACK	0x10000

/* In this order they stand in a file. */
enum state { AT_VERSION, AT_ABI, AT_REGS, AT_MAPS, AT_STACK, AT_END };

static const char * const names_64[HYBRID_X86_64_NR] = {
	"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9",
	"r10", "r11", "r12", "r13", "r14", "r15", "rip",
};

static const char * const names_32[HYBRID_I386_NR] = {
	"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "eip",
};

static struct {
	const char		*path;
	unsigned int		 nr;
	enum state		 state;
	struct hybrid_objects	*objects;
	struct hybrid_unwind	*u;
	u64			 mapped_to;
	u8			 stack[MAX_STACK];
} in;

const char *sample_register(const struct hybrid_abi *abi, unsigned int reg)
{
	if (reg >= abi->nr)
		return "a register that is not followed";
	return abi->word == 8 ? names_64[reg] : names_32[reg];
}

static void __printf(1, 2) __noreturn bad(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "replay: %s:%u: ", in.path, in.nr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

static int digit(char c)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (at - digits) % 16 : -1;
}

/* The next word of a line, which is cut behind it; NULL at the end. */
static char *next_word(char **line)
{
	char *word = *line + strspn(*line, " \t");
	size_t len = strcspn(word, " \t");

	*line = word + len + !!word[len];
	word[len] = 0;
	return len ? word : NULL;
}

static void line_ends(char **line)
{
	if (next_word(line))
		bad("there is more in this line than belongs there: remove it");
}

/* One that the task can have: a word of it holds no more. */
static u64 read_hex(char **line, const char *what)
{
	const char *word = next_word(line);
	unsigned int max = in.u->abi->word * 2;

	if (!word)
		bad("%s is missing: add it, in hexadecimal", what);
	if (!strncmp(word, "0x", 2))
		word += 2;
	if (!*word || word[strspn(word, "0123456789abcdefABCDEF")])
		bad("%s is not hexadecimal: write digits 0 to f", what);
	word += strspn(word, "0");
	if (strlen(word) > max)
		bad("%s is too large: %u hexadecimal digits at most", what, max);
	return strtoull(word, NULL, 16);
}

static void read_version(char *word, char **line)
{
	const char *version = next_word(line);

	if (strcmp(word, "hybrid-sample"))
		bad("no \"hybrid-sample 1\" first: keep a sample with scripts/keep-sample");
	if (!version || strcmp(version, "1"))
		bad("of a version other than 1: keep it again, by this scripts/keep-sample");
	in.state = AT_ABI;
}

static void read_abi(char *word, char **line)
{
	const char *bits = next_word(line);

	if (strcmp(word, "abi") || !bits || (strcmp(bits, "64") && strcmp(bits, "32")))
		bad("\"abi 64\" or \"abi 32\" must come here, before all else");
	in.u->abi = bits[0] == '6' ? &hybrid_abi_64 : &hybrid_abi_32;
	in.state = AT_REGS;
}

static bool read_register(const char *word, char **line)
{
	struct hybrid_regs *regs = &in.u->regs;
	unsigned int i;

	for (i = 0; i < in.u->abi->nr; i++) {
		if (strcmp(word, sample_register(in.u->abi, i)))
			continue;
		if (in.state != AT_REGS || regs->known & (1U << i))
			bad("%s stands here %s", word, in.state == AT_REGS ?
			    "a second time: remove one of both" :
			    "behind the maps: move it before the first of them");
		regs->value[i] = read_hex(line, word);
		regs->known |= 1U << i;
		return true;
	}
	return false;
}

/* Returns false where the word is no ID, and the path begins with it. */
static bool read_id(const char *word, struct hybrid_ident *ident)
{
	size_t len = strlen(word), i;
	int end = 0;

	if (sscanf(word, "%8x:%8x:%20" SCNu64 "%n", &ident->maj, &ident->min, &ident->ino,
		   &end) == 3 && !word[end])
		return true;
	if (*word == '/' || *word == '[')
		return false;
	if (!len || len % 2 || len > 2 * HYBRID_BUILD_ID_SIZE ||
	    word[strspn(word, "0123456789abcdef")])
		bad("no ID (fe:00:1234, or a build-id) and no path behind the offset: add one");
	/* One that is shorter is no less one: all of it is compared. */
	ident->build_id_size = len / 2;
	for (i = 0; i < len / 2; i++)
		ident->build_id[i] = digit(word[2 * i]) << 4 | digit(word[2 * i + 1]);
	ident->maj = 0;
	ident->min = 0;
	ident->ino = 0;
	return true;
}

static bool is_file(const char *path)
{
	return (path[0] == '/' && strncmp(path, "//", 2)) || !strcmp(path, "[vdso]");
}

static void read_map(char **line)
{
	struct hybrid_mapping map = {};
	struct hybrid_ident ident = {};
	char *rest, *word;

	map.start = read_hex(line, "the start of the map");
	map.end = read_hex(line, "the end of the map");
	map.pgoff = read_hex(line, "the offset of the map");
	if (map.start >= map.end || map.pgoff + (map.end - map.start) < map.pgoff)
		bad("the map is empty, or too large for its offset: correct its numbers");
	if (map.start < in.mapped_to)
		bad("the map begins before the one above it ends: sort them, and let none overlap");
	in.mapped_to = map.end;
	rest = *line + strspn(*line, " \t");
	word = rest + strcspn(rest, " \t");
	if (*word) {
		*word = 0;
		if (read_id(rest, &ident))
			rest = word + 1 + strspn(word + 1, " \t");
		else
			*word = ' ';
	}
	if (!*rest)
		bad("the map has no path: add it, or //anon where no file is behind it");
	ident.path = rest;
	map.is_uprobes = strstarts(rest, HYBRID_UPROBES);
	if (is_file(rest)) {
		map.object = hybrid_object_get(in.objects, &ident);
		if (!map.object)
			bad("out of memory");
	}
	if (hybrid_space_map(in.u->space, &map, true))
		bad("out of memory");
	if (map.object)
		hybrid_object_put(map.object);
	in.state = AT_MAPS;
}

static void begin_stack(char **line)
{
	const struct hybrid_abi *abi = in.u->abi;
	const u8 need[] = { abi->ip, abi->sp, abi->bp };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(need); i++) {
		if (!(in.u->regs.known & (1U << need[i])))
			bad("there is no %s above: add it, a walk begins with it",
			    sample_register(abi, need[i]));
	}
	in.u->dump = in.stack;
	in.u->dump_size = 0;
	in.u->dump_start = read_hex(line, "the address of the stack");
	line_ends(line);
	in.state = AT_STACK;
}

static void read_stack(const char *word)
{
	u64 last = in.u->abi->word == 8 ? ~0ULL : ~0U;

	for (; *word; word += 2) {
		if (digit(word[0]) < 0)
			bad("neither bytes of the stack nor \"end\": correct or remove it");
		if (digit(word[1]) < 0)
			bad("a byte with one digit: each has two; was the file cut off?");
		if (in.u->dump_size == MAX_STACK)
			bad("the stack is too large: 65536 bytes at most");
		if (in.u->dump_size > last - in.u->dump_start)
			bad("the stack goes on behind the last address: correct its own");
		in.stack[in.u->dump_size++] = digit(word[0]) << 4 | digit(word[1]);
	}
}

static void read_line(char *line)
{
	char *word = next_word(&line);

	if (!word || *word == '#')
		return;
	if (in.state == AT_END)
		bad("there is more behind \"end\": remove it");
	if (in.state == AT_STACK) {
		if (!strcmp(word, "end"))
			in.state = AT_END;
		else
			for (; word; word = next_word(&line))
				read_stack(word);
	} else if (in.state == AT_VERSION) {
		read_version(word, &line);
	} else if (in.state == AT_ABI) {
		read_abi(word, &line);
	} else if (!strcmp(word, "map")) {
		read_map(&line);
		return;
	} else if (!strcmp(word, "stack")) {
		begin_stack(&line);
	} else if (!read_register(word, &line)) {
		bad("neither a register of this abi, nor map, nor stack: correct or remove it");
	}
	line_ends(&line);
}

void sample_read(const char *path, struct hybrid_objects *objects, struct hybrid_unwind *u)
{
	/* A path of 4096 bytes, and the numbers before it. */
	static char line[8192];
	FILE *file = fopen(path, "r");
	size_t len;

	in.path = path;
	in.objects = objects;
	in.u = u;
	u->space = hybrid_space_new();
	if (!file || !u->space) {
		fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
		exit(1);
	}
	while (fgets(line, sizeof(line), file)) {
		in.nr++;
		len = strlen(line);
		if (len && line[len - 1] == '\n')
			line[len - 1] = 0;
		else if (!feof(file))
			bad("too long a line, or a zero byte in it: is this a sample?");
		read_line(line);
	}
	if (ferror(file))
		bad("%s", strerror(errno));
	if (!in.nr)
		bad("the file is empty: keep the sample again");
	if (in.state != AT_END)
		bad("the file ends here, without \"end\": it was cut off; keep the sample again");
	fclose(file);
}
