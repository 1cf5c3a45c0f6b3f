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
		"spam3.11", "spam", "script", "data", "circle", "long",
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

int main(void)
{
	static const struct tap_test tests[] = {
		{ "command: programs in PATH",		programs },
		{ "command: interpreters of scripts",	scripts },
		{ "command: libraries of a program",	needed },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
