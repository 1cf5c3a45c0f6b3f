// SPDX-License-Identifier: GPL-2.0
/*
 * Names of a runtime's functions: their addresses, and the ELF file, which libelf and libdw
 * read back.
 */
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "name-text.h"
#include "print-name.h"
#include "names-file.h"
#include "names.h"
#include "tap.h"

static struct hybrid_names_quota quota;

static const struct hybrid_name_line put_lines[] = { { 7, 613 }, { 0, 612 }, { 12, 614 } };

static u64 function(struct hybrid_names *names, const char *name, u32 size)
{
	const struct hybrid_function f = { .name = name, .size = size };

	return hybrid_names__function(names, &quota, &f);
}

static u64 put_function(struct hybrid_names *names)
{
	const struct hybrid_function f = {
		.name		= "java.util.HashMap.put",
		.file		= "java/util/HashMap.java",
		.size		= 14,
		.lines		= put_lines,
		.nr_lines	= 3,
	};

	return hybrid_names__function(names, &quota, &f);
}

static struct hybrid_names *new_names(void)
{
	memset(&quota, 0, sizeof(quota));
	return hybrid_names__new(HYBRID_LANGUAGE_JAVA);
}

/* The file's address of one in a callchain. */
static u64 in_file(const struct hybrid_names *names, u64 ip)
{
	return ip - hybrid_names__start(names) + HYBRID_NAMES_OFFSET;
}

static int write_file(const struct hybrid_names *names)
{
	FILE *file = tmpfile();
	int fd;

	if (!file || !check(!hybrid_names__file(names, file)))
		exit(1);
	fd = dup(fileno(file));
	fclose(file);
	return fd;
}

static Elf_Scn *section_of(Elf *elf, GElf_Word type)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(elf, scn))) {
		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == type)
			return scn;
	}
	return NULL;
}

/* The name of the symbol that holds an address; "" for none. */
static const char *symbol_at(Elf *elf, u64 address)
{
	Elf_Scn *scn = section_of(elf, SHT_SYMTAB);
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Shdr shdr;
	GElf_Sym sym;
	int i;

	gelf_getshdr(scn, &shdr);
	for (i = 0; gelf_getsym(data, i, &sym); i++) {
		if (address >= sym.st_value && address - sym.st_value < sym.st_size)
			return elf_strptr(elf, shdr.sh_link, sym.st_name);
	}
	return "";
}

static int line_at(Dwarf *dwarf, u64 address, const char **file)
{
	Dwarf_Die die;
	Dwarf_Line *line;
	int number = 0;

	*file = "";
	if (!dwarf_addrdie(dwarf, address, &die))
		return 0;
	line = dwarf_getsrc_die(&die, address);
	if (!line || dwarf_lineno(line, &number))
		return 0;
	*file = dwarf_linesrc(line, NULL, NULL);
	return number;
}

static void check_symbols(void)
{
	struct hybrid_names *names = new_names();
	u64 put = put_function(names), run = function(names, "Main.run", 5), ip;
	Elf *elf;
	int fd = write_file(names);

	elf = elf_begin(fd, ELF_C_READ, NULL);
	check(put && run && put != run);
	ip = hybrid_names_ip(put, 14, 0);
	same_text(symbol_at(elf, in_file(names, ip)), "java.util.HashMap.put");
	same_text(symbol_at(elf, in_file(names, ip - 1)), "java.util.HashMap.put");
	ip = hybrid_names_ip(put, 14, 13);
	same_text(symbol_at(elf, in_file(names, ip)), "java.util.HashMap.put");
	/* A place that the function does not have. */
	same(hybrid_names_ip(put, 14, 1000), ip);
	ip = hybrid_names_ip(run, 5, 0);
	same_text(symbol_at(elf, in_file(names, ip)), "Main.run");
	same_text(symbol_at(elf, in_file(names, ip - 1)), "Main.run");
	ip = hybrid_names_ip(run, 5, 4);
	same_text(symbol_at(elf, in_file(names, ip + 1)), "");
	elf_end(elf);
	close(fd);
	hybrid_names__delete(names);
}

static void check_lines(void)
{
	static const struct { u32 index, line; } want[] = {
		{ 0, 612 }, { 6, 612 }, { 7, 613 }, { 11, 613 }, { 12, 614 }, { 13, 614 },
	};
	struct hybrid_names *names = new_names();
	u64 run = function(names, "Main.run", 5), put = put_function(names), ip;
	const char *file;
	Dwarf *dwarf;
	int fd = write_file(names);
	unsigned int i;

	dwarf = dwarf_begin(fd, DWARF_C_READ);
	if (!check(dwarf))
		return;
	for (i = 0; i < ARRAY_SIZE(want); i++) {
		ip = in_file(names, hybrid_names_ip(put, 14, want[i].index));
		same(line_at(dwarf, ip, &file), want[i].line);
		same_text(file, "java/util/HashMap.java");
		same(line_at(dwarf, ip - 1, &file), want[i].line);
	}
	same(line_at(dwarf, in_file(names, hybrid_names_ip(run, 5, 0)), &file), 0);
	dwarf_end(dwarf);
	close(fd);
	hybrid_names__delete(names);
}

/* A line table whose entries lie. */
static void check_wrong_lines(void)
{
	const struct hybrid_name_line lines[] = {
		{ 4, 40 }, { 0, 0 }, { 4, 41 }, { 0xffffffff, 7 }, { 5, 0xffffffff }, { 9, 1 },
	};
	const struct hybrid_function f = {
		.name = "f", .file = "f.py", .size = 6, .lines = lines, .nr_lines = 6,
	};
	struct hybrid_names *names = new_names();
	u64 start = hybrid_names__function(names, &quota, &f);
	const char *file;
	Dwarf *dwarf;
	int fd = write_file(names);

	dwarf = dwarf_begin(fd, DWARF_C_READ);
	if (!check(dwarf))
		return;
	same(line_at(dwarf, in_file(names, hybrid_names_ip(start, 6, 0)), &file), 0);
	same(line_at(dwarf, in_file(names, hybrid_names_ip(start, 6, 4)), &file), 40);
	dwarf_end(dwarf);
	close(fd);
	hybrid_names__delete(names);
}

static void check_build_id(void)
{
	struct hybrid_names *names = new_names(), *other = new_names();
	const void *id;
	Elf *elf;
	int fd;

	put_function(names);
	fd = write_file(names);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	same(dwelf_elf_gnu_build_id(elf, &id), HYBRID_NAMES_BUILD_ID);
	check(!memcmp(id, hybrid_names__build_id(names), HYBRID_NAMES_BUILD_ID));
	check(memcmp(id, hybrid_names__build_id(other), HYBRID_NAMES_BUILD_ID));
	elf_end(elf);
	close(fd);
	hybrid_names__delete(names);
	hybrid_names__delete(other);
}

static void check_shared(void)
{
	const struct hybrid_name_line moved[] = { { 7, 613 }, { 0, 612 }, { 12, 615 } };
	const struct hybrid_function f = {
		.name		= "java.util.HashMap.put",
		.file		= "java/util/HashMap.java",
		.size		= 14,
		.lines		= moved,
		.nr_lines	= 3,
	};
	struct hybrid_names *names = new_names();
	u64 put = put_function(names), all;

	same(put_function(names), put);
	same(hybrid_names__nr(names), 1);
	same(quota.functions, 1);
	/* Another version of the class. */
	check(hybrid_names__function(names, &quota, &f) != put);
	check(function(names, "java.util.HashMap.put", 14) != put);
	same(hybrid_names__nr(names), 3);
	all = hybrid_names__start(names);
	check(put >= all && put < all + HYBRID_NAMES_SIZE);
	hybrid_names__delete(names);
}

static void check_text(void)
{
	static const struct { const char *name, *text; } want[] = {
		{ "Main.run", "Main.run" },
		{ "", "?" },
		{ "a\nb", "a\\x0ab" },
		{ "a\033[2Jb\177", "a\\x1b[2Jb\\x7f" },
		{ "caf\xc3\xa9", "caf\xc3\xa9" },
		{ "a\xc2\x9bz", "a\\xc2\\x9bz" },
		{ "a\xe2\x80\xaez", "a\\xe2\\x80\\xaez" },
		{ "a\xff\xc0\x80", "a\\xff\\xc0\\x80" },
		{ "a\xed\xa0\x80", "a\\xed\\xa0\\x80" },
		{ "a\xe2\x82", "a\\xe2\\x82" },
		{ "a\x9bz", "a\\x9bz" },
		{ "a\xd8\x9cz", "a\\xd8\\x9cz" },
		{ "\xe6\xbc\xa2\xe5\xad\x97", "\xe6\xbc\xa2\xe5\xad\x97" },
		{ "\xf0\x9f\x90\x8d", "\xf0\x9f\x90\x8d" },
	};
	char out[64], small[8], printed[64];
	unsigned int i;
	FILE *file;

	for (i = 0; i < ARRAY_SIZE(want); i++) {
		same(hybrid_name_text(out, sizeof(out), want[i].name), strlen(want[i].text));
		same_text(out, want[i].text);
		/* What is printed is the same, but for a name that is empty. */
		memset(printed, 0, sizeof(printed));
		file = fmemopen(printed, sizeof(printed), "w");
		hybrid_print_name(file, want[i].name);
		fclose(file);
		same_text(printed, *want[i].name ? want[i].text : "");
	}
	same(hybrid_name_text(small, sizeof(small), "abc\n\n\n"), 7);
	same_text(small, "abc\\x0a");
	hybrid_name_text(small, sizeof(small), "abcdefghijk");
	check(strlen(small) < sizeof(small));
}

/* One process takes its share, and another one still has room. */
static void check_bounds(void)
{
	struct hybrid_names *names = new_names();
	struct hybrid_names_quota greedy;
	char name[32];
	u32 i;

	for (i = 0; i <= HYBRID_NAMES_NR / HYBRID_NAMES_SHARE; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		if (!function(names, name, 1))
			break;
	}
	same(i, HYBRID_NAMES_NR / HYBRID_NAMES_SHARE);
	same(quota.refused, 1);
	greedy = quota;
	memset(&quota, 0, sizeof(quota));
	check(function(names, "another", 1));
	/* As large as functions get. */
	for (i = 0; i < 100000; i++) {
		snprintf(name, sizeof(name), "large%u", i);
		if (!function(names, name, 0xffffffff))
			break;
	}
	same(i, HYBRID_NAMES_SIZE / HYBRID_NAMES_SHARE / (2 * HYBRID_NAMES_INDEXES + 2));
	quota = greedy;
	same(function(names, "f0", 1), hybrid_names__start(names));
	hybrid_names__delete(names);
}

static void check_bytes(void)
{
	struct hybrid_name_line *lines = calloc(HYBRID_NAMES_LINES + 1, sizeof(*lines));
	struct hybrid_function f = {
		.size = HYBRID_NAMES_INDEXES, .lines = lines, .nr_lines = HYBRID_NAMES_LINES + 1,
	};
	struct hybrid_names *names = new_names();
	char name[1024];
	u32 i;

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = 0;
	f.name = name;
	f.file = name;
	for (i = 0; i <= HYBRID_NAMES_LINES; i++)
		lines[i] = (struct hybrid_name_line) { i, i };
	for (i = 0; i < 100000; i++) {
		snprintf(name, 8, "%07u", i);
		name[7] = 'x';
		if (!hybrid_names__function(names, &quota, &f))
			break;
	}
	check(i > 100 && i < HYBRID_NAMES_BYTES / HYBRID_NAMES_SHARE / HYBRID_NAMES_LINES);
	check(quota.bytes <= HYBRID_NAMES_BYTES / HYBRID_NAMES_SHARE);
	close(write_file(names));
	hybrid_names__delete(names);
	free(lines);
}

static void check_full_disk(void)
{
	struct hybrid_names *names = new_names();
	FILE *full = fopen("/dev/full", "w");

	put_function(names);
	if (full) {
		check(hybrid_names__file(names, full));
		fclose(full);
	}
	hybrid_names__delete(names);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "a frame's address has the symbol of its function",	check_symbols },
		{ "and its line",					check_lines },
		{ "a line table that lies harms nobody",		check_wrong_lines },
		{ "the file has the build-id that was chosen before",	check_build_id },
		{ "functions that are alike are one",			check_shared },
		{ "names are UTF-8 without control characters",		check_text },
		{ "one process takes no more than its share",		check_bounds },
		{ "of names and line tables either",			check_bytes },
		{ "a file that can't be written is an error",		check_full_disk },
	};

	elf_version(EV_CURRENT);
	return tap_run(tests, ARRAY_SIZE(tests));
}
