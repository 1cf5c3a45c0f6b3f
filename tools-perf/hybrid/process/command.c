// SPDX-License-Identifier: GPL-2.0
/*
 * Which file a command runs, and which libraries that needs: before it is run.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "../rules/elf-bounds.h"
#include "../rules/file-id.h"
#include "command.h"

/* fs/binfmt_script.c and include/uapi/linux/binfmts.h: bytes of the first line that count. */
#define FIRST_LINE	256

/* Scripts whose interpreter is a script; fs/exec.c allows five files. */
#define MAX_SCRIPTS	4

/* Libraries of one program, and entries of its dynamic section. */
#define MAX_LIBRARIES	64
#define MAX_ENTRIES	4096

/* As execvp() has it, if there is no PATH. */
#define DEFAULT_PATH	"/bin:/usr/bin"

/* Of ld.so(8), on several distributions; and where programs that one builds go. */
#define LIBRARY_PATH	"/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:/usr/lib64:" \
			"/lib:/usr/lib:/usr/local/lib/x86_64-linux-gnu:/usr/local/lib64:" \
			"/usr/local/lib"

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

static bool is_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode);
}

/*
 * Joins a folder of a list with a file's name. An empty folder is the current one. @origin: what
 * $ORIGIN at the beginning of a folder stands for; NULL: nothing does.
 */
static bool join(const char *dir, size_t len, const char *origin, const char *name, char *path)
{
	static const char *const origins[] = { "$ORIGIN", "${ORIGIN}" };
	const char *before = "";
	unsigned int i;
	int size;

	for (i = 0; origin && i < ARRAY_SIZE(origins); i++) {
		if (len < strlen(origins[i]) || strncmp(dir, origins[i], strlen(origins[i])))
			continue;
		dir += strlen(origins[i]);
		len -= strlen(origins[i]);
		before = origin;
		break;
	}
	if (!len && !*before) {
		dir = ".";
		len = 1;
	}
	size = snprintf(path, PATH_MAX, "%s%.*s/%s", before, (int)min(len, (size_t)PATH_MAX), dir,
			name);
	return size < PATH_MAX;
}

/* Looks for a file in the folders of a list; @dirs: with colons between them; NULL: none. */
static bool find_in(const char *dirs, const char *origin, const char *name,
		    bool (*is_right)(const char *path), char *path)
{
	size_t len;

	for (; dirs; dirs = dirs[len] ? dirs + len + 1 : NULL) {
		len = strchrnul(dirs, ':') - dirs;
		if (join(dirs, len, origin, name, path) && is_right(path))
			return true;
	}
	return false;
}

static bool find_program(const char *name, char *path)
{
	if (strchr(name, '/'))
		return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX && is_program(path);
	return *name && find_in(getenv("PATH") ?: DEFAULT_PATH, NULL, name, is_program, path);
}

/* The next word of a line, which is changed; NULL: there is none. */
static char *next_word(char **line)
{
	char *word;

	do {
		word = strsep(line, " \t");
	} while (word && !*word);
	return word;
}

/* What a script is run by: of its first line the interpreter, or what env is to run. */
static const char *interpreter_of(char *line)
{
	char *word = next_word(&line);
	const char *slash = word ? strrchr(word, '/') : NULL;

	if (!slash || strcmp(slash, "/env"))
		return word;
	do {
		word = next_word(&line);
		if (word && strstarts(word, "-S"))
			word += strlen("-S");
	} while (word && (!*word || *word == '-' || strchr(word, '=')));
	return word;
}

/* The first line of a file; false: it is no script. */
static bool read_script(const char *path, char *line)
{
	int fd = hybrid_open_regular(path);
	ssize_t got;

	if (fd < 0)
		return false;
	got = read(fd, line, FIRST_LINE - 1);
	close(fd);
	line[max_t(ssize_t, got, 0)] = 0;
	line[strcspn(line, "\n")] = 0;
	return strstarts(line, "#!");
}

int hybrid_command_program(const char *name, char *path)
{
	char line[FIRST_LINE], found[PATH_MAX];
	unsigned int i;

	for (i = 0; i <= MAX_SCRIPTS && name; i++) {
		if (!find_program(name, found))
			return -1;
		if (!read_script(found, line))
			return realpath(found, path) ? 0 : -1;
		name = interpreter_of(line + strlen("#!"));
	}
	return -1;
}

/**
 * struct dynamic - what a file says to the dynamic linker
 * @elf: the sections of its entries and their strings
 * @entries: its entries
 * @nr: number of @entries
 */
struct dynamic {
	Elf		*elf;
	Elf_Data	*entries;
	size_t		 nr;
};

/* @dynamic->elf: to be given to hybrid_elf_end(). */
static bool find_dynamic(int fd, Elf *elf, struct dynamic *dynamic)
{
	Elf_Scn *scn = NULL;
	size_t sections[2];
	GElf_Shdr section;

	while (elf && (scn = elf_nextscn(elf, scn)) != NULL) {
		if (!gelf_getshdr(scn, &section) || section.sh_type != SHT_DYNAMIC ||
		    !section.sh_entsize)
			continue;
		sections[0] = elf_ndxscn(scn);
		sections[1] = section.sh_link;
		dynamic->elf = hybrid_elf_part(fd, NULL, elf, sections, 2);
		dynamic->entries = elf_getdata(elf_getscn(dynamic->elf, 1), NULL);
		dynamic->nr = min_t(u64, section.sh_size / section.sh_entsize, MAX_ENTRIES);
		return dynamic->entries;
	}
	return false;
}

/* The string of entry @i, if it has the tag; else NULL. */
static const char *string_of(const struct dynamic *dynamic, size_t i, s64 tag)
{
	GElf_Dyn entry;

	if (!gelf_getdyn(dynamic->entries, i, &entry) || entry.d_tag != tag)
		return NULL;
	return elf_strptr(dynamic->elf, 2, entry.d_un.d_val);
}

/* The first string with a tag; NULL: there is none. */
static const char *first_string(const struct dynamic *dynamic, s64 tag)
{
	const char *string = NULL;
	size_t i;

	for (i = 0; i < dynamic->nr && !string; i++)
		string = string_of(dynamic, i, tag);
	return string;
}

static bool find_library(const struct dynamic *dynamic, const char *origin, const char *name,
			 char *path)
{
	const char *dirs = first_string(dynamic, DT_RUNPATH) ?: first_string(dynamic, DT_RPATH);

	if (strchr(name, '/'))
		return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX && is_file(path);
	return find_in(dirs, origin, name, is_file, path) ||
	       find_in(getenv("LD_LIBRARY_PATH"), origin, name, is_file, path) ||
	       find_in(LIBRARY_PATH, NULL, name, is_file, path);
}

static void find_libraries(const struct dynamic *dynamic, const char *origin,
			   hybrid_library_fn found, void *arg)
{
	char path[PATH_MAX], real[PATH_MAX];
	unsigned int nr = 0;
	const char *name;
	size_t i;

	for (i = 0; i < dynamic->nr && nr < MAX_LIBRARIES; i++) {
		name = string_of(dynamic, i, DT_NEEDED);
		if (!name)
			continue;
		nr++;
		if (find_library(dynamic, origin, name, path) && realpath(path, real))
			found(arg, real);
	}
}

void hybrid_command_libraries(const char *program, hybrid_library_fn found, void *arg)
{
	int fd = hybrid_open_regular(program);
	Elf *elf = hybrid_elf_begin(fd, NULL);
	struct dynamic dynamic = {};
	char origin[PATH_MAX];

	snprintf(origin, sizeof(origin), "%s", program);
	*(strrchr(origin, '/') ?: origin) = 0;
	if (find_dynamic(fd, elf, &dynamic))
		find_libraries(&dynamic, origin, found, arg);
	hybrid_elf_end(dynamic.elf);
	hybrid_elf_end(elf);
	if (fd >= 0)
		close(fd);
}
