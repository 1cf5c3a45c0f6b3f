// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include "elf-file.h"

#define PAGE	4096ULL

static void die(const char *what, const char *name)
{
	fprintf(stderr, "%s: %s\n", name, what);
	exit(2);
}

const char *elf_file_path(const char *name)
{
	static char path[PATH_MAX + 64];
	ssize_t len = readlink("/proc/self/exe", path, PATH_MAX);
	char *slash;

	if (len < 0)
		die(strerror(errno), "/proc/self/exe");
	path[len] = 0;
	slash = strrchr(path, '/');
	snprintf(slash, path + sizeof(path) - slash, "/../objects/%s", name);
	return path;
}

int elf_file_open(const struct hybrid_mapping *mapping)
{
	return open(mapping->object->ident.path, O_RDONLY | O_CLOEXEC);
}

static Elf *open_elf(const char *name, int *fd)
{
	Elf *elf;

	elf_version(EV_CURRENT);
	*fd = open(elf_file_path(name), O_RDONLY | O_CLOEXEC);
	elf = *fd < 0 ? NULL : elf_begin(*fd, ELF_C_READ, NULL);
	if (!elf)
		die("can't be read", name);
	return elf;
}

static u64 look_up(const char *name, const char *symbol)
{
	Elf_Scn *scn = NULL;
	bool found = false;
	u64 value = 0;
	int fd, i;
	Elf *elf = open_elf(name, &fd);

	while (!found && (scn = elf_nextscn(elf, scn)) != NULL) {
		Elf_Data *data = elf_getdata(scn, NULL);
		GElf_Shdr shdr;
		GElf_Sym sym;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_SYMTAB)
			continue;
		for (i = 0; !found && gelf_getsym(data, i, &sym); i++) {
			found = !strcmp(elf_strptr(elf, shdr.sh_link, sym.st_name), symbol);
			value = sym.st_value;
		}
	}
	elf_end(elf);
	close(fd);
	if (!found)
		die("no such symbol", symbol);
	return value;
}

u64 elf_file_symbol(const char *name, const char *symbol)
{
	/* Tests of any input ask for the same ones thousands of times. */
	static struct {
		char what[64];
		u64 value;
	} known[256];
	unsigned char hash = 0;
	char what[64];
	size_t i;

	if (snprintf(what, sizeof(what), "%s %s", name, symbol) >= (int)sizeof(what))
		return look_up(name, symbol);
	for (i = 0; what[i]; i++)
		hash = hash * 31 + what[i];
	if (strcmp(known[hash].what, what)) {
		known[hash].value = look_up(name, symbol);
		strcpy(known[hash].what, what);
	}
	return known[hash].value;
}

void elf_file_each_map(const char *name, u64 bias, elf_file_map_fn map, void *arg)
{
	struct hybrid_ident ident = { .path = elf_file_path(name) };
	size_t i, nr = 0;
	struct stat st;
	GElf_Phdr phdr;
	int fd;
	Elf *elf = open_elf(name, &fd);

	if (!fstat(fd, &st))
		ident.ino = st.st_ino;
	elf_getphdrnum(elf, &nr);
	for (i = 0; i < nr; i++) {
		struct hybrid_mapping mapping = {};

		if (!gelf_getphdr(elf, i, &phdr) || phdr.p_type != PT_LOAD)
			continue;
		mapping.start = bias + (phdr.p_vaddr & ~(PAGE - 1));
		mapping.end = (bias + phdr.p_vaddr + phdr.p_memsz + PAGE - 1) & ~(PAGE - 1);
		mapping.pgoff = phdr.p_offset & ~(PAGE - 1);
		if (map(&mapping, &ident, phdr.p_flags & PF_X, arg))
			die("out of memory", name);
	}
	elf_end(elf);
	close(fd);
}

struct process {
	struct hybrid_processes	*ps;
	pid_t			 pid;
};

static int map_in_process(struct hybrid_mapping *mapping, const struct hybrid_ident *ident,
			  bool exec, void *arg)
{
	const struct process *process = arg;

	mapping->pid = process->pid;
	return hybrid_process_map(process->ps, mapping, ident, exec);
}

void elf_file_map(struct hybrid_processes *ps, pid_t pid, const char *name, u64 bias)
{
	struct process process = { ps, pid };

	elf_file_each_map(name, bias, map_in_process, &process);
}
