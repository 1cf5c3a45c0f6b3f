// SPDX-License-Identifier: GPL-2.0
/*
 * The types of the kernel that the BPF program needs.
 *
 * For each structure that a program names libbpf looks through all types of the kernel: 100,000,
 * for 25 structures. Here one pass finds them all (type-copy.c). libbpf gets the copy in a file
 * in memory.
 */
#include <string.h>
#include <unistd.h>
#include <gelf.h>
#include <sys/mman.h>
#include <bpf/btf.h>
#include "../../cap.h"
#include "../../debug.h"
#include "bpf-private.h"
#include "type-copy.h"

/* The types of a program, out of its object file. */
static struct btf *program_types(const void *image, size_t size)
{
	struct btf *types = NULL;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	const char *name;
	Elf_Data *data;
	size_t strings;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_memory((char *)image, size);
	if (!elf || elf_getshdrstrndx(elf, &strings))
		goto out;
	while ((section = elf_nextscn(elf, section))) {
		name = gelf_getshdr(section, &header) ?
			elf_strptr(elf, strings, header.sh_name) : NULL;
		if (!name || strcmp(name, ".BTF"))
			continue;
		data = elf_getdata(section, NULL);
		if (data)
			types = btf__new(data->d_buf, data->d_size);
		break;
	}
out:
	elf_end(elf);
	return types;
}

static int write_types(const struct btf *types)
{
	u32 size;
	const void *data = btf__raw_data(types, &size);
	int fd = data ? memfd_create("perf-hybrid-types", MFD_CLOEXEC) : -1;

	if (fd >= 0 && write(fd, data, size) == (ssize_t)size)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int make(const struct btf *program, const struct btf *kernel)
{
	struct btf *made = program && kernel ? hybrid_copy_types(program, kernel) : NULL;
	int fd = -1;

	if (made) {
		pr_debug2("hybrid: %u types of %u of the kernel for the BPF program\n",
			  btf__type_cnt(made), btf__type_cnt(kernel));
		fd = write_types(made);
	}
	btf__free(made);
	return fd;
}

int hybrid_bpf__types(const void *image, size_t size)
{
	struct btf *program, *kernel;
	int fd;

	/* The kernel refuses the program: no need to look for anything. */
	if (!perf_cap__capable(CAP_BPF) && !perf_cap__capable(CAP_SYS_ADMIN))
		return -1;
	program = program_types(image, size);
	kernel = btf__load_vmlinux_btf();
	fd = make(program, kernel);
	btf__free(kernel);
	btf__free(program);
	return fd;
}
