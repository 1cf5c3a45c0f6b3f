// SPDX-License-Identifier: GPL-2.0
/*
 * A program that runs code which no file backs, and tells debuggers of it by GDB's JIT
 * interface.
 *
 * usage: jit MADE.SO ADDRESS [SECONDS]: for so long (2), made.S as it was linked to be at that
 * address
 */
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct jit_code_entry {
	struct jit_code_entry	*next;
	struct jit_code_entry	*prev;
	const void		*addr;
	uint64_t		 size;
};

struct jit_descriptor {
	uint32_t		 version;
	uint32_t		 action;
	struct jit_code_entry	*relevant;
	struct jit_code_entry	*first;
};

struct jit_descriptor __jit_debug_descriptor = { 1, 0, NULL, NULL };

static time_t stop;
unsigned int sum;

__attribute__((noinline)) int callback(void)
{
	unsigned int i;

	for (i = 0; i < 20000; i++)
		sum = sum * 31 + i;
	/* An event where each sample has the same chain. */
	sum += getppid();
	return time(NULL) < stop;
}

static void *read_file(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	void *data;

	if (fd < 0 || fstat(fd, &st))
		return NULL;
	*size = st.st_size;
	data = malloc(*size);
	if (data && read(fd, data, *size) != (ssize_t)*size)
		data = NULL;
	close(fd);
	return data;
}

__attribute__((noinline)) int run_made(int (*made)(int (*callback)(void)))
{
	return made(callback) + 1;
}

int main(int argc, char **argv)
{
	static struct jit_code_entry entry;
	size_t size;
	char *code;

	if (argc < 3)
		return 2;
	entry.addr = read_file(argv[1], &size);
	entry.size = size;
	if (!entry.addr)
		return 2;
	code = mmap((void *)(strtoul(argv[2], NULL, 0) & -4096UL), size,
		    PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (code == MAP_FAILED)
		return 2;
	/* The file is one segment. */
	memcpy(code, entry.addr, size);
	__jit_debug_descriptor.first = &entry;
	stop = time(NULL) + (argc > 3 ? atoi(argv[3]) : 2);
	return run_made((int (*)(int (*)(void)))strtoul(argv[2], NULL, 0)) != 1;
}
