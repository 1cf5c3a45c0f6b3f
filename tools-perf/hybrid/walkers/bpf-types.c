// SPDX-License-Identifier: GPL-2.0
/*
 * The types of the kernel that the BPF program needs.
 *
 * For each structure that a program names libbpf looks through all types of the kernel: 100,000,
 * for 25 structures. Before that it checks each of them. Here one pass finds where they are
 * (kernel-types.c), and one those that are needed (type-copy.c). libbpf gets the copy in a file
 * in memory.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <gelf.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <bpf/btf.h>
#include <internal/lib.h>
#include "../../cap.h"
#include "../../debug.h"
#include "bpf-private.h"
#include "kernel-types.h"
#include "type-copy.h"

#define KERNEL_TYPES	"/sys/kernel/btf/vmlinux"

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

static int write_types(const void *data, size_t size)
{
	int fd = memfd_create("perf-hybrid-types", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, data, size) == (ssize_t)size)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int make(const struct btf *program, const void *data, size_t size)
{
	struct kernel_types kernel;
	size_t copied = 0;
	void *file;
	int fd = -1;

	if (!program || kernel_types__init(&kernel, data, size))
		return -1;
	file = hybrid_copy_types(program, &kernel, &copied);
	if (file) {
		pr_debug2("hybrid: %zu bytes of %zu of the kernel's types for the BPF program\n",
			  copied, size);
		fd = write_types(file, copied);
	}
	free(file);
	kernel_types__exit(&kernel);
	return fd;
}

/* Linux before 6.16 does not map the file. Returns NULL if it is not there. */
static void *read_kernel_types(size_t *size, bool *is_mapped)
{
	int fd = open(KERNEL_TYPES, O_RDONLY | O_CLOEXEC);
	void *data = NULL;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) || st.st_size <= 0)
		goto out;
	*size = st.st_size;
	data = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
	*is_mapped = data != MAP_FAILED;
	if (*is_mapped)
		goto out;
	data = malloc(*size);
	if (data && readn(fd, data, *size) != (ssize_t)*size) {
		free(data);
		data = NULL;
	}
out:
	close(fd);
	return data;
}

int hybrid_bpf__types(const void *image, size_t size)
{
	struct btf *program;
	size_t kernel_size;
	bool is_mapped;
	void *kernel;
	int fd;

	/* The kernel refuses the program: no need to look for anything. */
	if (!perf_cap__capable(CAP_BPF) && !perf_cap__capable(CAP_SYS_ADMIN))
		return -1;
	kernel = read_kernel_types(&kernel_size, &is_mapped);
	if (!kernel)
		return -1;
	program = program_types(image, size);
	fd = make(program, kernel, kernel_size);
	btf__free(program);
	if (is_mapped)
		munmap(kernel, kernel_size);
	else
		free(kernel);
	return fd;
}
