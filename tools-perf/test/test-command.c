// SPDX-License-Identifier: GPL-2.0
/*
 * Which file a command runs, and which libraries that names.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include "command.h"
#include "elf-file.h"
#include "elf-made.h"
#include "tap.h"

static char dir[64];
static char program[PATH_MAX];

static const char *in_dir(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void make(const char *name, const char *text, mode_t mode)
{
	int fd = open(in_dir(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	check(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

/* Everything is a file of the folder that PATH begins with. */
static void begin(void)
{
	snprintf(dir, sizeof(dir), "/tmp/perf-test-command-XXXXXX");
	check(mkdtemp(dir));
	check(!setenv("PATH", in_dir(""), 1));
	make("spam3.11", "\177ELF", 0755);
	check(!symlink("spam3.11", in_dir("spam")));
	snprintf(program, sizeof(program), "%s", in_dir("spam3.11"));
}

static void end(void)
{
	static const char *const names[] = {
		"spam3.11", "spam", "spamx", "script", "data", "circle", "long", "made",
		"lib1", "lib2",
		"script0", "script1", "script2", "script3", "script4", "script5",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		unlink(in_dir(names[i]));
	check(!rmdir(dir));
}

static bool runs_program(const char *name)
{
	char path[PATH_MAX];

	return !hybrid_command_program(name, path) && !strcmp(path, program);
}

static void programs(void)
{
	begin();
	check(runs_program("spam"));
	check(runs_program(in_dir("spam")));
	check(!runs_program("eggs"));
	check(!runs_program(""));
	/* What can't be executed is passed over; a folder is none. */
	make("data", "\177ELF", 0644);
	check(!runs_program("data"));
	check(!runs_program(dir));
	/* A list of several folders; an empty one is the current one. */
	check(!setenv("PATH", "/nowhere:", 1));
	check(!runs_program("spam"));
	check(!chdir(dir));
	check(runs_program("spam"));
	check(!chdir("/"));
	end();
}

/* The program of a script whose first line is @line. */
static bool script_runs_program(const char *line)
{
	unlink(in_dir("script"));
	make("script", line, 0755);
	return runs_program("script");
}

static void scripts(void)
{
	char line[PATH_MAX + 64];

	begin();
	snprintf(line, sizeof(line), "#!%s\n", in_dir("spam"));
	check(script_runs_program(line));
	snprintf(line, sizeof(line), "#! \t%s -x\nmore", in_dir("spam"));
	check(script_runs_program(line));
	check(script_runs_program("#!/usr/bin/env spam"));
	check(script_runs_program("#!/usr/bin/env -S A=1 spam -x\n"));
	check(script_runs_program("#!/usr/bin/env -Sspam -x\n"));
	check(!script_runs_program("#!/usr/bin/env\n"));
	check(!script_runs_program("#!\n"));
	check(!script_runs_program("#!/nowhere/spam\n"));
	check(!script_runs_program(""));
	/* Scripts that name each other. */
	snprintf(line, sizeof(line), "#!%s\n", in_dir("circle"));
	make("circle", line, 0755);
	check(!script_runs_program(line));
	/* What the kernel would cut off is no name. */
	memset(line, 'x', sizeof(line));
	memcpy(line, "#!/", 3);
	line[sizeof(line) - 1] = 0;
	check(!script_runs_program(line));
	end();
}

/* As long as the first line may be, and one byte longer. */
static void long_lines(void)
{
	char line[PATH_MAX];
	size_t len;

	begin();
	/* With slashes the path is as long as it has to be. */
	for (len = 252; len <= 256; len++) {
		memset(line, '/', sizeof(line));
		memcpy(line, "#!", 2);
		memcpy(line + 2, dir, strlen(dir));
		memcpy(line + len - 4, "spam", sizeof("spam"));
		same(script_runs_program(line), len < 256);
	}
	/* A name that no path may have. */
	memset(line, 'x', sizeof(line));
	line[PATH_MAX - 1] = 0;
	check(!runs_program(line));
	line[0] = '/';
	check(!runs_program(line));
	end();
}

/* A path of the program with @len bytes, and then @more. */
static const char *long_path(size_t len, const char *more)
{
	static char path[PATH_MAX + 64];

	memset(path, '/', len);
	memcpy(path, dir, strlen(dir));
	memcpy(path + len - 4, "spam", 4);
	strcpy(path + len, more);
	return path;
}

/* As long as a path may be; what is longer is not cut. */
static void long_paths(void)
{
	char *folder;

	begin();
	check(runs_program(long_path(PATH_MAX - 1, "")));
	check(!runs_program(long_path(PATH_MAX - 1, "x")));
	check(!runs_program(long_path(PATH_MAX - 1, "more")));
	/* The same of a folder and a name. */
	folder = strdup(long_path(PATH_MAX - 1, ""));
	folder[PATH_MAX - 1 - strlen("/spam")] = 0;
	check(!setenv("PATH", folder, 1));
	check(runs_program("spam"));
	make("spamx", "\177ELF", 0755);
	check(!runs_program("spamx"));
	free(folder);
	end();
}

/* A script whose interpreter is one: as many as the kernel runs. */
static void scripts_of_scripts(void)
{
	char name[16] = "spam", line[128];
	unsigned int i;

	begin();
	for (i = 0; i < 6; i++) {
		snprintf(line, sizeof(line), "#!%s/%s\n", dir, name);
		snprintf(name, sizeof(name), "script%u", i);
		make(name, line, 0755);
		same(runs_program(name), i < 4);
	}
	/* Without PATH the system's folders are looked at. */
	check(!unsetenv("PATH"));
	check(!hybrid_command_program("sh", line));
	check(!runs_program("spam"));
	/* What env is told before the name. */
	check(!setenv("PATH", dir, 1));
	check(script_runs_program("#!/usr/bin/env -i A=b spam -x\n"));
	check(script_runs_program("#!/usr/bin/env -S spam\n"));
	check(!script_runs_program("#!/usr/bin/spam\n"));
	check(!script_runs_program("#! \t "));
	end();
}

struct found {
	const char	*name;
	unsigned int	 nr;
};

static void count(void *arg, const char *path)
{
	struct found *found = arg;
	const char *slash = strrchr(path, '/');

	found->nr += slash && !strcmp(slash + 1, found->name);
}

static unsigned int libraries(const char *path, const char *name)
{
	struct found found = { .name = name };

	hybrid_command_libraries(path, count, &found);
	return found.nr;
}

static void needed(void)
{
	/* By $ORIGIN; and where the linker puts what has none. */
	same(libraries(elf_file_path("needs.so"), "symbols.so"), 1);
	same(libraries(elf_file_path("needs.so"), "small.so"), 0);
	same(libraries(elf_file_path("symbols.so"), "symbols.so"), 0);
	same(libraries("/nowhere", "symbols.so"), 0);
	same(libraries("/etc/passwd", "symbols.so"), 0);
	check(!unsetenv("LD_LIBRARY_PATH"));
	same(libraries(elf_file_path("needs-elsewhere.so"), "symbols.so"), 0);
	snprintf(program, sizeof(program), "%s", elf_file_path(""));
	check(!setenv("LD_LIBRARY_PATH", program, 1));
	same(libraries(elf_file_path("needs-elsewhere.so"), "symbols.so"), 1);
}

static struct elf_made elf;

#define MAX_ENTRIES	4200

/* What the file is to have in .dynamic. */
static Elf64_Dyn entries[MAX_ENTRIES];

/* The file's sections, but for what they are to have. */
static void begin_made(const char *strings, size_t size)
{
	Elf64_Shdr dynamic = {
		.sh_type = SHT_DYNAMIC, .sh_entsize = sizeof(Elf64_Dyn), .sh_link = 2,
	};

	elf_made_begin(&elf);
	elf_made_section(&elf, ".dynamic", dynamic, entries, sizeof(entries));
	elf_made_section(&elf, ".dynstr", (Elf64_Shdr) { .sh_type = SHT_STRTAB }, strings, size);
	memset(entries, 0, sizeof(entries));
}

static void set_entry(unsigned int i, s64 tag, u64 string)
{
	entries[i] = (Elf64_Dyn) { .d_tag = tag, .d_un.d_val = string };
}

/* Writes the file of @elf as "made". */
static void write_made(void)
{
	static u8 bytes[1 << 18];
	int fd, to = open(in_dir("made"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	ssize_t size;

	memcpy(elf.bytes + elf.sections[1].sh_offset, entries, sizeof(entries));
	fd = elf_made_file(&elf);
	size = pread(fd, bytes, sizeof(bytes), 0);
	check(size > 0 && to >= 0 && write(to, bytes, size) == size);
	close(fd);
	close(to);
}

static unsigned int made_libraries(const char *name)
{
	char path[PATH_MAX];

	write_made();
	snprintf(path, sizeof(path), "%s", in_dir("made"));
	return libraries(path, name);
}

/* Where a library is looked for: the program's list, the user's, the system's. */
static void places(void)
{
	/* At 1, 6, 14, 26, 35 and 42. */
	static const char strings[] =
		"\0lib1\0$ORIGIN\0${ORIGIN}/.\0/nowhere\0./lib1\0/nowhere/lib1";
	static const struct {
		unsigned int	needed;
		unsigned int	dirs;
		s64		tag;
		unsigned int	found;
	} cases[] = {
		{ 1, 6, DT_RUNPATH, 1 }, { 1, 6, DT_RPATH, 1 }, { 1, 14, DT_RUNPATH, 1 },
		{ 1, 26, DT_RUNPATH, 0 }, { 1, 6, DT_SONAME, 0 }, { 35, 26, DT_RUNPATH, 1 },
		{ 42, 6, DT_RUNPATH, 0 }, { 1, 5000, DT_RUNPATH, 0 }, { 5000, 6, DT_RUNPATH, 0 },
	};
	unsigned int i;

	begin();
	check(!unsetenv("LD_LIBRARY_PATH"));
	make("lib1", "", 0600);
	check(!chdir(dir));
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		begin_made(strings, sizeof(strings));
		set_entry(0, DT_NEEDED, cases[i].needed);
		set_entry(1, cases[i].tag, cases[i].dirs);
		same(made_libraries("lib1"), cases[i].found);
	}
	/* Of both lists the newer one counts. */
	begin_made(strings, sizeof(strings));
	set_entry(0, DT_RPATH, 6);
	set_entry(1, DT_RUNPATH, 26);
	set_entry(2, DT_NEEDED, 1);
	same(made_libraries("lib1"), 0);
	check(!setenv("LD_LIBRARY_PATH", "/nowhere:$ORIGIN", 1));
	same(libraries(in_dir("made"), "lib1"), 1);
	check(!unsetenv("LD_LIBRARY_PATH"));
	check(!chdir("/"));
	end();
}

/* Libraries and entries are counted; what follows the last one is not looked at. */
static void counted(void)
{
	static const char strings[] = "\0lib1\0$ORIGIN\0lib2\0lib3";
	unsigned int i, j;

	begin();
	make("lib1", "", 0600);
	make("lib2", "", 0600);
	for (i = 63; i <= 64; i++) {
		begin_made(strings, sizeof(strings));
		set_entry(0, DT_RUNPATH, 6);
		/* One that is not found counts, too. */
		set_entry(1, DT_NEEDED, 19);
		for (j = 1; j < i; j++)
			set_entry(1 + j, DT_NEEDED, 1);
		set_entry(150, DT_NEEDED, 14);
		write_made();
		same(libraries(in_dir("made"), "lib1"), i - 1);
		same(libraries(in_dir("made"), "lib2"), i < 64);
	}
	for (i = 4095; i <= 4096; i++) {
		begin_made(strings, sizeof(strings));
		set_entry(0, DT_RUNPATH, 6);
		set_entry(i, DT_NEEDED, 1);
		same(made_libraries("lib1"), i < 4096);
	}
	end();
}

/* Tables that are none: there is no library, and nothing breaks. */
static void broken(void)
{
	static const char strings[] = "\0lib1\0$ORIGIN";
	unsigned int i;

	begin();
	make("lib1", "", 0600);
	for (i = 0; i < 5; i++) {
		begin_made(strings, sizeof(strings));
		set_entry(0, DT_RUNPATH, 6);
		set_entry(1, DT_NEEDED, 1);
		switch (i) {
		case 1:
			elf.sections[1].sh_entsize = 0;
			break;
		case 2:
			elf.sections[1].sh_link = 7;
			break;
		case 3:
			elf.sections[1].sh_size = 1 << 20;
			break;
		case 4:
			elf.sections[1].sh_type = SHT_PROGBITS;
			break;
		}
		same(made_libraries("lib1"), !i);
	}
	/* A pipe would wait for who writes to it. */
	unlink(in_dir("made"));
	check(!mkfifo(in_dir("made"), 0700));
	same(libraries(in_dir("made"), "lib1"), 0);
	check(!runs_program("made"));
	end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "command: programs in PATH",		programs },
		{ "command: interpreters of scripts",	scripts },
		{ "command: long lines and names",	long_lines },
		{ "command: long paths",		long_paths },
		{ "command: scripts of scripts",	scripts_of_scripts },
		{ "command: libraries of a program",	needed },
		{ "command: where libraries are",	places },
		{ "command: how many libraries",	counted },
		{ "command: tables that are none",	broken },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
